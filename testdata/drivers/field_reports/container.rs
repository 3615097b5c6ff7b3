//! A001 to A024: header, features, records, order.

use libtest_mimic::{Completion, Failed};
use tripod::ingest::Recorder;

use super::Proof::{Check, Covered, Elsewhere};
use super::{Row, row};
use crate::perf::file::{self, Attr, File, Sample, Words, program, record, string};
use crate::perf::{import_bytes, losses, same, samples, stack};
use crate::support::Outcome;

pub const ROWS: &[Row] = &[
    row("A001", "an absurd length of a string costs that string", Check(absurd_string)),
    row("A002", "an absurd offset of a feature costs that feature", Check(absurd_offset)),
    row("A003", "without the BUILD_ID section the MMAP2 records' ids serve", Check(build_ids_of_mmap2)),
    row("A004", "padding and empty entries in the build-id table", Check(padded_build_ids)),
    row("A005", "attrs of another size", Check(attrs_of_another_size)),
    row("A006", "an unknown record type is passed over and counted once", Check(unknown_type)),
    row("A007", "a longer record than known is read as far as known", Check(longer_record)),
    row("A008", "known types say nothing, KSYMBOL names BPF code", Check(known_types)),
    row("A009", "perf.data is known by its content", Check(known_by_content)),
    row("A010", "absent strings are absent facts", Check(absent_strings)),
    row(
        "A011",
        "compressed records, also across two of them",
        Covered(&["perf_shapes::compressed_records_that_straddle", "perf_corpus::equals_other_tools"]),
    ),
    row("A012", "advice depends on what perf was built with", Elsewhere("advice on recording (issue 4)")),
    row("A013", "a stream on standard input", Covered(&["perf_shapes::standard_input_is_read_like_a_file"])),
    row("A014", "simpleperf", Covered(&["perf_shapes::simpleperf"])),
    row("A015", "events without EVENT_DESC", Check(no_event_desc)),
    row("A016", "stack dumps that are not unwound leave what the kernel gave", Check(dump_without_program)),
    row("A017", "a sample with a bad branch stack costs that sample", Check(bad_branch_stack)),
    row("A018", "a cut file keeps its beginning", Covered(&["perf_damage::cut_{name}", "perf_shapes::aborted_and_followed_by_junk"])),
    row("A019", "records of several CPUs are put in order", Check(several_cpus)),
    row("A020", "records without a time", Check(no_times)),
    row("A021", "fork copies maps, exec drops them", Check(fork_and_exec)),
    row("A022", "samples without a stack", Check(no_stacks)),
    row("A023", "an event that half of the functions have", Check(events_in_half_of_the_functions)),
    row("A024", "LOST: the id first, then the count", Check(lost)),
];

fn done(checked: Result<(), Failed>) -> Outcome {
    checked.map(|()| Completion::Completed)
}

fn three() -> File {
    program(&Attr::cpu_clock(), &[10, 20, 30])
}

fn host(recorder: &Recorder, key: &str) -> Option<String> {
    recorder.tables.host.iter().find(|fact| fact.key.as_ref() == key).map(|fact| fact.value.to_string())
}

fn build_id(recorder: &Recorder, path: &str) -> Option<String> {
    recorder.tables.dsos.iter().find(|dso| dso.path.as_ref() == path)?.build_id.as_ref().map(ToString::to_string)
}

fn absurd_string() -> Outcome {
    let mut made = three();
    made.feature(file::HOSTNAME, Words::default().u32(0xffff_fff0).text("host").0).feature(file::ARCH, string("x86_64"));
    let recorder = import_bytes(&made.bytes())?;
    same("samples", samples(&recorder), 3)?;
    done(same("facts", (host(&recorder, "hostname"), host(&recorder, "arch").as_deref()), (None, Some("x86_64"))))
}

