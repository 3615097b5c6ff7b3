//! What a name that does not exist may have been meant to be.

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
