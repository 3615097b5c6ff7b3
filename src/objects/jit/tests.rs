//! By hand, from jit-interface.txt and jitdump-specification.txt of the kernel's tools/perf/Documentation.

use super::*;

fn names(timeline: &Timeline) -> Vec<Vec<(u64, Option<&str>)>> {
    let name = |(time, piece): &(u64, Option<u32>)| (*time, piece.map(|piece| timeline.pieces[piece as usize].name.as_str()));
    timeline.changes.iter().map(|changes| changes.iter().map(name).collect()).collect()
}

#[test]
fn a_perf_map_names_its_ranges_and_later_lines_win() {
    let map =
        b"7f0000001000 40 first\n0x7f0000001040 0x10 with blanks in it (A::B) \r\nnonsense\n7f0000002000 zz bad\n7f0000001020 40 newer\n\
                ffffffffffffffff ffffffffffffffff end\n7f0000003000 10 \n";
    let addresses = [0x7f00_0000_0fff, 0x7f00_0000_1000, 0x7f00_0000_1020, 0x7f00_0000_1045, 0x7f00_0000_1060, 0x7f00_0000_3004];
    let timeline = perf_map::read(map, &addresses);
    let last: Vec<Option<&str>> = (0..addresses.len()).map(|at| timeline.last(at).map(|piece| piece.name.as_str())).collect();
    assert_eq!(last, [None, Some("first"), Some("newer"), Some("newer"), None, None]);
    assert_eq!(names(&timeline)[3], [(0, Some("with blanks in it (A::B)")), (0, Some("newer"))]);
    assert_eq!(timeline.last(2).map(|piece| piece.start), Some(0x7f00_0000_1020));
    assert!(!timeline.timed);
}

/// A dump in either byte order.
struct Dump {
    bytes: Vec<u8>,
    little: bool,
}

impl Dump {
    fn new(little: bool, flags: u64) -> Dump {
        let mut dump = Dump { bytes: Vec::new(), little };
        // Magic, version, size of the header, EM_X86_64, padding, pid; time, flags.
        dump.words(&[0x4A69_5444, 1, 40, 62, 0, 77]).longs(&[5, flags]);
        dump
    }

    fn words(&mut self, words: &[u32]) -> &mut Dump {
        let little = self.little;
        self.bytes.extend(words.iter().flat_map(|word| if little { word.to_le_bytes() } else { word.to_be_bytes() }));
        self
    }

    fn longs(&mut self, longs: &[u64]) -> &mut Dump {
        let little = self.little;
        self.bytes.extend(longs.iter().flat_map(|long| if little { long.to_le_bytes() } else { long.to_be_bytes() }));
        self
    }

    fn load(&mut self, time: u64, start: u64, size: u64, index: u64, name: &str) {
        let len = 16 + 8 + 32 + name.len() as u32 + 1 + size as u32;
        self.words(&[0, len]).longs(&[time]).words(&[77, 77]).longs(&[start, start, size, index]);
        self.bytes.extend(name.as_bytes());
        self.bytes.push(0);
        self.bytes.extend(vec![0x90; size as usize]);
    }

    fn moved(&mut self, time: u64, old: u64, new: u64, size: u64, index: u64) {
        self.words(&[1, 16 + 8 + 40]).longs(&[time]).words(&[77, 77]).longs(&[new, old, new, size, index]);
    }

    fn lines(&mut self, time: u64, start: u64, lines: &[(u64, u32, &[u8])]) {
        let len: usize = lines.iter().map(|line| 16 + line.2.len() + 1).sum();
        self.words(&[2, 16 + 16 + len as u32]).longs(&[time]).longs(&[start, lines.len() as u64]);
        for (address, line, file) in lines {
            self.longs(&[*address]).words(&[*line, 0]);
            self.bytes.extend(*file);
            self.bytes.push(0);
        }
    }
}

fn sample(little: bool) -> Vec<u8> {
    let mut dump = Dump::new(little, 0);
    dump.lines(9, 0x1000, &[(0x1000, 3, b"a.js"), (0x1008, 4, b"\xff")]);
    dump.load(10, 0x1000, 0x20, 1, "alpha");
    dump.load(20, 0x2000, 0x20, 2, "beta");
    // An unknown record is passed over; then alpha moves, and gamma takes its place.
    dump.words(&[9, 24]).longs(&[25, 0]);
    dump.moved(30, 0x1000, 0x3000, 0x20, 1);
    dump.load(40, 0x1000, 0x10, 3, "gamma");
    dump.words(&[3, 16]).longs(&[50]);
    dump.bytes
}

#[test]
fn a_jitdump_tells_what_was_where_and_when() {
    for little in [true, false] {
        let timeline = dump::read(&sample(little), &[0x1004, 0x1018, 0x2000, 0x3009, 0x4000]);
        assert!(timeline.timed && timeline.damaged.is_none(), "{:?}", timeline.damaged);
        let all = names(&timeline);
        assert_eq!(all[0], [(10, Some("alpha")), (30, None), (40, Some("gamma"))]);
        assert_eq!(all[1], [(10, Some("alpha")), (30, None)]);
        assert_eq!(all[2], [(20, Some("beta"))]);
        assert_eq!(all[3], [(30, Some("alpha"))]);
        assert!(all[4].is_empty());
        let line =
            |at: usize, address: u64| timeline.last(at).and_then(|piece| piece.line(address)).map(|(file, line)| (file.to_string(), line));
        assert_eq!(line(1, 0x1018), Some(("a.js".to_owned(), 4)));
        assert_eq!(line(3, 0x3004), Some(("a.js".to_owned(), 3)), "lines move with the code");
        assert_eq!(line(2, 0x2000), None);
    }
    assert!(!dump::read(&Dump::new(true, 1).bytes, &[]).timed);
}

#[test]
fn a_cut_or_damaged_dump_keeps_what_came_before() {
    let whole = sample(true);
    for len in 0..whole.len() {
        let timeline = dump::read(&whole[..len], &[0x1004, 0x3009]);
        assert!(timeline.changes.iter().map(Vec::len).sum::<usize>() <= 4);
    }
    let cut = dump::read(&whole[..whole.len() - 5], &[0x1004]);
    assert!(cut.damaged.is_some() && cut.last(0).map(|piece| piece.name.as_str()) == Some("gamma"));
    for at in 0..whole.len() {
        for value in [0, 0xff] {
            let mut copy = whole.clone();
            copy[at] = value;
            let _ = dump::read(&copy, &[0x1004, 0x3009, u64::MAX]);
        }
    }
}

#[test]
fn file_names_tell_the_process() {
    assert_eq!(pid_of("perf-123.map"), Some(("perf-", 123)));
    assert_eq!(pid_of("jit-7.dump.zst"), Some(("jit-", 7)));
    for name in ["perf-.map", "perf-1x.map", "perf-99999999999.map", "jit-1.map", "jitted-1-2.so", "perf.data"] {
        assert_eq!(pid_of(name), None, "{name}");
    }
}
