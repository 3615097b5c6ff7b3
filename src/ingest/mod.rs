//! BYTES -> ROWS. The registry of formats and what an importer gets to see.
//!
//! One format, one file or folder, one line in [`FORMATS`]. An importer never touches the tables: it calls the
//! [`Recorder`], the only door. It is chosen by content, never by file name. It returns `Err` only where nothing of
//! the file can be used; whatever is smaller is a counted skip (`Recorder::skip`).

mod command;
mod execution;
mod files;
mod heaptrack;
mod hyperfine;
pub mod manifest;
mod memory_series;
mod merge;
mod offcpu_stacks;
mod perf_data;
mod perf_stat;
mod recorder;
#[cfg(test)]
mod sniff_tests;
mod strace_log;
mod strace_summary;
#[cfg(test)]
mod testing;
mod text;
mod time_v;

use std::path::Path;

use crate::error::Result;
use crate::objects::Library;

pub use files::{Inputs, read_all};
pub use manifest::{Manifest, Placed, apply as apply_manifests, manifests};
pub use merge::merge;
pub use recorder::{FrameAt, NewEvent, Recorder, Severity};

/// One input file, decompressed.
pub struct Input<'a> {
    /// Path relative to the input root, as shown to people and used in anchors.
    pub name: &'a str,
    /// Where it lies on this machine (for neighbours such as jitdump files; never for writing).
    pub path: &'a Path,
    /// The whole content, decompressed where the file was zstd or gzip.
    pub bytes: &'a [u8],
    /// Object files that may be opened: symbol directories and debug roots.
    pub library: &'a Library,
    /// What the user asked for.
    pub options: &'a ImportOptions,
}

/// Options that change what importers keep.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Keep scheduler, syscall, lock and block tracepoints in `samples` too.
    pub keep_tracepoints: bool,
}

/// A file format: how to recognise it and how to read it.
pub struct Format {
    /// `artifacts.kind`.
    pub name: &'static str,
    /// `artifacts.tool`.
    pub tool: &'static str,
    /// One sentence for `tripod formats`.
    pub doc: &'static str,
    /// The command that records it, for `tripod formats`.
    pub record: &'static str,
    /// Decides from the first 64 KiB of the decompressed file.
    pub sniff: fn(&[u8]) -> bool,
    pub read: fn(&Input<'_>, &mut Recorder) -> Result<()>,
}

/// Every format. Order matters where two could claim a file: formats with a magic number first, then JSON (each with
/// its own key), then text, the most distinctive first; folded stacks last, since any line that ends in a number fits.
pub static FORMATS: &[Format] = &[
    Format {
        name: "perf.data",
        tool: "perf",
        doc: "samples, stacks and scheduler events; file or pipe mode, also compressed (perf record -z)",
        record: "perf record -F 997 -e cpu-clock --call-graph fp -o perf.data -- PROGRAM",
        sniff: perf_data::sniff,
        read: perf_data::read,
    },
    Format {
        name: "heaptrack",
        tool: "heaptrack",
        doc: "every allocation by stack: calls, bytes, peak, leaked, temporary",
        record: "heaptrack -o heaptrack PROGRAM",
        sniff: heaptrack::sniff,
        read: heaptrack::read,
    },
    Format {
        name: "hyperfine",
        tool: "hyperfine",
        doc: "timed repetitions of commands, with parameters",
        record: "hyperfine -N --runs 10 --export-json bench.json -L variant a,b 'PROGRAM {variant}'",
        sniff: hyperfine::sniff,
        read: hyperfine::read,
    },
    Format {
        name: "manifest",
        tool: "tripod",
        doc: "which command made which artifact, declared work, bare runs, host",
        record: "written by testdata/record.sh",
        sniff: manifest::sniff,
        read: manifest::read,
    },
    // JSON lines, so after the formats that are one object
    Format {
        name: "perf-stat",
        tool: "perf",
        doc: "counters of a whole run: JSON lines (-j), separated fields (-x) or the table for people",
        record: "perf stat -j -o perf-stat.json -e task-clock,context-switches,page-faults,major-faults,duration_time,user_time,system_time -- PROGRAM",
        sniff: perf_stat::sniff,
        read: perf_stat::read,
    },
    Format {
        name: "time-v",
        tool: "time",
        doc: "wall, user and system time, largest resident set, faults and switches of one run",
        record: "/usr/bin/time -v -o time-v.txt PROGRAM",
        sniff: time_v::sniff,
        read: time_v::read,
    },
    Format {
        name: "memory-series",
        tool: "procfs",
        doc: "resident set over time, one reading per line",
        record: "PROGRAM & testdata/rss.sh $! > rss.tsv",
        sniff: memory_series::sniff,
        read: memory_series::read,
    },
    // before the summary: `-C` puts a summary below a log
    Format {
        name: "strace-log",
        tool: "strace",
        doc: "every system call with time, duration, arguments and stack",
        record: "strace -k -f -ttt -T -e trace=write,fsync,futex,clock_nanosleep -o calls.strace PROGRAM",
        sniff: strace_log::sniff,
        read: strace_log::read,
    },
    Format {
        name: "strace-summary",
        tool: "strace",
        doc: "calls, errors and time per system call",
        record: "strace -f -c -w -o strace-cw.txt PROGRAM",
        sniff: strace_summary::sniff,
        read: strace_summary::read,
    },
    Format {
        name: "offcpu-stacks",
        tool: "bpf",
        doc: "off-CPU time summed by stack: offcputime, bpftrace, folded",
        record: "offcputime -p PID 10 > offcpu.txt",
        sniff: offcpu_stacks::sniff,
        read: offcpu_stacks::read,
    },
];

/// The format that claims these bytes.
pub fn sniff(bytes: &[u8]) -> Option<&'static Format> {
    let head = bytes.get(..65_536).unwrap_or(bytes);
    FORMATS.iter().find(|format| (format.sniff)(head))
}
