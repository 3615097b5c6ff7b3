//! Numbers of a log: counts, and durations with their unit.
//!
//! A duration's unit is in its key (`cumulative_us`, `p95_ms`, `duration_sec`), in its text (`"1.5ms"`, as Rust prints a
//! `Duration`), or in the event's `unit`. Where none of these says it, it is microseconds: that is what producers without
//! a unit mean (`cumulative`, `p50`). The doubt is counted.

use serde_json::Value;

use super::Fields;
use crate::ingest::{Recorder, Severity, text};

/// A duration or a count that an event may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    Total,
    Own,
    P50,
    P95,
    P99,
    P999,
    Max,
    Duration,
}

impl Quantity {
    const ALL: [Quantity; 8] =
        [Quantity::Total, Quantity::Own, Quantity::P50, Quantity::P95, Quantity::P99, Quantity::P999, Quantity::Max, Quantity::Duration];

    fn of(base: &str) -> Option<Quantity> {
        Some(match base {
            "cumulative" | "cumulative_time" | "cumulative_duration" | "total" | "total_time" | "total_duration" | "sum" => Quantity::Total,
            "self" | "self_time" | "exclusive" | "exclusive_time" => Quantity::Own,
            "p50" | "median" => Quantity::P50,
            "p95" => Quantity::P95,
            "p99" => Quantity::P99,
            "p999" | "p99_9" => Quantity::P999,
            "max" | "maximum" => Quantity::Max,
            "duration" | "elapsed" | "wall" => Quantity::Duration,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Quantity::Total => "total",
            Quantity::Own => "self",
            Quantity::P50 => "p50",
            Quantity::P95 => "p95",
            Quantity::P99 => "p99",
            Quantity::P999 => "p999",
            Quantity::Max => "max",
            Quantity::Duration => "duration",
        }
    }
}

/// Decimal places between a unit and nanoseconds.
fn unit(name: &str) -> Option<u32> {
    Some(match name {
        "ns" | "nanos" | "nsec" | "nanoseconds" => 0,
        "us" | "\u{b5}s" | "\u{3bc}s" | "micros" | "usec" | "microseconds" => 3,
        "ms" | "millis" | "msec" | "milliseconds" => 6,
        "s" | "sec" | "secs" | "seconds" => 9,
        _ => return None,
    })
}

/// `p95_us` -> (`p95`, 3 places); `p99_9` has no unit.
fn split_unit(key: &str) -> (&str, Option<u32>) {
    match key.rsplit_once('_') {
        Some((base, suffix)) => unit(suffix).map_or((key, None), |places| (base, Some(places))),
        None => (key, None),
    }
}

/// A duration in nanoseconds: not negative, in the range of 64 bits.
fn nanoseconds(value: &Value, places: u32) -> Option<i64> {
    let scaled = match (value.as_i64(), value.as_f64()) {
        (Some(whole), _) => whole.checked_mul(10_i64.checked_pow(places)?)?,
        (None, Some(real)) => {
            let ns = (real * 10_f64.powi(places as i32)).round();
            ((0.0..9.2e18).contains(&ns)).then_some(ns as i64)?
        }
        (None, None) => return None,
    };
    (scaled >= 0).then_some(scaled)
}

/// A duration as text: a number, and perhaps its unit behind it.
fn from_text(value: &str, places: u32) -> Option<i64> {
    let value = value.trim();
    let number_ends = value.char_indices().rev().find(|(_, c)| c.is_ascii_digit() || *c == '.').map(|(at, c)| at + c.len_utf8())?;
    let (number, suffix) = (value.get(..number_ends)?, value.get(number_ends..)?.trim());
    let places = if suffix.is_empty() { places } else { unit(&suffix.to_lowercase())? };
    let exact = text::decimal(number, places).filter(|_| !number.contains(','));
    let ns = exact.or_else(|| nanoseconds(&Value::from(number.parse::<f64>().ok()?), places))?;
    (ns >= 0).then_some(ns)
}

/// A count; a float only where it is whole.
pub fn whole(value: &Value) -> Option<i64> {
    let whole = match value {
        Value::String(text) => text.trim().parse().ok()?,
        _ => value.as_i64().or_else(|| value.as_f64().filter(|real| real.fract() == 0.0 && real.abs() < 9.0e15).map(|real| real as i64))?,
    };
    (whole >= 0).then_some(whole)
}

/// The durations of one event.
#[derive(Debug, Default)]
pub struct Found {
    /// (quantity, nanoseconds, the unit was in the key).
    values: Vec<(Quantity, i64, bool)>,
    /// Keys whose value is no duration.
    wrong: Vec<String>,
    /// A number had no unit at all.
    pub assumed: bool,
}

impl Found {
    /// A value whose key has the unit goes before one without.
    pub fn get(&self, wanted: Quantity) -> Option<i64> {
        let own = || self.values.iter().filter(|(quantity, ..)| *quantity == wanted);
        own().find(|(_, _, sure)| *sure).or_else(|| own().next()).map(|(_, ns, _)| *ns)
    }

