//! Evidence anchors as people read them.
//!
//! `path#L=8` is shown as `path:L8`, every other anchor as it is. Paths and values in anchors are percent-encoded, so
//! that `#`, `&` and `=` in a file name cannot end a part early.

use percent_encoding::percent_decode_str;

/// The path of an anchor, decoded.
pub fn path(anchor: &str) -> String {
    let path = anchor.split('#').next().unwrap_or("");
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

/// The anchor as shown in tables for people: still percent-encoded, lines in the short form.
pub fn shown(anchor: &str) -> String {
    match anchor.split_once("#L=") {
        Some((path, lines)) if !lines.contains('&') => format!("{path}:L{lines}"),
        _ => anchor.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_names_cannot_break_out() {
        assert_eq!(shown("sys/strace.txt#L=8"), "sys/strace.txt:L8");
        assert_eq!(shown("perf.data#record=12"), "perf.data#record=12");
        assert_eq!(path("a%20b/c%23d#L=1"), "a b/c#d");
    }
}
