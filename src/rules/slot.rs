//! A slot and the rows of its SELECT -> what was read, and one verdict.

use std::collections::BTreeMap;

use super::assign::{Assigned, Candidate};
use super::engine::Row;
use super::file::{Alternate, Basis, Metric};
use super::score::{Interval, RUNNING_LEAST, Raw, Reading, Verdict, Word};
use super::site::{Site, SiteFinder};
use crate::quality::Effects;
use crate::tables::{Tables, Text};

/// One metric as it was read.
#[derive(Debug, Clone)]
pub struct Measured {
    pub metric: Metric,
    pub artifact: i32,
    pub row: Option<Row>,
    pub reading: Option<Reading>,
    pub verdict: Verdict,
    /// The place where the metric is judged per place.
    pub site: Option<Site>,
}

/// One angle, judged.
#[derive(Debug, Clone)]
pub struct SlotResult {
    pub letter: char,
    /// Which of the declared slots it stands for: the letter itself, or the one that the fallback replaced.
    pub stands_for: char,
    pub alternate: Option<Alternate>,
    pub candidate: Option<Candidate>,
    pub verdict: Verdict,
    pub metrics: Vec<Measured>,
    pub cross_checks: Vec<Measured>,
    /// Places the angle names, the largest first.
    pub sites: Vec<Site>,
    /// The one that holds at least half.
    pub site: Option<Site>,
    pub sentence: String,
}

impl SlotResult {
    pub fn metric(&self, name: &str) -> Option<&Measured> {
        self.metrics.iter().find(|measured| measured.metric.name == name)
    }
}

/// What judging needs beside the rows.
pub struct Judge<'a> {
    pub tables: &'a Tables,
    pub effects: &'a Effects,
    pub sites: &'a SiteFinder<'a>,
}

impl Judge<'_> {
    /// A slot that nothing fills.
    pub fn empty(&self, letter: char, assigned: &Assigned) -> SlotResult {
        let reason = assigned.reason.clone().unwrap_or_else(|| "absent".to_owned());
        SlotResult {
            letter,
            stands_for: letter,
            alternate: None,
            candidate: None,
            verdict: Verdict::not_measured(reason),
            metrics: Vec::new(),
            cross_checks: Vec::new(),
            sites: Vec::new(),
            site: None,
            sentence: String::new(),
        }
    }

    /// Judges the assigned artifact, and the cross-checks that can only make the slot inconclusive.
    pub fn fill(&self, letter: char, alternate: &Alternate, assigned: &Assigned, rows: &[Row]) -> SlotResult {
        let Some(primary) = &assigned.primary else { return self.empty(letter, assigned) };
        let metrics = self.measure(alternate, primary, rows);
        let mut verdict = Verdict::least(metrics.iter().map(|own| &own.verdict));
        let mut cross_checks = Vec::new();
        for candidate in &assigned.cross_checks {
            let own = self.measure(alternate, candidate, rows);
            let word = Verdict::least(own.iter().map(|own| &own.verdict)).word();
            let opposite = matches!((verdict.word(), word), (Word::Supports, Word::Rejects) | (Word::Rejects, Word::Supports));
            if opposite {
                let path = self.path(candidate.artifact);
                verdict = verdict.demoted(format!("intra_mechanism_conflict: {path} {word} what the primary {}", verdict.word()));
            }
            cross_checks.extend(own);
        }
        let sites = self.sites.of(alternate, primary, rows);
        let judged = metrics.iter().find_map(|own| own.site.clone());
        let site = judged.or_else(|| sites.first().filter(|site| site.holds_half()).cloned());
        let sentence = alternate.sentence(&values(&metrics));
        SlotResult {
            letter: if assigned.is_fallback { 'D' } else { letter },
            stands_for: letter,
            alternate: Some(alternate.clone()),
            candidate: Some(primary.clone()),
            verdict,
            metrics,
            cross_checks,
            sites,
            site,
            sentence,
        }
    }

    fn path(&self, artifact: i32) -> Text {
        self.tables.artifacts.iter().find(|row| row.artifact_id == artifact).map_or_else(|| Text::from("?"), |row| row.path.clone())
    }

    fn measure(&self, alternate: &Alternate, candidate: &Candidate, rows: &[Row]) -> Vec<Measured> {
        alternate.metrics.iter().map(|metric| self.measure_one(alternate, metric, candidate, rows)).collect()
    }

    fn measure_one(&self, alternate: &Alternate, metric: &Metric, candidate: &Candidate, rows: &[Row]) -> Measured {
        let mut sources = std::iter::once(candidate.artifact).chain(candidate.with.iter().copied());
        let row = sources.find_map(|artifact| judged_row(rows, &metric.name, artifact)).cloned();
        let artifact = row.as_ref().map_or(candidate.artifact, |row| row.artifact_id);
        let reading = row.as_ref().and_then(|row| self.reading(alternate, metric, row));
        let verdict = match (&row, &reading) {
            (None, _) => Verdict::not_measured(format!("no {} in it", metric.name)),
            (Some(_), None) => {
                let what = alternate.normalizer.as_deref().unwrap_or("what it is a part of");
                Verdict::not_measured(format!("inconclusive: {what} is unknown or 0"))
            }
            (Some(row), Some(reading)) => self.verdict(alternate, metric, row, reading),
        };
        let site = row.as_ref().and_then(|row| self.sites.site(row));
        Measured { metric: metric.clone(), artifact, row, reading, verdict, site }
    }

    fn reading(&self, alternate: &Alternate, metric: &Metric, row: &Row) -> Option<Reading> {
        let (up, down) = row.scale();
        let scale = up as f64 / down as f64;
        let raw = Raw {
            part: row.part?,
            whole: row.whole?,
            n: row.n.unwrap_or(0),
            n_eff: row.n_eff,
            lo: row.lo,
            hi: row.hi,
            lost: self.effects.lost(row.artifact_id, &alternate.mechanism),
            widen: self.effects.widening(row.artifact_id, alternate, metric.basis),
            running: row.running,
        };
        Reading::measure(&raw, metric.interval, metric.unit.factor * scale)
    }

    fn verdict(&self, alternate: &Alternate, metric: &Metric, row: &Row, reading: &Reading) -> Verdict {
        let ramp = metric.bounds.at(row.factor.unwrap_or(1.0));
        let verdict = Verdict::of(reading, &ramp, metric.min_n);
        if let Some(running) = row.running.filter(|running| metric.interval == Interval::Counter && *running < RUNNING_LEAST) {
            return verdict.demoted(format!("inconclusive: the counters ran {:.0} % of the time", running * 100.0));
        }
        if verdict.word() == Word::NotMeasured {
            let why = verdict.reason().unwrap_or("inconclusive");
            let numbers = format!("{why}: n={}, {} to {} {}", reading.n(), short(reading.lo()), short(reading.hi()), metric.unit.name);
            let numbers = if why.contains("n=") { why.to_owned() } else { numbers };
            return verdict.demoted(numbers);
        }
        // No call and no wait at all is a count: a slow tracer or a loud neighbour does not change it.
        let is_none = verdict.word() == Word::Rejects && row.part == Some(0) && metric.basis == Basis::Time;
        if let Some(reason) = self.effects.demotion(row.artifact_id, alternate, metric.basis).filter(|_| !is_none) {
            return verdict.demoted(reason);
        }
        if verdict.word() == Word::Rejects
            && row.part == Some(0)
            && let Some(reason) = self.zero_is_no_reading(alternate, metric, row.artifact_id)
        {
            return verdict.demoted(reason);
        }
        verdict
    }

    /// A zero counts only if the tool could have seen it.
    fn zero_is_no_reading(&self, alternate: &Alternate, metric: &Metric, artifact: i32) -> Option<String> {
        if let Some(reason) = self.effects.no_zero(artifact, &alternate.mechanism) {
            return Some(reason);
        }
        let row = self.tables.artifacts.iter().find(|row| row.artifact_id == artifact)?;
        let complete = row.skipped == 0 && row.status.as_ref() != "truncated";
        (metric.interval == Interval::Complete && !complete)
            .then(|| format!("inconclusive: none seen, but the file is {} ({} records skipped)", row.status, row.skipped))
    }
}

