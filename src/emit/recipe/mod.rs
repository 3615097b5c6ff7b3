//! The capture kit: which recordings of which program -> a POSIX sh script for the other machine.
//!
//! The script is what the files of kit/ are one after the other: what was asked for, what the machine can do, the
//! recordings. It runs as it is. Here lines of the form `#@NAME` in it are filled in: the program, the
//! recordings that are wanted, and which question each of them is for.

mod steps;
mod word;

use std::collections::BTreeMap;

use super::escape;

pub use steps::{Steps, steps};

const KIT: &str = concat!(include_str!("kit/asked.sh"), include_str!("kit/machine.sh"), include_str!("kit/recordings.sh"));
const COSTS: &str = include_str!("costs.c");

/// What the kit is made for.
#[derive(Debug, Clone, Default)]
pub struct Kit {
    /// The program and its arguments; the kit asks for them where there are none.
    pub argv: Vec<Vec<u8>>,
    /// What the run declared; words of `argv` that say it become `{work}` and so on.
    pub work: Option<i64>,
    pub threads: Option<i32>,
    pub variant: Option<String>,
    /// Only what settles these questions; everything where there are none.
    pub questions: Vec<Question>,
}

/// An angle that a recording would settle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// `R25 C`.
    pub angle: String,
    /// `io.small_write, DISPUTED`.
    pub about: String,
    /// The command as the hypothesis states it, with `{argv}`.
    pub record: String,
    /// Why the angle is not measured.
    pub reason: String,
}

impl Question {
    /// It was recorded and said too little: the same recording again would say no more.
    pub fn is_recorded(&self) -> bool {
        self.reason.starts_with("inconclusive")
    }
}

/// The order in which a kit records.
const ORDER: [&str; 17] = [
    "time-v",
    "perf-stat",
    "cpu-fp",
    "cpu-dwarf",
    "cycles",
    "sched",
    "lock",
    "offcpu",
    "strace-c",
    "strace-cw",
    "calls",
    "mem",
    "heaptrack",
    "rss",
    "bench",
    "bench-partner",
    "bench-threads",
];

