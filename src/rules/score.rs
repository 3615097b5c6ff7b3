//! READING -> VERDICT. One ramp for every metric, an interval instead of a point, and no way to reject without a reading.
//!
//! ```text
//!   score  0 ............. 0.5 ............. 1
//!   value  reject bound    threshold         saturation        (r < t < s, or r > t > s where less is worse)
//!
//!   interval [lo, hi], more is worse:   lo >= t  supports      hi <= r  rejects      else not measured (inconclusive)
//! ```

use std::fmt;

/// 97.5 % quantile of the normal distribution: two-sided 95 % intervals everywhere.
const Z: f64 = 1.959_963_984_540_054;

/// Slack of the kernel's accounting numbers (maximum resident set, faults), rules.md 2.2: +-2 %.
const ACCOUNTING_SLACK: f64 = 0.02;

/// Hardware counters that ran for less of the time than this decide nothing, rules.md 2.2.
pub const RUNNING_LEAST: f64 = 0.25;

/// A published bound; `0.7N` scales with the number that the row's `factor` column gives (threads of a series).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub value: f64,
    pub per_factor: bool,
}

impl Bound {
    pub fn at(self, factor: f64) -> f64 {
        if self.per_factor { self.value * factor } else { self.value }
    }
}

/// How the ramp is drawn between the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log10,
}

impl Scale {
    pub fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log10 => "log10",
        }
    }
}

/// How sure a reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// Share of samples: Wilson's 95 % interval on the effective number of samples.
    Wilson,
    /// Complete trace: the value, up to what was lost.
    Complete,
    /// One number of the kernel's accounting: +-2 %.
    Accounting,
    /// Bootstrap of a median: the row brings lo and hi.
    Bootstrap,
    /// The row brings lo and hi.
    Given,
    /// Ratio of hardware counters: +- the square root of the share of the time in which they did not run (rules.md 2.2).
    Counter,
}

impl Interval {
    pub fn name(self) -> &'static str {
        match self {
            Interval::Wilson => "wilson",
            Interval::Complete => "complete",
            Interval::Accounting => "accounting",
            Interval::Bootstrap => "bootstrap",
            Interval::Given => "given",
            Interval::Counter => "counter",
        }
    }
}

/// Reject bound, support threshold and saturation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub reject: Bound,
    pub support: Bound,
    pub saturate: Bound,
    pub scale: Scale,
}

/// Bounds with the factor put in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    pub reject: f64,
    pub support: f64,
    pub saturate: f64,
    scale: Scale,
}

impl Bounds {
    pub fn at(&self, factor: f64) -> Ramp {
        Ramp { reject: self.reject.at(factor), support: self.support.at(factor), saturate: self.saturate.at(factor), scale: self.scale }
    }
}

impl Ramp {
    pub fn more_is_worse(&self) -> bool {
        self.reject < self.support
    }

    /// 0 at the reject bound, 0.5 at the threshold, 1 at saturation, straight between, clamped outside.
    pub fn score(&self, value: f64) -> f64 {
        let place = |x: f64| match self.scale {
            Scale::Linear => x,
            Scale::Log10 => x.max(f64::MIN_POSITIVE).log10(),
        };
        let sign = if self.more_is_worse() { 1.0 } else { -1.0 };
        let (x, r, t, s) = (sign * place(value), sign * place(self.reject), sign * place(self.support), sign * place(self.saturate));
        if x <= r {
            0.0
        } else if x < t {
            0.5 * (x - r) / (t - r)
        } else if x < s {
            0.5 + 0.5 * (x - t) / (s - t)
        } else {
            1.0
        }
    }
}

/// What one row of a SELECT says, before it is divided.
#[derive(Debug, Clone, Copy, Default)]
pub struct Raw {
    pub part: i64,
    pub whole: i64,
    pub n: i64,
    /// Effective number of samples, where it is smaller than `n`.
    pub n_eff: Option<f64>,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    /// Share of the observations that the tool lost, 0..1.
    pub lost: f64,
    /// Widening by surroundings (Q29), 0..1.
    pub widen: f64,
    /// Share of the time hardware counters ran, 0..1; all of it where nothing else is known.
    pub running: Option<f64>,
}