    /// Counts what could not be read; `with_doubt`: numbers without a unit too.
    pub fn report(&self, recorder: &mut Recorder, line_no: i64, with_doubt: bool) {
        for key in &self.wrong {
            let message = format!("{key} is no duration (a number that is not negative and below 292 years)");
            recorder.skip("profile_log_value", Severity::Warn, &message, "the field is left empty", &text::place(line_no));
        }
        if with_doubt && self.assumed {
            super::span::unit_assumed(recorder, line_no);
        }
    }
}

/// All durations among the fields. `default` is the unit of plain numbers.
pub fn quantities(fields: &Fields, default: Option<&str>) -> Found {
    let mut found = Found::default();
    let default_places = default.and_then(|name| unit(&name.to_lowercase()));
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let (base, places) = split_unit(key);
        let Some(quantity) = Quantity::of(base) else { continue };
        let (value, of_object) = with_own_unit(value);
        let stated = places.or(of_object).or(default_places);
        let ns = match value {
            Value::String(text) => from_text(text, stated.unwrap_or(3)),
            _ => nanoseconds(value, stated.unwrap_or(3)),
        };
        let Some(ns) = ns else {
            found.wrong.push(key.chars().take(40).collect());
            continue;
        };
        let in_text = value.as_str().is_some_and(|text| text.trim_end().ends_with(|c: char| c.is_alphabetic()));
        found.assumed |= stated.is_none() && !in_text;
        found.values.push((quantity, ns, places.is_some()));
    }
    found
}

/// `{"value": 5, "unit": "ms"}`.
fn with_own_unit(value: &Value) -> (&Value, Option<u32>) {
    match (value.get("value"), value.get("unit").and_then(Value::as_str)) {
        (Some(inner), Some(name)) => (inner, unit(&name.to_lowercase())),
        _ => (value, None),
    }
}

/// The lists of durations of a series, by quantity.
#[derive(Debug, Default)]
pub struct Lists {
    pub values: Vec<(&'static str, Vec<Option<i64>>)>,
    pub assumed: bool,
}

/// `p95s`, `p95s_us`, `p95_us`, ...: lists of durations.
pub fn lists(fields: &Fields, default: Option<&str>) -> Lists {
    let mut out = Lists::default();
    let default_places = default.and_then(|name| unit(&name.to_lowercase()));
    for quantity in Quantity::ALL {
        let own = fields.iter().find_map(|(key, value)| {
            let (base, places) = split_unit(key);
            let is_own = Quantity::of(base).or_else(|| Quantity::of(base.strip_suffix('s')?)) == Some(quantity);
            value.as_array().filter(|_| is_own).map(|values| (values, places))
        });
        let Some((values, places)) = own else { continue };
        let stated = places.or(default_places);
        out.assumed |= stated.is_none();
        let one = |value: &Value| match value {
            Value::String(text) => from_text(text, stated.unwrap_or(3)),
            _ => nanoseconds(value, stated.unwrap_or(3)),
        };
        out.values.push((quantity.name(), values.iter().map(one).collect()));
    }
    out
}
