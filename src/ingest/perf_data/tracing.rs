//! The TRACING_DATA feature: formats of the tracepoints.
//!
//! Layout (trace-cmd's file format, version 6): magic, version, byte order, size of a long, page size, two header
//! files, the ftrace formats, then per system its formats as text. What the fields mean is left to those who use them.

use std::collections::BTreeMap;

use linux_perf_data::Feature;

use super::bytes::{Bytes, Order};
use super::container::Container;
use super::field::{self, Field};

/// A scheduler tracepoint that is understood, and where its fields lie.
#[derive(Debug, Clone)]
pub enum SchedEvent {
    Switch(SwitchFields),
    Wakeup(Field),
    Waking(Field),
}

/// The fields of sched_switch.
#[derive(Debug, Clone)]
pub struct SwitchFields {
    prev_tid: Field,
    state: Field,
    next_tid: Field,
    /// Task state letters by bit, from the print format.
    states: Vec<(u64, char)>,
}

/// One tracepoint's format.
#[derive(Debug, Default)]
pub struct Format {
    /// `system:name`.
    pub name: String,
    /// In the order of the format.
    fields: Vec<(String, Field)>,
    /// The line `print fmt:`.
    print: String,
}

/// All formats of a file, by tracepoint id (`attr.config`).
#[derive(Debug, Default)]
pub struct Formats {
    by_id: BTreeMap<u64, Format>,
}

