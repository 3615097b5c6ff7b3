//! `--thresholds FILE`: bounds of the user's own, one metric per line, each with a reason.
//!
//! ```text
//! # id slot metric key=value.. reason="why"         keys: reject, support, saturate, alternate
//! R25 A calls_per_second support=20000 reason="the log of this service is 15 000 lines a second by contract"
//! R29 C calls_per_cpu_second alternate="calls of the summary" reject=1000 support=5000 reason="a batch job"
//! ```
//!
//! It holds for all alternates of the slot that measure the metric, or for the one named. Numbers are meant as they
//! stand: costs of the machine do not change them.

use super::file::{Hypothesis, Metric};
use super::parse::{At, bound, ordered};
use super::score::Bound;
use crate::error::Result;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    line: usize,
    id: String,
    slot: String,
    metric: String,
    alternate: Option<String>,
    reject: Option<Bound>,
    support: Option<Bound>,
    saturate: Option<Bound>,
    reason: String,
}

/// Reads the file; `file` is its name for messages.
pub fn parse(file: &str, text: &str) -> Result<Vec<Override>> {
    let mut out: Vec<Override> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line_no = index + 1;
        let words = words(line).map_err(|why| At { file, line: line_no, key: "reason" }.error("a closing quotation mark", why))?;
        if words.is_empty() {
            continue;
        }
        let own = one(file, line_no, &words)?;
        if let Some(before) = out.iter().find(|before| before.names_the_same(&own)) {
            let at = At { file, line: line_no, key: &own.metric };
            return Err(at.error("each metric once", format!("it again (first in line {})", before.line)));
        }
        out.push(own);
    }
    Ok(out)
}

impl Override {
    fn names_the_same(&self, other: &Override) -> bool {
        (&self.id, &self.slot, &self.metric) == (&other.id, &other.slot, &other.metric)
            && (self.alternate.is_none() || other.alternate.is_none() || self.alternate == other.alternate)
    }
}

/// Words between blanks; `"` keeps blanks together, `#` begins a comment.
fn words(line: &str) -> std::result::Result<Vec<String>, &'static str> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            '#' if !quoted && word.is_none() => break,
            c if c.is_whitespace() && !quoted => out.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    if quoted { Err("the end of the line") } else { Ok(out) }
}

fn one(file: &str, line: usize, words: &[String]) -> Result<Override> {
    let at = |key| At { file, line, key };
    let [id, slot, metric, pairs @ ..] = words else {
        return Err(at("(line)").error("`ID SLOT METRIC key=value.. reason=\"why\"`", words.join(" ")));
    };
    if metric.contains('=') {
        return Err(at("metric").error("the name of a metric", metric.as_str()));
    }
    let mut out = Override {
        line,
        id: id.clone(),
        slot: slot.clone(),
        metric: metric.clone(),
        alternate: None,
        reject: None,
        support: None,
        saturate: None,
        reason: String::new(),
    };
    let mut seen: Vec<&str> = Vec::new();
    for pair in pairs {
        let (key, value) = pair.split_once('=').ok_or_else(|| at("(line)").error("key=value", pair.as_str()))?;
        if seen.contains(&key) {
            return Err(at(key).error("the key once", "it again"));
        }
        seen.push(key);
        match key {
            "reject" => out.reject = Some(bound(at(key), value)?),
            "support" => out.support = Some(bound(at(key), value)?),
            "saturate" => out.saturate = Some(bound(at(key), value)?),
            "alternate" => out.alternate = Some(value.to_owned()),
            "reason" => out.reason = value.to_owned(),
            other => return Err(at(other).error("reject, support, saturate, alternate or reason", other)),
        }
    }
    if out.reason.trim().is_empty() {
        return Err(at("reason").error("reason=\"why\"", "none"));
    }
    if out.reject.is_none() && out.support.is_none() && out.saturate.is_none() {
        return Err(at("support").error("reject=, support= or saturate=", "none of them"));
    }
    Ok(out)
}

/// Puts the bounds into the hypotheses.
pub fn apply(file: &str, overrides: &[Override], hypotheses: &mut [Hypothesis]) -> Result<()> {
    for own in overrides {
        let at = |key| At { file, line: own.line, key };
        let ids: Vec<String> = hypotheses.iter().map(|known| known.id.clone()).collect();
        let hypothesis = hypotheses.iter_mut().find(|known| known.id == own.id);
        let hypothesis = hypothesis.ok_or_else(|| at("id").error(format!("one of {}", ids.join(", ")), own.id.as_str()))?;
        let letters: Vec<String> = hypothesis.slots.iter().map(|slot| slot.letter.to_string()).collect();
        let slot = hypothesis.slots.iter_mut().find(|slot| slot.letter.to_string() == own.slot);
        let slot = slot.ok_or_else(|| at("slot").error(format!("one of {}", letters.join(", ")), own.slot.as_str()))?;
        let names: Vec<String> = slot.alternates.iter().map(|alternate| alternate.name.clone()).collect();
        if let Some(name) = own.alternate.as_ref().filter(|name| !names.contains(name)) {
            return Err(at("alternate").error(format!("one of `{}`", names.join("`, `")), name.as_str()));
        }
        let chosen = slot.alternates.iter_mut().filter(|known| own.alternate.as_ref().is_none_or(|name| *name == known.name));
        let metrics: Vec<&mut Metric> = chosen.flat_map(|alternate| &mut alternate.metrics).collect();
        let known: Vec<String> = metrics.iter().map(|metric| metric.name.clone()).collect();
        let mut found = false;
        for metric in metrics.into_iter().filter(|metric| metric.name == own.metric) {
            found = true;
            change(file, own, metric)?;
        }
        if !found {
            return Err(at("metric").error(format!("one of {}", known.join(", ")), own.metric.as_str()));
        }
    }
    Ok(())
}

