//! Names, lines and inline chains, compared with binutils' addr2line and nm.

use std::path::Path;

use super::*;
use crate::objects::Roots;
use crate::objects::testing::{build_id, gcc, nm, run};
use crate::tables::{Dso, Frame, Mapping, Maybe32, Maybe64, Sample, Stacks};

const SOURCE: &str = "\
volatile int sink;
static inline __attribute__((always_inline)) int innermost(int a) {
  for (int i = 0; i < a; i++)
    sink += i * a;
  return sink;
}
static inline __attribute__((always_inline)) int middle(int a) {
  int b = innermost(a + 1);
  sink = b;
  return b + innermost(a);
}
__attribute__((noinline)) int outer(int a) {
  return middle(a) + 3;
}
int main(int argc, char **argv) {
  return outer(argc);
}
";

fn dso(id: i32, path: &str, build_id: Option<&str>, kind: &str) -> Dso {
    let name = path.rsplit('/').next().unwrap_or(path);
    Dso { dso_id: id, name: name.into(), path: path.into(), build_id: build_id.map(Text::from), kind: kind.into(), ..Dso::default() }
}

fn frame(id: i32, dso: i32, rel: i64) -> Frame {
    Frame {
        frame_id: id,
        dso_id: Some(dso),
        rel: Some(rel),
        inline_depth: 0,
        is_inlined: false,
        is_kernel: false,
        function_id: None,
        line: None,
        symbol_rel: None,
        has_frame: None,
    }
}

/// One sample per address, each a stack of one frame.
fn tables(dso: Dso, rels: &[i64]) -> Tables {
    let mut tables = Tables { dsos: vec![dso], ..Tables::default() };
    for (id, rel) in rels.iter().enumerate() {
        let id = id as i32;
        tables.frames.push(frame(id, 0, *rel));
        tables.stacks.push(None, id);
        tables.samples.push(Sample {
            event_id: 0,
            ts_ns: Maybe64::NONE,
            thread_id: Maybe32::NONE,
            cpu: Maybe32::NONE,
            stack_id: Some(id).into(),
            weight: 1,
            record_no: i64::from(id),
        });
    }
    tables
}

fn open(dir: &Path) -> Library {
    Library::open(&Roots { symbol_dirs: vec![dir.to_path_buf()], ..Roots::default() })
}

/// (function, line) of a sample's stack, leaf first.
fn stack_of(tables: &Tables, sample: usize) -> Vec<(String, Option<i32>)> {
    let mut out = Vec::new();
    let mut at = tables.samples[sample].stack_id.get();
    while let Some(id) = at {
        let node = tables.stacks.row(id).unwrap();
        assert_eq!(node.stack_id, id);
        assert!(node.parent_stack_id.get().is_none_or(|parent| parent < id), "parents come first");
        let frame = &tables.frames[node.frame_id as usize];
        let name = frame.function_id.map_or("[unknown]".into(), |function| tables.functions[function as usize].name.to_string());
        out.push((name, frame.line));
        at = node.parent_stack_id.get();
    }
    out
}

/// What addr2line says: (function, line), innermost first.
fn addr2line(dir: &Path, file: &str, address: u64) -> Vec<(String, Option<i32>)> {
    let text = run("addr2line", &["-i", "-f", "-e", file, &format!("{address:#x}")], dir).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let line_of = |place: &str| place.rsplit(':').next().and_then(|line| line.split_whitespace().next()?.parse().ok()).filter(|n| *n > 0);
    lines.chunks(2).map(|pair| (pair[0].to_owned(), line_of(pair[1]))).collect()
}

