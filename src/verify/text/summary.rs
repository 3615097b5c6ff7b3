//! `strace -c`: the rows between the two dividers, cells by the words of the header.

use crate::verify::content::lines;
use crate::verify::number::Decimal;

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub calls: i64,
    pub errors: i64,
    pub total_ns: i64,
}

/// The names of the columns, where the line is a header.
fn header(line: &str) -> Option<Vec<String>> {
    let words: Vec<String> = line.replace("% time", "%").split_whitespace().map(str::to_owned).collect();
    let known = ["%", "seconds", "usecs/call", "calls", "errors", "syscall", "shortest", "longest"];
    let is_known = |word: &String| known.contains(&word.as_str()) || word.starts_with("wall-");
    (words.len() > 1 && words.iter().any(|word| word == "syscall") && words.iter().all(is_known)).then_some(words)
}

fn is_divider(line: &str) -> bool {
    line.trim().len() >= 8 && line.bytes().all(|byte| byte == b'-' || byte == b' ')
}

/// The rows of all tables of the text.
pub fn rows(bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    let mut dividers = 0;
    for (_, line) in lines(bytes) {
        if let Some(found) = header(&line) {
            (columns, dividers) = (found, 0);
        } else if is_divider(&line) {
            dividers += 1;
        } else if dividers == 1 {
            rows.extend(row(&columns, &line));
        }
    }
    rows
}

fn row(columns: &[String], line: &str) -> Option<Row> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if words.len() + 1 == columns.len() {
        // A call without errors leaves that cell empty.
        words.insert(columns.iter().position(|name| name == "errors")?, "0");
    }
    if words.len() != columns.len() {
        return None;
    }
    let cell = |name: &str| columns.iter().position(|column| column == name).and_then(|at| words.get(at)).copied();
    let seconds = cell("wall-total").or_else(|| cell("seconds"));
    Some(Row {
        name: cell("syscall")?.to_owned(),
        calls: cell("calls").map_or(Some(1), |calls| calls.parse().ok())?,
        errors: cell("errors").map_or(Some(0), |errors| errors.parse().ok())?,
        total_ns: seconds.map_or(Some(0), |seconds| Decimal::parse(seconds)?.seconds())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// strace 6.1, `-c -f` of a shell, shortened.
    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 71.43    0.000250          50         5           mmap
 28.57    0.000100          25         4         2 access
------ ----------- ----------- --------- --------- ----------------
100.00    0.000350          38         9         2 total
";

    #[test]
    fn rows_without_the_total() {
        let row = |name: &str, calls, errors, total_ns| Row { name: name.into(), calls, errors, total_ns };
        assert_eq!(rows(TABLE.as_bytes()), [row("mmap", 5, 0, 250_000), row("access", 4, 2, 100_000)]);
        assert_eq!(rows(b"no table\n---- ---- ----\nx y\n"), []);
    }
}
