//! The SQL subset that gives the same rows on polars, DuckDB and Spark, checked on the text.
//!
//! Each rule stands for a difference between the engines, most of them silent: polars 0.55 turns a LEFT JOIN with an
//! extra range condition into an inner join, DuckDB sums BIGINT to HUGEINT, Spark divides integers to doubles, and NULLs
//! sort first in some of them.

/// Functions all three engines agree on, and the words that may stand before an opening bracket.
const CALLABLE: &[&str] = &[
    "SUM", "COUNT", "MIN", "MAX", "AVG", "COALESCE", "NULLIF", "ABS", "ROUND", "LOWER", "UPPER", "CAST", "OVER", "IN", "AS", "AND", "OR",
    "NOT", "ON", "WHERE", "WHEN", "THEN", "ELSE", "FROM", "JOIN", "SELECT", "BY", "ALL",
];

/// Why the text leaves the dialect.
pub fn check(sql: &str) -> Result<(), String> {
    let tokens = tokens(sql)?;
    let upper: Vec<String> = tokens.iter().map(|token| token.to_ascii_uppercase()).collect();
    let words: Vec<&str> = upper.iter().map(String::as_str).collect();
    if !matches!(words.first(), Some(&("SELECT" | "WITH"))) {
        return Err("expected one SELECT".to_owned());
    }
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or("");
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or("");
        match *word {
            ";" => return Err("one SELECT only, found `;`".to_owned()),
            "RECURSIVE" => return Err("no recursive CTE".to_owned()),
            "ON" => equality_join(&words[at + 1..])?,
            "SUM" if next == "(" => cast_sum(&words, at)?,
            "/" => double_division(&words, at)?,
            "*" if matches!(before, "SELECT" | "DISTINCT" | "." | ",") => return Err("name every column, no `*`".to_owned()),
            "ORDER" => nulls_last(&words[at..])?,
            "SELECT" if before == "(" => subquery(&words, at)?,
            _ => {}
        }
        if next == "(" && is_word(word) && !CALLABLE.contains(word) {
            return Err(format!("function {word} is not in the dialect"));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && !cast_literal(&words, at) {
            return Err(format!("bare decimal literal {word}; write CAST({word} AS DOUBLE)"));
        }
    }
    Ok(())
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn cast_literal(words: &[&str], at: usize) -> bool {
    at >= 2 && words.get(at - 2) == Some(&"CAST") && words.get(at + 1) == Some(&"AS") && words.get(at + 2) == Some(&"DOUBLE")
}

/// After ON: equalities joined by AND, up to the next clause.
fn equality_join(rest: &[&str]) -> Result<(), String> {
    const ENDS: &[&str] = &["JOIN", "LEFT", "INNER", "CROSS", "WHERE", "GROUP", "ORDER", "UNION", "HAVING", ")"];
    for word in rest {
        if ENDS.contains(word) {
            return Ok(());
        }
        if word.starts_with('\'') || word.starts_with(|c: char| c.is_ascii_digit()) {
            // polars 0.55 looks for a column of that name.
            return Err(format!("joins compare columns, found {word} after ON; filter in a CTE first"));
        }
        if ["<", ">", "<=", ">=", "<>", "!=", "OR", "LIKE", "BETWEEN", "IN", "IS"].contains(word) {
            return Err(format!("joins take equalities only, found {word} after ON"));
        }
    }
    Ok(())
}

/// SUM must be cast, perhaps around COALESCE: CAST(SUM(..) AS BIGINT).
fn cast_sum(words: &[&str], at: usize) -> Result<(), String> {
    let cast =
        at >= 2 && words[at - 1] == "(" && (words[at - 2] == "CAST" || words[at - 2] == "COALESCE" && at >= 4 && words[at - 4] == "CAST");
    if cast { Ok(()) } else { Err("write CAST(SUM(..) AS BIGINT)".to_owned()) }
}

/// CAST(.. AS DOUBLE) on both sides of a division.
fn double_division(words: &[&str], at: usize) -> Result<(), String> {
    let left = at >= 2 && words[at - 1] == ")" && words[at - 2] == "DOUBLE";
    let right = words.get(at + 1) == Some(&"CAST") || words.get(at + 1) == Some(&"NULLIF") && words.get(at + 3) == Some(&"CAST");
    if left && right { Ok(()) } else { Err("write CAST(.. AS DOUBLE) on both sides of a division".to_owned()) }
}

fn nulls_last(rest: &[&str]) -> Result<(), String> {
    let end = rest.iter().position(|word| *word == ")").unwrap_or(rest.len());
    let keys = rest[..end].iter().filter(|word| **word == ",").count() + 1;
    let stated = rest[..end].windows(2).filter(|pair| *pair == ["NULLS", "LAST"]).count();
    if stated >= keys { Ok(()) } else { Err("every key of ORDER BY says NULLS LAST".to_owned()) }
}

/// A SELECT in brackets is a CTE, a derived table or the list of IN; never a number in an expression.
fn subquery(words: &[&str], at: usize) -> Result<(), String> {
    match at.checked_sub(2).and_then(|at| words.get(at)) {
        Some(&("AS" | "FROM" | "JOIN" | "IN")) => Ok(()),
        _ => Err("no scalar subquery".to_owned()),
    }
}

/// Words, numbers, texts (as one token each) and signs.
fn tokens(sql: &str) -> Result<Vec<String>, String> {
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

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_differs_between_engines_is_refused() {
        assert_eq!(check("SELECT CAST(SUM(a) AS BIGINT) AS a FROM t LEFT JOIN u ON t.x = u.x AND t.y = u.y WHERE a > 0"), Ok(()));
        assert_eq!(check("WITH a AS (SELECT x FROM t) SELECT x FROM a WHERE x IN (SELECT x FROM u)"), Ok(()));
        for (sql, why) in [
            ("SELECT a FROM t LEFT JOIN u ON t.x = u.x AND t.y > 3", "equalities"),
            ("SELECT a FROM t JOIN u ON t.x = u.x AND u.y = 'z'", "CTE"),
            ("SELECT SUM(a) AS a FROM t", "CAST(SUM"),
            ("SELECT CAST(a AS DOUBLE) / b AS c FROM t", "both sides"),
            ("SELECT a * 0.5 AS b FROM t", "decimal"),
            ("SELECT (SELECT MAX(a) AS a FROM t) AS b FROM u", "subquery"),
            ("SELECT * FROM t", "name every column"),
            ("SELECT a FROM t ORDER BY a", "NULLS LAST"),
            ("SELECT median(a) AS m FROM t", "MEDIAN"),
            ("WITH RECURSIVE a AS (SELECT x FROM t) SELECT x FROM a", "recursive"),
            ("DELETE FROM t", "SELECT"),
        ] {
            let found = check(sql).expect_err(sql);
            assert!(found.contains(why), "{sql}: {found}");
        }
    }
}
