use super::*;
use crate::ingest::merge;
use crate::ingest::testing::{kinds, read_text, survives_damage};

/// strace 6.1 `-f -c ./p 1`, shortened; the total was reduced by hand to match.
const PLAIN: &str = "strace: Process 7 attached\r\n% time     seconds  usecs/call     calls    errors syscall\r\n------ ----------- ----------- --------- --------- ----------------\r\n 58.09    \
    0.018994         226        84         1 futex\r\n  0.57    0.000186          23         8         1 openat\r\n  0.00    0.000000           0         3           execve\r\n------ ----------- \
    ----------- --------- --------- ----------------\r\n100.00    0.019180          66        95         2 total\r\n";

/// Name, calls, errors, ns, clock.
type Row<'a> = (&'a str, i64, Option<i64>, Option<i64>, &'a str);

fn rows(recorder: &Recorder) -> Vec<Row<'_>> {
    recorder.tables.syscalls.iter().map(|r| (r.name.as_ref(), r.calls, r.errors, r.total_ns, r.clock.as_ref())).collect()
}

#[test]
fn the_plain_table() {
    let recorder = read_text(read, PLAIN);
    let expected = [
        ("futex", 84, Some(1), Some(18_994_000), "unknown"),
        ("openat", 8, Some(1), Some(186_000), "unknown"),
        ("execve", 3, None, Some(0), "unknown"),
    ];
    assert_eq!(rows(&recorder), expected);
    assert_eq!(recorder.tables.syscalls[0].line_no, 4);
    assert_eq!(kinds(&recorder), ["strace_attach_notice"]);
    assert_eq!(recorder.tables.events[0].n, 95);
    survives_damage(read, PLAIN.as_bytes());
}

/// strace 6.1 `-c -w -U name,time-percent,total-time,min-time,max-time,avg-time,calls,errors true`, shortened.
#[test]
fn chosen_columns() {
    let text = "syscall          % time     seconds shortest  longest  usecs/call     calls    errors\n---------------- ------ ----------- -------- -------- ----------- --------- ---------\n\
        mmap              55.42    0.003275 0.000053 0.002837         409         8          \naccess             1.09    0.000064 0.000064 0.000064          64         1         1\n\
        ---------------- ------ ----------- -------- -------- ----------- --------- ---------\ntotal            100.00    0.003339 0.000042 0.002837         203         9         1\n";
    assert_eq!(
        rows(&read_text(read, text)),
        [("mmap", 8, None, Some(3_275_000), "unknown"), ("access", 1, Some(1), Some(64_000), "unknown")]
    );
    assert!(sniff(text.as_bytes()));
}

/// The wall-* columns as strace 7.1's count.c prints them (`-U ...,wall-total`): their clock is no guess.
#[test]
fn wall_columns_decide_the_clock() {
    let text = "% time     seconds  wall-total     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n 99.00    0.000100    0.912000       800           nanosleep\n\
        ------ ----------- ----------- --------- --------- ----------------\n100.00    0.000100    0.912000       800           total\n";
    assert_eq!(rows(&read_text(read, text)), [("nanosleep", 800, None, Some(912_000_000), "wall")]);
}

#[test]
fn odd_rows_a_second_table_and_a_missing_total() {
    // a name strace does not know, decimal commas, a row out of its columns, a row of nonsense
    let odd = PLAIN
        .replace(" futex", " syscall_0x3e7")
        .replace("0.000186", "0,000186")
        .replace("  0.00    0.000000           0         3           execve", "0.00 0.000000 0 3 execve\nnonsense");
    let recorder = read_text(read, &odd);
    assert_eq!(rows(&recorder).iter().map(|row| row.0).collect::<Vec<_>>(), ["syscall_0x3e7", "openat", "execve"]);
    assert_eq!(rows(&recorder)[1].3, Some(186_000));
    assert_eq!(kinds(&recorder), ["strace_attach_notice", "strace_summary_row"]);
    let twice = read_text(read, &PLAIN.repeat(2));
    assert_eq!(rows(&twice).len(), 6);
    assert!(kinds(&twice).contains(&"strace_several_tables"));
    let cut = read_text(read, &PLAIN[..PLAIN.rfind("\n------ ").unwrap()]);
    assert_eq!(cut.artifact.status.as_ref(), "truncated");
    assert_eq!(rows(&cut).len(), 3);
    let gap = read_text(read, &PLAIN.replace("        95         2 total", "        96         2 total"));
    assert!(kinds(&gap).contains(&"strace_rows_and_total"));
}

fn decided(text: &str, command: Option<&str>) -> (Option<String>, Option<String>) {
    let mut recorder = read_text(read, text);
    recorder.artifact.command = command.map(Into::into);
    let mut tables = merge(vec![recorder]);
    decide_clocks(&mut tables);
    let artifact = &tables.artifacts[0];
    (artifact.call_clock.as_deref().map(str::to_owned), artifact.clock_source.as_deref().map(str::to_owned))
}

#[test]
fn the_clock_comes_from_the_command_or_stays_unknown() {
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(decided(PLAIN, None), (some("unknown"), None));
    assert_eq!(decided(PLAIN, Some("strace -f -c -o x ./p")), (some("system"), some("manifest")));
    assert_eq!(decided(PLAIN, Some("strace -f -c -w -o x ./p")), (some("wall"), some("manifest")));
    // rules.md finding 3: the sleeper's 800 calls, 0.0115 s of system and 0.912 s of wall time
    let sleeper = |seconds: &str| {
        PLAIN
            .replace("strace: Process 7 attached\r\n", "")
            .replace("0.018994         226        84         1 futex", &format!("{seconds}        1140       800           nanosleep"))
    };
    assert_eq!(decided(&sleeper("0.912000"), None), (some("wall"), some("heuristic")));
    assert_eq!(decided(&sleeper("0.011500"), None), (some("unknown"), None));
    // with threads, no heuristic
    assert_eq!(decided(&sleeper("0.912000").replace("openat", "clone3"), None), (some("unknown"), None));
}

#[test]
fn a_header_needs_its_divider() {
    assert!(sniff(PLAIN.as_bytes()));
    assert!(!sniff(b"% time     seconds  usecs/call     calls    errors syscall\nabout this header\n"));
}
