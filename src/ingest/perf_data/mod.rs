//! perf.data: what `perf record` writes.
//!
//! ```text
//! container   header, attrs, feature sections; in pipe mode the records that stand for them
//! records     one record after the other, as they lie in the file
//! order       the same by time within rounds, compressed ones expanded
//! import      record -> rows: tasks (who), memory and maps (where), sample (what), sched and waits, payload (other
//!             tracepoints), groups (counters read with a sample)
//! batch       the stacks of samples, on all threads beside import: stacks (the places of a chain), unwind, forest (places ->
//!             nodes)
//! finish      what the file says as a whole: artifact, execution; losses, rates (what could not be used, or is in doubt)
//! ```
//!
//! The file is walked once. Of each record an index entry is kept until its turn comes; then it is decoded from the
//! mapped bytes, and only interned stacks and the rows are kept. Until all stacks are made, a row's stack is the number of
//! a slot ([`import::Import::finish_stacks`]). linux-perf-data gives the names of features and record
//! types; its reader is not used, because it gives up files that can be read (a feature outside the file, attrs of
//! unknown types, several events without identifiers) and takes several times as long.
//!
//! Known limits: guests are a space of their own in which nothing is named; hardware traces (AUX: intel_pt, SPE) are
//! passed over.

mod attr;
mod batch;
mod block;
mod bytes;
mod call_names;
mod cmdline;
mod compressed;
mod container;
mod events;
mod features;
mod field;
mod finish;
mod forest;
mod groups;
mod import;
mod interrupts;
mod locks;
mod losses;
mod maps;
mod memory;
mod naming;
mod order;
mod payload;
#[cfg(test)]
mod payload_tests;
mod rates;
mod records;
mod sample;
mod sched;
mod scheduler;
mod stacks;
mod syscalls;
mod tasks;
mod throttle;
#[cfg(test)]
mod tracepoint_tests;
mod tracing;
mod unwind;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use crate::error::Result;
use crate::ingest::{Format, ImportOptions, Input, Recorder};
use crate::objects::{Library, Roots};

pub use container::sniff;

/// The format, for the registry.
pub const FORMAT: Format = Format {
    name: "perf.data",
    tool: "perf",
    doc: "samples, stacks, scheduler and other tracepoints; file or pipe mode, also compressed (perf record -z)",
    record: "perf record -F 997 -e cpu-clock --call-graph fp -o perf.data -- PROGRAM",
    sniff,
    read,
};

/// Records per type as the import counts them, compressed ones beside what they hold. `None` where the file is refused.
pub fn census(bytes: &[u8]) -> Option<BTreeMap<u32, i64>> {
    let (library, options) = (Library::open(&Roots::default()), ImportOptions::default());
    let input = Input { name: "census", path: Path::new("census"), bytes, library: &library, options: &options };
    let container = container::Container::open(&input, &mut Recorder::new(super::files::blank("census"))).ok()?;
    Some(order::walk(container.data, container.order, &container.attrs, |_| {}).by_type)
}

/// Reads the file into the recorder.
pub fn read(input: &Input<'_>, recorder: &mut Recorder) -> Result<()> {
    let container = container::Container::open(input, recorder)?;
    let argv = features::command_line(&container);
    let command = cmdline::parse(&argv);
    let events = import::events(&container, recorder);
    let max_stacks = events.iter().map(|event| event.max_stack).collect();
    let makers = batch::Makers::new(container.data, container.order, import::dump_arch(&container), &container.attrs, max_stacks);
    let (batch, receiver) = batch::Batch::new(&makers, input.options.stacks_at_once);
    let receiver = Mutex::new(receiver);
    let mut import = import::Import::new(input, &container, &command, events, batch, recorder);
    // Moved in and out: should it panic, the batch is dropped and the makers stop.
    let take = || {
        let walk = order::walk(container.data, container.order, &container.attrs, |record| import.record(record));
        import.batch.close();
        makers.serve(&receiver);
        (walk, import)
    };
    let ((walk, import), ()) = rayon::join(take, || makers.serve(&receiver));
    import.finish(&container, &walk, makers.finish(), &argv, &command);
    Ok(())
}