impl Format {
    /// From the text of a format file: `name: sched_switch`, `ID: 372`, `field:pid_t prev_pid; offset:24; size:4;
    /// signed:1;`, `print fmt: ...`. `None` where it has no id.
    pub fn parse(system: &str, text: &str) -> Option<(u64, Format)> {
        let mut format = Format::default();
        let mut id = None;
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("name:") {
                format.name = format!("{system}:{}", name.trim());
            } else if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some(text) = line.strip_prefix("field:") {
                format.fields.extend(field::parse(text));
            } else if line.starts_with("print fmt:") {
                format.print = line.to_owned();
            }
        }
        id.map(|id| (id, format))
    }

    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, field)| *field)
    }

    pub fn fields(&self) -> impl Iterator<Item = (&str, Field)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), *field))
    }

    /// The names of a field's values or bits, as `__print_symbolic` or `__print_flags` of the print format lists them:
    /// `{ 0x00000001, "S" }`, `{ 1, "S" }`, `{ (1U << 0), "SPIN" }`.
    pub fn symbols(&self, field: &str) -> Vec<(u64, &str)> {
        let wanted = format!("REC->{field}");
        let names_it = |text: &&str| {
            let before = text.split('{').next().unwrap_or("");
            before.match_indices(&wanted).any(|(at, _)| {
                let after = before.get(at + wanted.len()..).unwrap_or("");
                !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        let lists = self.print.split("__print_").skip(1);
        let lists = lists.filter(|text| text.starts_with("flags(") || text.starts_with("symbolic("));
        let Some(list) = lists.filter(names_it).find(|text| text.contains('{')) else { return Vec::new() };
        let pairs = list.split('{').skip(1).filter_map(|pair| {
            let (value, name) = pair.split('}').next()?.split_once(',')?;
            Some((constant(value)?, name.trim().trim_matches('"')))
        });
        pairs.collect()
    }
}

/// `16`, `0x10`, `0x10UL`, `(1U << 4)`.
fn constant(text: &str) -> Option<u64> {
    let plain = |text: &str| {
        let text = text.trim().trim_end_matches(['U', 'L', 'u', 'l']);
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
    };
    let text = text.trim().trim_start_matches('(').trim_end_matches(')');
    match text.split_once("<<") {
        Some((value, by)) => plain(value)?.checked_shl(u32::try_from(plain(by)?).ok()?),
        None => plain(text),
    }
}

/// A sched_switch.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    pub prev_tid: i32,
    /// As `perf sched timehist` prints it: R, S, D, T, t, X, Z, P, I.
    pub state: char,
    pub next_tid: i32,
}

const MAGIC: &[u8] = &[0x17, 0x08, 0x44];

impl Formats {
    pub fn read(container: &Container<'_>) -> Formats {
        let mut formats = Formats::default();
        if let Some(section) = container.feature(Feature::TRACING_DATA) {
            // What came before an error is kept.
            let _ = formats.parse(section);
        }
        formats
    }

    /// `system:name` of a tracepoint.
    pub fn name(&self, id: u64) -> Option<String> {
        self.by_id.get(&id).map(|format| format.name.clone())
    }

    fn parse(&mut self, section: &[u8]) -> Option<()> {
        let mut bytes = Bytes::new(section.strip_prefix(MAGIC)?.strip_prefix(b"tracing")?, Order::Little);
        bytes.c_string();
        let order = if *bytes.take(1)?.first()? == 0 { Order::Little } else { Order::Big };
        let mut bytes = Bytes::new(bytes.rest(), order);
        bytes.take(1)?;
        bytes.u32()?;
        for _ in ["header_page", "header_event"] {
            bytes.c_string();
            let len = bytes.u64()?;
            bytes.skip(len)?;
        }
        for _ in 0..bytes.u32()? {
            let len = bytes.u64()?;
            bytes.skip(len)?;
        }
        for _ in 0..bytes.u32()? {
            let system = bytes.c_string();
            for _ in 0..bytes.u32()? {
                let len = bytes.u64()?;
                self.add(&system, &String::from_utf8_lossy(bytes.take(len)?));
            }
        }
        Some(())
    }

    pub fn add(&mut self, system: &str, text: &str) {
        self.by_id.extend(Format::parse(system, text));
    }

    pub fn get(&self, id: u64) -> Option<&Format> {
        self.by_id.get(&id)
    }

    /// How to read a scheduler tracepoint; `None` for other events and where the file has no format of it.
    pub fn sched_event(&self, id: u64) -> Option<SchedEvent> {
        let format = self.by_id.get(&id)?;
        let field = |name: &str| format.field(name);
        match format.name.as_str() {
            "sched:sched_switch" => Some(SchedEvent::Switch(SwitchFields {
                prev_tid: field("prev_pid")?,
                state: field("prev_state")?,
                next_tid: field("next_pid")?,
                states: states(format),
            })),
            "sched:sched_wakeup" | "sched:sched_wakeup_new" => field("pid").map(SchedEvent::Wakeup),
            "sched:sched_waking" => field("pid").map(SchedEvent::Waking),
            _ => None,
        }
    }
}

impl SwitchFields {
    pub fn read(&self, raw: &[u8], order: Order) -> Option<Switch> {
        let state = self.state.number(raw, order)? as u64;
        // The lowest known bit; none set (whether preempted, `R+`, or not) is R.
        let letter = self.states.iter().find(|(bit, _)| state & bit != 0).map_or('R', |(_, letter)| *letter);
        Some(Switch { prev_tid: self.prev_tid.tid(raw, order)?, state: letter, next_tid: self.next_tid.tid(raw, order)? })
    }
}

fn states(format: &Format) -> Vec<(u64, char)> {
    format.symbols("prev_state").into_iter().filter_map(|(bit, name)| Some((bit, name.chars().next()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The text of /sys/kernel/tracing/events/sched/sched_switch/format of Linux 6.18, shortened.
    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\n\
        print fmt: \"prev_state=%s%s\", __print_flags(REC->prev_state & 1, \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, \
        { 0x00000080, \"I\" }) : \"R\", REC->prev_state & 256 ? \"+\" : \"\"\n";

    #[test]
    fn a_switch_is_read_by_its_format() {
        let mut formats = Formats::default();
        formats.add("sched", SWITCH);
        assert_eq!(formats.name(372).as_deref(), Some("sched:sched_switch"));
        let Some(SchedEvent::Switch(fields)) = formats.sched_event(372) else { panic!("sched_switch is known") };
        let mut raw = [0u8; 64];
        raw[24] = 7;
        raw[56] = 9;
        for (state, letter) in [(0u64, 'R'), (0x100, 'R'), (1, 'S'), (2, 'D'), (0x80, 'I')] {
            raw[32..40].copy_from_slice(&state.to_le_bytes());
            let switch = fields.read(&raw, Order::Little).map(|switch| (switch.prev_tid, switch.state, switch.next_tid));
            assert_eq!(switch, Some((7, letter, 9)));
        }
        assert!(fields.read(&raw[..30], Order::Little).is_none());
    }

    // Print formats of lock:contention_begin, irq:softirq_entry and block:block_rq_issue of Linux 6.18, shortened.
    #[test]
    fn symbols_belong_to_their_field() {
        let text = "name: x\nID: 1\nprint fmt: \"%p (flags=%s)\", REC->flags2, __print_flags(REC->flags, \"|\", { (1U << 0), \"SPIN\" }, \
            { (1U << 5), \"MUTEX\" } ), __print_symbolic(REC->vec, { 0, \"HI\" }, { 0x9UL, \"RCU\" }), \
            __print_symbolic((((REC->ioprio) >> 13) & (8 - 1)), { IOPRIO_CLASS_NONE, \"none\" }), __print_flags(REC->sum, {";
        let (_, format) = Format::parse("lock", text).unwrap();
        assert_eq!(format.symbols("flags"), [(1, "SPIN"), (32, "MUTEX")]);
        assert_eq!(format.symbols("vec"), [(0, "HI"), (9, "RCU")]);
        assert!(format.symbols("flags2").is_empty() && format.symbols("ioprio").is_empty() && format.symbols("sum").is_empty());
        assert_eq!(constant("(1 << 64)"), None);
    }
}
