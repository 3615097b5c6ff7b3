//! No format claims another's files.

use std::path::Path;

use super::sniff;

/// What claims each file of a folder of the public corpus, `-` for nothing.
fn claims(folder: &str) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(Path::new("../shared/corpus").join(folder)) else { return Vec::new() };
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .map(|entry| {
            let bytes = std::fs::read(entry.path()).unwrap();
            let mut plain = Vec::new();
            match &bytes[..] {
                [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::stream::copy_decode(&bytes[..], &mut plain).unwrap(),
                [0x1f, 0x8b, ..] => drop(std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut plain)),
                _ => plain = bytes,
            }
            let format = sniff(&plain).map_or("-", |format| format.name);
            (entry.file_name().to_string_lossy().into_owned(), format.to_owned())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn each_file_of_the_corpus_is_claimed_by_its_format_or_none() {
    let own = [
        ("strace-c", "strace-summary"),
        ("heaptrack", "heaptrack"),
        ("hyperfine", "hyperfine"),
        ("perfstat-text", "perf-stat"),
        ("folded", "offcpu-stacks"),
    ];
    for (folder, format) in own {
        for (name, claimed) in claims(folder) {
            assert_eq!(claimed, format, "{folder}/{name}");
        }
    }
    for (name, claimed) in claims("offcpu") {
        assert_eq!(claimed, if name.contains("profile") { "-" } else { "offcpu-stacks" }, "{name}");
    }
    let none = [
        "perfscript",
        "vmstat",
        "iostat",
        "mpstat",
        "bcc-hist",
        "bpftrace-hist",
        "cpuprofile",
        "criterion",
        "dhat",
        "firefox-json",
        "pprof",
        "pprof-truth",
        "sysstat-truth",
    ];
    for folder in none {
        for (name, claimed) in claims(folder) {
            assert_eq!(claimed, "-", "{folder}/{name}");
        }
    }
    for folder in ["perfdata", "perfdata-fuzz"] {
        for (name, claimed) in claims(folder) {
            assert!(claimed == "-" || claimed == "perf.data", "{folder}/{name}: {claimed}");
        }
    }
}
