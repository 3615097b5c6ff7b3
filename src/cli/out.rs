//! Standard output and error: a closed pipe is success, colour only where someone sees it.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use crate::emit::escape;
use crate::emit::terminal::Style;
use crate::error::{Error, Result};

/// Columns where nothing says how wide the terminal is.
const WIDTH: usize = 120;

/// The widest table that anyone is shown.
const WIDTH_MAX: usize = 400;

/// Like [`style`], for rows that were asked for: nothing is cut where no terminal shows them, and a file has no colours.
pub fn style_of_rows(is_file: bool) -> Style {
    let own = style();
    let width = if own_width().is_none() && (is_file || !is_terminal()) { WIDTH_MAX } else { own.width };
    Style { width, colour: own.colour && !is_file }
}

/// What the user says of the width.
fn own_width() -> Option<usize> {
    env::var("COLUMNS").ok().and_then(|value| value.parse().ok())
}

/// How wide the terminal is that standard output is; `None` where it is none.
fn terminal_width() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one winsize to the place that it is given, which lives until the call ends.
    let answer = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    Some(usize::from(size.ws_col)).filter(|columns| answer == 0 && *columns > 0)
}

/// How standard output wants to be written to.
pub fn style() -> Style {
    let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
    let width = own_width().or_else(terminal_width).unwrap_or(WIDTH);
    Style { colour: io::stdout().is_terminal() && !no_colour && !dumb, width: width.clamp(60, WIDTH_MAX) }
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Writes to standard output. The reader may close the pipe at any time (`| head`).
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Request(format!("standard output: {error}"))),
        _ => Ok(()),
    }
}

/// Writes a file that appears whole, or stays as it was: what fails half-way leaves nothing behind. Pipes and devices are
/// written as they are.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::Request(format!("{}: cannot write here: {error}", path.display()));
    let special = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    let (Some(name), false) = (path.file_name(), special) else { return fs::write(path, bytes).map_err(failed) };
    let fresh = path.with_file_name(format!(".{}.tmp-{}", name.to_string_lossy(), std::process::id()));
    let written = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    written.map_err(|error| {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&fresh);
        failed(error)
    })
}

/// One message on standard error; nobody is there to be told if that fails. Line breaks are kept, what else is hidden
/// in it (a path may hold anything) is made visible.
pub fn complain(message: &str) {
    let lines: Vec<_> = message.lines().map(escape::plain).collect();
    let _ = writeln!(io::stderr(), "tripod: {}", lines.join("\n"));
}
