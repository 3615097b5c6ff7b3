//! Bytes to numbers. Most lines are `+ INFO` and `- INFO`, tens of millions of them: no allocation per line, hex by hand.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::tables::Text;

/// The newest file format known.
const FORMAT_MAX: u64 = 3;

#[derive(Debug)]
pub struct Ip {
    pub module: u32,
    /// Its frames in [`Parsed::triples`], innermost first.
    pub triples: Range<usize>,
}

#[derive(Debug)]
pub struct Triple {
    pub function: u32,
    pub file: u32,
    pub line: u32,
}

#[derive(Debug)]
pub struct Trace {
    pub ip: u32,
    pub parent: u32,
    pub line_no: i64,
}

#[derive(Debug)]
struct Info {
    size: i64,
    site: u32,
}

/// The heap at a time stamp.
#[derive(Debug)]
pub struct Point {
    pub ts_ns: i64,
    pub live_bytes: i64,
    pub rss_pages: Option<i64>,
    pub line_no: i64,
}

/// All requests of one trace.
#[derive(Debug, Clone, Default)]
pub struct Site {
    pub trace: u32,
    pub calls: i64,
    pub bytes: i64,
    pub live_bytes: i64,
    pub peak_bytes: i64,
    pub temporary_calls: i64,
    /// Line of its first `a` record.
    pub line_no: i64,
}

/// Lines that could not be read, by their first letter, where the first of them is.
#[derive(Debug)]
pub struct Torn {
    pub letter: char,
    pub line_no: i64,
    pub count: i64,
}

#[derive(Debug, Default)]
pub struct Parsed<'a> {
    version: u64,
    format: u64,
    pub command: Option<&'a [u8]>,
    /// Page size and number of pages.
    pub machine: Option<(i64, i64)>,
    pub is_attached: bool,
    /// No closing comments, or no line end at the end.
    pub is_cut: bool,
    strings: Vec<&'a [u8]>,
    pub ips: Vec<Ip>,
    pub triples: Vec<Triple>,
    pub traces: Vec<Trace>,
    infos: Vec<Info>,
    sites: Vec<Site>,
    /// Site of each trace; index 0 is the empty trace.
    site_of_trace: Vec<Option<u32>>,
    /// Info index times two, plus one for a release: the second pass needs no second parse.
    events: Vec<u32>,
    /// Number of the event after which the heap was largest.
    peak_event: Option<usize>,
    pub timeline: Vec<Point>,
    pub lines: i64,
    pub torn: Vec<Torn>,
    /// What the closing comments promise.
    promised_strings: Option<u64>,
    promised_ips: Option<u64>,
    live: i64,
    peak: i64,
    now_ns: i64,
}

/// A 1-based index as a position; `None` for 0.
pub fn index(one_based: u32) -> Option<usize> {
    (one_based as usize).checked_sub(1)
}

/// Why a line gives no record.
enum Bad {
    Torn,
    /// An index beyond what is defined: records were lost before this line.
    Index(&'static str, u64),
}

pub fn parse<'a>(name: &str, bytes: &'a [u8]) -> Result<Parsed<'a>> {
    let mut parsed = Parsed { site_of_trace: vec![None], is_cut: true, ..Parsed::default() };
    let mut cursor = Cursor { bytes, pos: 0 };
    // a last line without an end may be half a number
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    while cursor.pos < end {
        parsed.lines += 1;
        let letter = cursor.next_byte();
        let outcome = parsed.line(name, letter, &mut cursor)?;
        if !cursor.end_line() || outcome.is_err() {
            parsed.bad(name, letter, outcome.err().unwrap_or(Bad::Torn))?;
        }
    }
    Ok(parsed)
}

