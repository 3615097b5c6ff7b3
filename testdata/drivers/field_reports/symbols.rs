//! A053 to A092: kernel and program names, containers, unwinding.

use libtest_mimic::{Completion, Failed};
use tripod::ingest::{ImportOptions, Inputs, merge, read_all};
use tripod::objects::{Library, Roots};
use tripod::tables::Tables;

use super::Proof::{Check, Covered, Elsewhere, Impossible};
use super::{Row, row};
use crate::perf::file::{self, Attr, Sample, Words, program, record};
use crate::perf::{import_bytes, losses, same, samples, stack};
use crate::support::Outcome;

pub const ROWS: &[Row] = &[
    row("A053", "kernel addresses stay apart without names", Check(kernel_addresses_stay_apart)),
    row("A054", "another kernel's names are never used", Covered(&["the_kernel_is_named_only_from_its_own_kallsyms"])),
    row("A055", "kernel maps count whatever their protection", Check(kernel_maps_without_protection)),
    row("A056", "hidden kernel addresses: which setting, said once", Check(hidden_kernel)),
    row("A057", "pseudo names are never looked up as files", Check(pseudo_names)),
    row(
        "A058",
        "build-ids of any length, behind other notes",
        Covered(&["the_build_id_is_found_behind_other_notes", "a_short_build_id_is_found_as_perf_pads_it"]),
    ),
    row("A059", "several notes in one section", Covered(&["the_build_id_is_found_behind_other_notes"])),
    row("A060", "a better file replaces a worse one", Covered(&["a_better_file_of_the_same_build_replaces_a_worse_one"])),
    row("A061", "every debug root is asked", Covered(&["debug_roots_are_asked_by_build_id_and_by_debuglink"])),
    row(
        "A062",
        "compressed sections, debuglink, altlink",
        Covered(&[
            "chains_equal_those_of_addr2line",
            "debug_roots_are_asked_by_build_id_and_by_debuglink",
            "common_debug_information_that_dwz_moved_is_followed",
        ]),
    ),
    row("A063", "names change no count", Check(names_change_no_count)),
    row("A064", "source files from DWARF 2 to 5, split or not", Check(source_files)),
    row("A065", "bad debug data costs itself only", Covered(&["broken_files_name_nothing_and_break_nothing"])),
    row("A066", "a subprogram without a name", Check(nameless_subprogram)),
    row("A067", "paths below /proc/PID/root", Covered(&["debug_roots_are_asked_by_build_id_and_by_debuglink"])),
    row(
        "A068",
        "paths inside a container",
        Covered(&["recorded_paths_are_looked_up_below_the_other_root", "names::another_root_gives_the_same_names"]),
    ),
    row("A069", "pids of a namespace", Check(namespaces)),
    row("A070", "what file is missing, by build-id", Covered(&["a_dso_without_a_file_keeps_its_offsets_and_says_what_is_missing"])),
    row("A071", "perf archive's layout", Covered(&["compressed_files_and_archive_layouts_are_read"])),
    row("A072", "a file without ARCH", Check(no_arch)),
    row("A073", "inlined code keeps its cost", Covered(&["stacks_through_inlined_frames_are_rewritten"])),
    row("A074", "inline functions have no size", Elsewhere("no output gives sizes of functions")),
    row("A075", "the same inline chain from every build", Covered(&["chains_equal_those_of_addr2line"])),
    row(
        "A076",
        "callers are looked up in the call",
        Covered(&["markers_switch_spaces_and_callers_are_looked_up_in_the_call", "a_signal_handler_is_unwound_to_what_it_interrupted"]),
    ),
    row("A077", "inline names are demangled too", Covered(&["given_names_are_demangled_and_joined", "names_of_all_schemes"])),
    row("A078", "each scheme by its own mark", Covered(&["names_of_all_schemes"])),
    row("A079", "names without end", Covered(&["hostile_names_stay_as_they_are"])),
    row("A080", "programs that are not position-independent", Covered(&["file_offsets_become_addresses_by_segment"])),
    row("A081", "several segments", Covered(&["file_offsets_become_addresses_by_segment"])),
    row("A082", "data addresses", Impossible("memory events need a PMU, which a virtual machine here has not")),
    row("A083", "code moved to huge pages keeps its name", Check(code_in_huge_pages)),
    row("A084", "one program at two addresses", Check(two_runs_of_one_program)),
    row(
        "A085",
        "perf-PID.map of the process; later ranges win",
        Covered(&["generated_code_is_named_from_its_own_perf_map", "a_perf_map_names_its_ranges_and_later_lines_win"]),
    ),
    row("A086", "ELF files without program headers", Check(no_program_headers)),
    row(
        "A087",
        "jitdump by time, the map beside it",
        Covered(&["a_jitdump_tells_what_was_where_and_when", "code_that_moved_is_named_by_the_time_of_the_sample"]),
    ),
    row("A088", "the caller of a frame-pointer leaf is in doubt", Covered(&["the_frame_of_a_function_is_where_readelf_says"])),
    row("A089", "flat stacks are noticed", Elsewhere("a quality check (issue 4)")),
    row("A090", "stacks cut at the dump size, told once", Covered(&["a_short_copy_keeps_the_frames_it_holds"])),
    row("A091", "one function is one row whatever its callers", Check(missing_middle_frames)),
    row("A092", "zeros, -1 and markers at the end are no frames", Check(ends_of_chains)),
];

