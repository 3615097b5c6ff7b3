//! What a name that does not exist may have been meant to be.

use crate::dataset::RUN;
use crate::error::Error;

/// A table that does not exist: the nearest names, and all of them.
pub fn no_table(name: &str, tables: &[String]) -> Error {
    let known: Vec<&str> = tables.iter().map(String::as_str).collect();
    Error::Request(format!(
        "there is no table {name}; did you mean {}?\nThe tables: {} (`tripod tables` lists their columns)",
        nearest(name, &known).join(", "),
        known.join(", ")
    ))
}

/// What the engine says of a statement, in short, with the columns that an unknown name is near to.
pub fn explained(error: &Error, columns: &[&str]) -> Error {
    let error = error.to_string();
    // What follows is the engine's plan, of no use to the one who mistyped a name.
    let short = error.split("\n\n").next().unwrap_or(&error);
    let mut known = columns.to_vec();
    known.sort_unstable();
    known.dedup();
    let hint = match quoted(short) {
        Some(RUN) if short.contains("column") && !known.contains(&RUN) => {
            format!("\n`{RUN}` is a column over a dataset only (a folder of runs); this is one run: leave it out")
        }
        Some(name) if short.contains("column") && !known.contains(&name) && !known.is_empty() => {
            format!("\ndid you mean {}? (`tripod tables` lists every column)", nearest(name, &known).join(", "))
        }
        _ => reserved(short).unwrap_or_default(),
    };
    Error::Request(format!("{short}{hint}"))
}

/// What to do where a column is called like a word of SQL, or where two columns come out with one name.
fn reserved(error: &str) -> Option<String> {
    if error.contains("duplicate output name") {
        return Some(
            "\nname the columns apart in a CTE first (WITH a AS (SELECT ... AS other_name ...)), then group or join there".to_owned(),
        );
    }
    let lower = error.to_lowercase();
    let word = RESERVED.iter().find(|word| lower.contains(&format!("found: {word}")) || lower.contains(&format!("invalid {word} ")))?;
    Some(format!("\n`{word}` is a word of SQL, too: write t.{word} (t: the table's name after AS) or \"{word}\""))
}

/// Words of the parser that are names of columns.
const RESERVED: &[&str] = &["view", "interval"];

/// The first name in quotes of an error message, without its qualifier.
fn quoted(error: &str) -> Option<&str> {
    let start = error.find(['"', '\''])?;
    let rest = error.get(start + 1..)?;
    let end = rest.find(['"', '\''])?;
    rest.get(..end)?.rsplit(['.', ':']).next().filter(|name| !name.is_empty())
}

/// The up to three names that differ least from `name`, best first.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut ranked: Vec<(usize, &str)> = known
        .iter()
        .map(|candidate| {
            // A name that is part of the other one is near, whatever their lengths: `weight` and `self_weight`.
            let part = wanted.len().min(candidate.len()) > 2 && (candidate.contains(&wanted) || wanted.contains(candidate));
            let distance = distance(&wanted, candidate);
            (if part { distance.min(1) } else { distance }, *candidate)
        })
        .collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Levenshtein's distance: insertions, deletions and replacements of characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (right, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = *cell;
            *cell = replaced.min(diagonal + 1).min(before + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textbook_distances() {
        // The usual examples of the literature.
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("saturday", "sunday"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }

    #[test]
    fn near_names_come_first() {
        let known = ["self_weight", "total_weight", "function_id", "view"];
        assert_eq!(nearest("slef_weight", &known)[0], "self_weight");
        assert_eq!(nearest("weight", &known)[..2], ["self_weight", "total_weight"]);
        assert_eq!(nearest("functionid", &known)[0], "function_id");
        assert_eq!(nearest("nme", &["n", "n_eff", "name"])[0], "name");
    }
}