/// A file with three features, the offset of the one at `place` in their table overwritten.
fn with_offset(place: usize, offset: u64) -> Result<Recorder, Failed> {
    let mut made = three();
    let entry = record(67, 0, &Words::default().u32(10).bytes(&[0xaa; 20]).bytes(&[0; 4]).text("/opt/prog"));
    made.feature(file::BUILD_ID, entry).feature(file::HOSTNAME, string("host")).feature(file::ARCH, string("x86_64"));
    let mut laid = made.laid();
    let at = laid.table + 16 * place;
    laid.bytes[at..at + 8].copy_from_slice(&offset.to_le_bytes());
    import_bytes(&laid.bytes)
}

fn absurd_offset() -> Outcome {
    let recorder = with_offset(1, 1 << 53)?;
    same("samples", (samples(&recorder), losses(&recorder)), (3, vec![("perf_bad_feature", 1)]))?;
    same("facts", (host(&recorder, "hostname"), host(&recorder, "arch").as_deref()), (None, Some("x86_64")))?;
    done(same("build-id", build_id(&recorder, "/opt/prog"), Some("aa".repeat(20))))
}

fn build_ids_of_mmap2() -> Outcome {
    let recorder = with_offset(0, u64::MAX - 3)?;
    same("samples", (samples(&recorder), build_id(&recorder, "/opt/prog")), (3, None))?;
    let attr = Attr::cpu_clock();
    let mut made = File::new(std::slice::from_ref(&attr));
    let mut identity = [0xcc; 24];
    identity[..4].copy_from_slice(&[8, 0, 0, 0]);
    made.push(attr.map2(10, (0x1000, 0x1000, 0), (file::USER | file::MMAP_BUILD_ID, 5, identity), "/opt/prog", 1));
    let recorder = import_bytes(&made.bytes())?;
    done(same("build-id of MMAP2, 8 bytes", build_id(&recorder, "/opt/prog"), Some("cc".repeat(8))))
}

fn padded_build_ids() -> Outcome {
    let mut made = three();
    let entry = |id: u8, path: &str| record(67, 0, &Words::default().u32(10).bytes(&[id; 20]).bytes(&[0; 4]).text(path));
    let table = [entry(0xaa, "/lib/a.so"), vec![0; 16], entry(0xbb, "/opt/prog"), vec![0; 8], vec![9, 0, 0, 0, 0, 0, 4, 0]].concat();
    made.feature(file::BUILD_ID, table);
    let recorder = import_bytes(&made.bytes())?;
    done(same("build-id behind padding", (samples(&recorder), build_id(&recorder, "/opt/prog")), (3, Some("bb".repeat(20)))))
}

fn attrs_of_another_size() -> Outcome {
    for (own, stride) in [(128, 144), (144, 144), (64, 64), (104, 104), (8192, 8192)] {
        let mut made = three();
        (made.attr_bytes, made.attr_stride) = (own, stride);
        for bytes in [made.bytes(), made.piped()] {
            let recorder = import_bytes(&bytes)?;
            same(&format!("attrs of {own} in {stride}"), (samples(&recorder), losses(&recorder)), (3, vec![]))?;
            same("name", recorder.tables.events[0].name.as_ref(), "cpu-clock")?;
        }
    }
    Ok(Completion::Completed)
}

fn unknown_type() -> Outcome {
    let mut made = three();
    for _ in 0..4 {
        made.push(record(250, 0, &Words::default().u64(1)));
    }
    let recorder = import_bytes(&made.bytes())?;
    done(same("losses", (samples(&recorder), losses(&recorder)), (3, vec![("perf_unknown_type_250", 4)])))
}

fn longer_record() -> Outcome {
    let mut made = three();
    // TIME_CONV has 24 bytes, and 28 more since Linux 5.10; LOST_SAMPLES has 8.
    made.push(record(79, 0, &Words::default().all(&[1, 2, 3, 4, 5, 6, 7])));
    let attr = Attr::cpu_clock();
    made.push(attr.record(13, 0, Words::default().all(&[5, 0, 0]), (10, 10), 40));
    made.push(attr.sample(file::USER, Sample { ip: 0x40_0100, pid: 10, tid: 10, time: 50, period: 1, ..Sample::default() }));
    let recorder = import_bytes(&made.bytes())?;
    done(same("samples and losses", (samples(&recorder), losses(&recorder)), (4, vec![("perf_lost_samples", 5)])))
}

