use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage};

fn rows<'a>(recorder: &'a Recorder, key: &str) -> Vec<(&'a str, i64, &'a str, i64)> {
    let own = recorder.tables.accounting.iter().filter(|row| row.key.as_ref() == key);
    own.map(|row| (row.scope.as_ref(), row.value, row.moment.as_ref(), row.line_no)).collect()
}

/// `tail -n +1 /proc/uptime /proc/pressure/* /proc/stat` twice (Linux 6.18), shortened, with three snapshots of one file.
const SNAPSHOTS: &str = "==> /proc/uptime <==\n22829.43 16601.53\n\n==> /proc/pressure/io <==\nsome avg10=0.79 avg60=0.53 avg300=0.64 total=380164998\nfull avg10=0.47 avg60=0.34 avg300=0.37 total=282155442\n\n==> /proc/stat <==\ncpu  100 0 50 800 40 0 2 8 0 0\ncpu0 50 0 25 400 20 0 1 4 0 0\nctxt 118419564\n==> /proc/pressure/io <==\nsome avg10=0.80 avg60=0.53 avg300=0.64 total=380170000\n==> /proc/uptime <==\n22831.43 16602.00\n==> /proc/pressure/io <==\nsome avg10=1.00 avg60=0.53 avg300=0.64 total=380264998\n==> /proc/stat <==\ncpu  160 0 60 880 50 0 2 38 0 0\ncpu0 70 0 30 430 25 0 1 14 0 0\n";

#[test]
fn first_and_last_of_each_key() {
    let recorder = read_text(read, SNAPSHOTS);
    let expected =
        [("system", 380_164_998_000, "first", 5), ("system", 380_170_000_000, "between", 13), ("system", 380_264_998_000, "last", 17)];
    assert_eq!(rows(&recorder, "psi_io_some"), expected);
    assert_eq!(rows(&recorder, "psi_io_full"), [("system", 282_155_442_000, "last", 6)]);
    let averages = rows(&recorder, "psi_io_some_avg10");
    assert_eq!((averages[0].2, averages[2]), ("between", ("system", 10_000, "average", 17)));
    // Ticks of 10 ms; the sum leaves guest time out, which is in user.
    assert_eq!(rows(&recorder, "cpu_steal")[0], ("system", 80_000_000, "first", 9));
    assert_eq!(rows(&recorder, "cpu_total")[2], ("system", 11_900_000_000, "last", 19));
    assert_eq!(recorder.artifact.window_ns, Some(2_000_000_000));
    survives_damage(read, SNAPSHOTS.as_bytes());
}

/// cpu.stat of a version 1 and of a version 2 group, as Linux 6.18 prints them; `grep . FILES` puts the path in front.
#[test]
fn groups_of_both_versions() {
    let text = "nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_periods 21\nnr_throttled 20\nthrottled_time 1409535397\n";
    let recorder = read_text(read, text);
    assert_eq!(rows(&recorder, "nr_throttled"), [("cgroup", 0, "first", 2), ("cgroup", 20, "last", 5)]);
    assert_eq!(rows(&recorder, "throttled")[1], ("cgroup", 1_409_535_397, "last", 6));
    assert_eq!(recorder.artifact.window_ns, None);
    let text = "1795993235.136740944\n/sys/fs/cgroup/a/cpu.stat:usage_usec 1918\n/sys/fs/cgroup/a/cpu.stat:nr_throttled 3\n/sys/fs/cgroup/a/cpu.stat:throttled_usec 7\n/sys/fs/cgroup/a/cpu.pressure:some avg10=0.00 avg60=0.00 avg300=0.00 total=504286\n1795993236.145188504\n";
    let recorder = read_text(read, text);
    assert_eq!(rows(&recorder, "usage"), [("cgroup /a", 1_918_000, "last", 2)]);
    assert_eq!(rows(&recorder, "throttled"), [("cgroup /a", 7_000, "last", 4)]);
    assert_eq!(rows(&recorder, "psi_cpu_some"), [("cgroup /a", 504_286_000, "last", 5)]);
    assert_eq!(recorder.artifact.window_ns, Some(1_008_447_560));
}

#[test]
fn what_cannot_be_placed_is_counted() {
    let text = "some avg10=0.79 avg60=0.53 avg300=0.64 total=1\n/proc/stat:cpu  1 2 x 4 5 6 7 8 0 0\nnr_throttled -3\nvoluntary_ctxt_switches:\t17\nName:\tcat\n";
    let recorder = read_text(read, text);
    assert_eq!(kinds(&recorder), ["accounting_line", "other_text", "pressure_of_what"]);
    assert_eq!(recorder.tables.diagnostics[0].count, 2);
    assert_eq!(rows(&recorder, "voluntary_switches"), [("process", 17, "last", 4)]);
    // Every CPU ticks all the time: 0.3 s on cpu0.
    let text = "cpu  1 0 0 0 0 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\ncpu  61 0 0 0 0 0 0 0 0 0\ncpu0 31 0 0 0 0 0 0 0 0 0\n";
    assert_eq!(read_text(read, text).artifact.window_ns, Some(300_000_000));
}

#[test]
fn single_lines_tell_a_snapshot() {
    for own in [
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0",
        "nr_throttled 3",
        "cpu  1 2 3 4 5 6 7 8 9 10",
        "/proc/7/io:cancelled_write_bytes: 0",
    ] {
        assert!(sniff(own.as_bytes()), "{own}");
    }
    for other in ["cpu 1", "some text", "nr_throttled", "a;b 3", "MemTotal: 12 kB", ""] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
}