fn change(file: &str, own: &Override, metric: &mut Metric) -> Result<()> {
    let before = metric.bounds;
    metric.bounds.reject = own.reject.unwrap_or(before.reject);
    metric.bounds.support = own.support.unwrap_or(before.support);
    metric.bounds.saturate = own.saturate.unwrap_or(before.saturate);
    ordered(At { file, line: own.line, key: &own.metric }, &metric.bounds)?;
    let old =
        [("reject", own.reject, before.reject), ("support", own.support, before.support), ("saturate", own.saturate, before.saturate)];
    let old: Vec<String> = old.iter().filter(|(_, new, _)| new.is_some()).map(|(name, _, old)| format!("{name} {}", old.value)).collect();
    metric.source =
        format!("{} ({file}, line {}; instead of {}, {}: {})", own.reason, own.line, old.join(", "), metric.source_kind, metric.source);
    metric.source_kind = "user".to_owned();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> Result<Vec<Hypothesis>> {
        let mut own = crate::rules::hypotheses(&[])?;
        apply("own.txt", &parse("own.txt", text)?, &mut own)?;
        Ok(own)
    }

    #[test]
    fn bounds_change_and_say_why() {
        let own = applied("# ours\n\nR25 A calls_per_second support=20000 reason=\"by contract # 7\" # a comment\n").unwrap();
        let r25 = own.iter().find(|own| own.id == "R25").unwrap();
        // Both alternates of slot A measure it.
        for alternate in &r25.slots[0].alternates {
            let metric = alternate.metric("calls_per_second").unwrap();
            assert_eq!((metric.bounds.support.value, metric.bounds.reject.value), (20_000.0, 100.0));
            assert_eq!(metric.source_kind, "user");
            assert!(metric.source.starts_with("by contract # 7 (own.txt, line 3; instead of support 10000, house: "), "{}", metric.source);
            assert_eq!(alternate.metric("bytes_per_call").unwrap().source_kind, "house");
        }
        let one = applied("R25 A calls_per_second alternate=summary reject=50 reason=x").unwrap();
        let r25 = one.iter().find(|own| own.id == "R25").unwrap();
        let rejects: Vec<f64> =
            r25.slots[0].alternates.iter().map(|own| own.metric("calls_per_second").unwrap().bounds.reject.value).collect();
        assert_eq!((rejects[0], rejects[1]), (50.0, 100.0));
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, line, message) in [
            ("R25 A calls_per_second support=20000", 1, "key reason: expected reason=\"why\", found none"),
            ("\nR99 A x support=1 reason=y", 2, "key id: expected one of R01"),
            ("R25 E calls_per_second support=1 reason=y", 1, "key slot: expected one of A, B, C"),
            ("R25 A calls support=1 reason=y", 1, "key metric: expected one of calls_per_second, bytes_per_call"),
            ("R25 A calls_per_second alternate=log support=1 reason=y", 1, "key alternate: expected one of `summary`"),
            ("R25 A calls_per_second support=50 reason=y", 1, "key calls_per_second: expected reject < support < saturate"),
            ("R25 A calls_per_second support=many reason=y", 1, "key support: expected a number, found many"),
            ("R25 A calls_per_second support=inf reason=y", 1, "key support: expected a number, found inf"),
            ("R25 A calls_per_second reason=y", 1, "key support: expected reject=, support= or saturate="),
            ("R25 A calls_per_second suport=5 reason=y", 1, "key suport: expected reject, support, saturate"),
            ("R25 A calls_per_second support=5 support=6 reason=y", 1, "key support: expected the key once"),
            ("R25 A calls_per_second support=20000 reason=\"y", 1, "key reason: expected a closing quotation mark"),
            ("R25 A support=20000 reason=y", 1, "key metric: expected the name of a metric"),
            ("R25 A", 1, "key (line): expected `ID SLOT METRIC"),
            (
                "R25 A calls_per_second support=20000 reason=y\nR25 A calls_per_second reject=5 reason=y",
                2,
                "key calls_per_second: expected each metric once, found it again (first in line 1)",
            ),
        ] {
            let error = applied(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("own.txt: line {line}, {message}")), "{text}: {error}");
        }
    }
}
