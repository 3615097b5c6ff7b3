//! The functions at which samples end: by how many call paths they are reached, and how many of them hold the weight.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::tables::{LeafPath, LeafSpread, StackCost, Tables};

/// Functions with less of an event than this part have no row: nothing is decided by their paths.
const LEAST_PART: i64 = 100;

/// Weight and count of a function, and the weight by call path.
#[derive(Default)]
struct Leaf {
    weight: i64,
    count: i64,
    by_path: FxHashMap<i64, i64>,
}

/// The rows of `leaf_spreads` and `leaf_paths`, from `stack_costs`.
pub fn find(tables: &Tables) -> (Vec<LeafSpread>, Vec<LeafPath>) {
    let mut by_event: BTreeMap<i32, BTreeMap<Option<i32>, Leaf>> = BTreeMap::new();
    for row in &tables.stack_costs {
        // The key covers the functions of the path only: the lines of one function are one place.
        let path = tables.stacks.key(row.stack_id).unwrap_or(0);
        by_event.entry(row.event_id).or_default().entry(row.leaf_function_id).or_default().add(row, path);
    }
    let spreads = by_event.iter().filter_map(|(event, leaves)| spread(*event, leaves)).collect();
    (spreads, by_event.iter().flat_map(|(event, leaves)| paths(*event, leaves)).collect())
}

impl Leaf {
    fn add(&mut self, row: &StackCost, path: i64) {
        self.weight = self.weight.saturating_add(row.self_weight);
        self.count = self.count.saturating_add(row.self_count);
        let weight = self.by_path.entry(path).or_insert(0);
        *weight = weight.saturating_add(row.self_weight);
    }

    fn two_paths(&self) -> i64 {
        let (mut first, mut second) = (0, 0);
        for weight in self.by_path.values() {
            if *weight > first {
                (first, second) = (*weight, first);
            } else if *weight > second {
                second = *weight;
            }
        }
        first.saturating_add(second)
    }
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

fn paths(event_id: i32, leaves: &BTreeMap<Option<i32>, Leaf>) -> Vec<LeafPath> {
    let whole = whole(leaves);
    let row = |(function, leaf): (&Option<i32>, &Leaf)| {
        Some(LeafPath {
            event_id,
            function_id: (*function)?,
            self_weight: leaf.weight,
            self_count: leaf.count,
            paths: leaf.by_path.len() as i64,
            two_paths_weight: leaf.two_paths(),
        })
    };
    leaves.iter().filter(|(_, leaf)| leaf.weight.saturating_mul(LEAST_PART) >= whole).filter_map(row).collect()
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
