use super::*;
use crate::ingest::testing::{kinds, read_text, survives_damage};

fn rows(recorder: &Recorder) -> Vec<(Option<i64>, Option<i64>, i64, i64)> {
    recorder.tables.histograms.iter().map(|row| (row.lo, row.hi, row.count, row.line_no)).collect()
}

/// libbpf-tools of Debian 12, `biolatency -D -F -T 1 2`, shortened.
const DISKS: &str = "Tracing block device I/O... Hit Ctrl-C to end.\n\n22:56:44\n\ndisk = vda\tflags = PreFlush-Flush\n     usecs               : count    distribution\n        32 -> 63         : 237      |****************************************|\n        64 -> 127        : 31       |*****                                   |\n\ndisk = vda\tflags = Sync-Write\n     usecs               : count    distribution\n        32 -> 63         : 13       |**                                      |\n\n22:56:46\n\ndisk = vda\tflags = PreFlush-Flush\n     usecs               : count    distribution\n         0 -> 1          : 0        |                                        |\n         2 -> 3          : 5        |****************************************|\n";

#[test]
fn a_table_per_disk_and_interval() {
    let recorder = read_text(read, DISKS);
    let us = |lo: i64, hi: i64| (Some(lo * 1_000), Some(hi * 1_000));
    let with = |(lo, hi), count, line_no| (lo, hi, count, line_no);
    let expected =
        [with(us(32, 64), 237, 7), with(us(64, 128), 31, 8), with(us(32, 64), 13, 12), with(us(0, 2), 0, 18), with(us(2, 4), 5, 19)];
    assert_eq!(rows(&recorder), expected);
    let of: Vec<_> = recorder.tables.histograms.iter().map(|row| (row.key.as_deref(), row.operation.as_deref(), row.section)).collect();
    let disk = Some("disk vda");
    let expected = [
        (disk, Some("flush"), 0),
        (disk, Some("flush"), 0),
        (disk, Some("sync write"), 0),
        (disk, Some("flush"), 1),
        (disk, Some("flush"), 1),
    ];
    assert_eq!(of, expected);
    assert!(recorder.tables.histograms.iter().all(|row| row.metric.as_ref() == "block_latency"));
    // 237 x 32 us and 237 x 64 us.
    let first = &recorder.tables.histograms[0];
    assert_eq!((first.least, first.most, first.unit.as_ref()), (Some(7_584_000), Some(15_168_000), "ns"));
    // Two intervals whose ends are two seconds apart.
    assert_eq!(recorder.artifact.window_ns, Some(4_000_000_000));
    assert_eq!(kinds(&recorder), [""; 0]);
    survives_damage(read, DISKS.as_bytes());
}

/// bcc's runqlat_example.txt (quoted sections, milliseconds), a linear histogram, and rows that are broken by hand.
#[test]
fn other_dresses_and_broken_rows() {
    let text = "Tracing run queue latency... Hit Ctrl-C to end.\n^C\n\npid = 0\n     msecs               : count     distribution\n         0 -> 1          : 351      |****|\n         2 -> 3          : x6       |****|\n         7 -> 4          : 6        |****|\n         4 -> 7          : 43\n";
    let recorder = read_text(read, text);
    assert_eq!(rows(&recorder), [(Some(0), Some(2_000_000), 351, 6)]);
    assert_eq!(kinds(&recorder), ["histogram_line", "other_text"]);
    let losses = &recorder.tables.diagnostics[0];
    assert_eq!((losses.count, losses.places.as_ref()), (3, "L=7, L=8, L=9"));
    let text = "Bucket disk = 'xvdb'\n     runqlen             : count     distribution\n        0                : 1068     |****|\n        1                : 642      |**  |\n";
    let recorder = read_text(read, text);
    assert_eq!(rows(&recorder), [(Some(0), Some(1), 1068, 3), (Some(1), Some(2), 642, 4)]);
    let row = &recorder.tables.histograms[0];
    assert_eq!((row.metric.as_ref(), row.key.as_deref(), row.unit.as_ref()), ("untitled", Some("disk xvdb"), "runqlen"));
}

/// bpftrace 0.17, two maps of its hist() and one of lhist(), put together.
const MAPS: &str = "Attaching 3 probes...\n\n@block_latency_us[vda]: \n[0]                    1 |@                   |\n[32, 64)             146 |@@@@@@@@@@@@@@@@@@@@|\n[1K, 2M)               3 |                    |\n\n@usecs: \n(..., 0)               2 |@@@@                |\n[4, 8)               1e3 |@@@@                |\n\n@bytes: \n[0, 200)              12 |@@@@                |\n[200, ...)             4 |@                   |\n";

#[test]
fn maps_of_bpftrace() {
    let recorder = read_text(read, MAPS);
    let expected = [
        (Some(0), Some(1_000), 1, 4),
        (Some(32_000), Some(64_000), 146, 5),
        (Some(1_024_000), Some(2_097_152_000), 3, 6),
        (None, Some(0), 2, 9),
        (Some(0), Some(200), 12, 13),
        (Some(200), None, 4, 14),
    ];
    assert_eq!(rows(&recorder), expected);
    let of: Vec<_> = recorder.tables.histograms.iter().map(|row| (row.metric.as_ref(), row.key.as_deref(), row.unit.as_ref())).collect();
    assert_eq!(of[0], ("block_latency", Some("vda"), "ns"));
    assert_eq!((of[3], of[4]), (("usecs", None, "ns"), ("bytes", None, "value")));
    assert_eq!(recorder.tables.histograms[5].most, None);
    assert_eq!(kinds(&recorder), ["histogram_line", "other_text"]);
    survives_damage(read, MAPS.as_bytes());
    // The tool's own first line says what a map without a name is of: biolatency.bt.
    let recorder = read_text(
        read,
        "Attaching 4 probes...\nTracing block device I/O... Hit Ctrl-C to end.\n\n@usecs: \n[2, 4)                 5 |@@@@|\n",
    );
    assert_eq!(recorder.tables.histograms[0].metric.as_ref(), "block_latency");
}

#[test]
fn only_histograms_are_claimed() {
    assert!(sniff(DISKS.as_bytes()) && sniff(MAPS.as_bytes()));
    let stacks = "@usecs[\n    schedule+70\n, sl]: 1976517\n@h: \n[2, 4) 5 |@|\n";
    for other in ["usecs : count distribution\n", "@x[a]: 12\n", stacks, "a: b | c\n", ""] {
        assert!(!sniff(other.as_bytes()), "{other}");
    }
}

#[test]
fn huge_numbers_are_open_bounds() {
    let text = format!("@s_ms: \n[8E, 9E) 1 |@|\n[1, 2) {} |@|\n[4E, 5E) 3 |@|\n", i64::MAX);
    let recorder = read_text(read, &text);
    // 8 x 2^60 leaves 64 bits; 4 x 2^60 ms does so in ns.
    assert_eq!(rows(&recorder), [(Some(1_000_000), Some(2_000_000), i64::MAX, 3), (None, None, 3, 4)]);
    assert_eq!(recorder.tables.histograms.iter().map(|row| row.most).collect::<Vec<_>>(), [None, None]);
}
