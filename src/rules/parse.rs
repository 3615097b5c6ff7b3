//! Hypothesis files: TEXT -> [`Hypothesis`]. A file is a header, slots, alternates, and one SELECT per alternate.
//!
//! ```text
//! -- id: R25                      keys of the hypothesis, one per line; `--   ` (three blanks) goes on
//! -- slot: A                      then A, B, C and perhaps the fallback D
//! -- alternate: summary           then its keys (mechanism, probe, metric, needs, ...)
//! SELECT ...                      until the next slot, the next alternate or the end
//! ```
//!
//! Unknown and missing keys are errors that name file, line and key: a typing error must not silently change a verdict.

use super::condition::Condition;
use super::costs;
use super::dialect;
use super::file::{Admits, Alternate, Basis, CostMetric, Explains, Hypothesis, Metric, Need, Overlap, Slot, Status, Unit};
use super::score::{Bound, Bounds, Interval, Scale};
use crate::error::{Error, Result};

/// Where a message points.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub file: &'a str,
    pub line: usize,
    pub key: &'a str,
}

impl At<'_> {
    pub fn error(self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        let At { file, line, key } = self;
        let (expected, found) = (expected.into(), found.into());
        // Part of the request (`--rules`), not a recording that cannot be read.
        Error::Request(format!("{file}: line {line}, key {key}: expected {expected}, found {found}; queries/README.md lists the keys"))
    }
}

/// One `-- key: value`, continuation lines joined.
pub(crate) struct Entry {
    pub line: usize,
    pub key: String,
    pub value: String,
}

/// The keys of one block, each to be taken exactly once.
pub(crate) struct Block<'a> {
    pub file: &'a str,
    line: usize,
    entries: Vec<Entry>,
}

impl<'a> Block<'a> {
    pub fn optional(&mut self, key: &str) -> Result<Option<Entry>> {
        let Some(at) = self.entries.iter().position(|entry| entry.key == key) else { return Ok(None) };
        let entry = self.entries.remove(at);
        if let Some(again) = self.entries.iter().find(|entry| entry.key == key) {
            return Err(At { file: self.file, line: again.line, key }.error("the key once", "it again"));
        }
        Ok(Some(entry))
    }

    pub fn required(&mut self, key: &str) -> Result<Entry> {
        self.optional(key)?.ok_or_else(|| At { file: self.file, line: self.line, key }.error("the key", "none"))
    }

    pub fn text(&mut self, key: &str) -> Result<String> {
        let entry = self.required(key)?;
        if entry.value.is_empty() {
            return Err(At { file: self.file, line: entry.line, key }.error("a value", "nothing"));
        }
        Ok(entry.value)
    }

    pub fn many(&mut self, key: &str) -> Vec<Entry> {
        let (taken, kept) = std::mem::take(&mut self.entries).into_iter().partition(|entry| entry.key == key);
        self.entries = kept;
        taken
    }

    /// All keys must have been taken.
    pub fn done(self) -> Result<()> {
        match self.entries.first() {
            None => Ok(()),
            Some(entry) => Err(At { file: self.file, line: entry.line, key: &entry.key }.error("a known key", "an unknown one")),
        }
    }
}

/// Reads one file. `file` is its name for messages.
pub fn hypothesis(file: &str, text: &str) -> Result<Hypothesis> {
    let parts = split(file, text)?;
    let mut parts = parts.into_iter();
    let (head, sql) = parts.next().unwrap_or((Block { file, line: 1, entries: Vec::new() }, Vec::new()));
    if let Some((line, _)) = sql.first() {
        return Err(At { file, line: *line, key: "slot" }.error("`-- slot:` before the first SELECT", "SQL"));
    }
    let mut out = header(head, text)?;
    for (block, sql) in parts {
        slot_or_alternate(&mut out, block, sql)?;
    }
    complete(file, &out)?;
    Ok(out)
}