const TEXT: u64 = 0xffff_ffff_8100_0000;

fn kernel_file(protection: u32) -> Result<tripod::ingest::Recorder, Failed> {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    made.push(attr.map2(u32::MAX, (TEXT, 0x100_0000, TEXT), (file::KERNEL, protection, [0; 24]), "[kernel.kallsyms]_text", 3));
    for (time, ip) in [(10, TEXT + 0x100), (20, TEXT + 0x2000)] {
        made.push(attr.sample(file::KERNEL, Sample { ip, pid: 10, tid: 10, time, period: 1, ..Sample::default() }));
    }
    import_bytes(&made.bytes())
}

fn kernel_addresses_stay_apart() -> Outcome {
    let recorder = kernel_file(5)?;
    let places: Vec<_> = (0..2).map(|sample| stack(&recorder, sample)[0].clone()).collect();
    same("places", places, [0x100, 0x2000].map(|rel| ("[kernel.kallsyms]".to_owned(), rel)).to_vec())?;
    Ok(Completion::Completed)
}

fn kernel_maps_without_protection() -> Outcome {
    same("place", stack(&kernel_file(0)?, 0)[0].clone(), ("[kernel.kallsyms]".to_owned(), 0x100))?;
    Ok(Completion::Completed)
}

/// With kernel.kptr_restrict the recorder cannot tell where the kernel is: there is no map of it.
fn hidden_kernel() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[10]);
    for time in [20, 30] {
        made.push(attr.sample(file::KERNEL, Sample { ip: TEXT + time, pid: 10, tid: 10, time, period: 1, ..Sample::default() }));
    }
    let recorder = import_bytes(&made.bytes())?;
    same("told", losses(&recorder), vec![("perf_kernel_hidden", 2)])?;
    let row = recorder.tables.diagnostics.first().ok_or("no diagnostic")?;
    same("which setting", row.advice.contains("kernel.kptr_restrict=0"), true)?;
    same("not where the kernel is known", losses(&kernel_file(5)?), vec![])?;
    Ok(Completion::Completed)
}

/// What gcc says, with these arguments; `None` where there is none.
fn compile(dir: &std::path::Path, arguments: &str) -> Option<String> {
    let run = std::process::Command::new("gcc").current_dir(dir).args(arguments.split(' ')).output().ok()?;
    Some(format!("{}{}", if run.status.success() { "" } else { "failed " }, String::from_utf8_lossy(&run.stderr)))
}

/// One sample in each of the functions of `hot`, which lies in the directory.
fn sampled_in(dir: &std::path::Path, functions: &[&str]) -> Result<Tables, Failed> {
    let symbols = String::from_utf8(std::process::Command::new("nm").current_dir(dir).arg("hot").output()?.stdout)?;
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    made.push(attr.map(10, (0x70_0000, 0x10_0000, 0), "/opt/hot", 3));
    for (time, name) in (10..).zip(functions) {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" T {name}"))).ok_or("no symbol")?;
        let at = u64::from_str_radix(line.split(' ').next().unwrap_or_default(), 16)?;
        let sample = Sample { ip: 0x70_0000 + at + 4, pid: 10, tid: 10, time, period: 1, ..Sample::default() };
        made.push(attr.sample(file::USER, sample));
    }
    let library = Library::open(&Roots { symbol_dirs: vec![dir.to_owned()], ..Roots::default() });
    named_from(&made.bytes(), &library)
}