fn known_types() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = three();
    // ID_INDEX, THREAD_MAP, CPU_MAP, TIME_CONV, EVENT_UPDATE, FINISHED_INIT
    for kind in [69, 73, 74, 79, 78, 82] {
        made.push(record(kind, 0, &Words::default().all(&[0, 0, 0, 0])));
    }
    let ip = 0xffff_ffff_c000_0010;
    let body = Words::default().u64(ip - 0x10).u32(0x100).u16(1).u16(0).text("bpf_prog_1234_trace");
    made.push(attr.record(file::KSYMBOL, 0, body, (0, 0), 40));
    made.push(attr.sample(file::KERNEL, Sample { ip, pid: 10, tid: 10, time: 50, period: 1, ..Sample::default() }));
    let recorder = import_bytes(&made.bytes())?;
    same("samples and losses", (samples(&recorder), losses(&recorder)), (4, vec![]))?;
    same("where", stack(&recorder, 3)[0].0.as_str(), "[bpf]")?;
    let names: Vec<&str> = recorder.tables.functions.iter().map(|function| function.name.as_ref()).collect();
    done(same("names", names, vec!["bpf_prog_1234_trace"]))
}

fn known_by_content() -> Outcome {
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("report.txt"), three().bytes())?;
    same("kind", crate::perf::import(&dir.path().join("report.txt"))?.artifact.kind.to_string(), "perf.data".to_owned())?;
    let text = "prog    10 [000]     1.000010:       1000 cpu-clock: \n\t          400100 main+0x10 (/opt/prog)\n\n";
    let script = import_bytes(text.as_bytes())?;
    let told = script.tables.diagnostics.iter().any(|row| row.message.contains("no format claims it"));
    done(same("text of perf script", (script.artifact.status.as_ref(), told), ("unreadable", true)))
}

fn absent_strings() -> Outcome {
    let mut made = three();
    made.feature(file::HOSTNAME, Vec::new()).feature(file::ARCH, Words::default().u32(0).0).feature(4, string(""));
    let recorder = import_bytes(&made.bytes())?;
    same("samples", samples(&recorder), 3)?;
    let facts = ["hostname", "arch", "kernel_release"].map(|key| host(&recorder, key));
    done(same("facts", facts, [None, None, None]))
}

fn no_event_desc() -> Outcome {
    let base = Attr::cpu_clock();
    let sample_type = base.sample_type | file::IDENTIFIER;
    let clock = Attr { sample_type, ids: vec![5, 6], ..base.clone() };
    let raw = Attr { kind: 4, config: 0x1a8, sample_type, ids: vec![8], ..base };
    let mut made = File::new(&[clock.clone(), raw.clone()]);
    let at = |time| Sample { ip: 0x40_0100, pid: 10, tid: 10, time, period: 1, ..Sample::default() };
    made.push(raw.sample(file::USER, at(1))).push(clock.sample(file::USER, at(2))).push(raw.sample(file::USER, at(3)));
    let recorder = import_bytes(&made.bytes())?;
    let events: Vec<(&str, i64)> = recorder.tables.events.iter().map(|event| (event.name.as_ref(), event.n)).collect();
    done(same("events", events, vec![("cpu-clock", 1), ("raw:r1a8", 2)]))
}