impl<'a> Parsed<'a> {
    fn line(&mut self, name: &str, letter: u8, cursor: &mut Cursor<'a>) -> Result<std::result::Result<(), Bad>> {
        if letter == b'\n' {
            cursor.pos -= 1;
            return Ok(Ok(()));
        }
        cursor.skip_space();
        Ok(match letter {
            b'+' => self.event(cursor, 0),
            b'-' => self.event(cursor, 1),
            b'a' => self.info(cursor),
            b't' => self.trace(cursor),
            b'i' => self.ip(cursor),
            b's' => self.string(cursor),
            b'c' => self.time(cursor),
            b'R' => cursor.number().map(|pages| self.rss(pages)).ok_or(Bad::Torn),
            b'#' => {
                self.comment(cursor.rest_of_line());
                Ok(())
            }
            b'X' => return self.debuggee(name, cursor.rest_of_line()).map(Ok),
            b'v' => return self.versions(name, cursor).map(Ok),
            b'I' => cursor.number().zip(cursor.number()).map(|machine| self.machine = Some(machine)).ok_or(Bad::Torn),
            b'A' => {
                self.is_attached = true;
                Ok(())
            }
            b'S' => {
                cursor.rest_of_line();
                Ok(())
            }
            b'x' | b'm' if self.ips.is_empty() => {
                return Err(Error::Unusable {
                    path: name.into(),
                    what: format!("a raw heaptrack recording (line {} names a module); only interpreted ones can be read", self.lines),
                    advice: "run `heaptrack --interpret FILE` on the machine that recorded it".into(),
                });
            }
            _ => Err(Bad::Torn),
        })
    }

    /// Counts a torn line. A torn definition still takes its place, so that later indices mean what they did.
    fn bad(&mut self, name: &str, letter: u8, bad: Bad) -> Result<()> {
        if let Bad::Index(what, value) = bad {
            return Err(Error::Malformed {
                path: name.into(),
                place: format!("L={}", self.lines),
                expected: format!("an index of {what} defined before"),
                found: format!("{value:x}"),
                advice: "lines were lost before this one, so that stacks and sizes would be wrong; copy the file again".into(),
            });
        }
        let letter = if letter.is_ascii_graphic() { char::from(letter) } else { '?' };
        match self.torn.iter_mut().find(|torn| torn.letter == letter) {
            Some(torn) => torn.count += 1,
            None => self.torn.push(Torn { letter, line_no: self.lines, count: 1 }),
        }
        Ok(())
    }

    fn event(&mut self, cursor: &mut Cursor<'_>, release: u32) -> std::result::Result<(), Bad> {
        let number = cursor.hex().ok_or(Bad::Torn)?;
        if !cursor.at_line_end() {
            return Err(Bad::Torn);
        }
        let info = usize::try_from(number).ok().and_then(|at| self.infos.get(at)).ok_or(Bad::Index("an allocation info", number))?;
        self.live = if release == 0 { self.live.saturating_add(info.size) } else { self.live.saturating_sub(info.size) };
        let coded = u32::try_from(number).ok().and_then(|number| number.checked_mul(2)).ok_or(Bad::Index("an allocation info", number))?;
        if release == 0 && self.live > self.peak {
            self.peak = self.live;
            self.peak_event = Some(self.events.len());
        }
        self.events.push(coded + release);
        Ok(())
    }

