//! The TRACING_DATA feature: formats of the tracepoints, read only as far as the scheduler events need them.
//!
//! Layout (trace-cmd's file format, version 6): magic, version, byte order, size of a long, page size, two header
//! files, the ftrace formats, then per system its formats as text.

use std::collections::BTreeMap;

use linux_perf_data::Feature;

use super::bytes::{Bytes, Order};
use super::container::Container;

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

/// Where a field lies in the raw data.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    fn read(self, raw: &[u8], order: Order) -> Option<u64> {
        let mut bytes = Bytes::at(raw, self.offset, order);
        match self.size {
            8 => bytes.u64(),
            4 => bytes.u32().map(u64::from),
            2 => bytes.u16().map(u64::from),
            _ => None,
        }
    }

    /// The field as a thread id.
    pub fn tid(self, raw: &[u8], order: Order) -> Option<i32> {
        self.read(raw, order).map(|tid| tid as i32)
    }
}

/// One tracepoint's format.
#[derive(Debug, Default)]
struct Format {
    name: String,
    fields: BTreeMap<String, Field>,
    states: Vec<(u64, char)>,
}

/// All formats of a file, by tracepoint id (`attr.config`).
#[derive(Debug, Default)]
pub struct Formats {
    by_id: BTreeMap<u64, Format>,
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

    /// `name: sched_switch`, `ID: 372`, `field:pid_t prev_pid; offset:24; size:4; signed:1;`, `print fmt: ...`.
    fn add(&mut self, system: &str, text: &str) {
        let mut format = Format::default();
        let mut id = None;
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("name:") {
                format.name = format!("{system}:{}", name.trim());
            } else if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some(field) = line.strip_prefix("field:") {
                format.fields.extend(parse_field(field));
            } else if line.starts_with("print fmt:") {
                format.states = parse_states(line);
            }
        }
        if let Some(id) = id {
            self.by_id.insert(id, format);
        }
    }

    /// How to read a scheduler tracepoint; `None` for other events and where the file has no format of it.
    pub fn sched_event(&self, id: u64) -> Option<SchedEvent> {
        let format = self.by_id.get(&id)?;
        let field = |name: &str| format.fields.get(name).copied();
        match format.name.as_str() {
            "sched:sched_switch" => Some(SchedEvent::Switch(SwitchFields {
                prev_tid: field("prev_pid")?,
                state: field("prev_state")?,
                next_tid: field("next_pid")?,
                states: format.states.clone(),
            })),
            "sched:sched_wakeup" | "sched:sched_wakeup_new" => field("pid").map(SchedEvent::Wakeup),
            "sched:sched_waking" => field("pid").map(SchedEvent::Waking),
            _ => None,
        }
    }
}

impl SwitchFields {
    pub fn read(&self, raw: &[u8], order: Order) -> Option<Switch> {
        let state = self.state.read(raw, order)?;
        // The lowest known bit; none set (whether preempted, `R+`, or not) is R.
        let letter = self.states.iter().find(|(bit, _)| state & bit != 0).map_or('R', |(_, letter)| *letter);
        Some(Switch { prev_tid: self.prev_tid.tid(raw, order)?, state: letter, next_tid: self.next_tid.tid(raw, order)? })
    }
}

fn parse_field(field: &str) -> Option<(String, Field)> {
    let mut parts = field.split(';').map(str::trim);
    let name = parts.next()?.rsplit(|c: char| c.is_whitespace() || c == '*').next()?;
    let name = name.split('[').next()?;
    let mut value = |key: &str| parts.next()?.strip_prefix(key)?.trim().parse().ok();
    Some((name.to_owned(), Field { offset: value("offset:")?, size: value("size:")? }))
}

/// The pairs `{ 0x00000001, "S" }` of the print format, or in older kernels `{ 1, "S" }`.
fn parse_states(line: &str) -> Vec<(u64, char)> {
    let pairs = line.split('{').skip(1).filter_map(|pair| {
        let (bit, letter) = pair.split('}').next()?.split_once(',')?;
        let bit = bit.trim();
        let bit = bit.strip_prefix("0x").map_or_else(|| bit.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())?;
        Some((bit, letter.trim().trim_matches('"').chars().next()?))
    });
    pairs.collect()
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
}
