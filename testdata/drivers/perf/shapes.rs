//! Forms of a perf.data file that no recording here has, made to the documented form; and the ways in which a file comes:
//! on standard input, compressed as a whole.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Completion, Failed, Trial};

use super::file::{self, Attr, File, Sample, Words, program};
use super::{import, import_bytes, losses, same, samples, stack};
use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::ignorable_test("perf_shapes::standard_input_is_read_like_a_file", standard_input),
        Trial::ignorable_test("perf_shapes::compressed_as_a_whole", compressed_as_a_whole),
        Trial::ignorable_test("perf_shapes::compressed_records_that_straddle", straddling_records),
        Trial::ignorable_test("perf_shapes::before_linux_2_6_38", old_magic),
        Trial::ignorable_test("perf_shapes::build_ids_without_pids", build_ids_without_pids),
        Trial::ignorable_test("perf_shapes::simpleperf", simpleperf),
        Trial::ignorable_test("perf_shapes::call_stacks_of_branches", call_stacks_of_branches),
        Trial::ignorable_test("perf_shapes::guests_are_apart", guests_are_apart),
        Trial::ignorable_test("perf_shapes::aborted_and_followed_by_junk", aborted_and_junk),
        Trial::ignorable_test("perf_shapes::one_id_table_for_all", overlapping_ids),
        Trial::ignorable_test("perf_shapes::lost_records_by_second", lost_records_by_second),
    ]
}