/// A measured quantity: the only thing from which a rejection can be made. Its fields are read, never set, elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    value: f64,
    lo: f64,
    hi: f64,
    n: i64,
}

impl Reading {
    /// Divides. `None` where there is no denominator or where the row does not bring the bounds it must bring.
    pub fn measure(raw: &Raw, interval: Interval, unit_factor: f64) -> Option<Reading> {
        if raw.whole <= 0 || raw.part < 0 {
            return None;
        }
        let ratio = raw.part as f64 / raw.whole as f64;
        let value = ratio * unit_factor;
        let (lo, hi) = match interval {
            Interval::Wilson => {
                let n = raw.n_eff.unwrap_or(raw.n as f64).min(raw.n as f64);
                let (lo, hi) = wilson(ratio, n)?;
                // None or all of what was lost may belong to the part.
                let lost = raw.lost.clamp(0.0, 1.0);
                (lo * (1.0 - lost) * unit_factor, (hi * (1.0 - lost) + lost) * unit_factor)
            }
            Interval::Complete => (value, value / (1.0 - raw.lost.clamp(0.0, 0.999))),
            Interval::Accounting => (value * (1.0 - ACCOUNTING_SLACK), value * (1.0 + ACCOUNTING_SLACK)),
            Interval::Counter => {
                let off = (1.0 - raw.running.unwrap_or(1.0)).clamp(0.0, 1.0).sqrt();
                (value * (1.0 - off), value * (1.0 + off))
            }
            Interval::Bootstrap | Interval::Given => (raw.lo?.min(value), raw.hi?.max(value)),
        };
        let widen = raw.widen.clamp(0.0, 1.0);
        let reading = Reading { value, lo: lo * (1.0 - widen), hi: hi * (1.0 + widen), n: raw.n };
        (reading.lo.is_finite() && reading.hi.is_finite()).then_some(reading)
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    pub fn lo(&self) -> f64 {
        self.lo
    }

    pub fn hi(&self) -> f64 {
        self.hi
    }

    pub fn n(&self) -> i64 {
        self.n
    }
}

/// Wilson's score interval. `None` without observations.
pub fn wilson(p: f64, n: f64) -> Option<(f64, f64)> {
    if n.is_nan() || n <= 0.0 || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let z2 = Z * Z;
    let middle = p + z2 / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let below = 1.0 + z2 / n;
    Some((((middle - half) / below).clamp(0.0, p), ((middle + half) / below).clamp(p, 1.0)))
}

/// The three words of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Supports,
    Rejects,
    NotMeasured,
}

impl Word {
    pub fn name(self) -> &'static str {
        match self {
            Word::Supports => "supports",
            Word::Rejects => "rejects",
            Word::NotMeasured => "not measured",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A verdict. Its word is private: `rejects` comes out of [`Verdict::of`] and hence out of a [`Reading`] only.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    word: Word,
    score: Option<f64>,
    reason: Option<String>,
}

impl Verdict {
    /// Judges a reading.
    pub fn of(reading: &Reading, ramp: &Ramp, min_n: i64) -> Verdict {
        let (supports, rejects, weak, strong) = if ramp.more_is_worse() {
            (reading.lo >= ramp.support, reading.hi <= ramp.reject, reading.lo, reading.hi)
        } else {
            (reading.hi <= ramp.support, reading.lo >= ramp.reject, reading.hi, reading.lo)
        };
        if reading.n < min_n {
            let reason = format!("inconclusive: n={} of the {min_n} needed", reading.n);
            return Verdict { word: Word::NotMeasured, score: Some(ramp.score(reading.value)), reason: Some(reason) };
        }
        if supports {
            Verdict { word: Word::Supports, score: Some(ramp.score(weak)), reason: None }
        } else if rejects {
            Verdict { word: Word::Rejects, score: Some(ramp.score(strong)), reason: None }
        } else {
            Verdict { word: Word::NotMeasured, score: Some(ramp.score(reading.value)), reason: Some("inconclusive".to_owned()) }
        }
    }

