//! SQL cut into tokens.

/// Words, numbers, texts (as one token each) and signs.
pub(super) fn tokens(sql: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let len = if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else if first == '\'' || first == '"' {
            let close = rest[1..].find(first).ok_or("a quote is not closed")?;
            close + 2
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let number = first.is_ascii_digit();
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || number && c == '.')).unwrap_or(rest.len())
        } else if ["<=", ">=", "<>", "!=", "||"].iter().any(|sign| rest.starts_with(sign)) {
            2
        } else {
            first.len_utf8()
        };
        out.push(rest[..len].to_owned());
        rest = &rest[len..];
    }
    Ok(out)
}
