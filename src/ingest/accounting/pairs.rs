//! Two files that are named alike but for `before` and `after`: the numbers of the first become the first snapshot of the second.

use std::collections::BTreeMap;

use crate::tables::{Tables, Text};

/// Words of a file name that make two files a pair.
const PAIRS: [(&str, &str); 3] = [("before", "after"), ("start", "end"), ("pre", "post")];

/// The name of the file after, for a file before.
fn partner(path: &str) -> Option<String> {
    let (dir, name) = path.rsplit_once('/').map_or(("", path), |(dir, name)| (dir, name));
    let name = PAIRS.iter().find_map(|(before, after)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        let fits = |at: &usize| {
            is_edge(name.get(..*at).and_then(|front| front.chars().last()))
                && is_edge(name.get(at + before.len()..).and_then(|rest| rest.chars().next()))
        };
        let at = name.match_indices(before).map(|(at, _)| at).find(fits)?;
        Some(format!("{}{after}{}", name.get(..at)?, name.get(at + before.len()..)?))
    })?;
    Some(if dir.is_empty() { name } else { format!("{dir}/{name}") })
}

/// Joins the pairs.
pub fn join(tables: &mut Tables) {
    let ids: BTreeMap<Text, i32> = tables
        .artifacts
        .iter()
        .filter(|row| row.kind.as_ref() == super::FORMAT.name)
        .map(|row| (row.path.clone(), row.artifact_id))
        .collect();
    let pairs: BTreeMap<i32, i32> = ids
        .iter()
        .filter_map(|(path, id)| Some((*id, *ids.get(partner(path)?.as_str())?)))
        .filter(|(before, after)| before != after)
        .collect();
    for row in &mut tables.accounting {
        let Some(after) = pairs.get(&row.artifact_id).filter(|_| row.moment.as_ref() == "last") else { continue };
        row.stands_in = Some(row.artifact_id);
        row.artifact_id = *after;
        row.moment = "first".into();
    }
    tables.accounting.sort_by_key(|row| (row.artifact_id, row.stands_in.is_none(), row.stands_in, row.line_no));
    for after in pairs.values() {
        let rows = || tables.accounting.iter().filter(|row| row.artifact_id == *after);
        let of = |at: &str, key: &str, scope: &str| {
            rows().find(|row| row.moment.as_ref() == at && row.key.as_ref() == key && row.scope.starts_with(scope)).map(|row| row.value)
        };
        // A clock, where both have it; else the ticks of one CPU.
        let span =
            |key: &str, scope: &str| of("last", key, scope).zip(of("first", key, scope)).and_then(|(last, first)| last.checked_sub(first));
        let window =
            span("realtime", "system").or_else(|| span("uptime", "system")).or_else(|| span("cpu_total", "cpu")).filter(|ns| *ns > 0);
        if let Some(artifact) = tables.artifacts.get_mut(*after as usize) {
            artifact.window_ns = artifact.window_ns.or(window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pairs() {
        let is = |before: &str, after: Option<&str>| assert_eq!(partner(before).as_deref(), after, "{before}");
        is("before.txt", Some("after.txt"));
        is("run/psi-before.txt", Some("run/psi-after.txt"));
        is("pre/cpu.stat.pre", Some("pre/cpu.stat.post"));
        is("start-1.txt", Some("end-1.txt"));
        for other in ["pressure.txt", "restart.txt", "after.txt", ""] {
            is(other, None);
        }
    }
}
