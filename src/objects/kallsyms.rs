//! Kernel symbols from a copy of /proc/kallsyms (or a System.map) that was recorded beside the artifacts.
//!
//! The text itself does not say which kernel it is of. A `kallsyms.json` in the same directory,
//! `{"kernel_release": "...", "kernel_build_id": "..."}`, or the `host` object of a `manifest.json` there does; without
//! either the file is not used. In the layout of `perf archive` the directory is named after the kernel's build-id.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use super::build_id;
use super::bytes::Bytes;

/// Which kernel something belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelId {
    /// `uname -r`.
    pub release: Option<String>,
    /// Normalized build-id.
    pub build_id: Option<String>,
}

impl KernelId {
    /// Whether both are known to be the same kernel: the build-id decides where both have one, else the release.
    pub fn is_same(&self, other: &KernelId) -> bool {
        match (&self.build_id, &other.build_id) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => self.release.is_some() && self.release == other.release,
        }
    }

    /// For messages: what is known of it.
    pub fn describe(&self) -> String {
        match (&self.release, &self.build_id) {
            (Some(release), Some(id)) => format!("release {release}, build-id {id}"),
            (Some(release), None) => format!("release {release}"),
            (None, Some(id)) => format!("build-id {id}"),
            (None, None) => "release and build-id not recorded".to_owned(),
        }
    }

    /// What the neighbours of a kallsyms file say.
    pub(super) fn of_directory(dir: &Path) -> KernelId {
        let read = |name: &str| -> Option<serde_json::Value> {
            let path = dir.join(name);
            let meta = std::fs::metadata(&path).ok()?;
            // A manifest is small; anything larger is something else.
            if !meta.is_file() || meta.len() > 16 << 20 {
                return None;
            }
            serde_json::from_slice(&std::fs::read(&path).ok()?).ok()
        };
        let from = |value: &serde_json::Value| KernelId {
            release: value.get("kernel_release").and_then(|text| text.as_str()).map(str::to_owned),
            build_id: value.get("kernel_build_id").and_then(|text| text.as_str()).and_then(build_id::normalize),
        };
        let own = read("kallsyms.json").map(|value| from(&value)).unwrap_or_default();
        if own != KernelId::default() {
            return own;
        }
        let host = read("manifest.json").and_then(|value| value.get("host").map(from)).unwrap_or_default();
        if host != KernelId::default() {
            return host;
        }
        // `[kernel.kallsyms]/BUILDID/kallsyms`: 20 bytes, as the kernel's build-id has.
        let name = dir.file_name().and_then(|name| name.to_str()).filter(|name| name.len() == 40);
        KernelId { release: None, build_id: name.and_then(build_id::normalize) }
    }
}

/// One kallsyms file.
#[derive(Debug)]
pub struct Kallsyms {
    /// Path below the root it was found in, as shown to people.
    pub label: String,
    pub id: KernelId,
    bytes: Bytes,
    parsed: OnceLock<Parsed>,
}

#[derive(Debug, Default)]
struct Parsed {
    /// By address; one per address.
    symbols: Vec<Entry>,
    text: Option<u64>,
    stext: Option<u64>,
}

#[derive(Debug, Clone)]
struct Entry {
    start: u64,
    end: u64,
    name: Range<usize>,
    module: Range<usize>,
}

impl Kallsyms {
    pub(super) fn new(bytes: Bytes, label: String, id: KernelId) -> Kallsyms {
        Kallsyms { label, id, bytes, parsed: OnceLock::new() }
    }

    /// Whether text begins like kallsyms: `ffffffff81000000 T _text`.
    pub(super) fn recognises(head: &[u8]) -> bool {
        head.split(|byte| *byte == b'\n').next().and_then(|line| line_parts(line, 0)).is_some()
    }

    /// The address that kernel frames are relative to: `_text`, or `_stext` where the recording names that one. `None`
    /// where the kernel hid its addresses (kptr_restrict wrote zeros).
    pub fn reference(&self, symbol: &str) -> Option<u64> {
        match symbol {
            "_stext" => self.parsed().stext,
            _ => self.parsed().text,
        }
    }

    /// Name and first address of the function at an address, and its module's name (empty for the kernel itself).
    pub fn lookup(&self, address: u64) -> Option<(&str, u64, &str)> {
        let symbols = &self.parsed().symbols;
        let after = symbols.partition_point(|entry| entry.start <= address);
        let entry = symbols.get(after.checked_sub(1)?).filter(|entry| address < entry.end)?;
        Some((self.text(&entry.name), entry.start, self.text(&entry.module)))
    }

    fn text(&self, range: &Range<usize>) -> &str {
        self.bytes.get(range.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }

    fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| parse(&self.bytes))
    }
}

