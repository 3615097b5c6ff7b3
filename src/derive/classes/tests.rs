use super::*;

#[test]
fn patterns_are_anchored() {
    assert!(fits("malloc", "malloc") && !fits("malloc", "xmalloc") && !fits("malloc", "malloc_hook"));
    assert!(fits("__memmove_avx*", "__memmove_avx_unaligned_erms"));
    assert!(fits("*fsync*", "ext4_fsync") && fits("std::*::lock*", "std::sync::Mutex::lock_slow"));
    assert!(!fits("a*b", "ab2") && fits("a*b", "ab"));
}

fn dso(tables: &mut Tables, name: &str, kind: &str) -> i32 {
    let dso_id = tables.dsos.len() as i32;
    tables.dsos.push(Dso { dso_id, name: name.into(), path: name.into(), kind: kind.into(), ..Dso::default() });
    dso_id
}

fn function(tables: &mut Tables, name: &str, dso_id: i32) -> i32 {
    let function_id = tables.functions.len() as i32;
    let dso = tables.dsos.get(dso_id as usize).map(|dso| dso.name.clone());
    let row = Function { function_id, name: name.into(), dso_id: Some(dso_id), dso, file: None, line: None, function_key: 0 };
    tables.functions.push(row);
    function_id
}

fn frame(dso_id: i32, function_id: Option<i32>, is_inlined: bool) -> Frame {
    Frame {
        frame_id: 0,
        dso_id: Some(dso_id),
        rel: None,
        inline_depth: i32::from(is_inlined),
        is_inlined,
        is_kernel: false,
        function_id,
        line: None,
        symbol_rel: None,
        has_frame: None,
    }
}

/// Names as nm -C, perf script and /proc/kallsyms print them; the classes of rules.md 3.0 with the amendments of 3.0b.
#[test]
fn names_have_their_classes() {
    let classes = Classes::embedded().unwrap();
    let mut tables = Tables::default();
    let (program, kernel, loader) =
        (dso(&mut tables, "p", "user"), dso(&mut tables, "[kernel.kallsyms]", "kernel"), dso(&mut tables, "ld-linux-x86-64.so.2", "user"));
    let wanted: &[(i32, &str, &[&str])] = &[
        // Anchored, and never of the other side (3.0b).
        (kernel, "mark_buffer_dirty", &[]),
        (kernel, "shared_pool_grow", &[]),
        (kernel, "ring_buffer_lock_reserve", &[]),
        (program, "longest_match", &["COMPRESS"]),
        (program, "compress_block", &["COMPRESS"]),
        (program, "sha256_transform", &["CRYPTO"]),
        (program, "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", &["HASH"]),
        (program, "serde_json::ser::format_escaped_str", &["SERDE"]),
        (program, "my_json_writer", &[]),
        (program, "_PyEval_EvalFrameDefault", &["INTERP"]),
        (program, "PyEval_EvalCode", &[]),
        (program, "runtime.mallocgc", &["GC"]),
        (program, "__memmove_avx_unaligned_erms", &["COPY"]),
        (kernel, "clear_page_erms", &["COPY", "FAULT", "MM"]),
        // Exceptions; not the frames with which every Rust thread begins.
        (program, "_Unwind_RaiseException", &["UNWIND"]),
        (program, "std::panicking::begin_panic_handler", &["UNWIND"]),
        (program, "std::panicking::catch_unwind", &[]),
        (program, "std::sys::backtrace::__rust_begin_short_backtrace", &[]),
        (program, "std::thread::lifecycle::spawn_unchecked::{{closure}}", &[]),
        (program, "std::thread::Builder::spawn_unchecked", &["CLONE"]),
        (loader, "do_lookup_x", &["LOADER"]),
        (loader, "strcmp", &["LOADER"]),
        (loader, "__tls_get_addr", &[]),
        (loader, "_dl_find_object", &["UNWIND"]),
        // What optimized builds inline away (nm of a debug build), and what they do not (nm of a release build).
        (program, "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index", &["DEBUG"]),
        (program, "<core::slice::iter::Iter<T> as core::iter::traits::iterator::Iterator>::next", &["DEBUG"]),
        (program, "core::cmp::impls::<impl core::cmp::PartialEq for u64>::eq", &["DEBUG"]),
        (program, "core::ptr::drop_in_place<alloc::vec::Vec<u64>>", &[]),
        (program, "std::vector<unsigned long, std::allocator<unsigned long> >::operator[](unsigned long)", &["DEBUG"]),
        (program, "std::vector<unsigned long, std::allocator<unsigned long> >::_M_default_append(unsigned long)", &[]),
        (program, "__asan_memcpy", &["DEBUG"]),
        (program, "__sched_yield", &["SYNC", "SPIN"]),
        (kernel, "do_sched_yield", &["SYNC", "PREEMPTED", "SCHED_SINK", "SPIN"]),
        (kernel, "rwsem_down_read_slowpath", &["RWSEM"]),
        (kernel, "link_path_walk.part.0", &["METADATA"]),
        (kernel, "lookup_fast", &["METADATA"]),
        (kernel, "zap_pte_range", &["MM"]),
        (kernel, "tcp_recvmsg_locked", &["NET"]),
        (kernel, "bprm_execve", &["EXEC"]),
        (kernel, "copy_process", &["CLONE"]),
    ];
    for (dso_id, name, _) in wanted {
        function(&mut tables, name, *dso_id);
    }
    let marks = classes.mark(&tables);
    for (at, (_, name, wanted)) in wanted.iter().enumerate() {
        let found: Vec<&str> = classes.iter().filter(|(_, bit)| marks.of(Some(at as i32)) & bit != 0).map(|(name, _)| name).collect();
        assert_eq!(found, wanted.to_vec(), "{name}");
    }
}