/// `perf report --stats` counts three LOST records in lost.perf.data, and `perf script --show-lost-events` prints them: 14, 45
/// and 18 lost records, all within one second.
fn lost_records_by_second() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let run = support::analyze(&support::testdata().join("perf-data/lost.perf.data.zst"), scratch.path(), &[])?;
    let query = support::project().join("queries/explore/lost_over_time.sql");
    let output = support::tripod(&["query", &run.to_string_lossy(), "--file", &query.to_string_lossy(), "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let lost: Vec<i64> = rows.as_array().into_iter().flatten().filter_map(|row| row["lost"].as_i64()).collect();
    same("lost records", lost.iter().sum::<i64>(), 14 + 45 + 18)?;
    Ok(Completion::Completed)
}

/// The whole run directory of `-` equals that of a file named `stdin`, in file mode and in pipe mode, but for the words
/// that asked for it.
fn standard_input() -> Outcome {
    for name in ["compressed.perf.data", "pipe.perf.data"] {
        let recording = support::testdata().join("perf-data").join(name);
        let scratch = tempfile::tempdir()?;
        let copy = scratch.path().join("stdin");
        std::fs::copy(&recording, &copy)?;
        let (piped, direct) = (scratch.path().join("piped"), scratch.path().join("direct"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_tripod"))
            .args(["analyze", "-", "-q", "-o"])
            .arg(&piped)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        child.stdin.take().ok_or("no standard input")?.write_all(&std::fs::read(&recording)?)?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        support::tripod(&["analyze", &copy.to_string_lossy(), "-q", "-o", &direct.to_string_lossy()]);
        let (left, right) = (contents(&piped)?, contents(&direct)?);
        if left.is_empty() || left != right {
            let differing: Vec<_> = left.iter().zip(&right).filter(|(l, r)| l != r).map(|(l, _)| &l.0).collect();
            return Err(format!("{name}: {} and {} files, different: {differing:?}", left.len(), right.len()).into());
        }
    }
    Ok(Completion::Completed)
}

fn contents(dir: &Path) -> Result<Vec<(String, Vec<u8>)>, Failed> {
    let file = |path: std::path::PathBuf| {
        let mut bytes = std::fs::read(&path)?;
        if path.file_name().is_some_and(|name| name == "fingerprint.json") {
            let mut fingerprint: serde_json::Value = serde_json::from_slice(&bytes)?;
            fingerprint.as_object_mut().ok_or("no object")?.remove("arguments").ok_or("no arguments")?;
            bytes = fingerprint.to_string().into_bytes();
        }
        Ok((path.strip_prefix(dir)?.to_string_lossy().into_owned(), bytes))
    };
    support::walk(dir).into_iter().map(file).collect()
}

fn compressed_as_a_whole() -> Outcome {
    let recording = support::testdata().join("perf-data/pipe.perf.data");
    let bytes = std::fs::read(&recording)?;
    let expected = samples(&import(&recording)?);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&bytes)?;
    let mut packed = vec![("gzip", gzip.finish()?), ("zstd", zstd::encode_all(&bytes[..], 3)?)];
    if let Ok(output) = Command::new("xz").args(["-9", "-c"]).arg(&recording).output()
        && output.status.success()
    {
        packed.push(("xz", output.stdout));
    }
    for (name, packed) in &packed {
        let recorder = import_bytes(packed)?;
        same(name, (samples(&recorder), recorder.artifact.compression.as_deref()), (expected, Some(*name)))?;
        // Cut in the middle: what could be inflated is read, and the loss is told.
        let cut = import_bytes(&packed[..packed.len() / 2])?;
        if cut.artifact.status.as_ref() == "complete" || !losses(&cut).iter().any(|(kind, _)| *kind == "truncated_compression") {
            return Err(format!("{name}: a cut file is {} {:?}", cut.artifact.status, losses(&cut)).into());
        }
    }
    if packed.len() < 3 {
        return Ok(Completion::ignored_with("xz is not installed (gzip and zstd were checked)"));
    }
    Ok(Completion::Completed)
}

/// Records in a zstd stream whose pieces end in the middle of a record, as COMPRESSED and as COMPRESSED2.
fn straddling_records() -> Outcome {
    let whole = program(&Attr::cpu_clock(), &[10, 20, 30, 40, 50]);
    for kind in [file::COMPRESSED, file::COMPRESSED2] {
        let mut packed = File { records: Vec::new(), ..whole.clone() };
        let mut stream = zstd::stream::write::Encoder::new(Vec::new(), 1)?;
        let mut taken = 0;
        for part in whole.records.chunks(53) {
            stream.write_all(part)?;
            stream.flush()?;
            let piece = stream.get_ref().get(taken..).unwrap_or_default().to_vec();
            taken += piece.len();
            let body = match kind {
                file::COMPRESSED => Words(piece),
                _ => {
                    let mut body = Words::default().u64(piece.len() as u64).bytes(&piece);
                    body.0.resize(body.0.len().next_multiple_of(8), 0);
                    body
                }
            };
            packed.push(file::record(kind, 0, &body));
        }
        for bytes in [packed.bytes(), packed.piped()] {
            let recorder = import_bytes(&bytes)?;
            same("samples", (samples(&recorder), losses(&recorder)), (5, vec![]))?;
            same("stack", stack(&recorder, 4), vec![("/opt/prog".to_owned(), 0x500), ("/opt/prog".to_owned(), 0x8000)])?;
        }
    }
    Ok(Completion::Completed)
}

/// The old magic with both sizes of the header. Written to the documented form: no such recording is at hand.
fn old_magic() -> Outcome {
    let made = program(&Attr::cpu_clock(), &[10, 20, 30]);
    let mut bytes = made.bytes();
    bytes[..8].copy_from_slice(b"PERFFILE");
    let recorder = import_bytes(&bytes)?;
    same("PERFFILE", (samples(&recorder), losses(&recorder)), (3, vec![]))?;
    let mut piped = made.piped();
    piped[..8].copy_from_slice(b"PERFFILE");
    same("PERFFILE in pipe mode", samples(&import_bytes(&piped)?), 3)?;
    // The oldest header has no set of features: what lies there is something else.
    bytes[8] = 72;
    bytes[72..104].fill(0xff);
    let recorder = import_bytes(&bytes)?;
    same("a header of 72 bytes", (samples(&recorder), losses(&recorder)), (3, vec![]))?;
    Ok(Completion::Completed)
}

/// BUILD_ID entries before Linux 2.6.35 had no pid in front.
fn build_ids_without_pids() -> Outcome {
    let mut made = program(&Attr::cpu_clock(), &[10]);
    let entry = |id: u8, path: &str| file::record(67, 0, &Words::default().bytes(&[id; 20]).bytes(&[0; 4]).text(path));
    made.feature(file::BUILD_ID, [entry(0xaa, "[kernel.kallsyms]"), entry(0xbb, "/opt/prog")].concat());
    let recorder = import_bytes(&made.bytes())?;
    let dso = recorder.tables.dsos.iter().find(|dso| dso.path.as_ref() == "/opt/prog").ok_or("no dso")?;
    same("build-id", dso.build_id.as_deref(), Some("bb".repeat(20).as_str()))?;
    Ok(Completion::Completed)
}

/// No EVENT_DESC, names in META_INFO, records of its own, of which some are larger than 64 KiB.
fn simpleperf() -> Outcome {
    let attr = Attr { kind: 0, config: 0, ..Attr::cpu_clock() };
    let mut made = program(&attr, &[10, 20]);
    let large = 0x1_2345usize;
    let head = Words::default().u32(32_769).u16((large >> 16) as u16).u16(large as u16);
    made.push(head.bytes(&vec![7; large - 8]).0);
    made.push(attr.sample(file::USER, Sample { ip: 0x40_0900, pid: 10, tid: 10, time: 30, period: 5, ..Sample::default() }));
    let meta = "simpleperf_version\x001.build.7848450\0event_type_info\0cpu-cycles,0,0\nsched:sched_switch,2,45\0";
    made.feature(129, meta.as_bytes().to_vec()).feature(132, vec![0; 16]);
    let recorder = import_bytes(&made.bytes())?;
    same("samples", (samples(&recorder), losses(&recorder)), (3, vec![]))?;
    same("event", recorder.tables.events[0].name.as_ref(), "cpu-cycles")?;
    let (tool, version) = (recorder.artifact.tool.as_ref(), recorder.artifact.tool_version.as_deref());
    same("tool", (tool, version), ("simpleperf", Some("1.build.7848450")))?;
    Ok(Completion::Completed)
}

/// `--call-graph lbr`: the kernel's frames, then the place in user code, then where each call was made.
fn call_stacks_of_branches() -> Outcome {
    const CALL_STACK: u64 = 1 << 11;
    const HW_INDEX: u64 = 1 << 17;
    let base = Attr::cpu_clock();
    for branches in [CALL_STACK, CALL_STACK | HW_INDEX] {
        let attr = Attr { sample_type: base.sample_type | file::BRANCH_STACK, branches, ..base.clone() };
        let mut made = program(&attr, &[]);
        let mut tail = Words::default().u64(2);
        tail = if branches & HW_INDEX != 0 { tail.u64(9) } else { tail };
        let tail = tail.all(&[0x40_2010, 0x40_3000, 0, 0x40_1010, 0x40_2000, 0]).0;
        let chain = [file::CONTEXT_USER, 0x40_3005, 0x40_7777];
        let sample = Sample { ip: 0x40_3005, pid: 10, tid: 10, time: 9, period: 1, chain: &chain, tail: &tail, ..Sample::default() };
        made.push(attr.sample(file::USER, sample));
        let recorder = import_bytes(&made.bytes())?;
        let found: Vec<u64> = stack(&recorder, 0).iter().map(|(_, rel)| *rel).collect();
        same("stack", found, vec![0x3005, 0x2010, 0x1010])?;
        same("unwinding", recorder.artifact.unwinding.as_deref(), Some("lbr"))?;
    }
    Ok(Completion::Completed)
}

/// A guest's maps and samples (`perf kvm --host --guest record`) at the host program's addresses.
fn guests_are_apart() -> Outcome {
    let attr = Attr::cpu_clock();
    let mut made = program(&attr, &[10]);
    made.push(attr.map2(10, (0x40_0000, 0x10_0000, 0), (file::GUEST_KERNEL, 5, [0; 24]), "[guest.kernel.kallsyms]", 20));
    let at = |time| Sample { ip: 0x40_0100, pid: 10, tid: 10, time, period: 1, ..Sample::default() };
    made.push(attr.sample(file::GUEST_KERNEL, at(30))).push(attr.sample(file::USER, at(40)));
    let recorder = import_bytes(&made.bytes())?;
    same("guest", stack(&recorder, 1), vec![("[guest]".to_owned(), 0x40_0100)])?;
    same("host", stack(&recorder, 2), vec![("/opt/prog".to_owned(), 0x100)])?;
    Ok(Completion::Completed)
}

/// The header's data size is written last: 0 where perf was killed. And bytes behind the last record of a pipe.
fn aborted_and_junk() -> Outcome {
    let made = program(&Attr::cpu_clock(), &[10, 20, 30]);
    let mut aborted = made.bytes();
    aborted[48..56].fill(0);
    let recorder = import_bytes(&aborted)?;
    same("aborted", (samples(&recorder), losses(&recorder)), (3, vec![("perf_aborted_recording", 1)]))?;
    let junk = [made.piped(), vec![0; 24]].concat();
    let recorder = import_bytes(&junk)?;
    same("junk", (samples(&recorder), losses(&recorder)), (3, vec![("perf_truncated", 1)]))?;
    let text = [made.piped(), b"[ perf record: Woken up 1 times to write data ]\n".to_vec()].concat();
    let recorder = import_bytes(&text)?;
    same("text", (samples(&recorder), losses(&recorder)), (3, vec![("perf_trailing_text", 1)]))?;
    let behind = [made.bytes(), vec![0x5a; 1000]].concat();
    same("bytes behind a file", samples(&import_bytes(&behind)?), 3)?;
    Ok(Completion::Completed)
}

/// A hostile file of 4 MB: 20,000 events that all claim the whole file as their ids.
fn overlapping_ids() -> Outcome {
    let attr = Attr { ids: vec![1], ..Attr::cpu_clock() };
    let mut made = File::new(&vec![attr; 20_000]);
    made.attr_bytes = 64;
    let mut bytes = made.bytes();
    let attrs_at = 104 + 8 * 20_000;
    let len = bytes.len() as u64;
    for entry in 0..20_000 {
        let at = attrs_at + 80 * entry + 64;
        bytes[at..at + 16].copy_from_slice(&Words::default().u64(0).u64(len).0);
    }
    let start = std::time::Instant::now();
    import_bytes(&bytes)?;
    if start.elapsed().as_secs() > 20 {
        return Err(format!("{:?}", start.elapsed()).into());
    }
    Ok(Completion::Completed)
}
