//! Numbers as people read them. An absent number stays absent (`-`), never 0.

/// What stands for a number that is not there.
pub const ABSENT: &str = "-";

/// A share (0..1) as per cent: one decimal from 1 % on, two below; what is not 0 is never shown as 0.
pub fn share(value: f64) -> String {
    format!("{} %", per_cent(value))
}

/// The same without the sign.
pub fn per_cent(value: f64) -> String {
    let per_cent = value * 100.0;
    if !per_cent.is_finite() {
        return ABSENT.to_owned();
    }
    match per_cent.abs() {
        0.0 => "0.0".to_owned(),
        size if size >= 0.995 => format!("{per_cent:.1}"),
        size if size >= 0.005 => format!("{per_cent:.2}"),
        _ if per_cent > 0.0 => "<0.01".to_owned(),
        _ => ">-0.01".to_owned(),
    }
}

pub fn share_or_absent(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), share)
}

/// A duration in the unit that leaves one to three digits before the point.
pub fn duration(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let value = ns as f64;
    match size {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", digits(value / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", digits(value / 1e6)),
        _ => format!("{} s", digits(value / 1e9)),
    }
}

/// A size; powers of 1000, as heaptrack prints them.
pub fn bytes(bytes: i64) -> String {
    let value = bytes as f64;
    match bytes.unsigned_abs() {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", digits(value / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", digits(value / 1e6)),
        _ => format!("{} GB", digits(value / 1e9)),
    }
}

/// A count with thin groups of three: `1 204 331`.
pub fn count(value: i64) -> String {
    let text = value.unsigned_abs().to_string();
    let mut out = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    if value < 0 { format!("-{out}") } else { out }
}

/// A value in the unit of its metric.
pub fn value(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    match unit {
        "share" => share(value),
        "ns" => duration(value.round() as i64),
        "bytes" => bytes(value.round() as i64),
        "" | "ratio" | "text" => digits(value),
        // Rates are declared as 1/s.
        _ => format!("{} {}", digits(value), unit.strip_prefix("1/").map_or_else(|| unit.to_owned(), |per| format!("per {per}"))),
    }
}

/// The interval of a value, the unit once: `63.0-92.0 %`.
pub fn interval(lo: Option<f64>, hi: Option<f64>, unit: &str) -> String {
    let (Some(lo), Some(hi)) = (lo, hi) else { return ABSENT.to_owned() };
    match unit {
        "share" => format!("{}-{} %", per_cent(lo), per_cent(hi)),
        "ns" | "bytes" => format!("{}-{}", value(lo, unit), value(hi, unit)),
        _ => format!("{}-{}", digits(lo), value(hi, unit)),
    }
}

/// Three significant digits, whole numbers from 1000 on in groups.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if size >= 999.5 {
        if size < 9e15 { count(value.round() as i64) } else { format!("{value:.3e}") }
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.1 {
        format!("{value:.2}")
    } else if size >= 0.001 {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}

/// Tenths of a per cent that sum to exactly 1000: each part is rounded down, then those that lost most get the rest
/// (largest remainder; ties go to the earlier part). `None` where there is nothing to divide.
pub fn tenths(parts: &[i64]) -> Option<Vec<i64>> {
    let whole: i128 = parts.iter().map(|part| i128::from((*part).max(0))).sum();
    if whole == 0 {
        return None;
    }
    let scaled: Vec<(i128, i128)> = parts
        .iter()
        .map(|part| {
            let scaled = i128::from((*part).max(0)) * 1000;
            (scaled / whole, scaled % whole)
        })
        .collect();
    let mut rest = 1000 - scaled.iter().map(|(down, _)| *down).sum::<i128>();
    let mut order: Vec<usize> = (0..scaled.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(scaled.get(*index).map_or(0, |(_, lost)| *lost)), *index));
    let mut out: Vec<i64> = scaled.iter().map(|(down, _)| *down as i64).collect();
    for index in order {
        if rest == 0 {
            break;
        }
        if let Some(slot) = out.get_mut(index) {
            *slot += 1;
            rest -= 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(share(0.98123), "98.1 %");
        assert_eq!(share(0.0042), "0.42 %");
        assert_eq!(share(0.000001), "<0.01 %");
        assert_eq!(share(0.0), "0.0 %");
        assert_eq!(share(0.00999), "1.0 %");
        assert_eq!(share(f64::NAN), "- %");
        assert_eq!(interval(Some(0.63), Some(0.92), "share"), "63.0-92.0 %");
    }

    #[test]
    fn units() {
        assert_eq!(duration(5_020_000_000), "5.02 s");
        assert_eq!(duration(12_345), "12.3 us");
        assert_eq!(duration(-1_500_000), "-1.50 ms");
        assert_eq!(duration(0), "0 s");
        assert_eq!(bytes(102_400_000), "102 MB");
        assert_eq!(count(1_204_331), "1 204 331");
        assert_eq!(count(i64::MIN), "-9 223 372 036 854 775 808");
        assert_eq!(value(9.876, "bytes/call"), "9.88 bytes/call");
        assert_eq!(value(123_456.0, "calls/s"), "123 456 calls/s");
        assert_eq!(value(890_208.0, "1/s"), "890 208 per s");
        assert_eq!(interval(Some(1.0), Some(2.5), "1/s"), "1.00-2.50 per s");
        assert_eq!(value(f64::INFINITY, "calls/s"), "-");
    }

    #[test]
    fn parts_sum_to_a_hundred() {
        assert_eq!(tenths(&[1, 1, 1]), Some(vec![334, 333, 333]));
        assert_eq!(tenths(&[0, 0]), None);
        assert_eq!(tenths(&[i64::MAX, i64::MAX, 1]).map(|t| t.iter().sum::<i64>()), Some(1000));
        assert_eq!(tenths(&[997, 2, 1]), Some(vec![997, 2, 1]));
        for n in 1..60 {
            let parts: Vec<i64> = (1..=n).map(|i| i * i * 7919 % 1013 + 1).collect();
            assert_eq!(tenths(&parts).unwrap().iter().sum::<i64>(), 1000);
        }
    }
}
