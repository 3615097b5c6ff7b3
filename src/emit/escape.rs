//! Names from recordings, made safe for each output language.
//!
//! A function name may hold anything: a pipe that breaks a table, a tag that runs a script, an escape sequence that
//! rewrites the terminal, a right-to-left override that shows another name than the one it is. All functions first
//! replace what cannot be seen by a visible escape ([`plain`]), then quote what the language gives a meaning.

use std::borrow::Cow;
use std::fmt::Write;

/// Longest name in a table for people, in characters. Longer ones lose their middle to `…`; the Parquet tables and
/// `tripod explain` have them whole.
pub const NAME_CHARS_MAX: usize = 80;

/// Whether a character is shown as `\u{..}`: controls (C0, DEL, C1), line separators, everything that reorders or
/// hides text, the byte order mark, non-characters. Private use is left alone: it is visible and harmless.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
        || (c as u32 & 0xfffe) == 0xfffe
}

/// Visible text on one line; safe for a terminal. Line feed and its kin become `\n`, `\r`, `\t`, the rest `\u{1b}`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().saturating_add(16));
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// At most `max` characters: the middle goes, since a name's beginning (module) and end (function) tell it apart.
pub fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= max || max < 3 {
        return Cow::Borrowed(text);
    }
    let head = (max - 1) / 2;
    let tail = max - 1 - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    Cow::Owned(format!("{start}…{end}"))
}

/// A name for a cell of a table on the terminal.
pub fn terminal(text: &str, max: usize) -> String {
    shorten(&plain(text), max).into_owned()
}

/// Prose in Markdown, in a table or out of it: what has a meaning in the middle of a line becomes a character
/// reference, so that neither backslash rules nor the splitting of table rows matter. Underscores inside words are left
/// (GitHub does so too); `>` and `#` mean something at the beginning of a line only, where no name is ever put.
pub fn markdown(text: &str) -> String {
    let plain = plain(text);
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '&' | '<' | '|' | '`' | '\\' | '*' | '[' | ']' | '$' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// A name in Markdown as code. Where a code span could end early or split a table row it is given as escaped text.
pub fn markdown_code(text: &str) -> String {
    let plain = plain(text);
    if plain.is_empty() {
        return "(empty)".to_owned();
    }
    let awkward = plain.contains(['|', '`', '\\']) || plain.starts_with(' ') || plain.ends_with(' ');
    if awkward { markdown(text).replace('_', "&#95;") } else { format!("`{plain}`") }
}

/// A shell command in Markdown as a block of its own; the fence is longer than any row of backticks inside.
pub fn markdown_block(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.lines().map(plain).collect();
    let mut longest: usize = 2;
    let mut now: usize = 0;
    for c in text.chars() {
        now = if c == '`' { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}sh\n{}\n{fence}\n", lines.join("\n"))
}

/// Text or a quoted attribute in HTML, XML and SVG.
pub fn html(text: &str) -> String {
    let plain = plain(text);
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A frame of a folded stack line. `;` separates frames there and becomes `:`; a trailing number would be read as a
/// count and a leading `#` as a comment, so their space becomes a no-break space. Never empty.
pub fn folded(text: &str) -> String {
    let plain = plain(text.trim());
    let mut out: String = plain.chars().map(|c| if c == ';' { ':' } else { c }).collect();
    if let Some((head, tail)) = out.rsplit_once(' ')
        && tail.chars().all(|c| c.is_ascii_digit() || c == '.')
    {
        out = format!("{head}\u{a0}{tail}");
    }
    if let Some(tail) = out.strip_prefix("# ") {
        out = format!("#\u{a0}{tail}");
    }
    if out.is_empty() { "[no name]".to_owned() } else { out }
}

/// A string literal in SQL.
pub fn sql(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A field of a CSV file (RFC 4180). Content is kept as it is; a newline is legal inside quotes.
pub fn csv(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a|b<c>&`d`\n\u{1b}[31m\u{202e}x'\"";

    #[test]
    fn nothing_hidden_is_left() {
        let out = plain(HOSTILE);
        assert_eq!(out, "a|b<c>&`d`\\n\\u{1b}[31m\\u{202e}x'\"");
        assert!(!out.chars().any(is_hidden));
        assert_eq!(plain("std::vec<Überfunktion>"), "std::vec<Überfunktion>");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shorten("abcdefghij", 5), "ab…ij");
        assert_eq!(shorten("abcde", 5), "abcde");
        assert_eq!(shorten("äöüßéèê", 5).chars().count(), 5);
    }

    #[test]
    fn markdown_has_no_pipe_tag_or_code_left() {
        for out in [markdown(HOSTILE), markdown_code(HOSTILE)] {
            assert!(!out.contains(['|', '<', '`', '\n', '\u{1b}', '\u{202e}']), "{out}");
        }
        assert_eq!(markdown_code("emit_record"), "`emit_record`");
        assert_eq!(markdown_code("Vec<T>"), "`Vec<T>`");
        assert_eq!(markdown_block("echo ```"), "````sh\necho ```\n````\n");
    }

    #[test]
    fn other_languages() {
        assert_eq!(html("<b a='1'>&\u{1b}"), "&lt;b a=&#39;1&#39;&gt;&amp;\\u{1b}");
        assert_eq!(sql("it's"), "'it''s'");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(folded("[u8; 8]"), "[u8: 8]");
        assert_eq!(folded("lambda 12"), "lambda\u{a0}12");
        assert_eq!(folded("# x"), "#\u{a0}x");
        assert_eq!(folded("  "), "[no name]");
    }
}
