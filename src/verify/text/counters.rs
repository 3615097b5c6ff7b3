//! perf stat: event and value of every counter that counted, times in nanoseconds. The three forms of the tool: JSON lines
//! (`-j`), fields between separators (`-x`), and the table for people.

use serde_json::Value as Json;

use crate::verify::content::lines;
use crate::verify::number::Decimal;

/// (event without modifiers, value).
pub fn values(bytes: &[u8]) -> Vec<(String, i64)> {
    let json: Vec<(String, i64)> = lines(bytes).filter_map(|(_, line)| of_json(&line)).collect();
    if !json.is_empty() {
        return json;
    }
    let fields: Vec<(String, i64)> = lines(bytes).filter_map(|(_, line)| of_fields(&line)).collect();
    if fields.is_empty() { lines(bytes).filter_map(|(_, line)| of_table(&line)).collect() } else { fields }
}

/// What one unit of the number is; `None` for units that are neither a count nor a time.
fn unit(name: &str) -> Option<i64> {
    Some(match name {
        "" | "ns" => 1,
        "usec" => 1_000,
        "msec" => 1_000_000,
        "seconds" => 1_000_000_000,
        _ => return None,
    })
}

/// `cycles:u` counts cycles.
fn plain(event: &str) -> String {
    match event.rsplit_once(':') {
        Some((name, modifiers)) if modifiers.chars().all(|c| "ukhGHpPSDWeI".contains(c)) => name.to_owned(),
        _ => event.to_owned(),
    }
}

/// The value of one JSON line, also for an anchor that names the line.
pub fn of_json(line: &str) -> Option<(String, i64)> {
    let object: Json = serde_json::from_str(line.trim()).ok().filter(|_| line.trim_start().starts_with('{'))?;
    let text = |key: &str| match object.get(key)? {
        Json::String(text) => Some(text.trim().to_owned()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let value = Decimal::parse(&text("counter-value")?)?.times(unit(&text("unit").unwrap_or_default())?)?;
    Some((plain(&text("event")?), value))
}

fn of_fields(line: &str) -> Option<(String, i64)> {
    let separator = [';', ',', '|', '\t'].into_iter().find(|separator| line.matches(*separator).count() >= 3)?;
    let fields: Vec<&str> = line.split(separator).map(str::trim).collect();
    fields.windows(3).find_map(|three| {
        let [number, own, event] = three else { return None };
        let is_event = event.len() > 1 && event.starts_with(|c: char| c.is_ascii_alphabetic()) && !event.contains(' ');
        let value = Decimal::parse(number)?.times(unit(own)?)?;
        is_event.then(|| (plain(event), value))
    })
}

/// `      1,234.56 msec task-clock   #  0.998 CPUs utilized`, `  12,345  page-faults`.
fn of_table(line: &str) -> Option<(String, i64)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.replace(',', "");
    let second = words.next()?;
    let (own, event) = match unit(second).filter(|_| second != "seconds") {
        Some(own) => (own, words.next()?),
        None => (1, second),
    };
    Some((plain(event), Decimal::parse(&number)?.times(own)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as perf 6.1 prints them.
    #[test]
    fn the_three_forms() {
        let json = "{\"counter-value\" : \"6016.879244\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"pcnt-running\" : 100.00}\n{\"counter-value\" : \"<not counted>\", \"event\" : \"cycles\"}\n";
        assert_eq!(values(json.as_bytes()), [("task-clock".to_owned(), 6_016_879_244)]);
        let fields = "# started\n\n1.23;msec;task-clock:u;1230000;100.00;0.9;CPUs utilized\n177;;page-faults;1230000;100.00;;\n";
        assert_eq!(values(fields.as_bytes()), [("task-clock".to_owned(), 1_230_000), ("page-faults".to_owned(), 177)]);
        let table = "          1,234.56 msec task-clock                #    0.998 CPUs utilized\n            12,345      page-faults:u             #    1.2 K/sec\n";
        assert_eq!(values(table.as_bytes()), [("task-clock".to_owned(), 1_234_560_000), ("page-faults".to_owned(), 12_345)]);
    }
}
