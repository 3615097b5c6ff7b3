//! Places in programs.

use super::{Maybe32, Stacks, Text, table};

table!("dsos", "A file that code was loaded from, or what stands for one (kernel, vDSO, anonymous memory).", #[derive(Default)] Dso {
    dso_id: i32, "id", "Dense id, by (path, build_id)";
    name: Text, "text", "Base name, or the pseudo name ([kernel.kallsyms], [vdso], //anon)";
    path: Text, "text", "Path as recorded";
    build_id: Option<Text>, "hex", "Lower-case hex of the GNU build-id note";
    kind: Text, "text", "user, kernel, module, vdso, anon, jit, bpf or none (text formats that name no file)";
    symbol_source: Option<Text>, "text", "What named it: the file (relative to its root) or the artifact; null where nothing did";
    producer: Option<Text>, "text", "What made its code, as the debug information says (DW_AT_producer): of most of the addresses seen; null where it is unknown";
    optimized_places: Option<i64>, "count", "Addresses seen whose producer says that it optimized; null where no producer says either";
    plain_places: Option<i64>, "count", "Addresses seen whose producer says that it did not (-O0, -Og, no -O at all)";
});

table!("mappings", "An address range of a process backed by a dso.", Mapping {
    artifact_id: i32, "id", "The artifact";
    process_id: Option<i32>, "id", "The process; null for the kernel";
    start_avma: i64, "address", "First address as executed";
    end_avma: i64, "address", "One past the last";
    file_offset: i64, "bytes", "Offset in the file that start_avma shows";
    dso_id: i32, "id", "The dso";
    ts_ns: Option<i64>, "ns", "When it was made; null where it was there before the recording";
});

table!("functions", "What frames share after symbolization.", Function {
    function_id: i32, "id", "Dense id, by (name, dso, file)";
    name: Text, "text", "Demangled name; [unknown] frames have no function";
    dso_id: Option<i32>, "id", "The dso";
    dso: Option<Text>, "text", "Its base name";
    file: Option<Text>, "text", "Source file";
    line: Option<i32>, "line", "Line of its declaration or first known line";
    function_key: i64, "hash", "Hash over the name without hash and clone suffix and the dso name: means the same in two runs";
});

table!("frames", "One place on a stack: (dso, relative address, inline depth).", Frame {
    frame_id: i32, "id", "Dense id, by (dso, rel, inline depth, function)";
    dso_id: Option<i32>, "id", "The dso";
    rel: Option<i64>, "address", "Address that was looked up; return addresses are stored minus one. Programs and libraries: as their ELF file states it (svma) where a file of the dso was found (dsos.symbol_source, or an image without symbols), else the offset in the file. Kernel: relative to _text (or _stext, where the recording names that one). Module: relative to its start. Null where a tool gave only a name";
    inline_depth: i32, "count", "0 for the physical function, 1 for what was inlined into it, ...";
    is_inlined: bool, "bool", "inline_depth > 0";
    is_kernel: bool, "bool", "Kernel code";
    function_id: Option<i32>, "id", "The function; null where nothing names it";
    line: Option<i32>, "line", "Source line executing in this frame";
    symbol_rel: Option<i64>, "address", "Start of the symbol that contains rel, counted as rel is";
    has_frame: Option<bool>, "bool", "False where the function has not set up its frame pointer at this address, by its unwind table: innermost on a stack of frame pointers, its direct caller was skipped. Null where nothing says, or where it is never innermost";
});

table!("stacks", "One node of the stack forest: a path from root, one row per node. Walk it by parent_stack_id.", Stack in Stacks {
    stack_id: i32, "id", "Dense id, by first use in (event, ts) order; parents come first";
    parent_stack_id: Maybe32, "id", "The caller's node; null at the root";
    frame_id: i32, "id", "The frame";
    depth: i32, "count", "0 at the root";
    stack_key: i64, "hash", "Hash over the function keys on the path: means the same in two runs";
});
