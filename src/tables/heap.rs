//! Memory.

use super::{Text, table};

table!("allocations", "One allocation site: all requests that one stack made.", Allocation {
    artifact_id: i32, "id", "The artifact";
    stack_id: Option<i32>, "id", "The stack";
    calls: i64, "count", "Allocation calls";
    bytes: i64, "bytes", "Bytes asked for in all";
    peak_bytes: i64, "bytes", "Live bytes of this site when the whole heap was largest";
    leaked_bytes: i64, "bytes", "Still live at the end";
    temporary_calls: i64, "count", "heaptrack's notion: freed by the very next event of the same allocation info; a hint only";
    line_no: i64, "line", "Line that defines the trace in the decompressed file";
});

table!("heap_timeline", "Heap size over time.", HeapPoint {
    artifact_id: i32, "id", "The artifact";
    ts_ns: i64, "ns", "Since the start of the recording";
    live_bytes: i64, "bytes", "Live heap";
    rss_bytes: Option<i64>, "bytes", "Resident set, where the tool notes it";
    line_no: i64, "line", "Line in the decompressed file";
});

table!("memory", "One reading of a process's memory.", MemoryPoint {
    artifact_id: i32, "id", "The artifact";
    ts_ns: i64, "ns", "Since the first reading";
    rss_bytes: i64, "bytes", "Resident set";
    pss_bytes: Option<i64>, "bytes", "Proportional set";
    anon_bytes: Option<i64>, "bytes", "Anonymous memory";
    swap_bytes: Option<i64>, "bytes", "Swapped out";
    source: Text, "text", "smaps_rollup, status, ...";
    line_no: i64, "line", "Line in the file";
});