#[test]
fn chains_equal_those_of_addr2line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    for (name, flags) in [
        ("dwarf5", &["-gdwarf-5"][..]),
        ("dwarf4", &["-gdwarf-4"]),
        ("dwarf3", &["-gdwarf-3"]),
        ("dwarf2", &["-gdwarf-2", "-gstrict-dwarf"]),
        ("zlib", &["-g", "-gz=zlib"]),
        ("zstd", &["-g"]),
        ("zdebug", &["-g"]),
        ("fixed", &["-g", "-no-pie"]),
        ("split4", &["-gdwarf-4", "-gsplit-dwarf"]),
        ("split5", &["-gdwarf-5", "-gsplit-dwarf"]),
        ("package4", &["-gdwarf-4", "-gsplit-dwarf"]),
        ("package5", &["-gdwarf-5", "-gsplit-dwarf"]),
    ] {
        let all = [&["-O2", "-Wl,--build-id=sha1"], flags].concat();
        if gcc(path, name, SOURCE, &all).is_none() {
            return;
        }
        // The chain must be the same however the debug information is stored: the reference is the plain build's.
        let plain = format!("{name}-plain");
        let unsplit: Vec<&str> = all.iter().copied().filter(|flag| *flag != "-gsplit-dwarf").collect();
        gcc(path, &plain, SOURCE, &unsplit).unwrap();
        if !rearranged(path, name) {
            eprintln!("skipped: binutils cannot make {name}");
            continue;
        }
        let (start, end) = (nm(path, name, "outer").unwrap(), nm(path, name, "outer").unwrap() + 48);
        assert_eq!(nm(path, &plain, "outer"), Some(start));
        let addresses: Vec<u64> = (start..end).collect();
        let base = if name == "fixed" { 0x40_0000 } else { 0 };
        let rels: Vec<i64> = addresses.iter().map(|address| (address - base) as i64).collect();
        let id = build_id(path, name).unwrap();
        let mut tables = tables(dso(0, "/opt/prog", Some(&id), "user"), &rels);
        symbolize(&mut tables, &open(path));
        let mut chains = 0;
        for (at, address) in addresses.iter().enumerate() {
            let got = stack_of(&tables, at);
            let want = addr2line(path, &plain, *address);
            // addr2line knows no function behind the last instruction; the symbol table does not either.
            if got.len() == 1 && got[0].0 == "[unknown]" {
                continue;
            }
            assert_eq!(got, want, "{name} at {address:#x}");
            chains += usize::from(got.len() == 3);
        }
        assert!(chains > 10, "{name}: {chains} addresses with two inlined functions");
        assert!(tables.frames.iter().filter(|frame| frame.inline_depth == 0 && frame.function_id.is_some()).all(|frame| {
            frame.symbol_rel == Some(start as i64) && tables.functions[frame.function_id.unwrap() as usize].name.as_ref() == "outer"
        }));
        // One row per function, with the line of its declaration.
        let mut declared: Vec<(&str, Option<i32>)> = tables.functions.iter().map(|row| (row.name.as_ref(), row.line)).collect();
        declared.sort_unstable();
        assert_eq!(declared, [("innermost", Some(2)), ("middle", Some(7)), ("outer", Some(12))], "{name}");
        for row in &tables.functions {
            assert!(row.file.as_deref().is_some_and(|file| file.ends_with(&format!("{name}.c"))), "{name}: {row:?}");
        }
    }
}

/// What is done to a program after the compiler; false where a tool cannot.
fn rearranged(dir: &Path, name: &str) -> bool {
    match name {
        "zstd" => run("objcopy", &["--compress-debug-sections=zstd", name], dir).is_some(),
        "zdebug" => run("objcopy", &["--compress-debug-sections=zlib-gnu", name], dir).is_some(),
        "package4" | "package5" => {
            // Some versions of gcc put the program's name in front.
            let dwos = [format!("{name}.dwo"), format!("{name}-{name}.dwo")];
            let dwo = dwos.iter().find(|dwo| dir.join(dwo).is_file()).expect("gcc made one");
            // That of binutils knows DWARF 4 only.
            let tool = if name == "package4" { "dwp" } else { "llvm-dwp" };
            let dwp = run(tool, &[dwo, "-o", &format!("{name}.dwp")], dir);
            std::fs::remove_file(dir.join(dwo)).is_ok() && dwp.is_some()
        }
        _ => true,
    }
}

