//! TABLES -> TABLES, where SQL should not go: trees, intervals, order statistics.
//!
//! [`derive`] runs once all frames are symbolized. It chooses the target, makes every id canonical, gives waits their
//! reasons, sums costs over stacks, finds symbol classes and sites, and fits trends. What a stack inherits from its
//! callers is found once per path of functions (`calls.rs`, `nodes.rs`).

pub mod baseline;
mod bench;
pub mod calls;
pub mod canonical;
pub mod classes;
mod cost;
mod effective;
mod facts;
mod leaves;
mod nodes;
mod noise;
pub mod paths;
pub mod places;
pub mod scaling;
mod spans;
mod steps;
pub mod target;
mod trend;
pub mod waits;

use crate::error::Result;
use crate::symbolize::Inlined;
use crate::tables::Tables;

pub use calls::Calls;
pub use classes::{Classes, Marks};
pub use target::{Target, TargetChoice};

/// What later stages need of the work done here.
#[derive(Debug)]
pub struct Derived {
    pub target: Target,
    pub classes: Classes,
    pub marks: Marks,
    pub calls: Calls,
}

/// Fills the derived tables. `inlined`: frames that are not on the stacks yet. `choice` is what the user said about the
/// target process.
pub fn derive(tables: &mut Tables, inlined: &Inlined, choice: &TargetChoice) -> Result<Derived> {
    let target = target::choose(tables, choice);
    canonical::renumber(tables, inlined);
    let classes = Classes::embedded()?;
    let named: &Tables = tables;
    let look = || rayon::join(|| classes.mark(named), || Calls::read(named));
    let (keys, (marks, calls)) = rayon::join(|| canonical::stack_keys(named), look);
    tables.stacks.set_keys(keys);
    waits::reasons(tables, &classes, &marks);
    waits::split_states(tables);
    tables.wait_pairs = waits::pairs(tables);
    let nodes = nodes::Nodes::read(&calls, &marks);
    let sampled: &Tables = tables;
    let ((stack_costs, function_costs), (sizes, thread_weights)) =
        rayon::join(|| cost::sum(sampled, &nodes, classes.bit("ROOT")), || (effective::sizes(sampled, &nodes), cost::threads(sampled)));
    tables.thread_weights = thread_weights;
    tables.stack_costs = stack_costs;
    tables.function_costs = function_costs;
    for (event, (n_eff, design_effect)) in tables.events.iter_mut().zip(sizes) {
        (event.n_eff, event.design_effect) = (n_eff, design_effect);
    }
    let summed: &Tables = tables;
    let by_path = || rayon::join(|| classes::find(summed, &classes, &nodes), || leaves::find(summed));
    let ((by_stack, by_leaf), facts) = rayon::join(by_path, || facts::find(summed, &nodes));
    (tables.stack_classes, tables.stack_sites) = by_stack;
    (tables.leaf_spreads, tables.leaf_paths) = by_leaf;
    tables.recording_facts = facts;
    trend::fit(tables);
    bench::summarize(tables);
    scaling::fit(tables);
    spans::sum(tables)?;
    baseline::fill(tables);
    steps::fill(tables);
    Ok(Derived { target, classes, marks, calls })
}