/// The symbol table names it, and the rest of its unit keeps names and lines.
fn nameless_subprogram() -> Outcome {
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("hot.c"), "int main(int c, char **v) { (void)v; return c; }\nint hot(int x) { return x * 3; }\n")?;
    let Some(said) = compile(dir.path(), "-O0 -g -dA -S hot.c -o hot.s") else { return Ok(Completion::ignored_with("no gcc")) };
    same("gcc", said.as_str(), "")?;
    let text = std::fs::read_to_string(dir.path().join("hot.s"))?;
    // The name of the function that comes first becomes an attribute of nobody's (0x2f03 lies in the range for users).
    let (before, after) = text.split_once("(TAG: DW_TAG_subprogram)").ok_or("no subprogram in the abbreviations")?;
    let nameless = after.replacen(".uleb128 0x3\t# (DW_AT_name)", ".uleb128 0x2f03", 1);
    same("the name was there", nameless != after, true)?;
    std::fs::write(dir.path().join("hot.s"), format!("{before}(TAG: DW_TAG_subprogram){nameless}"))?;
    same("as", compile(dir.path(), "hot.s -o hot").as_deref(), Some(""))?;
    let tables = sampled_in(dir.path(), &["main", "hot"])?;
    let mut found: Vec<_> = tables.functions.iter().map(|row| (row.name.to_string(), row.file.is_some())).collect();
    found.sort();
    let nameless = found.iter().filter(|(_, has_file)| !has_file).count();
    same("names", found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), vec!["hot", "main"])?;
    same("at most the nameless one has no file", nameless <= 1, true)?;
    Ok(Completion::Completed)
}

/// What the compiler was given is what a function's file is, from every form of DWARF.
fn source_files() -> Outcome {
    let dir = tempfile::tempdir()?;
    let source = "int hot(int x) { return x * 3; }\nint main(int c, char **v) { (void)v; return hot(c); }\n";
    std::fs::write(dir.path().join("hot.c"), source)?;
    let forms = ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -gsplit-dwarf", "-gdwarf-5 -gsplit-dwarf"];
    for flags in forms {
        let Some(built) = compile(dir.path(), &format!("-O0 {flags} hot.c -o hot")) else { return Ok(Completion::ignored_with("no gcc")) };
        same(flags, built.as_str(), "")?;
        let tables = sampled_in(dir.path(), &["hot"])?;
        let function = tables.functions.iter().find(|function| function.name.as_ref() == "hot").ok_or("no function")?;
        let named = function.file.as_deref().is_some_and(|file| file.ends_with("hot.c"));
        same(&format!("{flags}: {:?}", function.file), named, true)?;
    }
    Ok(Completion::Completed)
}

/// What `perf inject --jit` writes (tools/perf/util/genelf.c): sections only, the code at 0x80 in file and memory.
fn no_program_headers() -> Outcome {
    const CODE: u64 = 0x80;
    let strings = b"\0jitted_function\0.text\0.symtab\0.strtab\0";
    // Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
    let section = |words: Words, name: u32, kind: u32, flags: u64, at: [u64; 3], link: u32, entry: u64| {
        words.u32(name).u32(kind).u64(flags).all(&at).u32(link).u32(1).u64(8).u64(entry)
    };
    let head = Words(b"\x7fELF\x02\x01\x01".to_vec()).bytes(&[0; 9]).u16(3).u16(62).u32(1).all(&[0, 0, 0x120]).u32(0);
    let mut elf = head.u16(64).u16(0).u16(0).u16(64).u16(4).u16(3);
    elf.0.resize(CODE as usize, 0);
    let mut elf = elf.bytes(&[0x90; 0x20]).bytes(&[0; 24]).u32(1).bytes(&[0x12, 0]).u16(1).u64(CODE).u64(0x20);
    let strings_at = elf.0.len() as u64;
    elf = elf.bytes(strings);
    elf.0.resize(0x120, 0);
    let elf = section(elf, 0, 0, 0, [0, 0, 0], 0, 0);
    let elf = section(elf, 17, 1, 6, [CODE, CODE, 0x20], 0, 0);
    let elf = section(elf, 23, 2, 0, [0, CODE + 0x20, 48], 3, 24);
    let elf = section(elf, 31, 3, 0, [0, strings_at, strings.len() as u64], 0, 0);
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("jitted-10-1.so"), &elf.0)?;
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    made.push(attr.map(10, (0x7000_0000, 0x20, CODE), "/tmp/jitted-10-1.so", 3));
    made.push(attr.sample(file::USER, Sample { ip: 0x7000_0004, pid: 10, tid: 10, time: 10, period: 1, ..Sample::default() }));
    let library = Library::open(&Roots { symbol_dirs: vec![dir.path().to_owned()], ..Roots::default() });
    let tables = named_from(&made.bytes(), &library)?;
    let names: Vec<&str> = tables.functions.iter().map(|function| function.name.as_ref()).collect();
    same("names", names, vec!["jitted_function"])?;
    Ok(Completion::Completed)
}

