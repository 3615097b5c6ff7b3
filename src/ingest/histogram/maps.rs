//! The maps of bpftrace: a name, a key, and buckets below.
//!
//! ```text
//! @block_latency_us[vda]:
//! [1]                    3 |@@@@                |
//! [32, 64)             146 |@@@@@@@@@@@@@@@@@@@@|
//! [1K, 2K)               3 |                    |
//! (..., 0)               1 |                    |   below the first bound
//! [2000, ...)            4 |                    |   lhist(): above the last one
//! ```
//!
//! K, M, G, T, P and E stand for powers of 1,024. The unit comes from a word of the map's name (`ns`, `us`, `usecs`, `ms`, ...).

use super::{Buckets, Of, Sections, Unit, cut, metric_of_title};
use crate::ingest::text;

/// `@name[key]:` -> name and key; `None` where the line is no head of a map with buckets.
fn head(line: &str) -> Option<(&str, Option<&str>)> {
    let name = line.trim_end().strip_prefix('@')?.strip_suffix(':')?;
    match name.split_once('[') {
        Some((name, key)) => Some((name, Some(key.strip_suffix(']')?))),
        None => Some((name, None)),
    }
}

type Bounds = (Option<i64>, Option<i64>);

enum Row {
    Bucket(Bounds, i64),
    Broken,
    None,
}

fn row(line: &str) -> Row {
    if !line.starts_with(['[', '(']) {
        return Row::None;
    }
    let Some((front, bar)) = line.split_once('|') else { return Row::Broken };
    let parsed = front.trim_end().rsplit_once(char::is_whitespace).and_then(|(range, count)| {
        let count = count.parse::<i64>().ok().filter(|count| *count >= 0)?;
        Some((bounds(range.trim())?, count))
    });
    match parsed {
        Some((bounds, count)) if bar.trim_end().ends_with('|') => Row::Bucket(bounds, count),
        _ => Row::Broken,
    }
}

fn bounds(range: &str) -> Option<Bounds> {
    if let Some(one) = range.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let value = number(one)?;
        return Some((Some(value), Some(value.checked_add(1)?)));
    }
    let inner = range.strip_prefix(['[', '('])?.strip_suffix(')')?;
    let (lo, hi) = inner.split_once(',')?;
    let open = |text: &str| if text.trim() == "..." { Some(None) } else { number(text.trim()).map(Some) };
    let (lo, hi) = (open(lo)?, open(hi)?);
    let is_ordered = lo.zip(hi).is_none_or(|(lo, hi)| lo < hi);
    is_ordered.then_some((lo, hi))
}

/// `64`, `2K`, `-1M`
fn number(text: &str) -> Option<i64> {
    let power = match text.bytes().last()? {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        b'P' => 50,
        b'E' => 60,
        _ => 0,
    };
    let digits = if power > 0 { text.get(..text.len() - 1)? } else { text };
    digits.parse::<i64>().ok()?.checked_mul(1 << power)
}

/// A head with a bucket right below it, and no map of stacks: those belong to off-CPU stacks.
pub fn is_map(bytes: &[u8]) -> bool {
    let (mut after_head, mut found) = (false, false);
    for (_, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        if line.starts_with('@') && line.trim_end().ends_with('[') {
            return false;
        }
        found |= after_head && !matches!(row(&line), Row::None);
        after_head = head(&line).is_some();
    }
    found
}

/// Reads the buckets. bpftrace prints no times of its own.
pub fn read(bytes: &[u8], buckets: &mut Buckets<'_>) -> Vec<i64> {
    let mut title = None;
    let mut of: Option<Of> = None;
    let mut sections = Sections::default();
    for (line_no, line) in text::lines(bytes) {
        let line = String::from_utf8_lossy(line);
        if let Some((name, key)) = head(&line) {
            let (metric, unit) = metric(name, title);
            let key = key.map(cut);
            let section = sections.next(&metric, key.as_deref().unwrap_or_default());
            of = Some(Of { metric, key, operation: None, section, unit });
            continue;
        }
        match (row(&line), &of) {
            (Row::Bucket((lo, hi), count), Some(of)) => buckets.push(of, lo, hi, count, line_no),
            (Row::Broken, Some(_)) => buckets.unreadable(&line, line_no),
            _ if line.trim().is_empty() => of = None,
            _ => {
                title = title.or_else(|| metric_of_title(line.trim()));
                buckets.other(line_no);
            }
        }
    }
    Vec::new()
}

/// `block_latency_us` -> `block_latency` in microseconds. A name that is only a unit takes the tool's title, where it printed one.
fn metric(name: &str, title: Option<&str>) -> (String, Unit) {
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    // a single letter is a variable rather than seconds
    let is_unit = |word: &&str| word.len() > 1 && matches!(Unit::named(word), Unit::Time(_));
    let unit = words.iter().find(|word| is_unit(word)).map_or_else(Unit::default, |word| Unit::named(word));
    let rest: Vec<&str> = words.iter().filter(|word| !is_unit(word)).copied().collect();
    let metric = match (rest.is_empty(), title) {
        (false, _) => rest.join("_"),
        (true, Some(title)) => title.to_owned(),
        (true, None) if name.is_empty() => "value".to_owned(),
        (true, None) => name.to_owned(),
    };
    (cut(&metric), unit)
}