pub(crate) type Part<'a> = (Block<'a>, Vec<(usize, &'a str)>);

/// Cuts the text before every `-- slot:` and `-- alternate:`, and before every `-- measure:` of a quality check.
pub(crate) fn split<'a>(file: &'a str, text: &'a str) -> Result<Vec<Part<'a>>> {
    let mut parts: Vec<Part<'a>> = vec![(Block { file, line: 1, entries: Vec::new() }, Vec::new())];
    for (index, line) in text.lines().enumerate() {
        let line_no = index + 1;
        let trimmed = line.trim_end();
        let starts = ["-- slot:", "-- alternate:", "-- measure:"].iter().any(|key| trimmed.starts_with(key));
        if starts {
            parts.push((Block { file, line: line_no, entries: Vec::new() }, Vec::new()));
        }
        let Some((block, sql)) = parts.last_mut() else { continue };
        match trimmed.strip_prefix("--") {
            Some(comment) if sql.is_empty() => entry(block, line_no, comment)?,
            Some(_) => {}
            None if trimmed.trim().is_empty() && sql.is_empty() => {}
            None => sql.push((line_no, trimmed)),
        }
    }
    Ok(parts)
}

fn entry(block: &mut Block<'_>, line: usize, comment: &str) -> Result<()> {
    if comment.trim().is_empty() {
        return Ok(());
    }
    if let Some(more) = comment.strip_prefix("   ") {
        let Some(last) = block.entries.last_mut() else {
            return Err(At { file: block.file, line, key: "(none)" }.error("a key to go on", "a continuation line"));
        };
        last.value.push(' ');
        last.value.push_str(more.trim());
        return Ok(());
    }
    let Some((key, value)) = comment.trim().split_once(':') else {
        return Err(At { file: block.file, line, key: "(none)" }.error("`-- key: value`", comment.trim()));
    };
    block.entries.push(Entry { line, key: key.trim().to_owned(), value: value.trim().to_owned() });
    Ok(())
}

fn header(mut block: Block<'_>, text: &str) -> Result<Hypothesis> {
    let file = block.file;
    let effort = block.required("effort")?;
    let at = At { file, line: effort.line, key: "effort" };
    let effort: i32 =
        effort.value.parse().ok().filter(|effort| (1..=5).contains(effort)).ok_or_else(|| at.error("1 to 5", effort.value.as_str()))?;
    let applies_if = match block.optional("applies_if")? {
        None => None,
        Some(entry) => {
            Some(Condition::parse(&entry.value).map_err(|why| At { file, line: entry.line, key: "applies_if" }.error("a condition", why))?)
        }
    };
    let explains = match block.optional("explains")? {
        None => Vec::new(),
        Some(entry) => {
            let at = At { file, line: entry.line, key: "explains" };
            let edges = list(&entry.value).map(|item| explains(item).ok_or_else(|| at.error("`ID`, `ID all` or `ID class NAME`", item)));
            edges.collect::<Result<Vec<_>>>()?
        }
    };
    let vetoes = block.optional("vetoes")?.map_or_else(Vec::new, |entry| list(&entry.value).map(str::to_owned).collect());
    let status = block.required("status")?;
    let at = At { file, line: status.line, key: "status" };
    let status = Status::named(&status.value).ok_or_else(|| at.error("stable or preview", status.value))?;
    let cost = block.required("cost")?;
    let cost = list(&cost.value)
        .map(|item| cost_metric(item).ok_or_else(|| At { file, line: cost.line, key: "cost" }.error("slot.metric", item)))
        .collect::<Result<Vec<_>>>()?;
    let resource = block.required("resource")?;
    if !["cpu", "off-cpu", "memory"].contains(&resource.value.as_str()) {
        return Err(At { file, line: resource.line, key: "resource" }.error("cpu, off-cpu or memory", resource.value));
    }
    let out = Hypothesis {
        file: file.to_owned(),
        text: text.to_owned(),
        id: id(&mut block)?,
        name: block.text("name")?,
        claim: block.text("claim")?,
        category: block.text("category")?,
        scope: block.text("scope")?,
        resource: resource.value,
        applies_if,
        explains,
        vetoes,
        cost,
        effort,
        advice: block.text("advice")?,
        false_positives: block.text("false_positives")?,
        status,
        since: block.text("since")?,
        slots: Vec::new(),
    };
    block.done()?;
    Ok(out)
}

/// An id goes into file names, commands and tables: letters, digits, `_` and `-`.
fn id(block: &mut Block<'_>) -> Result<String> {
    let file = block.file;
    let entry = block.required("id")?;
    let is_good = entry.value.starts_with(|c: char| c.is_ascii_alphabetic())
        && entry.value.len() <= 32
        && entry.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_good {
        return Ok(entry.value);
    }
    Err(At { file, line: entry.line, key: "id" }.error("a letter, then letters, digits, _ and - (32 at most)", entry.value))
}

fn list(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// `R29`, `R22 all` or `R01 class ALLOC`.
fn explains(item: &str) -> Option<Explains> {
    let words: Vec<&str> = item.split_whitespace().collect();
    let (id, how) = match words[..] {
        [id] => (id, Overlap::Share),
        [id, "all"] => (id, Overlap::All),
        [id, "class", class] => (id, Overlap::Class(class.to_owned())),
        _ => return None,
    };
    Some(Explains { hypothesis: id.to_owned(), how })
}

fn cost_metric(item: &str) -> Option<CostMetric> {
    let (slot, metric) = item.split_once('.')?;
    let mut letters = slot.chars();
    let letter = letters.next().filter(|letter| ('A'..='D').contains(letter))?;
    (letters.next().is_none() && !metric.is_empty()).then(|| CostMetric { slot: letter, metric: metric.to_owned() })
}

fn slot_or_alternate(out: &mut Hypothesis, mut block: Block<'_>, sql: Vec<(usize, &str)>) -> Result<()> {
    let file = block.file;
    if let Some(entry) = block.optional("slot")? {
        let at = At { file, line: entry.line, key: "slot" };
        let next = ["A", "B", "C", "D"].get(out.slots.len()).copied().unwrap_or("");
        if entry.value != next {
            return Err(at.error(format!("slot {next}"), entry.value));
        }
        out.slots.push(Slot { letter: next.chars().next().unwrap_or('A'), alternates: Vec::new() });
        if !sql.is_empty() {
            return Err(at.error("`-- alternate:` before the SELECT", "SQL"));
        }
        return block.done();
    }
    let line = block.line;
    let Some(slot) = out.slots.last_mut() else {
        return Err(At { file, line, key: "alternate" }.error("`-- slot:` first", "an alternate"));
    };
    slot.alternates.push(alternate(block, sql)?);
    Ok(())
}

fn alternate(mut block: Block<'_>, sql: Vec<(usize, &str)>) -> Result<Alternate> {
    let file = block.file;
    let line = sql.first().map_or(block.line, |(line, _)| *line);
    let metrics = block.many("metric").iter().map(|entry| metric(file, entry)).collect::<Result<Vec<_>>>()?;
    if metrics.is_empty() {
        return Err(At { file, line: block.line, key: "metric" }.error("at least one", "none"));
    }
    let needs: Vec<Need> = block.many("needs").iter().map(|entry| need(&entry.value)).collect();
    if needs.is_empty() {
        return Err(At { file, line: block.line, key: "needs" }.error("at least one", "none"));
    }
    let mechanism = block.required("mechanism")?;
    if !matches!(mechanism.value.strip_prefix('M').and_then(|n| n.parse::<u8>().ok()), Some(1..=10)) {
        return Err(At { file, line: mechanism.line, key: "mechanism" }.error("M1 to M10", mechanism.value));
    }
    let admits = match block.optional("admits")? {
        None => Admits::Same,
        Some(entry) => match entry.value.as_str() {
            "variant" => Admits::Variant,
            "threads" => Admits::Threads,
            other => return Err(At { file, line: entry.line, key: "admits" }.error("variant or threads", other)),
        },
    };
    let lineage = block.optional("lineage")?;
    if let Some(entry) = lineage.as_ref().filter(|entry| entry.value != "compiler") {
        return Err(At { file, line: entry.line, key: "lineage" }.error("compiler", entry.value.as_str()));
    }
    let exclusion = block.optional("exclusion")?;
    if let Some(entry) = exclusion.as_ref().filter(|entry| entry.value != "yes") {
        return Err(At { file, line: entry.line, key: "exclusion" }.error("yes", entry.value.as_str()));
    }
    let sql: Vec<&str> = sql.into_iter().map(|(_, text)| text).collect();
    let sql = sql.join("\n").trim().trim_end_matches(';').to_owned();
    dialect::check(&sql).map_err(|why| At { file, line, key: "SELECT" }.error("the dialect of queries/README.md", why))?;
    if let Some(metric) = metrics.iter().find(|metric| !sql.contains(&format!("'{}'", metric.name))) {
        return Err(At { file, line, key: "SELECT" }.error(format!("rows with '{}' as metric", metric.name), "none"));
    }
    let evidence = evidence(&mut block, &metrics)?;
    let out = Alternate {
        name: block.text("alternate")?,
        mechanism: mechanism.value,
        probe: block.text("probe")?,
        metrics,
        normalizer: block.optional("normalizer")?.map(|entry| entry.value),
        needs,
        with: block.many("with").iter().map(|entry| need(&entry.value)).collect(),
        admits,
        is_of_compiler: lineage.is_some(),
        is_exclusion: exclusion.is_some(),
        evidence,
        record: block.text("record")?,
        sql,
        line,
    };
    block.done()?;
    Ok(out)
}

/// The evidence sentence; its places must be numbers that a reading has.
fn evidence(block: &mut Block<'_>, metrics: &[Metric]) -> Result<String> {
    const NUMBERS: [&str; 8] = ["part", "whole", "n", "value", "percent", "part_s", "whole_s", "site"];
    let entry = block.required("evidence")?;
    let at = At { file: block.file, line: entry.line, key: "evidence" };
    for place in entry.value.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(place, _)| place) {
        let number = match place.split_once('.') {
            None => place,
            Some((name, number)) if metrics.iter().any(|metric| metric.name == name) => number,
            Some((name, _)) => return Err(at.error("a metric of this alternate before the dot", name)),
        };
        if !NUMBERS.contains(&number) {
            return Err(at.error(format!("one of {} in braces", NUMBERS.join(", ")), number));
        }
    }
    if entry.value.is_empty() {
        return Err(at.error("a value", "nothing"));
    }
    Ok(entry.value)
}

fn need(value: &str) -> Need {
    match value.split_once(" where ") {
        Some((table, predicate)) => Need { table: table.trim().to_owned(), predicate: Some(predicate.trim().to_owned()) },
        None => Need { table: value.trim().to_owned(), predicate: None },
    }
}

/// `name unit=.. reject=.. support=.. saturate=.. scale=.. interval=.. min_n=.. basis=.. cost=.. source=kind:"reference"`.
fn metric(file: &str, entry: &Entry) -> Result<Metric> {
    let at = At { file, line: entry.line, key: "metric" };
    let (head, source) = entry.value.split_once("source=").ok_or_else(|| at.error("source=kind:\"reference\"", "none"))?;
    let (source_kind, reference) = source.split_once(':').ok_or_else(|| at.error("source=kind:\"reference\"", source))?;
    if !["tool", "paper", "doc", "measured", "house"].contains(&source_kind) {
        return Err(at.error("a source of kind tool, paper, doc, measured or house", source_kind));
    }
    let mut words = head.split_whitespace();
    let name = words.next().filter(|name| !name.contains('=')).ok_or_else(|| at.error("a name first", head))?;
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| at.error("key=value", word))?;
        const KNOWN: [&str; 9] = ["unit", "reject", "support", "saturate", "scale", "interval", "min_n", "basis", "cost"];
        if !KNOWN.contains(&key) || pairs.iter().any(|(own, _)| *own == key) {
            return Err(at.error("a known key once", word));
        }
        pairs.push((key, value));
    }
    let get =
        |key: &str| pairs.iter().find(|(own, _)| *own == key).map(|(_, value)| *value).ok_or_else(|| at.error(format!("{key}=.."), "none"));
    let bounds = Bounds {
        reject: bound(at, get("reject")?)?,
        support: bound(at, get("support")?)?,
        saturate: bound(at, get("saturate")?)?,
        scale: scale(at, get("scale")?)?,
    };
    ordered(at, &bounds)?;
    let unit = get("unit")?;
    let cost = pairs.iter().find(|(own, _)| *own == "cost").map(|(_, value)| *value);
    if let Some(cost) = cost.filter(|cost| !costs::is_known(cost)) {
        return Err(at.error("a cost of queries/costs.json", cost));
    }
    if cost.is_some() && unit != "1/s" {
        return Err(at.error("unit=1/s where a cost is named", unit));
    }
    Ok(Metric {
        name: name.to_owned(),
        unit: Unit::named(unit).ok_or_else(|| at.error("a known unit", unit))?,
        bounds,
        interval: interval(at, get("interval")?)?,
        min_n: get("min_n")?.parse().map_err(|_| at.error("a whole number for min_n", "something else"))?,
        basis: basis(at, get("basis")?)?,
        cost: cost.map(str::to_owned),
        calibrated: None,
        source_kind: source_kind.to_owned(),
        source: reference.trim().trim_matches('"').to_owned(),
    })
}

