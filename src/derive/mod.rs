//! TABLES -> TABLES, where SQL should not go: trees, intervals, order statistics.
//!
//! [`derive`] runs once all frames are symbolized. It chooses the target, gives waits their reasons, sums costs over
//! stacks, finds symbol classes and sites, and fits trends; [`canonical::renumber`] then makes every id canonical.

mod bench;
pub mod canonical;
pub mod classes;
mod cost;
mod effective;
mod nodes;
pub mod paths;
pub mod places;
pub mod target;
mod trend;
mod waits;

use crate::error::Result;
use crate::tables::Tables;

pub use classes::Classes;
pub use target::{Target, TargetChoice};

/// Fills the derived tables. `choice` is what the user said about the target process.
pub fn derive(tables: &mut Tables, choice: &TargetChoice) -> Result<Target> {
    let target = target::choose(tables, choice);
    canonical::renumber(tables);
    let classes = Classes::embedded()?;
    let marks = classes.mark(tables);
    waits::reasons(tables, &classes, &marks);
    waits::split_states(tables);
    let nodes = nodes::Nodes::read(tables, &marks);
    cost::sum(tables, &nodes);
    effective::sizes(tables, &nodes);
    classes::find(tables, &classes, &marks, &nodes);
    drop(nodes);
    trend::fit(tables);
    bench::summarize(tables);
    Ok(target)
}