#[test]
fn stacks_through_inlined_frames_are_rewritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    if gcc(path, "prog", SOURCE, &["-O2", "-g", "-Wl,--build-id=sha1"]).is_none() {
        return;
    }
    let id = build_id(path, "prog").unwrap();
    let outer = nm(path, "prog", "outer").unwrap();
    let deep = (outer..outer + 48).find(|address| addr2line(path, "prog", *address).len() == 3).unwrap() as i64;
    let main = nm(path, "prog", "main").unwrap() as i64;
    let mut tables = tables(dso(0, "/opt/prog", Some(&id), "user"), &[main, deep]);
    // main -> outer(deep), and a second stack through the same node.
    tables.stacks = Stacks::default();
    for (parent, frame) in [(None, 0), (Some(0), 1), (Some(1), 0)] {
        tables.stacks.push(parent, frame);
    }
    tables.samples[0].stack_id = Some(2).into();
    symbolize(&mut tables, &open(path));
    let names = |sample: usize| stack_of(&tables, sample).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(1), ["innermost", "middle", "outer", "main"]);
    assert_eq!(names(0), ["main", "innermost", "middle", "outer", "main"]);
    let depths: Vec<i32> = (0..5).filter_map(|id| tables.stacks.row(id)).map(|node| node.depth).collect();
    assert_eq!(depths, [0, 1, 2, 3, 4]);
}

#[test]
fn a_dso_without_a_file_keeps_its_offsets_and_says_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let id = "0123456789abcdef0123456789abcdef01234567";
    let mut tables = tables(dso(0, "/usr/lib/libfoo.so.1", Some(id), "user"), &[0x1234, 0x2345]);
    symbolize(&mut tables, &open(dir.path()));
    assert_eq!(tables.frames.iter().map(|frame| frame.rel).collect::<Vec<_>>(), [Some(0x1234), Some(0x2345)]);
    assert!(tables.functions.is_empty());
    let row = &tables.diagnostics[0];
    assert_eq!((row.kind.as_ref(), row.count), ("symbols_missing", 2));
    assert!(row.message.contains(id) && row.message.contains("/usr/lib/libfoo.so.1"), "{}", row.message);
}

const KALLSYMS: &str = "\
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 T ksys_write
ffffffff81000200 T vfs_write
ffffffffc0000000 t nf_start\t[nf_tables]
ffffffffc0000100 t nf_hook\t[nf_tables]
";

fn kernel_tables(release: &str) -> Tables {
    let mut tables = tables(dso(0, "[kernel.kallsyms]_text", None, "kernel"), &[0x104, 0x2ff]);
    tables.dsos.push(dso(1, "[nf_tables]", None, "module"));
    tables.frames.push(frame(2, 1, 0x110));
    let mapping = |dso: i32, start: i64| Mapping {
        artifact_id: 0,
        process_id: None,
        start_avma: start,
        end_avma: start + 0x10000,
        file_offset: 0,
        dso_id: dso,
        ts_ns: None,
    };
    tables.mappings = vec![mapping(0, 0xffff_ffff_8100_0000_u64 as i64), mapping(1, 0xffff_ffff_c000_0000_u64 as i64)];
    tables.host.push(crate::tables::HostFact::new("kernel_release", release));
    tables
}

#[test]
fn the_kernel_is_named_only_from_its_own_kallsyms() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("kernel.txt"), KALLSYMS).unwrap();
    std::fs::write(dir.path().join("kallsyms.json"), r#"{"kernel_release": "6.1.0-18-amd64", "kernel_build_id": "abcd"}"#).unwrap();
    let library = open(dir.path());
    let mut tables = kernel_tables("6.1.0-18-amd64");
    symbolize(&mut tables, &library);
    let name = |tables: &Tables, frame: usize| {
        tables.frames[frame].function_id.map(|function| tables.functions[function as usize].name.to_string())
    };
    assert_eq!(name(&tables, 0).as_deref(), Some("ksys_write"));
    assert_eq!(name(&tables, 1).as_deref(), Some("vfs_write"));
    assert_eq!(name(&tables, 2).as_deref(), Some("nf_hook"));
    assert_eq!((tables.frames[0].rel, tables.frames[0].symbol_rel), (Some(0x104), Some(0x100)));
    assert_eq!(tables.frames[2].symbol_rel, Some(0x100));
    assert_eq!(tables.dsos[0].symbol_source.as_deref(), Some("kernel.txt"));
    // Another release (A054), and the same release with another build-id: no names, and a word about it.
    let mut other = kernel_tables("6.1.0-19-amd64");
    symbolize(&mut other, &library);
    let mut rebuilt = kernel_tables("6.1.0-18-amd64");
    rebuilt.dsos[0].build_id = Some("ef01".into());
    symbolize(&mut rebuilt, &library);
    for tables in [&other, &rebuilt] {
        assert!((0..3).all(|frame| name(tables, frame).is_none()));
        let kinds: Vec<&str> = tables.diagnostics.iter().map(|row| row.kind.as_ref()).collect();
        assert_eq!(kinds, ["kernel_symbols_missing", "kernel_symbols_missing"]);
    }
    // The kernel booted again: its own symbols keep their distance to _text, a module's do not.
    let mut moved = kernel_tables("6.1.0-18-amd64");
    moved.mappings[0].start_avma += 0x20_0000;
    symbolize(&mut moved, &library);
    assert_eq!(name(&moved, 0).as_deref(), Some("ksys_write"));
    assert_eq!(name(&moved, 2), None);
}