pub(super) fn bound(at: At<'_>, text: &str) -> Result<Bound> {
    let (number, per_factor) = text.strip_suffix('N').map_or((text, false), |number| (number, true));
    let value = number.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| at.error("a number", text))?;
    Ok(Bound { value, per_factor })
}

pub(super) fn ordered(at: At<'_>, bounds: &Bounds) -> Result<()> {
    // Bounds that scale are compared at a factor at which they have their meaning (a series needs at least two threads).
    let ramp = bounds.at(4.0);
    let rising = ramp.reject < ramp.support && ramp.support < ramp.saturate;
    let falling = ramp.reject > ramp.support && ramp.support > ramp.saturate;
    let positive = bounds.scale == Scale::Linear || ramp.reject.min(ramp.saturate) > 0.0;
    if (rising || falling) && positive {
        return Ok(());
    }
    Err(at.error("reject < support < saturate or the reverse, above 0 for log10", "another order"))
}

fn scale(at: At<'_>, text: &str) -> Result<Scale> {
    [Scale::Linear, Scale::Log10].into_iter().find(|scale| scale.name() == text).ok_or_else(|| at.error("linear or log10", text))
}

fn interval(at: At<'_>, text: &str) -> Result<Interval> {
    [Interval::Wilson, Interval::Complete, Interval::Accounting, Interval::Bootstrap, Interval::Given, Interval::Counter]
        .into_iter()
        .find(|interval| interval.name() == text)
        .ok_or_else(|| at.error("wilson, complete, accounting, bootstrap, given or counter", text))
}