/// Address, type letter, and where name and module stand in the whole text.
fn line_parts(line: &[u8], at: usize) -> Option<(u64, u8, Range<usize>, Range<usize>)> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    if !(8..=16).contains(&digits) || line.get(digits) != Some(&b' ') || line.get(digits + 2) != Some(&b' ') {
        return None;
    }
    let address = u64::from_str_radix(std::str::from_utf8(line.get(..digits)?).ok()?, 16).ok()?;
    let kind = *line.get(digits + 1)?;
    let name_start = digits + 3;
    let rest = line.get(name_start..)?;
    let name_len = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    if name_len == 0 || !kind.is_ascii_alphabetic() {
        return None;
    }
    let name = at + name_start..at + name_start + name_len;
    let bracket = |byte: u8| rest.iter().skip(name_len).position(|b| *b == byte).map(|found| at + name_start + name_len + found);
    let module = match (bracket(b'['), bracket(b']')) {
        (Some(open), Some(close)) if open < close => open + 1..close,
        _ => name.end..name.end,
    };
    Some((address, kind, name, module))
}

fn parse(bytes: &[u8]) -> Parsed {
    let mut out = Parsed::default();
    let mut at = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let start = at;
        at += line.len() + 1;
        let Some((address, kind, name, module)) = line_parts(line, start) else { continue };
        if address == 0 {
            continue;
        }
        match bytes.get(name.clone()) {
            Some(b"_text") => out.text = out.text.or(Some(address)),
            Some(b"_stext") => out.stext = out.stext.or(Some(address)),
            _ => {}
        }
        // Text symbols, weak ones included.
        if matches!(kind, b'T' | b't' | b'W' | b'w') {
            out.symbols.push(Entry { start: address, end: address, name, module });
        }
    }
    out.symbols.sort_by_key(|entry| entry.start);
    // Of several names at one address the last stays: perf gives only that one a size before it compares them.
    let mut symbols: Vec<Entry> = Vec::with_capacity(out.symbols.len());
    for entry in std::mem::take(&mut out.symbols) {
        match symbols.last_mut() {
            Some(last) if last.start == entry.start => *last = entry,
            _ => symbols.push(entry),
        }
    }
    close_ends(bytes, &mut symbols);
    out.symbols = symbols;
    out
}

/// A function reaches to the next one, but not out of its module: there, to the end of the page after its beginning.
fn close_ends(bytes: &[u8], symbols: &mut [Entry]) {
    for at in 0..symbols.len() {
        let next = symbols.get(at + 1).map(|next| (next.start, next.module.clone()));
        let Some(entry) = symbols.get_mut(at) else { return };
        let page_end = (entry.start.saturating_add(4096) | 4095).saturating_add(1);
        entry.end = match next {
            Some((start, module)) if bytes.get(module.clone()) == bytes.get(entry.module.clone()) => start,
            Some((start, _)) => page_end.min(start),
            None => page_end,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000040 T secondary_startup_64
ffffffff81001000 t do_one
ffffffff81001000 T also_do_one
ffffffff81002000 D some_data
ffffffff81003000 T last_of_kernel
ffffffffc0000000 t mod_fn\t[ext4]
";

    fn kallsyms(text: &str) -> Kallsyms {
        Kallsyms::new(Bytes::from(text.as_bytes().to_vec()), "kallsyms".into(), KernelId::default())
    }

    #[test]
    fn functions_are_found_by_address() {
        let kernel = kallsyms(TEXT);
        assert_eq!(kernel.reference("_text"), Some(0xffff_ffff_8100_0000));
        assert_eq!(kernel.lookup(0xffff_ffff_8100_0041), Some(("secondary_startup_64", 0xffff_ffff_8100_0040, "")));
        assert_eq!(kernel.lookup(0xffff_ffff_8100_1004).map(|found| found.0), Some("also_do_one"));
        assert_eq!(kernel.lookup(0xffff_ffff_8100_2004).map(|found| found.0), Some("also_do_one"), "data does not end a function");
        assert_eq!(kernel.lookup(0xffff_ffff_c000_0010), Some(("mod_fn", 0xffff_ffff_c000_0000, "ext4")));
        assert_eq!(kernel.lookup(0xffff_ffff_8200_0000), None, "far behind the last function");
        assert_eq!(kernel.lookup(16), None);
    }

    #[test]
    fn hidden_addresses_name_nothing() {
        let kernel = kallsyms("0000000000000000 T _text\n0000000000000000 T _stext\n");
        assert_eq!(kernel.reference("_text"), None);
        assert_eq!(kernel.lookup(0), None);
    }

    #[test]
    fn other_text_is_not_kallsyms() {
        assert!(Kallsyms::recognises(TEXT.as_bytes()));
        for text in ["", "main;foo;bar 12\n", "deadbeef\n", "ffffffff81000000 T \n", "0123 T x\n"] {
            assert!(!Kallsyms::recognises(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn the_build_id_decides_before_the_release() {
        let id = |release: &str, build_id: Option<&str>| KernelId { release: Some(release.into()), build_id: build_id.map(str::to_owned) };
        assert!(id("6.1.0", None).is_same(&id("6.1.0", Some("ab"))));
        assert!(!id("6.1.0", Some("cd")).is_same(&id("6.1.0", Some("ab"))));
        assert!(id("6.1.0-a", Some("ab")).is_same(&id("6.1.0", Some("ab"))));
        assert!(!KernelId::default().is_same(&KernelId::default()));
    }
}
