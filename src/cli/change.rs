//! What would change a verdict, computed from the threshold and the interval it was judged by.

use crate::emit::number;
use crate::emit::view::{Metric, REJECTS, SUPPORTS};
use crate::tables::Threshold;

/// One sentence about one metric; nothing where no number was read.
pub fn sentence(metric: &Metric<'_>) -> Option<String> {
    let row = metric.reading;
    let threshold = metric.threshold?;
    let judged = Judged::new(threshold, row.value?, row.lo?, row.hi?);
    let n = row.n.unwrap_or(0);
    let sentence = match &*row.verdict {
        SUPPORTS => format!(
            "it would stop supporting if its {} bound went {} {} (it is {})",
            judged.worst_name(),
            judged.words().1,
            judged.show(threshold.support),
            judged.show(judged.worst())
        ),
        REJECTS => format!(
            "it would stop rejecting if its {} bound went {} {} (it is {})",
            judged.best_name(),
            judged.words().0,
            judged.show(threshold.reject),
            judged.show(judged.best())
        ),
        _ if n < threshold.min_n => {
            format!("it can be judged from {} observations on (there are {})", number::count(threshold.min_n), number::count(n))
        }
        _ => judged.undecided(n),
    };
    Some(sentence)
}

/// How far the deciding bound is from where the verdict would change: `that is 89 times the threshold`.
pub fn distance(metric: &Metric<'_>) -> Option<String> {
    let row = metric.reading;
    let threshold = metric.threshold?;
    let judged = Judged::new(threshold, row.value?, row.lo?, row.hi?);
    let (bound, limit, name) = match &*row.verdict {
        SUPPORTS => (judged.worst(), threshold.support, "the threshold"),
        REJECTS => (judged.best(), threshold.reject, "the reject bound"),
        _ => return None,
    };
    if limit == 0.0 {
        return (&*threshold.unit == "share").then(|| format!("that is {:.1} points away", (bound - limit).abs() * 100.0));
    }
    let ratio = bound / limit;
    if !ratio.is_finite() || ratio <= 0.0 {
        return (ratio == 0.0).then(|| "that is none at all".to_owned());
    }
    Some(if ratio >= 1.95 {
        format!("that is {} times {name}", number::value(ratio, "ratio"))
    } else if ratio <= 1.0 / 1.95 {
        format!("that is a {} of {name}", fraction(1.0 / ratio))
    } else if ratio >= 1.0 {
        format!("that is {:.0} % above {name}", (ratio - 1.0) * 100.0)
    } else {
        format!("that is {:.0} % below {name}", (1.0 - ratio) * 100.0)
    })
}

/// `57th`.
fn fraction(parts: f64) -> String {
    match parts.round() as i64 {
        2 => "half".to_owned(),
        3 => "third".to_owned(),
        4 => "quarter".to_owned(),
        n => {
            let ending = match (n % 10, n % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{}{ending} part", number::count(n))
        }
    }
}

/// Numbers turned so that more always speaks for the hypothesis.
struct Judged<'a> {
    threshold: &'a Threshold,
    sign: f64,
    value: f64,
    lo: f64,
    hi: f64,
}

impl<'a> Judged<'a> {
    fn new(threshold: &'a Threshold, value: f64, lo: f64, hi: f64) -> Judged<'a> {
        let sign = if threshold.support >= threshold.reject { 1.0 } else { -1.0 };
        let (lo, hi) = if sign > 0.0 { (lo, hi) } else { (-hi, -lo) };
        Judged { threshold, sign, value: value * sign, lo, hi }
    }

    /// The bound that must reach the support threshold, as it was read.
    fn worst(&self) -> f64 {
        self.lo * self.sign
    }

    /// The bound that must not exceed the reject bound, as it was read.
    fn best(&self) -> f64 {
        self.hi * self.sign
    }

    fn worst_name(&self) -> &'static str {
        if self.sign > 0.0 { "lower" } else { "upper" }
    }

    fn best_name(&self) -> &'static str {
        if self.sign > 0.0 { "upper" } else { "lower" }
    }

    /// More, and less, of what speaks for the hypothesis.
    fn words(&self) -> (&'static str, &'static str) {
        if self.sign > 0.0 { ("above", "below") } else { ("below", "above") }
    }

    fn show(&self, value: f64) -> String {
        number::value(value, &self.threshold.unit)
    }

    /// Neither supports nor rejects, with enough observations.
    fn undecided(&self, n: i64) -> String {
        let (support, reject) = (self.threshold.support * self.sign, self.threshold.reject * self.sign);
        let (goal, distance, half) = if self.value > support {
            (
                format!("supports once its {} bound reaches {}", self.worst_name(), self.show(self.threshold.support)),
                self.value - support,
                self.value - self.lo,
            )
        } else if self.value < reject {
            (
                format!("rejects once its {} bound reaches {}", self.best_name(), self.show(self.threshold.reject)),
                reject - self.value,
                self.hi - self.value,
            )
        } else {
            return format!(
                "its value lies between the reject bound {} and the support threshold {}: more observations alone do not settle it",
                self.show(self.threshold.reject),
                self.show(self.threshold.support)
            );
        };
        match observations(n, half, distance) {
            Some(needed) if matches!(&*self.threshold.interval, "wilson" | "bootstrap") => {
                format!("at the same value it {goal}, with about {} observations (there are {})", number::count(needed), number::count(n))
            }
            _ => format!("at the same value it {goal}"),
        }
    }
}

