//! A memory series: resident set over time, by the header's names.

use crate::verify::content::lines;
use crate::verify::number::Decimal;

/// (time in ns, resident bytes) of every whole line.
fn points(bytes: &[u8]) -> Vec<(i64, i64)> {
    let (mut time, mut rss, mut columns) = (None, None, 0);
    let mut points = Vec::new();
    for (_, line) in lines(bytes) {
        let cells: Vec<&str> = line.split(['\t', ',', ' ']).map(str::trim).filter(|cell| !cell.is_empty() || line.contains('\t')).collect();
        if time.is_none() || rss.is_none() {
            let names: Vec<&str> = cells.iter().map(|name| name.trim_start_matches('#')).filter(|name| !name.is_empty()).collect();
            time = names.iter().enumerate().find_map(|(at, name)| Some((at, time_unit(name)?)));
            rss = names.iter().enumerate().find_map(|(at, name)| Some((at, bytes_unit(name)?)));
            columns = names.len();
            continue;
        }
        let cell = |place: Option<(usize, i64)>| {
            let (at, unit) = place?;
            Decimal::parse(cells.get(at)?)?.times(unit)
        };
        points.extend(cell(time).zip(cell(rss)).filter(|_| cells.len() == columns));
    }
    points
}

fn time_unit(name: &str) -> Option<i64> {
    let (kind, unit) = name.rsplit_once('_')?;
    let unit = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" | "seconds" => 1_000_000_000,
        _ => return None,
    };
    matches!(kind, "ts" | "time" | "timestamp" | "elapsed").then_some(unit)
}

fn bytes_unit(name: &str) -> Option<i64> {
    match name.to_ascii_lowercase().as_str() {
        "rss_bytes" | "rss_b" | "vmrss_bytes" => Some(1),
        "rss_kb" | "rss_kib" | "vmrss_kb" => Some(1 << 10),
        "rss_mb" | "rss_mib" => Some(1 << 20),
        _ => None,
    }
}

/// Largest value of the series.
pub fn largest(bytes: &[u8]) -> Option<i64> {
    points(bytes).into_iter().map(|(_, rss)| rss).max()
}

/// Median of the last tenth minus median of the first tenth of the last two thirds of the time (the table reference).
pub fn growth(bytes: &[u8]) -> Option<i64> {
    let points = points(bytes);
    let (first, last) = (points.first()?.0, points.last()?.0);
    let from = first.checked_add(last.checked_sub(first)? / 3)?;
    let used: Vec<i64> = points.into_iter().filter(|(time, _)| *time >= from).map(|(_, rss)| rss).collect();
    let tenth = (used.len() / 10).max(1);
    median(used.get(used.len().checked_sub(tenth)?..)?)?.checked_sub(median(used.get(..tenth)?)?)
}

fn median(values: &[i64]) -> Option<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: times 0 to 30 s, 100 kB each second; from 10 s on 21 points; medians of two are the larger ones.
    #[test]
    fn growth_by_hand() {
        let mut text = "ts_ns\trss_bytes\tpss_bytes\n".to_owned();
        (0..31).for_each(|i| text.push_str(&format!("{}\t{}\t1\n", i * 1_000_000_000_i64, i * 100)));
        assert_eq!((largest(text.as_bytes()), growth(text.as_bytes())), (Some(3_000), Some(1_900)));
        assert_eq!(largest(b"# time_s,rss_kb\n1.5,4\n1.75,8\nx,y\n"), Some(8192));
        assert_eq!((largest(b""), growth(b"ts_ns\trss_bytes\n")), (None, None));
    }
}