    /// Nothing was read, or what was read does not count.
    pub fn not_measured(reason: impl Into<String>) -> Verdict {
        Verdict { word: Word::NotMeasured, score: None, reason: Some(reason.into()) }
    }

    /// The same reading with its word taken away (a quality check, a conflict); the score stays for information.
    pub fn demoted(&self, reason: impl Into<String>) -> Verdict {
        Verdict { word: Word::NotMeasured, score: self.score, reason: Some(reason.into()) }
    }

    /// The verdict of a slot from those of its metrics: all must support to support, any rejects; the score is the least.
    pub fn least<'a>(parts: impl IntoIterator<Item = &'a Verdict>) -> Verdict {
        let parts: Vec<&Verdict> = parts.into_iter().collect();
        let score = parts.iter().filter_map(|part| part.score).min_by(f64::total_cmp);
        if let Some(rejects) = parts.iter().find(|part| part.word == Word::Rejects) {
            return Verdict { word: Word::Rejects, score, reason: rejects.reason.clone() };
        }
        match parts.iter().find(|part| part.word == Word::NotMeasured) {
            Some(part) => Verdict { word: Word::NotMeasured, score, reason: part.reason.clone() },
            None if parts.is_empty() => Verdict::not_measured("nothing was read"),
            None => Verdict { word: Word::Supports, score, reason: None },
        }
    }

    pub fn word(&self) -> Word {
        self.word
    }

