//! The functions at which samples end: by how many call paths they are reached, and how many of them hold the weight.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::tables::{LeafPath, LeafSpread, StackCost, Tables};

/// Functions with less of an event than this part have no row: nothing is decided by their paths.
const LEAST_PART: i64 = 100;

/// Weight and count of a function.
#[derive(Default)]
struct Leaf {
    weight: i64,
    count: i64,
}

/// The rows of `leaf_spreads` and `leaf_paths`, from `stack_costs`, which lie by event.
pub fn find(tables: &Tables) -> (Vec<LeafSpread>, Vec<LeafPath>) {
    let (mut spreads, mut rows) = (Vec::new(), Vec::new());
    for of_event in tables.stack_costs.chunk_by(|a, b| a.event_id == b.event_id) {
        let Some(event_id) = of_event.first().map(|row| row.event_id) else { continue };
        let leaves = leaves(of_event);
        spreads.extend(spread(event_id, &leaves));
        rows.extend(paths(tables, event_id, of_event, &leaves));
    }
    (spreads, rows)
}

/// By function; None for what has no name.
fn leaves(of_event: &[StackCost]) -> BTreeMap<Option<i32>, Leaf> {
    let mut sums: FxHashMap<Option<i32>, Leaf> = FxHashMap::default();
    for row in of_event {
        let leaf = sums.entry(row.leaf_function_id).or_default();
        leaf.weight = leaf.weight.saturating_add(row.self_weight);
        leaf.count = leaf.count.saturating_add(row.self_count);
    }
    sums.into_iter().collect()
}

fn whole(leaves: &BTreeMap<Option<i32>, Leaf>) -> i64 {
    leaves.values().fold(0, |sum: i64, leaf| sum.saturating_add(leaf.weight))
}

fn spread(event_id: i32, leaves: &BTreeMap<Option<i32>, Leaf>) -> Option<LeafSpread> {
    let mut weights: Vec<i64> = leaves.values().map(|leaf| leaf.weight).collect();
    weights.sort_unstable_by(|a, b| b.cmp(a));
    let (whole, mut sum) = (i128::from(whole(leaves)), 0_i128);
    let is_enough = |weight: &i64| {
        sum += i128::from(*weight);
        sum * 5 >= whole * 4
    };
    let at = weights.iter().position(is_enough)?;
    Some(LeafSpread { event_id, functions: weights.len() as i64, functions_80: at as i64 + 1, largest_weight: *weights.first()? })
}

/// Only functions that get a row are looked at by path.
fn paths(tables: &Tables, event_id: i32, of_event: &[StackCost], leaves: &BTreeMap<Option<i32>, Leaf>) -> Vec<LeafPath> {
    let whole = whole(leaves);
    let large = leaves.iter().filter(|(function, leaf)| function.is_some() && leaf.weight.saturating_mul(LEAST_PART) >= whole);
    let mut by_path: BTreeMap<Option<i32>, FxHashMap<i64, i64>> = large.map(|(function, _)| (*function, FxHashMap::default())).collect();
    for row in of_event {
        if let Some(by_path) = by_path.get_mut(&row.leaf_function_id) {
            // The key covers the functions of the path only: the lines of one function are one place.
            let weight = by_path.entry(tables.stacks.key(row.stack_id).unwrap_or(0)).or_insert(0);
            *weight = weight.saturating_add(row.self_weight);
        }
    }
    let row = |(function, by_path): (Option<i32>, FxHashMap<i64, i64>)| {
        let leaf = leaves.get(&function)?;
        Some(LeafPath {
            event_id,
            function_id: function?,
            self_weight: leaf.weight,
            self_count: leaf.count,
            paths: by_path.len() as i64,
            two_paths_weight: two_largest(by_path.values()),
        })
    };
    by_path.into_iter().filter_map(row).collect()
}

fn two_largest<'a>(weights: impl Iterator<Item = &'a i64>) -> i64 {
    let (mut first, mut second) = (0, 0);
    for weight in weights {
        if *weight > first {
            (first, second) = (*weight, first);
        } else if *weight > second {
            second = *weight;
        }
    }
    first.saturating_add(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summed by hand: function 0 has 60 over three paths (30, 20, 10), function 1 has 25, 2 has 14, and 1 has no name.
    #[test]
    fn weights_by_function_and_path() {
        let (mut tables, mut keys) = (Tables::default(), Vec::new());
        let rows = [(Some(0), 1, 30), (Some(0), 2, 20), (Some(0), 3, 5), (Some(0), 3, 5), (Some(1), 4, 25), (Some(2), 5, 14), (None, 6, 1)];
        for (at, (function, key, weight)) in rows.into_iter().enumerate() {
            let stack_id = at as i32;
            keys.push(key);
            assert_eq!(tables.stacks.push(None, 0), stack_id);
            tables.stack_costs.push(StackCost {
                event_id: 0,
                stack_id,
                self_weight: weight,
                self_count: 1,
                leaf_function_id: function,
                leaf_is_kernel: false,
                leaf_dso_id: None,
                site_function_id: None,
                caller_certain: None,
                reaches_start: None,
                classes: None,
            });
        }
        tables.stacks.set_keys(keys);
        let (spreads, leaf_paths) = find(&tables);
        let spread = LeafSpread { event_id: 0, functions: 4, functions_80: 2, largest_weight: 60 };
        assert_eq!(spreads, [spread]);
        let first = LeafPath { event_id: 0, function_id: 0, self_weight: 60, self_count: 4, paths: 3, two_paths_weight: 50 };
        assert_eq!(leaf_paths.first(), Some(&first));
        assert_eq!(leaf_paths.iter().map(|row| (row.function_id, row.paths)).collect::<Vec<_>>(), [(0, 3), (1, 1), (2, 1)]);
    }
}