    fn info(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Bad> {
        let numbers = cursor.number().zip(cursor.hex()).filter(|_| cursor.at_line_end());
        let (size, trace) = numbers.unwrap_or_default();
        let at = usize::try_from(trace).unwrap_or(usize::MAX);
        let slot = self.site_of_trace.get_mut(at).ok_or(Bad::Index("a trace", trace))?;
        let next = self.sites.len() as u32;
        let site = *slot.get_or_insert(next);
        if site == next {
            self.sites.push(Site { trace: at as u32, line_no: self.lines, ..Site::default() });
        }
        self.infos.push(Info { size, site });
        numbers.map(|_| ()).ok_or(Bad::Torn)
    }

    fn trace(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Bad> {
        let numbers = cursor.hex().zip(cursor.hex()).filter(|_| cursor.at_line_end());
        let (ip, parent) = numbers.unwrap_or_default();
        let trace = Trace {
            ip: bounded(ip, self.ips.len(), "an ip")?,
            parent: bounded(parent, self.traces.len(), "a trace")?,
            line_no: self.lines,
        };
        self.traces.push(trace);
        self.site_of_trace.push(None);
        numbers.map(|_| ()).ok_or(Bad::Torn)
    }

    fn ip(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Bad> {
        let start = self.triples.len();
        let outcome = self.ip_fields(cursor);
        let module = *outcome.as_ref().unwrap_or(&0);
        if outcome.is_err() {
            self.triples.truncate(start);
        }
        self.ips.push(Ip { module, triples: start..self.triples.len() });
        outcome.map(|_| ())
    }

    fn ip_fields(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<u32, Bad> {
        let strings = self.strings.len();
        let (_address, module) = cursor.hex().zip(cursor.hex()).ok_or(Bad::Torn)?;
        let module = bounded(module, strings, "a string")?;
        while !cursor.at_line_end() {
            let function = bounded(cursor.hex().ok_or(Bad::Torn)?, strings, "a string")?;
            // without debug information there is a name and nothing else
            let (file, line) = if cursor.at_line_end() { (0, 0) } else { cursor.hex().zip(cursor.hex()).ok_or(Bad::Torn)? };
            self.triples.push(Triple { function, file: bounded(file, strings, "a string")?, line: u32::try_from(line).unwrap_or(0) });
        }
        Ok(module)
    }

    fn string(&mut self, cursor: &mut Cursor<'a>) -> std::result::Result<(), Bad> {
        let length = if self.format >= 3 { cursor.hex() } else { None };
        let text = cursor.rest_of_line();
        self.strings.push(text);
        let is_whole = self.format < 3 || length.is_some_and(|length| length == text.len() as u64);
        is_whole.then_some(()).ok_or(Bad::Torn)
    }

    fn time(&mut self, cursor: &mut Cursor<'_>) -> std::result::Result<(), Bad> {
        let ms = cursor.number().filter(|_| cursor.at_line_end()).ok_or(Bad::Torn)?;
        self.now_ns = ms.saturating_mul(1_000_000);
        self.timeline.push(Point { ts_ns: self.now_ns, live_bytes: self.live, rss_pages: None, line_no: self.lines });
        Ok(())
    }

    fn rss(&mut self, pages: i64) {
        match self.timeline.last_mut() {
            Some(point) if point.rss_pages.is_none() => point.rss_pages = Some(pages),
            _ => self.timeline.push(Point { ts_ns: self.now_ns, live_bytes: self.live, rss_pages: Some(pages), line_no: self.lines }),
        }
    }

    fn comment(&mut self, comment: &[u8]) {
        let promised = |name: &str| std::str::from_utf8(comment).ok()?.trim().strip_prefix(name)?.trim().parse().ok();
        if let Some(count) = promised("strings:") {
            self.promised_strings = Some(count);
        } else if let Some(count) = promised("ips:") {
            self.promised_ips = Some(count);
            self.is_cut = false;
        }
    }

    fn debuggee(&mut self, name: &str, command: &'a [u8]) -> Result<()> {
        if self.command.is_some() {
            return Err(Error::Malformed {
                path: name.into(),
                place: format!("L={}", self.lines),
                expected: "one program (X) per file".into(),
                found: "a second one".into(),
                advice: "two processes wrote into one file, so that its indices mean nothing; record them apart".into(),
            });
        }
        self.command = Some(command);
        Ok(())
    }

    fn versions(&mut self, name: &str, cursor: &mut Cursor<'_>) -> Result<()> {
        self.version = cursor.hex().unwrap_or(0);
        // before 1.0.0 was released its version was written as 10200, without a file format
        self.format = cursor.hex().unwrap_or(u64::from(self.version == 0x1_0200));
        if !(1..=FORMAT_MAX).contains(&self.format) {
            return Err(Error::Unusable {
                path: name.into(),
                what: format!("heaptrack file format {:x}, known are 1 to {FORMAT_MAX}", self.format),
                advice: "record it again with heaptrack 1.0 to 1.5".into(),
            });
        }
        Ok(())
    }

    /// `10400` -> `1.4.0`.
    pub fn tool_version(&self) -> Option<Text> {
        let part = |shift: u32| self.version >> shift & 0xff;
        (self.version > 0).then(|| format!("{}.{}.{}", part(16), part(8), part(0)).into())
    }

    pub fn text(&self, one_based: u32) -> Option<Cow<'a, str>> {
        index(one_based).and_then(|at| self.strings.get(at)).map(|text| String::from_utf8_lossy(text)).filter(|text| !text.is_empty())
    }

    /// What the closing comments promise and the file does not hold.
    pub fn missing_definitions(&self) -> Option<(&'static str, i64)> {
        let missing = |promised: Option<u64>, found: usize| {
            promised.filter(|count| *count != found as u64).map(|count| (count as i64).abs_diff(found as i64) as i64)
        };
        let strings = missing(self.promised_strings, self.strings.len()).map(|count| ("strings", count));
        strings.or_else(|| missing(self.promised_ips, self.ips.len()).map(|count| ("instruction pointers", count)))
    }

    /// The second pass: what each site asked for, kept and held when the heap was largest.
    pub fn sites(&self) -> Vec<Site> {
        let mut sites = self.sites.clone();
        // as heaptrack's: 0 where no allocation came since the last release, though 0 is also an index
        let mut last = 0u32;
        for (n, event) in self.events.iter().enumerate() {
            let number = event / 2;
            let Some(info) = self.infos.get(number as usize) else { continue };
            let Some(site) = sites.get_mut(info.site as usize) else { continue };
            if event % 2 == 0 {
                last = number;
                site.calls += 1;
                site.bytes = site.bytes.saturating_add(info.size);
                site.live_bytes = site.live_bytes.saturating_add(info.size);
                if self.peak_event == Some(n) {
                    for site in &mut sites {
                        site.peak_bytes = site.live_bytes;
                    }
                }
            } else {
                site.temporary_calls += i64::from(last == number);
                site.live_bytes = site.live_bytes.saturating_sub(info.size);
                last = 0;
            }
        }
        sites
    }
}

/// A 1-based index that must be defined already, or 0.
fn bounded(value: u64, defined: usize, what: &'static str) -> std::result::Result<u32, Bad> {
    u32::try_from(value).ok().filter(|index| *index as usize <= defined).ok_or(Bad::Index(what, value))
}

struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn next_byte(&mut self) -> u8 {
        let byte = self.peek().unwrap_or(b'\n');
        self.pos += 1;
        byte
    }

    fn skip_space(&mut self) {
        if self.peek() == Some(b' ') {
            self.pos += 1;
        }
    }

    /// A hexadecimal number and the space behind it.
    fn hex(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let start = self.pos;
        while let Some(byte) = self.peek() {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b' ' | b'\n' | b'\r' => break,
                _ => return None,
            };
            if value >> 60 != 0 {
                return None;
            }
            value = value << 4 | u64::from(digit);
            self.pos += 1;
        }
        let found = self.pos > start;
        self.skip_space();
        found.then_some(value)
    }

    fn number(&mut self) -> Option<i64> {
        self.hex().and_then(|value| i64::try_from(value).ok())
    }

    fn at_line_end(&self) -> bool {
        matches!(self.peek(), None | Some(b'\n')) || self.peek() == Some(b'\r') && self.bytes.get(self.pos + 1) == Some(&b'\n')
    }

    fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.pos += end;
        let line = rest.get(..end).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Goes to the next line; false where something was left on this one.
    fn end_line(&mut self) -> bool {
        let at_end = self.at_line_end();
        self.rest_of_line();
        self.pos += 1;
        at_end
    }
}
