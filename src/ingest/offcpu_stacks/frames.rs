//! Names of frames as BPF tools print them, and where the kernel ends.

use crate::ingest::{FrameAt, Recorder, text};

/// One frame as printed, with what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Name {
    text: String,
    /// The tool itself marked it (`_[k]`) or a delimiter did.
    pub is_kernel: Option<bool>,
}

impl Name {
    pub fn new(printed: &str) -> Name {
        let printed = printed.trim();
        match printed.strip_suffix("_[k]") {
            Some(name) => Name { text: without_offset(name).to_owned(), is_kernel: Some(true) },
            None => Name { text: without_offset(printed).to_owned(), is_kernel: None },
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// `[Missed User Stack]` and its kin: the tool lost the stack.
    pub fn is_missed(&self) -> bool {
        self.text.starts_with("[Missed ") || self.text == "[Lost User Stack]"
    }
}

/// `schedule+70` and `schedule+0x46` -> `schedule`. Operators keep their plus.
fn without_offset(name: &str) -> &str {
    match name.rsplit_once('+') {
        Some((base, offset)) if !base.is_empty() && !base.ends_with("operator") && !base.ends_with("operator+") => {
            let digits = offset.strip_prefix("0x").unwrap_or(offset);
            if !digits.is_empty()
                && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
                && digits.as_bytes().first().is_some_and(u8::is_ascii_hexdigit)
            {
                base
            } else {
                name
            }
        }
        _ => name,
    }
}

/// Frames of the recording tool itself, on top of every stack.
pub fn is_tool(name: &str) -> bool {
    [
        "bpf_prog_",
        "bpf_trace_run",
        "bpf_get_stack",
        "bpf_overflow_handler",
        "__bpf_trace",
        "__traceiter",
        "trace_call_bpf",
        "kprobe_ftrace_handler",
        "ftrace_call",
        "ftrace_trampoline",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

pub fn without_tool(frames: &[Name]) -> &[Name] {
    let own = frames.iter().take_while(|frame| is_tool(&frame.text)).count();
    frames.get(own..).unwrap_or_default()
}

/// Whether the innermost frames are the scheduler's: then the stack is one of a thread that left the CPU.
pub fn ends_in_scheduler(frames: &[Name]) -> bool {
    let names = [
        "schedule",
        "__schedule",
        "finish_task_switch",
        "schedule_timeout",
        "schedule_idle",
        "preempt_schedule",
        "preempt_schedule_common",
    ];
    let base = |frame: &Name| frame.text.split('.').next().unwrap_or_default().to_owned();
    without_tool(frames).iter().take(3).any(|frame| names.contains(&base(frame).as_str()))
}

/// How many frames from the innermost on are the kernel's: through the entry from user space or the start of a kernel
/// thread. Without either, all where the scheduler is innermost, else none.
fn kernel_frames(frames: &[Name]) -> usize {
    let entry =
        |frame: &Name| ["entry_", "asm_", "el0t_", "el0_", "page_fault", "ret_to_user"].iter().any(|prefix| frame.text.starts_with(prefix));
    if frames.iter().any(|frame| frame.text.starts_with("ret_from_fork")) {
        return frames.len();
    }
    match frames.iter().position(entry) {
        Some(first) => first + frames.iter().skip(first).take_while(|frame| entry(frame)).count(),
        None if ends_in_scheduler(frames) => frames.iter().take_while(|frame| !frame.is_missed()).count(),
        None => 0,
    }
}

/// The innermost node of the stack. Placeholders stay; nameless frames (`[unknown]`) have no function; plain addresses
/// stay apart from each other.
pub fn intern(frames: &[Name], recorder: &mut Recorder) -> Option<i32> {
    let kernel = kernel_frames(frames);
    let mut stack = None;
    for (n, frame) in frames.iter().enumerate().rev() {
        let is_kernel = frame.is_kernel.unwrap_or(n < kernel);
        let dso = is_kernel.then(|| recorder.intern_dso("[kernel.kallsyms]", None, "kernel"));
        let mut at = FrameAt { dso, is_kernel, ..FrameAt::default() };
        match frame.text.as_str() {
            "[unknown]" | "unknown" | "" => {}
            name => match name.strip_prefix("0x").and_then(text::hex) {
                // no dso, so that nothing looks the address up
                Some(address) => {
                    at.dso = None;
                    at.rel = Some(address);
                }
                None => at.function = Some(recorder.intern_function(name, dso, None)),
            },
        }
        let frame = recorder.intern_frame(&at);
        stack = Some(recorder.intern_stack(stack, frame));
    }
    stack
}

/// bcc bug 2051: a missing stack was printed one letter per frame; put together again.
pub fn fold_letters(frames: Vec<Name>) -> Vec<Name> {
    let letters: String = frames
        .iter()
        .filter(|frame| frame.text.chars().count() <= 1)
        .map(|frame| if frame.text.is_empty() { " " } else { &frame.text })
        .collect();
    let backwards: String = letters.chars().rev().collect();
    let Some(whole) = [letters, backwards].into_iter().find(|text| text.contains("[Missed ")) else { return frames };
    let from = frames.iter().position(|frame| frame.text.chars().count() <= 1).unwrap_or(0);
    let mut folded: Vec<Name> = Vec::new();
    for (n, frame) in frames.into_iter().enumerate() {
        if n == from {
            folded.push(Name { text: whole.trim().to_owned(), is_kernel: None });
        } else if frame.text.chars().count() > 1 {
            folded.push(frame);
        }
    }
    folded
}