/// The row a metric is judged by: that of the run, else that of the place with the largest share.
fn judged_row<'r>(rows: &'r [Row], metric: &str, artifact: i32) -> Option<&'r Row> {
    let own = || rows.iter().filter(|row| row.artifact_id == artifact && row.metric == metric);
    let share = |row: &Row| row.part.unwrap_or(0) as f64 / row.whole.filter(|whole| *whole > 0).unwrap_or(1) as f64;
    own().find(|row| row.site_kind == "run").or_else(|| {
        // The first of equals: rows come in order of site.
        own().fold(None, |best: Option<&Row>, row| match best {
            Some(best) if share(best) >= share(row) => Some(best),
            _ => Some(row),
        })
    })
}

/// Numbers for sentences: three significant digits, no exponent for everyday sizes.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if size >= 100.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else if size >= 0.001 {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}

fn values(metrics: &[Measured]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for own in metrics {
        let name = &own.metric.name;
        if let Some(row) = &own.row {
            for (key, value) in [("part", row.part), ("whole", row.whole), ("n", row.n)] {
                out.insert(format!("{name}.{key}"), value.map_or_else(|| "?".to_owned(), |value| value.to_string()));
            }
            for (key, value) in [("part_s", row.part), ("whole_s", row.whole)] {
                out.insert(format!("{name}.{key}"), value.map_or_else(|| "?".to_owned(), |value| format!("{:.3}", value as f64 / 1e9)));
            }
        }
        if let Some(reading) = &own.reading {
            out.insert(format!("{name}.value"), short(reading.value()));
            out.insert(format!("{name}.percent"), format!("{:.1} %", reading.value() * 100.0));
        }
        if let Some(site) = &own.site {
            out.insert(format!("{name}.site"), site.name.to_string());
        }
    }
    out
}
