//! One line on standard error while work takes long: which stage runs and for how long.
//!
//! Only where standard error is a terminal, never with `-q`, and nothing within the first second. The line is wiped
//! before anything else is printed; no output depends on it.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::stages::Watch;

/// Work that is over before this says nothing.
const SILENT: Duration = Duration::from_secs(1);
const EVERY: Duration = Duration::from_millis(200);

/// Shows the line until it is dropped.
pub struct Progress {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// `None` where nobody would see it.
    pub fn start(watch: &Watch) -> Option<Progress> {
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        if dumb || !io::stderr().is_terminal() {
            return None;
        }
        let (end, ended) = mpsc::channel();
        let watch = watch.clone();
        let show = move || show(&mut io::stderr(), &watch, SILENT, |pause| ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout));
        Some(Progress { end: Some(end), thread: thread::Builder::new().name("progress".to_owned()).spawn(show).ok() })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Writes the line again and again, after `silent`, as long as `goes_on` says so (it pauses for the time given).
fn show(out: &mut dyn Write, watch: &Watch, silent: Duration, mut goes_on: impl FnMut(Duration) -> bool) {
    let start = Instant::now();
    let (mut stage, mut since) = (watch.stage(), start);
    let mut is_shown = false;
    while goes_on(EVERY) {
        if watch.stage() != stage {
            (stage, since) = (watch.stage(), Instant::now());
        }
        if start.elapsed() >= silent {
            let line = line(stage, since.elapsed(), start.elapsed());
            // Nobody is there to be told if the terminal has gone.
            let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
            is_shown = true;
        }
    }
    if is_shown {
        let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
    }
}

fn line(stage: &str, own: Duration, all: Duration) -> String {
    format!("tripod: {stage} for {} s, {} s in all", own.as_secs(), all.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(silent: Duration) -> String {
        let mut out = Vec::new();
        let mut rounds = 0;
        show(&mut out, &Watch::default(), silent, |_| {
            rounds += 1;
            rounds <= 2
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_line_is_written_over_and_wiped() {
        let line = "\rtripod: open for 0 s, 0 s in all\x1b[K";
        assert_eq!(shown(Duration::ZERO), format!("{line}{line}\r\x1b[K"));
        let long = super::line("ingest", Duration::from_millis(3900), Duration::from_secs(61));
        assert_eq!(long, "tripod: ingest for 3 s, 61 s in all");
    }

    #[test]
    fn short_work_says_nothing() {
        assert_eq!(shown(Duration::from_secs(3600)), "");
    }
}