/// A recording's tables, named from a library without anything.
fn named(bytes: &[u8]) -> Result<Tables, Failed> {
    named_from(bytes, &Library::open(&Roots::default()))
}

fn named_from(bytes: &[u8], library: &Library) -> Result<Tables, Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("perf.data");
    std::fs::write(&path, bytes)?;
    let mut tables = merge(read_all(&Inputs::find(&[path])?, library, &ImportOptions::default()));
    tripod::symbolize::symbolize(&mut tables, library);
    Ok(tables)
}

fn pseudo_names() -> Outcome {
    let attr = Attr::cpu_clock();
    let names = ["[vdso]", "//anon", "[stack]", "/memfd:x (deleted)", "/dev/zero", "[heap]", "anon_inode:[perf_event]", "/SYSV00000000"];
    let mut made = program(&attr, &[]);
    for (place, name) in names.iter().enumerate() {
        let start = 0x7f00_0000_0000 + 0x10_0000 * place as u64;
        made.push(attr.map(10, (start, 0x1000, 0), name, 3));
        let sample = Sample { ip: start + 0x10, pid: 10, tid: 10, time: 10 + place as u64, period: 1, ..Sample::default() };
        made.push(attr.sample(file::USER, sample));
    }
    let tables = named(&made.bytes())?;
    let asked: Vec<&str> =
        tables.diagnostics.iter().filter(|row| row.kind.as_ref() == "symbols_missing").map(|row| row.message.as_ref()).collect();
    let asks_for_one = asked.iter().any(|message| names.iter().any(|name| message.contains(name)));
    same(&format!("asked for a pseudo file: {asked:?}"), asks_for_one, false)?;
    Ok(Completion::Completed)
}

fn names_change_no_count() -> Outcome {
    let input = crate::support::scenario("s2-lock-convoy").join("cpu-fp.perf.data.zst");
    if !input.is_file() {
        return Ok(Completion::ignored_with("s2-lock-convoy was not recorded"));
    }
    let count = |symbol_dirs: Vec<std::path::PathBuf>| -> Result<_, Failed> {
        let library = Library::open(&Roots { symbol_dirs, ..Roots::default() });
        let mut tables = merge(read_all(&Inputs::find(std::slice::from_ref(&input))?, &library, &ImportOptions::default()));
        tripod::symbolize::symbolize(&mut tables, &library);
        let events: Vec<(i64, i64)> = tables.events.iter().map(|event| (event.n, event.total_weight)).collect();
        Ok((events, tables.samples.len(), tables.functions.len()))
    };
    let (bare, full) = (count(Vec::new())?, count(vec![crate::support::symbols()])?);
    same("counts", (&bare.0, bare.1), (&full.0, full.1))?;
    if full.2 > bare.2 { Ok(Completion::Completed) } else { Err("the symbols named nothing".into()) }
}

/// NAMESPACES records do no harm, and the process is known by the pid of its events.
fn namespaces() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[10]);
    let body = Words::default().u32(10).u32(10).u64(2).all(&[4, 0xf000_0001, 4, 0xf000_0002]);
    made.push(attr.record(16, 0, body, (10, 10), 15));
    made.push(attr.sample(file::USER, Sample { ip: 0x40_0100, pid: 10, tid: 10, time: 20, period: 1, ..Sample::default() }));
    let recorder = import_bytes(&made.bytes())?;
    same("samples", (samples(&recorder), losses(&recorder), recorder.tables.processes.len()), (2, vec![], 1))?;
    Ok(Completion::Completed)
}

/// The registers of a dump tell the machine where no ARCH does; frame-pointer chains need none.
fn no_arch() -> Outcome {
    let recorder = import_bytes(&program(&Attr::cpu_clock(), &[10, 20, 30]).bytes())?;
    same("samples", (samples(&recorder), losses(&recorder), stack(&recorder, 2).len()), (3, vec![], 2))?;
    let input = crate::support::scenario("s6-sleep").join("cpu-dwarf.perf.data.zst");
    if !input.is_file() {
        return Ok(Completion::Completed);
    }
    let whole = zstd::decode_all(&std::fs::read(&input)?[..])?;
    let mut bare = whole.clone();
    // The data size is 0 in an aborted recording: it has no features, so no ARCH.
    bare[48..56].fill(0);
    let (whole, bare) = (import_bytes(&whole)?, import_bytes(&bare)?);
    same("unwinding", bare.artifact.unwinding.as_deref(), Some("dwarf"))?;
    same("samples", samples(&bare), samples(&whole))?;
    Ok(Completion::Completed)
}