    pub fn score(&self) -> Option<f64> {
        self.score
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds(reject: f64, support: f64, saturate: f64, scale: Scale) -> Bounds {
        let bound = |value| Bound { value, per_factor: false };
        Bounds { reject: bound(reject), support: bound(support), saturate: bound(saturate), scale }
    }

    /// 10 %, the default threshold of shares (rules.md 3.0).
    fn share() -> Ramp {
        bounds(0.02, 0.10, 0.50, Scale::Linear).at(1.0)
    }

    fn wilson_reading(part: i64, whole: i64) -> Option<Reading> {
        Reading::measure(&Raw { part, whole, n: whole, ..Raw::default() }, Interval::Wilson, 1.0)
    }

    /// Published points: rules.md 2.1. The first three by hand, the last two by log10.
    #[test]
    fn the_ramp_goes_through_its_three_points() {
        for (value, score) in [(0.02, 0.0), (0.10, 0.5), (0.50, 1.0), (0.06, 0.25), (0.30, 0.75), (0.0, 0.0), (0.9, 1.0)] {
            assert!((share().score(value) - score).abs() < 1e-9, "{value}");
        }
        let falling = bounds(4096.0, 512.0, 32.0, Scale::Log10).at(1.0);
        for (value, score) in [(4096.0, 0.0), (512.0, 0.5), (32.0, 1.0), (128.0, 0.75), (1e6, 0.0), (0.0, 1.0)] {
            assert!((falling.score(value) - score).abs() < 1e-9, "{value}: {}", falling.score(value));
        }
    }

    /// rules.md 2.2, computed there with 95 % Wilson: the smallest n at which a seen share supports `t`, and the n from
    /// which 0 hits reject.
    #[test]
    fn minimum_samples_as_in_the_table_of_the_scoring_model() {
        for (t, seen, n) in
            [(0.10, 0.12, 821), (0.10, 0.15, 124), (0.10, 0.20, 28), (0.25, 0.30, 272), (0.25, 0.375, 45), (0.05, 0.06, 1725)]
        {
            // The table counts whole hits: the first share that is seen at n samples and is not below `seen`.
            let whole_hits = (seen * f64::from(n)).ceil() / f64::from(n);
            let lo = |share: f64, n: f64| wilson(share, n).map_or(0.0, |(lo, _)| lo);
            assert!(lo(whole_hits, f64::from(n)) >= t - 1e-3, "t={t} seen={seen}: {}", lo(whole_hits, f64::from(n)));
            assert!(lo(seen, f64::from(n) * 0.8) < t, "t={t} seen={seen}: {}", lo(seen, f64::from(n) * 0.8));
        }
        for (share, n) in [(0.01, 381.0), (0.02, 189.0), (0.05, 73.0)] {
            assert!(wilson(0.0, n).is_some_and(|(_, hi)| hi <= share + 1e-4), "{share}");
            assert!(wilson(0.0, n * 0.9).is_some_and(|(_, hi)| hi > share), "{share}");
        }
    }

    #[test]
    fn a_slot_is_its_least_metric() {
        let of = |part, whole| Verdict::of(&wilson_reading(part, whole).unwrap(), &share(), 100);
        let (yes, no, unsure) = (of(900, 1000), of(0, 1000), of(60, 1000));
        assert_eq!((yes.word(), no.word(), unsure.word()), (Word::Supports, Word::Rejects, Word::NotMeasured));
        assert_eq!(Verdict::least([&yes, &yes]).word(), Word::Supports);
        assert_eq!(Verdict::least([&yes, &unsure]).word(), Word::NotMeasured);
        assert_eq!(Verdict::least([&yes, &unsure, &no]).word(), Word::Rejects);
        assert_eq!(Verdict::least([]).word(), Word::NotMeasured);
        assert_eq!(yes.demoted("Q01").word(), Word::NotMeasured);
    }

    /// rules.md 2.2: counters that ran for 84 % of the time are widened by the square root of 0.16.
    #[test]
    fn multiplexed_counters_are_widened() {
        let read = |running| {
            let raw = Raw { part: 30, whole: 100, n: 100, running, ..Raw::default() };
            Reading::measure(&raw, Interval::Counter, 1.0).map(|own| (own.lo(), own.hi())).unwrap()
        };
        assert_eq!(read(None), (0.3, 0.3));
        let (lo, hi) = read(Some(0.84));
        assert!((lo - 0.18).abs() < 1e-9 && (hi - 0.42).abs() < 1e-9, "{lo} {hi}");
        let (lo, hi) = read(Some(0.0));
        assert!(lo.abs() < 1e-9 && (hi - 0.6).abs() < 1e-9);
    }

    // By hand: half of 10 000 000 samples, a tenth of all lost: between 0.45 (none of it) and 0.55 (all of it).
    #[test]
    fn what_was_lost_may_belong_to_the_part_or_not() {
        let raw = Raw { part: 5_000_000, whole: 10_000_000, n: 10_000_000, lost: 0.1, ..Raw::default() };
        let reading = Reading::measure(&raw, Interval::Wilson, 1.0).unwrap();
        assert!((reading.lo() - 0.45).abs() < 1e-3 && (reading.hi() - 0.55).abs() < 1e-3, "{reading:?}");
    }

    #[test]
    fn nothing_read_is_no_reading() {
        assert_eq!(wilson_reading(1, 0), None);
        assert_eq!(Reading::measure(&Raw { part: 1, whole: 2, n: 9, ..Raw::default() }, Interval::Given, 1.0), None);
        assert_eq!(Reading::measure(&Raw { part: 5, whole: 2, n: 9, ..Raw::default() }, Interval::Wilson, 1.0), None);
    }

    fn scale() -> impl Strategy<Value = Scale> {
        prop_oneof![Just(Scale::Linear), Just(Scale::Log10)]
    }

    proptest! {
        /// More of what is bad never lowers a score, less of it never raises one.
        #[test]
        fn scores_are_monotone(low in 1e-6..1e6_f64, a in 1.01..100.0_f64, b in 1.01..100.0_f64, scale in scale(),
                               x in 0.0..1e9_f64, y in 0.0..1e9_f64, falling: bool) {
            let (r, t, s) = (low, low * a, low * a * b);
            let ramp = if falling { bounds(s, t, r, scale) } else { bounds(r, t, s, scale) }.at(1.0);
            let (x, y) = (x.min(y), x.max(y));
            let (below, above) = (ramp.score(x), ramp.score(y));
            prop_assert!((0.0..=1.0).contains(&below) && (0.0..=1.0).contains(&above));
            let (least, most) = if falling { (above, below) } else { (below, above) };
            prop_assert!(least <= most);
        }

        /// Supports and rejects exclude each other, and both agree with the side of 0.5 that the score is on.
        #[test]
        fn words_agree_with_scores(part in 0..5_000_i64, extra in 0..5_000_i64, min_n in 0..200_i64) {
            let whole = part + extra;
            let Some(reading) = wilson_reading(part, whole) else { return Ok(()) };
            prop_assert!(reading.lo() <= reading.value() && reading.value() <= reading.hi());
            let verdict = Verdict::of(&reading, &share(), min_n);
            match verdict.word() {
                Word::Supports => prop_assert!(verdict.score().unwrap() >= 0.5),
                Word::Rejects => prop_assert!(verdict.score().unwrap() <= 1e-12),
                Word::NotMeasured => prop_assert!(verdict.reason().is_some()),
            }
        }

        /// More samples at the same share never turn supports into anything else, nor rejects.
        #[test]
        fn more_samples_keep_a_word(part in 0..1_000_i64, extra in 1..1_000_i64, times in 2..50_i64) {
            let whole = part + extra;
            let word = |times: i64| wilson_reading(part * times, whole * times).map(|own| Verdict::of(&own, &share(), 100).word());
            let (few, many) = (word(1).unwrap(), word(times).unwrap());
            prop_assert!(few == Word::NotMeasured || few == many, "{few} became {many}");
        }

        /// All periods times a constant: the same verdict, whatever the constant.
        #[test]
        fn scaling_weights_changes_nothing(part in 0..100_000_i64, extra in 1..100_000_i64, n in 1..5_000_i64, times in 1..10_000_i64) {
            let read = |times: i64| {
                let raw = Raw { part: part * times, whole: (part + extra) * times, n, n_eff: Some(n as f64 * 0.8), ..Raw::default() };
                let reading = Reading::measure(&raw, Interval::Wilson, 1.0).unwrap();
                Verdict::of(&reading, &share(), 100)
            };
            let (one, other) = (read(1), read(times));
            prop_assert_eq!(one.word(), other.word());
            prop_assert!((one.score().unwrap() - other.score().unwrap()).abs() < 1e-9);
        }

        /// What a tool lost, and a loud neighbour, only widen.
        #[test]
        fn doubt_only_widens(part in 0..10_000_i64, whole in 1..10_000_i64, lost in 0.0..0.5_f64, widen in 0.0..0.2_f64) {
            let read = |part, interval, lost, widen| {
                Reading::measure(&Raw { part, whole, n: whole, lost, widen, ..Raw::default() }, interval, 1.0).unwrap()
            };
            for (part, interval) in [(part, Interval::Complete), (part.min(whole), Interval::Wilson)] {
                let (sure, unsure) = (read(part, interval, 0.0, 0.0), read(part, interval, lost, widen));
                prop_assert!(unsure.lo() <= sure.lo() && unsure.hi() >= sure.hi());
            }
        }

        /// Neither absence nor a demotion ever rejects.
        #[test]
        fn only_readings_reject(part in 0..1_000_i64, whole in 1..1_000_i64, reason in ".{0,20}") {
            prop_assert_eq!(Verdict::not_measured(reason.as_str()).word(), Word::NotMeasured);
            if let Some(reading) = wilson_reading(part.min(whole), whole) {
                prop_assert_eq!(Verdict::of(&reading, &share(), 0).demoted(reason.as_str()).word(), Word::NotMeasured);
            }
        }
    }
}