fn basis(at: At<'_>, text: &str) -> Result<Basis> {
    Basis::named(text).ok_or_else(|| at.error("count, time, share, leaf, cputime or memory", text))
}

fn complete(file: &str, out: &Hypothesis) -> Result<()> {
    let at = At { file, line: 1, key: "slot" };
    if out.slots.len() < 3 {
        return Err(at.error("slots A, B and C", format!("{} slots", out.slots.len())));
    }
    if let Some(slot) = out.slots.iter().find(|slot| slot.alternates.is_empty()) {
        return Err(at.error("an alternate", format!("none in slot {}", slot.letter)));
    }
    let missing = out.cost.iter().find(|cost| out.cost_threshold(cost).is_none());
    missing.map_or(Ok(()), |cost| Err(At { file, line: 1, key: "cost" }.error("a metric of that slot", cost.metric.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::HYPOTHESES;

    fn good() -> &'static str {
        HYPOTHESES.iter().find(|(file, _)| file.starts_with("R13")).map(|(_, text)| *text).unwrap()
    }

    #[test]
    fn a_typing_error_is_named_with_its_line_and_key() {
        let own = hypothesis("own.sql", good()).unwrap();
        assert_eq!((own.id.as_str(), own.slots.len(), own.explains.len()), ("R13", 3, 1));
        for (from, to, line, message) in [
            ("-- effort: 2", "-- effort: 9", 10, "key effort: expected 1 to 5"),
            ("-- status: stable", "-- status: steady", 13, "key status: expected stable or preview"),
            ("-- claim:", "-- clam:", 1, "key claim: expected the key, found none"),
            ("-- status: stable", "-- status: stable\n-- colour: red", 14, "key colour: expected a known key"),
            ("-- id: R13", "-- id: R13\n-- id: R14", 2, "key id: expected the key once"),
            (
                "-- explains: R01 class FORMAT",
                "-- explains: R01 clas FORMAT",
                8,
                "key explains: expected `ID`, `ID all` or `ID class NAME`",
            ),
            ("-- cost: A.format_share", "-- cost: A.share", 1, "key cost: expected a metric of that slot"),
            ("-- slot: B", "-- slot: C", 58, "key slot: expected slot B"),
            ("reject=0.02 support=0.10", "reject=0.2 support=0.10", 20, "reject < support < saturate"),
            ("unit=share", "unit=parsecs", 20, "expected a known unit"),
            ("-- id: R13", "-- id: R 13", 1, "key id: expected a letter, then letters"),
            ("basis=share", "basis=share cost=soul", 20, "expected a cost of queries/costs.json, found soul"),
            ("basis=share", "basis=share cost=page_fault", 20, "expected unit=1/s where a cost is named"),
            ("-- evidence: {percent}", "-- evidence: {procent}", 22, "key evidence: expected one of part, whole"),
            ("'format_share' AS metric", "'formatshare' AS metric", 24, "key SELECT: expected rows with 'format_share' as metric"),
        ] {
            let error = hypothesis("own.sql", &good().replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(message), "{from}: {error}");
            assert!(error.starts_with(&format!("own.sql: line {line}, ")), "{from}: {error}");
        }
    }
}
