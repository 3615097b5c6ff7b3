//! `WITH a AS (..), b AS (..) SELECT ..` as its parts.
//!
//! polars resolves the columns of a statement again at each of its clauses, and copies a WITH query into each place that
//! names it: statements of many small queries cost the square of their length. Asked one after the other, each part is
//! short.

/// The queries behind WITH with their names, in order, and the SELECT that they are for; `None` where the text does not
/// begin with WITH or is not of this form.
pub fn parts(sql: &str) -> Option<(Vec<(&str, &str)>, &str)> {
    let mut rest = word(sql, "WITH")?;
    let mut named = Vec::new();
    loop {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (name, tail) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        let body = word(tail, "AS")?.strip_prefix('(')?;
        let close = closing(body)?;
        named.push((name, body.get(..close)?.trim()));
        rest = body.get(close + 1..)?.trim_start();
        match rest.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None => break,
        }
    }
    word(rest, "SELECT").map(|_| (named, rest))
}

/// What comes after a word that the text begins with.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, tail) = text.trim_start().split_at_checked(word.len())?;
    let ends = tail.starts_with(|c: char| c.is_whitespace() || c == '(');
    (ends && head.eq_ignore_ascii_case(word)).then(|| tail.trim_start())
}

/// Where the bracket closes that was opened before the text; what stands in quotes does not count.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            // A comment may hold a quote or a bracket of its own.
            (None, b'-') if text.get(at..).is_some_and(|rest| rest.starts_with("--")) => return None,
            (None, b'(') => depth += 1,
            (None, b')') if depth == 0 => return Some(at),
            (None, b')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_quotes_inside() {
        let sql = "WITH a AS (SELECT 'it''s )' AS x, (1) AS y FROM t),\nb_2 as (\n  SELECT x FROM a\n)\nSELECT x FROM b_2";
        let (named, last) = parts(sql).unwrap();
        assert_eq!(named, [("a", "SELECT 'it''s )' AS x, (1) AS y FROM t"), ("b_2", "SELECT x FROM a")]);
        assert_eq!(last, "SELECT x FROM b_2");
    }

    #[test]
    fn other_forms_are_left_whole() {
        let others = [
            "SELECT 1",
            "WITH a(x) AS (SELECT 1) SELECT 1",
            "WITH a AS (SELECT (1 SELECT 1",
            "WITH a AS (SELECT 1 -- )\n) SELECT 1",
            "WITH",
            "WITHä",
        ];
        assert!(others.iter().all(|sql| parts(sql).is_none()));
    }
}