/// The script.
pub fn render(kit: &Kit) -> Vec<u8> {
    let filled = fill(kit);
    let mut out = String::with_capacity(KIT.len() + COSTS.len());
    for line in KIT.lines() {
        let text = line.trim_start();
        let indent = line.get(..line.len() - text.len()).unwrap_or("");
        if text == "//@costs.c" {
            out.push_str(COSTS);
            continue;
        }
        match text.strip_prefix("#@") {
            Some(name) => {
                for more in filled.get(name).map_or(&[][..], Vec::as_slice) {
                    out.push_str(indent);
                    out.push_str(more);
                    out.push('\n');
                }
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out.into_bytes()
}

/// The lines that stand for each mark.
fn fill(kit: &Kit) -> BTreeMap<&'static str, Vec<String>> {
    let mut filled = BTreeMap::from([("argv", program(kit))]);
    if kit.questions.is_empty() {
        return filled;
    }
    let mut header = vec!["#".to_owned(), "# This one takes only what would settle these angles:".to_owned()];
    let mut purposes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut calls: Vec<String> = Vec::new();
    let mut by_hand: Vec<String> = Vec::new();
    for question in &kit.questions {
        let found = steps(&question.record);
        let how = match (question.is_recorded(), found.names.is_empty()) {
            (true, _) => "recorded already, not taken again; on more work it may say more".to_owned(),
            (false, true) => "by hand".to_owned(),
            (false, false) => found.names.join(", "),
        };
        header.push(format!("#   {} ({}): {how}", escape::plain(&question.angle), escape::plain(&question.about)));
        if !question.reason.is_empty() {
            header.push(format!("#     not measured: {}", escape::plain(&question.reason)));
        }
        header.push(format!("#     {}", escape::plain(&question.record)));
        if question.is_recorded() {
            continue;
        }
        for name in &found.names {
            purposes.entry(name).or_default().push(&question.angle);
        }
        calls.extend(found.calls);
        if found.names.is_empty() {
            by_hand.push(format!("{}: {}", question.angle, question.record));
        }
    }
    let names = ORDER.iter().filter(|name| purposes.contains_key(*name)).copied();
    let names: Vec<&str> = std::iter::once("bare").chain(names).chain(["symbols"]).collect();
    let mut wanted = vec![format!("wanted={}", word::single_quoted(&names.join(" ")))];
    calls.sort();
    calls.dedup();
    if !calls.is_empty() {
        wanted.push(format!("calls={}", word::single_quoted(&calls.join(","))));
    }
    let say = |text: &str| format!("printf '%s\\n' {}", word::single_quoted(&escape::plain(text)));
    filled.insert("purpose", header);
    filled.insert("wanted", wanted);
    filled.insert("purposes", purposes.iter().map(|(name, angles)| format!("{name}) {} ;;", say(&angles.join(", ")))).collect());
    if !by_hand.is_empty() {
        by_hand.insert(0, "To be recorded by hand:".to_owned());
    }
    filled.insert("by_hand", by_hand.iter().map(|line| say(line)).collect());
    filled
}

/// Sets the positional parameters to the program, and what its words declare.
fn program(kit: &Kit) -> Vec<String> {
    let mut lines = Vec::new();
    let threads = kit.threads.filter(|threads| *threads > 0).map(|threads| threads.to_string());
    let work = kit.work.filter(|work| *work > 0).map(|work| work.to_string());
    let variant = kit.variant.clone().filter(|name| word::is_plain_name(name));
    let declared = [("work", work), ("threads", threads), ("variant", variant)];
    let mut used = Vec::new();
    for (at, bytes) in kit.argv.iter().enumerate() {
        let stated = declared.iter().find(|(_, value)| at > 0 && value.as_ref().is_some_and(|value| value.as_bytes() == bytes.as_slice()));
        match stated {
            Some((name, _)) => {
                used.push(*name);
                lines.push(format!("set -- \"$@\" '{{{name}}}'"));
            }
            None => lines.extend(word::append(bytes)),
        }
    }
    for (name, value) in &declared {
        if let Some(value) = value.as_ref().filter(|_| used.contains(name)) {
            lines.push(format!("{name}=${{{name}:-{value}}}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kit: &Kit) -> String {
        String::from_utf8(render(kit)).unwrap()
    }

    #[test]
    fn every_mark_is_filled_and_the_rest_is_the_kit() {
        let whole = text(&Kit::default());
        assert!(!whole.lines().any(|line| line.trim_start().starts_with("#@") || line.contains("@costs.c")), "a mark is left");
        assert!(whole.contains("static double malloc_pair(void)"));
        // No line of the C program may end the here-document that carries it.
        assert!(!COSTS.lines().any(|line| line == "SOURCE"));
    }

    #[test]
    fn only_what_settles_the_questions() {
        let question = |angle: &str, record: &str| Question {
            angle: angle.to_owned(),
            about: "io.small_write, DISPUTED".to_owned(),
            record: record.to_owned(),
            reason: "absent".to_owned(),
        };
        let kit = Kit {
            argv: vec![b"./p".to_vec(), b"a".to_vec(), b"500".to_vec()],
            work: Some(500),
            variant: Some("a".to_owned()),
            threads: None,
            questions: vec![
                question("R25 B", "perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}"),
                question("R27 A", "strace -k -f -T -e trace=fsync,write -o x -- {argv}"),
                question("R07 A", "perf c2c record -- {argv}"),
                // Recorded, and six failed calls are too few.
                Question { reason: "inconclusive: n=6".to_owned(), ..question("R30 A", "strace -f -c -o strace-c.txt {argv}") },
            ],
        };
        let script = text(&kit);
        for line in [
            "#   R25 B (io.small_write, DISPUTED): cpu-dwarf",
            "#     perf record -F 997 --call-graph dwarf,4096 -o cpu.perf.data -- {argv}",
            "#   R30 A (io.small_write, DISPUTED): recorded already, not taken again; on more work it may say more",
            "wanted='bare cpu-dwarf calls symbols'",
            "calls='fsync,write'",
            "        cpu-dwarf) printf '%s\\n' 'R25 B' ;;",
            "    printf '%s\\n' 'R07 A: perf c2c record -- {argv}'",
            "    set -- \"$@\" './p'",
            "    set -- \"$@\" '{variant}'",
            "    work=${work:-500}",
        ] {
            assert!(script.lines().any(|own| own == line), "{line}\n{}", script.lines().take(60).collect::<Vec<_>>().join("\n"));
        }
    }
}