/// How many observations make the half-width at most `distance`: it shrinks with the square root of their number.
/// Rounded up to two digits.
fn observations(n: i64, half: f64, distance: f64) -> Option<i64> {
    let ratio = half / distance;
    let needed = n as f64 * ratio * ratio;
    if n <= 0 || !needed.is_finite() || !(1.0..1e15).contains(&needed) {
        return None;
    }
    let digits = needed.log10().floor().max(1.0);
    let step = 10_f64.powf(digits - 1.0);
    Some(((needed / step).ceil() * step) as i64)
}

/// What one angle more or less would make of the whole.
pub fn label_sentence(supports: i32, rejects: i32, not_measured: i32) -> String {
    let now = supports;
    match (supports, rejects, not_measured) {
        (3, ..) => "one angle less and it would be DISPUTED (2/3)".to_owned(),
        (2, 0, _) => "if the unmeasured angle supports it becomes KERNEL (3/3); if it rejects it stays DISPUTED".to_owned(),
        (2, ..) => "an angle rejects: it becomes KERNEL only if that angle is measured again and supports".to_owned(),
        (1, 0, _) => {
            "each unmeasured angle that supports adds one: DISPUTED (2/3), then KERNEL (3/3); if both reject it is discarded".to_owned()
        }
        (1, _, unmeasured) if unmeasured > 0 => {
            "if the unmeasured angle supports it becomes DISPUTED (2/3); if it rejects, discarded".to_owned()
        }
        (0, 0, _) => "nothing was measured; any recording below would begin to decide it".to_owned(),
        _ => format!("it has {now} of 3; only angles that are measured again and support would raise it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sample_reading as reading;
    use crate::tables::Reading;

    fn say(row: &Reading, threshold: &Threshold) -> String {
        sentence(&Metric { reading: row, threshold: Some(threshold), evidence: Vec::new() }).unwrap()
    }

    #[test]
    fn supporting_and_rejecting_bounds() {
        let (row, threshold) = reading("supports");
        assert_eq!(say(&row, &threshold), "it would stop supporting if its lower bound went below 25.0 % (it is 60.0 %)");
        let rejecting = Reading { value: Some(0.01), lo: Some(0.0), hi: Some(0.04), verdict: "rejects".into(), ..row };
        assert_eq!(say(&rejecting, &threshold), "it would stop rejecting if its upper bound went above 5.0 % (it is 4.0 %)");
    }

    /// By hand: 60 / 25 = 2.4; 4 / 5 = 20 % below; 11 / 64 = 1 / 5.8; 30 / 25 = 20 % above.
    #[test]
    fn distances() {
        let (row, threshold) = reading("supports");
        let far =
            |row: &Reading, threshold: &Threshold| distance(&Metric { reading: row, threshold: Some(threshold), evidence: Vec::new() });
        assert_eq!(far(&row, &threshold).as_deref(), Some("that is 2.40 times the threshold"));
        let near = Reading { lo: Some(0.30), ..row.clone() };
        assert_eq!(far(&near, &threshold).as_deref(), Some("that is 20 % above the threshold"));
        let rejecting = Reading { value: Some(0.01), lo: Some(0.0), hi: Some(0.04), verdict: "rejects".into(), ..row.clone() };
        assert_eq!(far(&rejecting, &threshold).as_deref(), Some("that is 20 % below the reject bound"));
        let falling = Threshold { reject: 4096.0, support: 64.0, saturate: 16.0, unit: "bytes".into(), ..threshold.clone() };
        let small = Reading { value: Some(10.0), lo: Some(9.0), hi: Some(11.0), ..row.clone() };
        assert_eq!(far(&small, &falling).as_deref(), Some("that is a 6th part of the threshold"));
        let zero = Threshold { reject: 0.0, support: 0.05, ..threshold.clone() };
        let below = Reading { value: Some(-0.1), lo: Some(-0.2), hi: Some(-0.05), verdict: "rejects".into(), ..row.clone() };
        assert_eq!(far(&below, &zero).as_deref(), Some("that is 5.0 points away"));
        assert_eq!(far(&Reading { verdict: "not measured".into(), ..row }, &threshold), None);
    }

    #[test]
    fn less_can_be_what_supports() {
        let (row, threshold) = reading("supports");
        let threshold = Threshold { reject: 4096.0, support: 64.0, saturate: 16.0, unit: "bytes/call".into(), ..threshold };
        let row = Reading { value: Some(10.0), lo: Some(9.0), hi: Some(11.0), ..row };
        assert_eq!(say(&row, &threshold), "it would stop supporting if its upper bound went above 64.0 bytes/call (it is 11.0 bytes/call)");
    }

    #[test]
    fn observations_that_would_settle_it() {
        // rules.md 2.2: a share seen at 1.5 times a threshold of 10 % needs 124 samples (Wilson). With 27 samples the
        // lower bound at 15 % is 5.9 %: half-width 9.1 %, distance 5 %, so 27 * (9.1/5)^2 = 89 by the square root law.
        let (row, threshold) = reading("not measured");
        let threshold = Threshold { support: 0.10, reject: 0.02, min_n: 10, ..threshold };
        let row = Reading { value: Some(0.15), lo: Some(0.059), hi: Some(0.33), n: Some(27), ..row };
        assert_eq!(
            say(&row, &threshold),
            "at the same value it supports once its lower bound reaches 10.0 %, with about 90 observations (there are 27)"
        );
        let few = Threshold { min_n: 100, ..threshold.clone() };
        assert_eq!(say(&row, &few), "it can be judged from 100 observations on (there are 27)");
        let between = Reading { value: Some(0.05), lo: Some(0.04), hi: Some(0.06), ..row };
        assert!(say(&between, &threshold).contains("do not settle it"));
    }

    #[test]
    fn every_triple_has_a_sentence() {
        for supports in 0..=3 {
            for rejects in 0..=3 - supports {
                assert!(!label_sentence(supports, rejects, 3 - supports - rejects).is_empty());
            }
        }
    }
}