/// A stripped library is of its class by its file; what was inlined is no function that a debug build left.
#[test]
fn frames_without_names_and_inlined_ones() {
    let classes = Classes::embedded().unwrap();
    let mut tables = Tables::default();
    let (zlib, program) = (dso(&mut tables, "libz.so.1.3.1", "user"), dso(&mut tables, "p", "user"));
    let read = function(&mut tables, "core::ptr::read", program);
    let marks = classes.mark(&tables);
    assert_eq!(marks.of_frame(&frame(zlib, None, false)), classes.bit("COMPRESS"));
    assert_eq!(marks.of_frame(&frame(program, None, false)), 0);
    assert_eq!(marks.of_frame(&frame(program, Some(read), false)), classes.bit("DEBUG"));
    assert_eq!(marks.of_frame(&frame(program, Some(read), true)), 0);
}

/// The class of a nameless leaf reaches `stack_classes`, without a function.
#[test]
fn a_stack_may_have_a_class_by_its_file_alone() {
    let classes = Classes::embedded().unwrap();
    let mut tables = Tables::default();
    let (zlib, program) = (dso(&mut tables, "libz.so.1.3.1", "user"), dso(&mut tables, "p", "user"));
    let main = function(&mut tables, "main", program);
    tables.frames = vec![frame(program, Some(main), false), frame(zlib, None, false)];
    tables.stacks.push(None, 0);
    tables.stacks.push(Some(0), 1);
    let cost = |stack_id| crate::tables::StackCost {
        event_id: 0,
        stack_id,
        self_weight: 1,
        self_count: 1,
        leaf_function_id: None,
        leaf_is_kernel: false,
        leaf_dso_id: None,
        site_function_id: None,
        caller_certain: None,
        reaches_start: None,
        classes: None,
    };
    tables.stack_costs = vec![cost(1)];
    let marks = classes.mark(&tables);
    let calls = crate::derive::Calls::read(&tables);
    let nodes = Nodes::read(&calls, &marks);
    (tables.stack_classes, tables.stack_sites) = find(&tables, &classes, &nodes);
    let [row] = &tables.stack_classes[..] else { panic!("{:?}", tables.stack_classes) };
    assert_eq!((row.class.as_ref(), row.is_leaf), ("COMPRESS", true));
    assert_eq!((row.class_function_id, row.site_function_id), (None, Some(main)));
}