fn dump_without_program() -> Outcome {
    let base = Attr::cpu_clock();
    let attr = Attr { sample_type: base.sample_type | file::REGS_USER | file::STACK_USER, regs: 0x0ff_0fff, ..base };
    let mut made = program(&attr, &[]);
    let regs = [0u64; 20];
    let tail = Words::default().u64(2).all(&regs).u64(64).bytes(&[0x11; 64]).u64(64).0;
    let kernel = 0xffff_ffff_8100_0100;
    let chain = [file::CONTEXT_KERNEL, kernel, kernel + 0x20];
    let sample = Sample { ip: kernel, pid: 10, tid: 10, time: 5, period: 7, chain: &chain, tail: &tail, ..Sample::default() };
    made.push(attr.sample(file::KERNEL, sample)).feature(file::ARCH, string("x86_64"));
    let recorder = import_bytes(&made.bytes())?;
    let event = &recorder.tables.events[0];
    same("samples and weight", (event.n, event.total_weight), (1, 7))?;
    let rels: Vec<u64> = stack(&recorder, 0).iter().map(|(_, rel)| *rel).take(2).collect();
    same("kernel part", rels, vec![kernel, kernel + 0x1f])?;
    let counted =
        losses(&recorder).iter().any(|(kind, count)| (kind.starts_with("perf_unwind_") || *kind == "perf_stack_cut") && *count == 1);
    done(same("told", counted, true))
}

fn bad_branch_stack() -> Outcome {
    const CALL_STACK: u64 = 1 << 11;
    let base = Attr::cpu_clock();
    let attr = Attr { sample_type: base.sample_type | file::BRANCH_STACK, branches: CALL_STACK, ..base };
    let mut made = program(&attr, &[]);
    for (time, count) in [(10, 1), (20, 1 << 60), (30, 1)] {
        let tail = Words::default().all(&[count, 0x40_2010, 0x40_3000, 0]).0;
        made.push(attr.sample(file::USER, Sample { ip: 0x40_3005, pid: 10, tid: 10, time, period: 1, tail: &tail, ..Sample::default() }));
    }
    let recorder = import_bytes(&made.bytes())?;
    done(same("samples and losses", (samples(&recorder), losses(&recorder)), (2, vec![("perf_bad_record", 1)])))
}

/// Two CPUs, one after the other in the file: the child's samples on CPU 0 come before its fork and maps on CPU 1.
fn several_cpus() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    made.push(record(file::FINISHED_ROUND, 0, &Words::default()));
    let at = |pid, time| Sample { ip: 0x40_0100, pid, tid: pid, time, period: 1, ..Sample::default() };
    made.push(attr.sample(file::USER, at(11, 120))).push(attr.sample(file::USER, at(11, 130)));
    made.push(attr.fork(11, 10, 110)).push(attr.sample(file::USER, at(10, 125)));
    made.push(record(file::FINISHED_ROUND, 0, &Words::default()));
    let recorder = import_bytes(&made.bytes())?;
    let places: Vec<_> = (0..3).map(|sample| stack(&recorder, sample)).collect();
    same("places", places, vec![vec![("/opt/prog".to_owned(), 0x100)]; 3])?;
    let times: Vec<_> = recorder.tables.samples.iter().map(|sample| sample.ts_ns.get()).collect();
    same("order", times, vec![Some(120), Some(125), Some(130)])?;
    done(same("losses", losses(&recorder), vec![]))
}

fn no_times() -> Outcome {
    let recorder = import_bytes(&program(&Attr::cpu_clock(), &[10, 0, 0]).bytes())?;
    same("zero times", (samples(&recorder), losses(&recorder)), (3, vec![("perf_untimed_samples", 2)]))?;
    let base = Attr::cpu_clock();
    let attr = Attr { sample_type: base.sample_type & !file::TIME, flags: file::FREQ, ..base };
    let recorder = import_bytes(&program(&attr, &[1, 2, 3]).bytes())?;
    same("no times at all", (samples(&recorder), losses(&recorder)), (3, vec![("perf_untimed_samples", 3)]))?;
    done(same("place", stack(&recorder, 2)[0].clone(), ("/opt/prog".to_owned(), 0x300)))
}