#[test]
fn a_vmlinux_or_vdso_with_the_recorded_build_id_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    let source = format!("__asm__(\".text\\n.globl _text\\n_text:\\n\");\n{SOURCE}");
    if gcc(path, "vmlinux", &source, &["-O2", "-g", "-no-pie", "-fno-toplevel-reorder", "-Wl,--build-id=sha1"]).is_none() {
        return;
    }
    let id = build_id(path, "vmlinux").unwrap();
    let address = |name: &str| nm(path, "vmlinux", name).unwrap() as i64;
    let rel = address("outer") + 1 - address("_text");
    let kernel = |id: &str| {
        let mut tables = kernel_tables("6.1.0-18-amd64");
        tables.dsos[0].build_id = Some(id.into());
        tables.frames[0].rel = Some(rel);
        symbolize(&mut tables, &open(path));
        let function = tables.frames[0].function_id.map(|id| tables.functions[id as usize].name.to_string());
        (function, tables.frames[0].rel, tables.frames[0].line.is_some(), tables.dsos[0].symbol_source.clone())
    };
    assert_eq!(kernel(&id), (Some("outer".to_owned()), Some(rel), true, Some("vmlinux".into())));
    assert_eq!(kernel("00112233445566778899aabbccddeeff00112233").0, None, "another build");
    // The vDSO: any copy with its build-id, and nothing without one.
    let vdso = path.join("vdso");
    std::fs::create_dir(&vdso).unwrap();
    if gcc(&vdso, "vdso.so", SOURCE, &["-O2", "-shared", "-fPIC", "-Wl,--build-id=sha1"]).is_none() {
        return;
    }
    let id = build_id(&vdso, "vdso.so").unwrap();
    let outer = nm(&vdso, "vdso.so", "outer").unwrap() as i64;
    let named = |id: Option<&str>| {
        let mut tables = tables(dso(0, "[vdso]", id, "vdso"), &[outer + 1]);
        symbolize(&mut tables, &open(&vdso));
        stack_of(&tables, 0)[0].0.clone()
    };
    assert_eq!(named(Some(&id)), "outer");
    assert_eq!(named(None), "[unknown]");
}

#[test]
fn given_names_are_demangled_and_joined() {
    let mut tables = Tables::default();
    for (id, name) in ["_Z3fooi", "foo(int)", "main"].into_iter().enumerate() {
        tables.functions.push(crate::tables::Function {
            function_id: id as i32,
            name: name.into(),
            dso_id: None,
            dso: None,
            file: None,
            line: None,
            function_key: 0,
        });
        tables.frames.push(Frame { dso_id: None, rel: None, function_id: Some(id as i32), ..frame(id as i32, 0, 0) });
    }
    symbolize(&mut tables, &Library::default());
    let names: Vec<&str> = tables.functions.iter().map(|row| row.name.as_ref()).collect();
    assert_eq!(names, ["foo(int)", "main"]);
    let ids: Vec<Option<i32>> = tables.frames.iter().map(|row| row.function_id).collect();
    assert_eq!(ids, [Some(0), Some(0), Some(1)]);
}

/// A process with generated code at these addresses, one sample each.
fn generated(pid: i32, addresses: &[i64]) -> Tables {
    let mut tables = tables(dso(0, &format!("/tmp/perf-{pid}.map"), None, "jit"), addresses);
    tables.mappings.push(Mapping {
        artifact_id: 0,
        process_id: Some(0),
        start_avma: 0x1000,
        end_avma: 0x9000,
        file_offset: 0,
        dso_id: 0,
        ts_ns: None,
    });
    tables
}

fn jit_library(dir: &Path) -> Library {
    Library::open(&Roots { jit_dirs: vec![dir.to_path_buf()], ..Roots::default() })
}

