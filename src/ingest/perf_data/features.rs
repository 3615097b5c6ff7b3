//! Feature sections: build-ids, host facts, the command line.

use std::collections::BTreeMap;

use linux_perf_data::Feature;
use linux_perf_data::linux_perf_event_reader::constants::{PERF_RECORD_MISC_BUILD_ID_SIZE, PERF_RECORD_MISC_CPUMODE_MASK};

use super::bytes::{Bytes, Order};
use super::container::Container;
use super::naming::{meta_info, string};
use super::records::Records;
use crate::ingest::Recorder;
use crate::ingest::files::hex;
use crate::tables::HostFact;

/// Build-id (lower-case hex) by path as recorded.
pub type BuildIds = BTreeMap<String, String>;

/// The BUILD_ID feature: records of pid, 20 bytes of id, its length, path. In pipe mode the same as records of the stream.
pub fn build_ids(container: &Container<'_>) -> BuildIds {
    let mut ids = BuildIds::new();
    if let Some(section) = container.feature(Feature::BUILD_ID) {
        read_build_ids(section, container.order, &mut ids);
    }
    for record in &container.build_id_records {
        read_build_ids(record, container.order, &mut ids);
    }
    ids
}

fn read_build_ids(section: &[u8], order: Order, ids: &mut BuildIds) {
    let has_pid = !is_without_pid(section, order);
    let mut rest = section;
    loop {
        let mut records = Records::new(rest, order);
        for record in records.by_ref() {
            let mut body = Bytes::new(record.body, order);
            if has_pid && body.i32().is_none() {
                continue;
            }
            let Some(id) = body.take(24) else { continue };
            let path = body.c_string().into_owned();
            if let Some(id) = build_id(id, record.misc & PERF_RECORD_MISC_BUILD_ID_SIZE != 0)
                && !path.is_empty()
                && record.misc & PERF_RECORD_MISC_CPUMODE_MASK <= 2
            {
                ids.entry(path).or_insert(id);
            }
        }
        // Entries may be padded with zeros, which look like one without a size.
        match rest.get(records.offset()..).and_then(|left| left.strip_prefix(&[0; 8])) {
            Some(left) => rest = left,
            None => return,
        }
    }
}

/// Entries had no pid before Linux 2.6.35. As perf does, that is told by the kernel's own, which is the first: its name
/// then begins four bytes before where it is looked for.
fn is_without_pid(section: &[u8], order: Order) -> bool {
    let first = Records::new(section, order).next();
    first.is_some_and(|record| record.body.get(28..).is_some_and(|name| name.starts_with(b"nel.kallsyms]")))
}

/// A build-id of 20 bytes with its length in the 21st; old tools wrote no length and padded with zeros.
pub fn build_id(bytes: &[u8], has_size: bool) -> Option<String> {
    let id = bytes.get(..20)?;
    let len = match bytes.get(20) {
        Some(size) if has_size => usize::from(*size).min(20),
        _ => id.rchunks(4).position(|chunk| chunk.iter().any(|byte| *byte != 0)).map_or(0, |zeros| 20 - 4 * zeros),
    };
    let id = id.get(..len)?;
    (!id.is_empty() && id.iter().any(|byte| *byte != 0)).then(|| hex(id))
}

/// CMDLINE: a number of strings.
pub fn command_line(container: &Container<'_>) -> Vec<String> {
    let Some(section) = container.feature(Feature::CMDLINE) else { return Vec::new() };
    let mut bytes = Bytes::new(section, container.order);
    let count = bytes.u32().unwrap_or(0);
    // Bounded by the section: `string` fails at its end.
    (0..count).map_while(|_| string(&mut bytes)).collect()
}

/// What the file says about the recorded machine.
pub fn host_facts(container: &Container<'_>, build_ids: &BuildIds, recorder: &mut Recorder) {
    let mut fact = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            recorder.tables.host.push(HostFact::new(key, &value));
        }
    };
    let mut meta = meta_info(container);
    fact("hostname", container.string(Feature::HOSTNAME));
    fact("kernel_release", container.string(Feature::OSRELEASE).or_else(|| meta.remove("kernel_version")));
    fact("kernel_build_id", build_ids.get("[kernel.kallsyms]").cloned());
    fact("arch", container.string(Feature::ARCH));
    // Two numbers: CPUs available, CPUs online.
    let cpus = container.feature(Feature::NRCPUS).map(|section| Bytes::at(section, 4, container.order));
    fact("cpus", cpus.and_then(|mut bytes| bytes.u32()).map(|cpus| cpus.to_string()));
    fact("cpu_model", container.string(Feature::CPUDESC));
    let memory = container.feature(Feature::TOTAL_MEM).map(|section| Bytes::new(section, container.order));
    // The file has kB.
    fact("memory_bytes", memory.and_then(|mut bytes| bytes.u64()).map(|kib| kib.saturating_mul(1024).to_string()));
}