fn fork_and_exec() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[]);
    let at = |time| Sample { ip: 0x40_0100, pid: 11, tid: 11, time, period: 1, ..Sample::default() };
    made.push(attr.fork(11, 10, 10)).push(attr.sample(file::USER, at(20)));
    // The parent's later maps are not the child's.
    made.push(attr.map(10, (0x40_0000, 0x1000, 0), "/opt/later", 25)).push(attr.sample(file::USER, at(30)));
    made.push(attr.comm(11, "other", file::COMM_EXEC, 40)).push(attr.sample(file::USER, at(50)));
    let recorder = import_bytes(&made.bytes())?;
    let places: Vec<_> = (0..3).map(|sample| stack(&recorder, sample)[0].clone()).collect();
    let expected = [("/opt/prog", 0x100), ("/opt/prog", 0x100), ("", 0x40_0100)].map(|(dso, rel)| (dso.to_owned(), rel));
    done(same("places", places, expected.to_vec()))
}

fn no_stacks() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[10]);
    made.push(attr.sample(file::USER, Sample { pid: 10, tid: 10, time: 20, period: 1, ..Sample::default() }));
    let recorder = import_bytes(&made.bytes())?;
    let ids: Vec<bool> = recorder.tables.samples.iter().map(|sample| sample.stack_id.get().is_some()).collect();
    done(same("stacks", ids, vec![true, false]))
}

/// Every function has a row for each event that it has samples of, and the run is written.
fn events_in_half_of_the_functions() -> Outcome {
    let base = Attr::cpu_clock();
    let sample_type = base.sample_type | file::IDENTIFIER;
    let clock = Attr { sample_type, ids: vec![5], ..base.clone() };
    let faults = Attr { config: 2, sample_type, ids: vec![6], ..base };
    let mut made = File::new(&[clock.clone(), faults.clone()]);
    made.push(clock.comm(10, "prog", file::COMM_EXEC, 1)).push(clock.map(10, (0x40_0000, 0x1000, 0), "/opt/prog", 2));
    let at = |ip, time| Sample { ip, pid: 10, tid: 10, time, period: 1, ..Sample::default() };
    made.push(clock.sample(file::USER, at(0x40_0100, 3))).push(clock.sample(file::USER, at(0x40_0200, 4)));
    made.push(faults.sample(file::USER, at(0x40_0100, 5)));
    let run = analyzed(&made.bytes())?;
    let of =
        |event: usize| run.tables.stack_costs.iter().filter(|row| row.event_id as usize == event).map(|row| row.self_count).sum::<i64>();
    done(same("samples by stack", (of(0), of(1)), (2, 1)))
}

/// The whole pipeline in this process.
pub fn analyzed(bytes: &[u8]) -> Result<tripod::emit::Run, Failed> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("perf.data");
    std::fs::write(&path, bytes)?;
    let request = tripod::AnalyzeRequest { paths: vec![path], ..tripod::AnalyzeRequest::default() };
    Ok(tripod::analyze(&request)?)
}

fn lost() -> Outcome {
    let mut made = three();
    // Id 77 lost 5; the id is far larger than any count.
    let id = Attr::cpu_clock().ids[0];
    made.push(Attr::cpu_clock().record(file::LOST, 0, Words::default().u64(id).u64(5), (10, 10), 40));
    let recorder = import_bytes(&made.bytes())?;
    same("made", recorder.tables.events[0].lost, Some(5))?;
    let Some(corpus) = crate::perf::corpus_dir() else { return Ok(Completion::Completed) };
    // Two LOST_SAMPLES records; `perf report --stats` counts the same two, and their counts are small.
    let public = crate::perf::import(&corpus.join("perfdata/perf_data_converter--perf.data.piped.lost_samples-4.4"))?;
    let lost: i64 = public.tables.events.iter().filter_map(|event| event.lost).sum();
    if lost == 0 || lost > 1000 {
        return Err(format!("{lost} lost in the public file").into());
    }
    Ok(Completion::Completed)
}
