//! Numbers as files print them, without a detour over floating point: digits and their power of ten.

/// `12.50` is 1250 and 2 places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: i128,
    places: u32,
}

impl Decimal {
    /// A plain decimal number; a comma may be the decimal mark.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() > 30 {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits: digits * sign, places: fraction.len() as u32 })
    }

    /// Times a unit, cut to a whole number.
    pub fn times(self, unit: i64) -> Option<i64> {
        let scale = 10_i128.checked_pow(self.places)?;
        i64::try_from(self.digits.checked_mul(i128::from(unit))? / scale).ok()
    }

    /// Seconds as nanoseconds.
    pub fn seconds(self) -> Option<i64> {
        self.times(1_000_000_000)
    }

    /// Whether this is `value` (in units of `unit`) as it was rounded for print.
    pub fn rounds(self, value: f64, unit: f64) -> bool {
        let printed = self.digits as f64 / 10_f64.powi(self.places as i32);
        let half = 0.5 / 10_f64.powi(self.places as i32);
        (value / unit - printed).abs() <= half * 1.000_001 + value.abs() * 1e-12
    }
}

/// `m:ss.cc` and `h:mm:ss`, in nanoseconds.
pub fn clock(text: &str) -> Option<i64> {
    let mut ns: i64 = 0;
    for part in text.split(':') {
        ns = ns.checked_mul(60)?.checked_add(Decimal::parse(part)?.seconds()?)?;
    }
    Some(ns)
}

/// The numbers that stand in a text, clock times as their seconds too, in the order in which they stand there.
pub fn numbers(text: &str) -> Vec<Decimal> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ':' || c == ',')) {
        let word = word.trim_matches(['.', ':', ',']);
        if word.contains(':') {
            found.extend(clock(word).map(|ns| Decimal { digits: i128::from(ns), places: 9 }));
        }
        found.extend(word.split(':').filter_map(Decimal::parse));
    }
    found
}

/// What a number may mean in a file whose unit is not known: as it is, of kilo- and 1,024 bytes, of milli- and
/// microseconds, of seconds.
pub const UNITS: [i64; 5] = [1, 1_000, 1_024, 1_000_000, 1_000_000_000];

/// JSON numbers, and texts that hold one.
pub fn of_json(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|value| value.is_finite())
}

/// A JSON number of a unit, rounded.
pub fn scaled(value: f64, unit: i64) -> Option<i64> {
    let scaled = (value * unit as f64).round();
    (scaled.abs() < 9.2e18).then_some(scaled as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_numbers_are_exact() {
        assert_eq!(Decimal::parse("0.000123").unwrap().seconds(), Some(123_000));
        assert_eq!(Decimal::parse("1.25").unwrap().times(1), Some(1));
        assert_eq!(Decimal::parse("1576").unwrap().times(1024), Some(1_613_824));
        assert_eq!(clock("0:02.02"), Some(2_020_000_000));
        assert_eq!(clock("1:02:03"), Some(3_723_000_000_000));
        for wrong in ["", ".", "1e5", "x", "1.2.3", &"9".repeat(40)] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
        let found: Vec<Option<i64>> = numbers("User time: 1.25, at 0:02.5 (77)").into_iter().map(|number| number.times(100)).collect();
        assert_eq!(found, [125, 250, 0, 250, 7700].map(Some));
    }

    #[test]
    fn printed_shares_are_rounded() {
        assert!(Decimal::parse("78.6").unwrap().rounds(0.7857, 0.01));
        assert!(!Decimal::parse("78.6").unwrap().rounds(0.7849, 0.01));
        assert!(Decimal::parse("6.32").unwrap().rounds(6_323_142_785.0, 1e9));
    }
}