/// By hand: the second page of a program's code becomes anonymous memory.
fn code_in_huge_pages() -> Outcome {
    let attr = Attr::cpu_clock();
    for name in ["", "//anon", "/anon_hugepage (deleted)"] {
        let mut made = program(&attr, &[]);
        made.push(attr.map(10, (0x40_1000, 0x1000, 0), name, 5));
        for (time, ip) in [(10, 0x40_1010), (20, 0x40_2010)] {
            made.push(attr.sample(file::USER, Sample { ip, pid: 10, tid: 10, time, period: 1, ..Sample::default() }));
        }
        // Where no file was, anonymous code stays anonymous.
        made.push(attr.map(10, (0x90_0000, 0x1000, 0), name, 25));
        made.push(attr.sample(file::USER, Sample { ip: 0x90_0010, pid: 10, tid: 10, time: 30, period: 1, ..Sample::default() }));
        let recorder = import_bytes(&made.bytes())?;
        same("moved", stack(&recorder, 0)[0].clone(), ("/opt/prog".to_owned(), 0x1010))?;
        same("not moved", stack(&recorder, 1)[0].clone(), ("/opt/prog".to_owned(), 0x2010))?;
        same("elsewhere", stack(&recorder, 2)[0].0 == "/opt/prog", false)?;
    }
    Ok(Completion::Completed)
}

fn two_runs_of_one_program() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    made.push(attr.comm(11, "prog", file::COMM_EXEC, 3)).push(attr.map(11, (0x55_5550_0000, 0x10_0000, 0), "/opt/prog", 4));
    for (pid, ip) in [(10, 0x40_0100), (11, 0x55_5550_0100)] {
        made.push(attr.sample(file::USER, Sample { ip, pid, tid: pid, time: 10, period: 1, ..Sample::default() }));
    }
    let recorder = import_bytes(&made.bytes())?;
    let stacks: Vec<_> = recorder.tables.samples.iter().map(|sample| sample.stack_id.get()).collect();
    same("the same place", stacks[0].is_some() && stacks[0] == stacks[1], true)?;
    Ok(Completion::Completed)
}

/// By hand: the leaf with its caller, and with the caller missing.
fn missing_middle_frames() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    let body = Words::default().u64(TEXT).u32(0x1000).u16(1).u16(0).text("leaf");
    made.push(attr.record(file::KSYMBOL, 0, body, (0, 0), 5));
    for (time, callers) in [(10, &[0x40_0100u64, 0x40_0200][..]), (20, &[0x40_0200])] {
        let chain = [&[file::CONTEXT_KERNEL, TEXT + 0x10, file::CONTEXT_USER][..], callers].concat();
        let sample = Sample { ip: TEXT + 0x10, pid: 10, tid: 10, time, period: 1, chain: &chain, ..Sample::default() };
        made.push(attr.sample(file::KERNEL, sample));
    }
    let run = super::container::analyzed(&made.bytes())?;
    let leaf = run.tables.functions.iter().find(|function| function.name.as_ref() == "leaf").ok_or("no leaf")?;
    let rows: Vec<i64> = run
        .tables
        .function_costs
        .iter()
        .filter(|row| row.function_id == leaf.function_id && row.view.as_ref() == "physical")
        .map(|row| row.self_count)
        .collect();
    same("rows of the leaf", rows, vec![2])?;
    Ok(Completion::Completed)
}

fn ends_of_chains() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    let chain = [file::CONTEXT_USER, 0x40_0100, 0x40_0201, 0, u64::MAX, 0];
    made.push(attr.sample(file::USER, Sample { ip: 0x40_0100, pid: 10, tid: 10, time: 10, period: 1, chain: &chain, ..Sample::default() }));
    made.push(record(file::FINISHED_ROUND, 0, &Words::default()));
    let recorder = import_bytes(&made.bytes())?;
    let found: Vec<u64> = stack(&recorder, 0).iter().map(|(_, rel)| *rel).collect();
    same("stack", found, vec![0x100, 0x200])?;
    Ok(Completion::Completed)
}
