//! Stacks of `strace -k`: lines ` > FILE(FUNCTION+0xOFFSET) [0xADDRESS]` below a call, innermost first.
//!
//! The address is relative to the file. The first frame stands behind the `syscall` instruction, the others are return
//! addresses. libunwind names functions from the dynamic symbol table only, so a static function gets the name of the
//! exported one before it; symbolize can do better with the address.

use rustc_hash::FxHashMap;

use crate::ingest::{FrameAt, Recorder, Severity, text};

/// Interns stacks; equal blocks of lines are taken apart once.
#[derive(Debug, Default)]
pub struct Stacks<'a> {
    known: FxHashMap<&'a [u8], Option<i32>>,
}

impl<'a> Stacks<'a> {
    /// The innermost node of the stack that a block of lines shows.
    pub fn intern(&mut self, block: &'a [u8], line_no: i64, recorder: &mut Recorder) -> Option<i32> {
        if let Some(stack) = self.known.get(block) {
            return *stack;
        }
        let mut frames = Vec::new();
        for (n, line) in text::lines(block) {
            let line = String::from_utf8_lossy(line);
            match frame(&line, n == 1, recorder) {
                Some(frame) => frames.push(frame),
                None => {
                    let message = format!("strace could not unwind: {:?}", line.trim());
                    recorder.skip(
                        "strace_unwind_error",
                        Severity::Info,
                        &message,
                        "the stack ends there",
                        &text::place(line_no.saturating_add(n)),
                    );
                }
            }
        }
        let stack = frames.iter().rev().fold(None, |parent, frame| Some(recorder.intern_stack(parent, *frame)));
        self.known.insert(block, stack);
        stack
    }
}

fn frame(line: &str, is_leaf: bool, recorder: &mut Recorder) -> Option<i32> {
    let line = line.trim_start().strip_prefix("> ")?;
    let (place, address) = line.rsplit_once(" [")?;
    let address = text::hex(address.split(']').next()?)?;
    let symbol = place.strip_suffix(')')?;
    // `/tmp/prog (deleted)(main+0x1d)`: the first parenthesis belongs to the path
    let from = place.find(" (deleted)(").map_or(0, |at| at + " (deleted)".len());
    let open = from + symbol.get(from..)?.find('(')?;
    let path = place.get(..open)?.trim_end_matches(" (deleted)");
    let symbol = symbol.get(open + 1..)?;
    let kind = if path.starts_with("[vdso]") {
        "vdso"
    } else if path.starts_with('/') {
        "user"
    } else {
        "anon"
    };
    let dso = recorder.intern_dso(path, None, kind);
    let (function, symbol_rel) = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if !name.is_empty() => {
            let start = text::hex(offset).and_then(|offset| address.checked_sub(offset));
            (Some(recorder.intern_function(name, Some(dso), None)), start)
        }
        _ => (None, None),
    };
    let rel = if is_leaf { address } else { address.saturating_sub(1) };
    Some(recorder.intern_frame(&FrameAt { dso: Some(dso), rel: Some(rel), function, symbol_rel, ..FrameAt::default() }))
}
