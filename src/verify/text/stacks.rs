//! Sums of off-CPU tools and folded files: the numbers that end their stacks.

use crate::verify::content::lines;

/// The sum of all numbers, in the file's own unit, and how many there are.
pub fn total(bytes: &[u8]) -> (i64, i64) {
    let maps = lines(bytes).any(|(_, line)| line.starts_with('@') && line.trim_end().ends_with('['));
    let found: Vec<i64> = if maps { of_maps(bytes) } else { of_lines(bytes) };
    (found.iter().fold(0, |sum, value| i64::saturating_add(sum, *value)), found.len() as i64)
}

/// `@usecs[` ... `, comm]: 1976517`.
fn of_maps(bytes: &[u8]) -> Vec<i64> {
    let mut inside = false;
    let mut found = Vec::new();
    for (_, line) in lines(bytes) {
        if line.starts_with('@') {
            inside = line.trim_end().ends_with('[');
        } else if let Some((_, value)) = line.rsplit_once("]:").filter(|_| inside) {
            found.extend(value.trim().parse::<i64>().ok());
            inside = false;
        }
    }
    found
}

/// A number alone on an indented line below a stack (`offcputime`), or at the end of a folded line.
fn of_lines(bytes: &[u8]) -> Vec<i64> {
    let mut found = Vec::new();
    let mut frames = 0;
    for (_, line) in lines(bytes) {
        let text = line.trim();
        let is_indented = line.starts_with([' ', '\t']);
        match text.parse::<i64>() {
            _ if text.is_empty() || text.starts_with('#') || text.starts_with("//") => frames = 0,
            Ok(value) if is_indented => {
                found.extend(Some(value).filter(|_| frames > 0));
                frames = 0;
            }
            _ if is_indented => frames += 1,
            _ => {
                frames = 0;
                let folded = text.rsplit_once(' ').filter(|(stack, _)| stack.contains(';'));
                found.extend(folded.and_then(|(_, value)| value.parse::<i64>().ok()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three forms as their tools' man pages show them.
    #[test]
    fn numbers_below_and_behind_stacks() {
        assert_eq!(
            total(b"Tracing off-CPU time (us)\n\n    schedule\n    main\n    -  sl (9)\n        1976517\n\n    a\n        3\n"),
            (1_976_520, 2)
        );
        assert_eq!(total(b"sl;main;schedule 5\nsl;main 7\nnoise\n"), (12, 2));
        assert_eq!(
            total(b"Attaching 3 probes...\n@usecs[\n    schedule+70\n,\n    main+29\n, sl]: 40\n@usecs[\n    x\n, y]: 2\n@other: 9\n"),
            (42, 2)
        );
    }
}
