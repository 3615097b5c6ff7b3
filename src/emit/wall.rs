//! The line that says where the wall time went. Its shares sum to 100.0 %, in the text and in summary.json.

use super::run::WallLine;
use super::{anchor, number};

/// One part as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub name: String,
    pub ns: i64,
    /// Tenths of a per cent; over all parts they sum to 1000.
    pub tenths: i64,
    /// Anchor, or empty for what is left over.
    pub source: String,
}

/// What the parts leave of the wall clock.
const REST: &str = "not accounted for";

/// The parts with their shares; nothing where the wall clock is unknown or 0.
pub fn parts(line: &WallLine) -> Vec<Part> {
    let WallLine::Known { wall_ns, parts, .. } = line else { return Vec::new() };
    let told: Vec<(&str, i64, &str)> =
        parts.iter().filter(|part| part.ns > 0).map(|part| (part.name.as_str(), part.ns, part.source.as_str())).collect();
    let sum: i128 = told.iter().map(|part| i128::from(part.1)).sum();
    let rest = i64::try_from(i128::from(*wall_ns) - sum).unwrap_or(0);
    let mut all = told;
    if rest > 0 {
        all.push((REST, rest, ""));
    }
    let sizes: Vec<i64> = all.iter().map(|part| part.1).collect();
    let Some(tenths) = number::tenths(&sizes) else { return Vec::new() };
    let part =
        |((name, ns, source), tenths): ((&str, i64, &str), i64)| Part { name: name.to_owned(), ns, tenths, source: source.to_owned() };
    all.into_iter().zip(tenths).map(part).collect()
}

/// Tenths of a per cent as text.
pub fn per_cent(tenths: i64) -> String {
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The line. `escape` makes a name or an anchor safe for the output it goes to.
pub fn sentence(line: &WallLine, escape: &dyn Fn(&str) -> String) -> String {
    let parts = parts(line);
    match line {
        WallLine::Known { wall_ns, threads, source, .. } if !parts.is_empty() => {
            let listed: Vec<String> = parts.iter().map(|part| format!("{} {}", per_cent(part.tenths), escape(&part.name))).collect();
            let source = escape(&anchor::shown(source));
            let of = if *threads > 1 { format!(" of {threads} threads") } else { String::new() };
            format!("Where the wall time went ({}{of}, {source}): {} = 100.0 %", number::duration(*wall_ns), listed.join(" + "))
        }
        WallLine::Known { .. } => "Where the wall time went: unknown (the wall clock reads 0)".to_owned(),
        WallLine::Unknown { reason } => format!("Where the wall time went: unknown ({})", escape(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::run::WallPart;

    fn line(wall_ns: i64, parts: &[(&str, i64)]) -> WallLine {
        let part = |(name, ns): &(&str, i64)| WallPart { name: (*name).to_owned(), ns: *ns, source: "a".to_owned() };
        WallLine::Known { wall_ns, threads: 1, source: "bare.txt#L=5".to_owned(), parts: parts.iter().map(part).collect() }
    }

    #[test]
    fn shares_and_rest_sum_to_a_hundred() {
        let line = line(3_000_000_000, &[("user code", 1_000_000_000), ("kernel", 1_000_000_000)]);
        assert_eq!(
            sentence(&line, &|text| text.to_owned()),
            "Where the wall time went (3.00 s, bare.txt:L5): 33.4 % user code + 33.3 % kernel + 33.3 % not accounted for = 100.0 %"
        );
        assert_eq!(parts(&line).iter().map(|part| part.tenths).sum::<i64>(), 1000);
    }

    #[test]
    fn parts_larger_than_the_wall_still_sum_to_a_hundred() {
        assert_eq!(parts(&line(10, &[("a", 10), ("b", 30)])).iter().map(|part| part.tenths).collect::<Vec<_>>(), [250, 750]);
        assert!(sentence(&line(0, &[]), &|text| text.to_owned()).contains("unknown"));
        assert!(parts(&line(i64::MIN, &[("a", i64::MAX)])).len() == 1);
    }
}
