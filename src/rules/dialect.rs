//! The SQL subset that gives the same rows on polars, DuckDB and Spark, checked on the text.
//!
//! Each rule stands for a difference between the engines, most of them silent: polars 0.55 turns a LEFT JOIN with an
//! extra range condition into an inner join, DuckDB sums BIGINT to HUGEINT, Spark divides integers to doubles, and NULLs
//! sort first in some of them. What cannot be seen in the text (`%` of what may be negative, ROUND of an exact half) is
//! left to the parity test.

mod tokens;

#[cfg(test)]
mod tests;

/// Functions all three engines agree on, and the words that may stand before an opening bracket.
const CALLABLE: &[&str] = &[
    "SUM", "COUNT", "MIN", "MAX", "AVG", "COALESCE", "NULLIF", "ABS", "ROUND", "LOWER", "UPPER", "CAST", "OVER", "IN", "AS", "AND", "OR",
    "NOT", "ON", "WHERE", "WHEN", "THEN", "ELSE", "FROM", "JOIN", "SELECT", "BY", "ALL",
];

/// Signs that mean the same in all three; `^` alone is a power, an exclusive or, or an error.
const SIGNS: &[&str] = &["(", ")", ",", ".", "+", "-", "*", "/", "%", "=", "<", ">", "<=", ">=", "<>", "!=", "||"];

/// Types with one name and one width in all three: Spark wants a length after VARCHAR, FLOAT has 32 bits here and 64 there.
const TYPES: &[&str] = &["BIGINT", "INT", "DOUBLE", "STRING", "BOOLEAN"];

/// Clauses that one of them does not have, or reads in a way of its own.
const CLAUSES: &[&str] = &[
    "USING",
    "NATURAL",
    "RIGHT",
    "FULL",
    "SEMI",
    "ANTI",
    "ASOF",
    "LATERAL",
    "QUALIFY",
    "EXCEPT",
    "INTERSECT",
    "PIVOT",
    "UNPIVOT",
    "ILIKE",
];

/// Words that are no names in one of them (a column behind its table's name may be called so).
const RESERVED: &[&str] = &[
    "ANALYZE",
    "ARRAY",
    "BOTH",
    "CHECK",
    "COLUMN",
    "DEFAULT",
    "DO",
    "FETCH",
    "FOR",
    "GRANT",
    "INTO",
    "LEADING",
    "ONLY",
    "PLACING",
    "PRIMARY",
    "REFERENCES",
    "RETURNING",
    "SHOW",
    "SOME",
    "SUMMARIZE",
    "TABLE",
    "TO",
    "TRAILING",
    "UNIQUE",
    "WINDOW",
];

/// Why the text leaves the dialect.
pub fn check(sql: &str) -> Result<(), String> {
    let tokens = tokens::tokens(sql)?;
    let upper: Vec<String> =
        tokens.iter().map(|token| if token.starts_with('\'') { token.clone() } else { token.to_ascii_uppercase() }).collect();
    let words: Vec<&str> = upper.iter().map(String::as_str).collect();
    if !matches!(words.first(), Some(&("SELECT" | "WITH"))) {
        return Err("expected one SELECT".to_owned());
    }
    for at in 0..words.len() {
        word(&words, at)?;
        clause(&words, at)?;
    }
    Ok(())
}

/// What a single token may be.
fn word(words: &[&str], at: usize) -> Result<(), String> {
    let word = get(words, at);
    let next = get(words, at + 1);
    if word == ";" {
        return Err("one SELECT only, found `;`".to_owned());
    }
    if word.starts_with(['"', '`']) {
        return Err(format!("no quoted names, found {word}: Spark takes \" for a text"));
    }
    if word.starts_with('\'') && word.contains('\\') {
        return Err(format!("no backslash in a text, found {word}: Spark takes it for an escape"));
    }
    let is_column = get(words, at.wrapping_sub(1)) == ".";
    if CLAUSES.contains(&word) && !is_column {
        return Err(format!("{word} is not in the dialect"));
    }
    if RESERVED.contains(&word) && !is_column {
        return Err(format!("{word} is a keyword of DuckDB; take another name, or put the table's name before it"));
    }
    let is_sign = !is_word(word) && !word.starts_with(|c: char| c.is_ascii_digit() || c == '\'');
    if is_sign && !SIGNS.contains(&word) {
        return Err(format!("the sign {word} is not in the dialect"));
    }
    if next == "(" && is_word(word) && !CALLABLE.contains(&word) {
        return Err(format!("function {word} is not in the dialect"));
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && !cast_literal(words, at) {
        return Err(format!("bare decimal literal {word}; write CAST({word} AS DOUBLE)"));
    }
    Ok(())
}

/// What may stand around a token.
fn clause(words: &[&str], at: usize) -> Result<(), String> {
    let rest = words.get(at + 1..).unwrap_or(&[]);
    let next = get(words, at + 1);
    let before = get(words, at.wrapping_sub(1));
    match get(words, at) {
        "RECURSIVE" => Err("no recursive CTE".to_owned()),
        "ON" => equality_join(rest),
        "SUM" | "COUNT" if next == "(" => cast_whole(words, at),
        "CAST" if next == "(" => cast(rest),
        "/" => double_division(words, at),
        "*" if matches!(before, "SELECT" | "DISTINCT" | "." | ",") => Err("name every column, no `*`".to_owned()),
        "ORDER" => nulls_last(rest),
        "BY" if next.starts_with(|c: char| c.is_ascii_digit()) => Err(format!("name what to group or sort by, no position {next}")),
        "OVER" if next == "(" && inner(rest).contains(&"ORDER") => {
            Err("no ORDER BY in a window: polars counts rows where the others count equals".to_owned())
        }
        "LIMIT" => ordered(words, at),
        "SELECT" if before == "(" => subquery(words, at),
        _ => Ok(()),
    }
}

fn get<'a>(words: &[&'a str], at: usize) -> &'a str {
    words.get(at).copied().unwrap_or("")
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn cast_literal(words: &[&str], at: usize) -> bool {
    at >= 2 && words.get(at - 2) == Some(&"CAST") && words.get(at + 1) == Some(&"AS") && words.get(at + 2) == Some(&"DOUBLE")
}