fn leaf(tables: &Tables, sample: usize) -> String {
    stack_of(tables, sample)[0].0.clone()
}

#[test]
fn generated_code_is_named_from_its_own_perf_map() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("perf-42.map"), "1000 100 LazyCompile:*fib a.js:3\n1100 10 _Z3fooi\n").unwrap();
    std::fs::write(dir.path().join("perf-43.map"), "1000 1000 other\n").unwrap();
    let library = jit_library(dir.path());
    let mut tables = generated(42, &[0x1010, 0x1105, 0x1200]);
    symbolize(&mut tables, &library);
    assert_eq!([0, 1, 2].map(|at| leaf(&tables, at)), ["LazyCompile:*fib a.js:3", "foo(int)", "[unknown]"]);
    assert_eq!(tables.dsos[0].symbol_source.as_deref(), Some("perf-42.map"));
    let notes: Vec<(&str, i64)> = tables.diagnostics.iter().map(|row| (row.kind.as_ref(), row.count)).collect();
    assert_eq!(notes, [("jit_symbols_missing", 1)]);
    // Another process: nothing is guessed while two maps could be it.
    let mut other = generated(44, &[0x1010]);
    symbolize(&mut other, &library);
    assert_eq!(leaf(&other, 0), "[unknown]");
    std::fs::remove_file(dir.path().join("perf-43.map")).unwrap();
    let mut only = generated(44, &[0x1010]);
    symbolize(&mut only, &jit_library(dir.path()));
    assert_eq!(leaf(&only, 0), "LazyCompile:*fib a.js:3");
    assert!(only.diagnostics.iter().any(|row| row.kind.as_ref() == "jit_file_by_guess"));
}

#[test]
fn code_that_moved_is_named_by_the_time_of_the_sample() {
    let dir = tempfile::tempdir().unwrap();
    // Header; alpha at 0x1000 from 100 on, beta there from 200 on (jitdump-specification.txt).
    let mut dump: Vec<u8> = Vec::new();
    for word in [0x4A69_5444_u32, 1, 40, 62, 0, 77] {
        dump.extend(word.to_le_bytes());
    }
    dump.extend([0; 16]);
    for (time, name) in [(100_u64, "alpha\0"), (200, "beta\0\0")] {
        dump.extend([0, 0, 0, 0, 16 + 8 + 32 + 6, 0, 0, 0]);
        dump.extend(time.to_le_bytes());
        dump.extend([77, 0, 0, 0, 77, 0, 0, 0]);
        for long in [0x1000_u64, 0x1000, 0x40, time] {
            dump.extend(long.to_le_bytes());
        }
        dump.extend(name.as_bytes());
    }
    std::fs::write(dir.path().join("jit-7.dump"), &dump).unwrap();
    let tables_at = |clock: &str| {
        let mut tables = generated(42, &[0x1010, 0x2000]);
        // The program mapped its dump, under the pid of its container.
        tables.dsos.push(dso(1, "/app/jit-7.dump", None, "user"));
        tables.mappings.push(Mapping { dso_id: 1, ..tables.mappings[0].clone() });
        let artifact = crate::emit::sample().tables.artifacts[0].clone();
        tables.artifacts.push(crate::tables::Artifact { artifact_id: 0, clock: Some(clock.into()), ..artifact });
        // 0x2000 called from 0x1010, at three times.
        tables.stacks = Stacks::default();
        tables.stacks.push(None, 0);
        tables.stacks.push(Some(0), 1);
        tables.samples.truncate(1);
        tables.samples[0].stack_id = Some(1).into();
        for (time, at) in [(150, 0), (200, 1), (250, 2)] {
            if at > 0 {
                tables.samples.push(tables.samples[0]);
            }
            tables.samples[at].ts_ns = Maybe64::from(Some(time));
        }
        symbolize(&mut tables, &jit_library(dir.path()));
        [0, 1, 2].map(|sample| stack_of(&tables, sample).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" < "))
    };
    assert_eq!(tables_at("monotonic"), ["[unknown] < alpha", "[unknown] < beta", "[unknown] < beta"]);
    // Another clock: its times cannot be compared, the newest description holds.
    assert_eq!(tables_at("perf"), ["[unknown] < beta"; 3]);
}
