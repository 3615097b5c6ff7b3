//! Words of a command line, written so that sh reads exactly them again, whatever they hold.

use std::fmt::Write;

use crate::emit::escape;

/// `'text'`.
pub fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A name that needs no quotes anywhere: what the kit takes for a variant.
pub fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c))
}

/// Lines that append one word to the positional parameters. What can be seen is quoted; a word with something hidden in
/// it (a line break, an escape sequence, bytes that are no text) is spelled in octal, so that the script shows nothing
/// that it does not hold.
pub fn append(word: &[u8]) -> Vec<String> {
    match std::str::from_utf8(word) {
        Ok(text) if escape::plain(text) == text => vec![format!("set -- \"$@\" {}", single_quoted(text))],
        // Command substitution drops line breaks at the end, so a dot stands there until it is taken off.
        _ => vec![format!("word=$(printf '{}.')", octal(word)), "set -- \"$@\" \"${word%.}\"".to_owned()],
    }
}

/// For printf's format: plain letters, the rest as `\ooo`.
fn octal(bytes: &[u8]) -> String {
    let mut out = String::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b" _./:=,+-".contains(byte) {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "\\{byte:03o}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The shell itself says which words it read.
    fn read_back(shell: &[&str], words: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
        let mut script = words.iter().flat_map(|word| append(word)).collect::<Vec<_>>().join("\n");
        assert!(script.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{script:?}");
        script.push_str("\nfor word do printf '%s\\0' \"$word\"; done\n");
        let (program, options) = shell.split_first()?;
        let output = Command::new(program).args(options).arg("-c").arg(script).output().ok()?;
        let mut words: Vec<Vec<u8>> = output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        words.pop();
        Some(words)
    }

    #[test]
    fn hostile_words_come_back_as_they_were() {
        let words: [&[u8]; 16] = [
            b"plain",
            b"two words",
            b"",
            b"it's",
            b"\"$(touch /tmp/never)\" `id` $HOME",
            b"'; rm -rf /; '",
            b"line\nbreak\n",
            b"\n\n",
            b"-rf",
            b"--",
            b"back\\slash\\n%s%d",
            b"\x1b[31mred\x1b[0m",
            b"\xff\xfe no text",
            "ünïcode → \u{202e}reversed".as_bytes(),
            b"*?[a-z]~ # ! { } | & ; < >",
            b"tab\tand\rreturn",
        ];
        let mut tried = 0;
        for shell in [&["sh"][..], &["dash"], &["bash", "--posix"], &["busybox", "sh"]] {
            if let Some(read) = read_back(shell, &words) {
                assert_eq!(read, words.map(<[u8]>::to_vec), "{shell:?}");
                tried += 1;
            }
        }
        assert!(tried > 0, "no shell at all");
    }

    #[test]
    fn names_for_the_kit() {
        assert!(is_plain_name("unbuffered") && is_plain_name("jemalloc-5.3"));
        for name in ["", "-x", "a b", "a'b", "$(x)", "a\nb", "ü"] {
            assert!(!is_plain_name(name), "{name}");
        }
    }
}