/// What stands in the brackets that `words` begins with.
fn inner<'a, 'w>(words: &'w [&'a str]) -> &'w [&'a str] {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return words.get(1..at).unwrap_or(&[]);
        }
    }
    words.get(1..).unwrap_or(&[])
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

/// SUM is wider than BIGINT in DuckDB, COUNT narrower in polars: CAST(SUM(..) AS BIGINT), perhaps with COALESCE between.
fn cast_whole(words: &[&str], at: usize) -> Result<(), String> {
    let is_cast =
        at >= 2 && words[at - 1] == "(" && (words[at - 2] == "CAST" || words[at - 2] == "COALESCE" && at >= 4 && words[at - 4] == "CAST");
    if is_cast { Ok(()) } else { Err(format!("write CAST({}(..) AS BIGINT)", words[at])) }
}

/// CAST to a type of one meaning. A number with a fraction is made whole in one way only: DuckDB rounds it, the others cut.
fn cast(rest: &[&str]) -> Result<(), String> {
    let inner = inner(rest);
    let Some(at) = inner.iter().rposition(|word| *word == "AS") else { return Err("CAST without AS".to_owned()) };
    let (kind, value) = (get(inner, at + 1), inner.get(..at).unwrap_or(&[]));
    if !TYPES.contains(&kind) {
        return Err(format!("cast to {}, not to {kind}", TYPES.join(", ")));
    }
    if !matches!(kind, "BIGINT" | "INT") || matches!(get(value, 0), "ROUND" | "CASE") {
        return Ok(());
    }
    let mut depth = 0usize;
    let (mut has_double, mut is_cut) = (false, false);
    for (at, word) in value.iter().enumerate() {
        match *word {
            "(" => depth += 1,
            ")" => {
                depth = depth.saturating_sub(1);
                has_double |= depth == 0 && get(value, at.wrapping_sub(1)) == "DOUBLE";
            }
            "%" if depth == 0 => is_cut = true,
            _ => {}
        }
    }
    if has_double && !is_cut {
        return Err(
            "a number with a fraction becomes whole by CAST(ROUND(x, 0) AS BIGINT) or CAST(x - x % CAST(1 AS DOUBLE) AS BIGINT)".to_owned()
        );
    }
    Ok(())
}

/// LIMIT takes the first rows: of the same SELECT, there is an ORDER BY before it.
fn ordered(words: &[&str], at: usize) -> Result<(), String> {
    let mut depth = 0usize;
    for word in words.get(..at).unwrap_or(&[]).iter().rev() {
        match *word {
            ")" => depth += 1,
            "(" if depth == 0 => break,
            "(" => depth -= 1,
            "ORDER" if depth == 0 => return Ok(()),
            "SELECT" if depth == 0 => break,
            _ => {}
        }
    }
    Err("LIMIT without ORDER BY takes other rows every time".to_owned())
}

/// CAST(.. AS DOUBLE) on both sides of a division.
fn double_division(words: &[&str], at: usize) -> Result<(), String> {
    let left = at >= 2 && words[at - 1] == ")" && words[at - 2] == "DOUBLE";
    let right = words.get(at + 1) == Some(&"CAST") || words.get(at + 1) == Some(&"NULLIF") && words.get(at + 3) == Some(&"CAST");
    if left && right { Ok(()) } else { Err("write CAST(.. AS DOUBLE) on both sides of a division".to_owned()) }
}

fn nulls_last(rest: &[&str]) -> Result<(), String> {
    let end = rest.iter().position(|word| *word == ")").unwrap_or(rest.len());
    let rest = rest.get(..end).unwrap_or(rest);
    let keys = rest.iter().filter(|word| **word == ",").count() + 1;
    let stated = rest.windows(2).filter(|pair| *pair == ["NULLS", "LAST"]).count();
    if stated >= keys { Ok(()) } else { Err("every key of ORDER BY says NULLS LAST".to_owned()) }
}

/// A SELECT in brackets is a CTE, a derived table or the list of IN; never a number in an expression.
fn subquery(words: &[&str], at: usize) -> Result<(), String> {
    match at.checked_sub(2).and_then(|at| words.get(at)) {
        // With a NULL in the list SQL finds nothing, polars all that is not in it.
        Some(&"IN") if get(words, at.wrapping_sub(3)) == "NOT" => Err("no NOT IN (SELECT ..); use LEFT JOIN and IS NULL".to_owned()),
        Some(&("AS" | "FROM" | "JOIN" | "IN")) => Ok(()),
        _ => Err("no scalar subquery".to_owned()),
    }
}
