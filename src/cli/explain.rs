//! `tripod explain`: one ledger entry in full, in plain language.

use std::fmt::Write;
use std::path::PathBuf;

use super::stored::Stored;
use super::{Outcome, change, columns, out};
use crate::emit::view::{Entry, Metric, Slot, View};
use crate::emit::{anchor, cost_text, escape, number, terminal, threshold_text};
use crate::error::{Error, Result};
use crate::tables::{Evidence, Hotspot};

const HELP: &str = "Examples:
  tripod explain tripod-out/run          one line per hypothesis
  tripod explain tripod-out/run R25      all about one of them
  tripod explain tripod-out/run 1        the receipts of the hotspot with rank 1";

/// Say in full why a hypothesis got its label and what would change it
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Run directory that `tripod analyze` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Id or name of a hypothesis, or the rank of a hotspot; without it all are listed
    #[arg(value_name = "HYPOTHESIS")]
    subject: Option<String>,
}

pub fn run(args: Args) -> Result<Outcome> {
    let run = Stored::open(&args.dir)?.results()?;
    let view = View::new(&run);
    let text = match args.subject.as_deref() {
        None => overview(&view),
        Some(subject) => match subject.parse::<i32>() {
            Ok(rank) => hotspot(&view, rank)?,
            Err(_) => hypothesis(&view, subject)?,
        },
    };
    out::print(terminal::paint(&text, out::style().colour).as_bytes())?;
    Ok(Outcome::Done)
}

fn overview(view: &View<'_>) -> String {
    let mut text = String::new();
    for entry in view.ledger() {
        let site = entry
            .site()
            .map_or_else(String::new, |(site, agreed)| format!("  {}{}", escape::terminal(site, 60), if agreed { "" } else { "?" }));
        let [id, name, result] =
            [(&*entry.row.hypothesis, 12), (&*entry.row.name, 28), (&*entry.result(), 24)].map(|(cell, max)| escape::terminal(cell, max));
        let _ = writeln!(text, "{id:<5} {name:<28} {result:<24}{site}");
    }
    text.push_str("\nName one of them to see its angles, thresholds and evidence, and what would change its label.\n");
    text
}

fn hypothesis(view: &View<'_>, subject: &str) -> Result<String> {
    let ledger = view.ledger();
    let wanted = subject.to_lowercase();
    let is_it = |entry: &&Entry<'_>| entry.row.hypothesis.to_lowercase() == wanted || entry.row.name.to_lowercase() == wanted;
    let Some(entry) = ledger.iter().find(is_it) else {
        let known: Vec<&str> = ledger.iter().flat_map(|entry| [&*entry.row.hypothesis, &*entry.row.name]).collect();
        let near = columns::nearest(subject, &known).join(", ");
        return Err(Error::Request(format!("this run has no hypothesis {subject}; did you mean {near}?")));
    };
    let row = entry.row;
    let result = entry.result();
    let result = escape::plain(&result);
    let mut text = format!("{} {}: {result}\n", escape::plain(&row.hypothesis), escape::plain(&row.name));
    if let Some(doc) = entry.doc {
        let _ = writeln!(text, "\nClaim: {}", escape::plain(&doc.claim));
    }
    for slot in &entry.slots {
        angle(&mut text, view, entry, slot);
    }
    let change = change::label_sentence(row.supports, row.rejects, row.not_measured);
    let _ = writeln!(text, "\nResult | {result}");
    let _ = writeln!(text, "What would change the label: {change}.");
    rest(&mut text, entry);
    Ok(text)
}

fn angle(text: &mut String, view: &View<'_>, entry: &Entry<'_>, slot: &Slot<'_>) {
    let _ = writeln!(text, "\nAngle {}: {}", escape::plain(slot.name), escape::plain(&slot.verdict_with_reason()));
    for metric in &slot.metrics {
        metric_lines(text, view, metric);
    }
    for row in &slot.cross_checks {
        let value = row.value.map_or_else(|| number::ABSENT.to_owned(), |value| number::value(value, row.unit.as_deref().unwrap_or("")));
        let _ = writeln!(
            text,
            "  Cross-check with {}: {} {value}, {}",
            escape::plain(view.path(row.artifact_id)),
            escape::plain(row.metric.as_deref().unwrap_or("value")),
            escape::plain(&row.verdict)
        );
    }
    for row in slot.sites.iter().take(5) {
        let value = row.value.map_or_else(|| number::ABSENT.to_owned(), |value| number::value(value, row.unit.as_deref().unwrap_or("")));
        let _ = writeln!(text, "  Place: {} ({value})", escape::terminal(row.site.as_deref().unwrap_or("?"), 200));
    }
    for missing in entry.missing.iter().filter(|missing| missing.slot == slot.name) {
        let _ = writeln!(text, "  To measure it:\n    {}", escape::plain(&missing.command));
    }
}

fn metric_lines(text: &mut String, view: &View<'_>, metric: &Metric<'_>) {
    let row = metric.reading;
    let unit = row.unit.as_deref().unwrap_or("");
    let part = |value: Option<&str>| escape::plain(value.unwrap_or("?")).into_owned();
    let _ = writeln!(
        text,
        "  Measured by {} in {} (alternate {}, mechanism {}, probe {})",
        part(row.tool.as_deref()),
        escape::plain(view.path(row.artifact_id)),
        part(row.alternate.as_deref()),
        part(row.mechanism.as_deref()),
        part(row.probe.as_deref())
    );
    let value = row.value.map_or_else(|| "was not read".to_owned(), |value| format!("= {}", number::value(value, unit)));
    let n = row.n.map_or_else(String::new, |n| format!(", from {} observations", number::count(n)));
    let interval = match (row.lo, row.hi) {
        (Some(lo), Some(hi)) if lo == hi => " (exact)".to_owned(),
        (Some(_), Some(_)) => format!(", interval {}", number::interval(row.lo, row.hi, unit)),
        _ => String::new(),
    };
    let _ = writeln!(text, "  {} {value}{interval}{n}", part(row.metric.as_deref()));
    if let Some(threshold) = metric.threshold {
        let _ = writeln!(text, "  Threshold: {}", escape::plain(&threshold_text(threshold)));
    }
    if let Some(score) = row.score {
        let _ = writeln!(
            text,
            "  Score {score:.2} (0 at the reject bound, 0.5 at the support threshold, 1 at saturation): {}",
            part(Some(&row.verdict))
        );
    }
    if let Some(change) = change::sentence(metric) {
        let _ = writeln!(text, "  What would change it: {change}");
    }
    for row in &metric.evidence {
        evidence(text, row);
    }
}

fn evidence(text: &mut String, row: &Evidence) {
    let _ = writeln!(
        text,
        "  Evidence: {} = {} at {}",
        escape::plain(&row.term),
        number::count(row.value),
        escape::plain(&anchor::shown(&row.anchor))
    );
}

/// Place, cost, charges, notes and advice.
fn rest(text: &mut String, entry: &Entry<'_>) {
    let row = entry.row;
    if let Some((site, agreed)) = entry.site() {
        let how = if agreed { "two angles agree on it" } else { "one angle alone names it, so it is only suspected" };
        let _ = writeln!(text, "Place: {} ({}; {how})", escape::plain(site), escape::plain(row.site_kind.as_deref().unwrap_or("place")));
    }
    if let Some(special) = &row.explained_by {
        let _ = writeln!(text, "Explained by {}: its cost is charged there, not here.", escape::plain(special));
    }
    if let Some(cost) = cost_text(entry) {
        let _ = writeln!(text, "{}", escape::plain(&cost));
    }
    if let Some(note) = row.note.as_deref().filter(|note| !note.is_empty()) {
        let _ = writeln!(text, "Note: {}", escape::plain(note));
    }
    if let Some(doc) = entry.doc {
        for (word, said) in [("Advice", &doc.advice), ("Known false positives", &doc.false_positives)] {
            if !said.is_empty() {
                let _ = writeln!(text, "{word}: {}", escape::plain(said));
            }
        }
    }
}

/// All terms of one row of the hotspot table.
fn hotspot(view: &View<'_>, rank: i32) -> Result<String> {
    let tables = &view.run.tables;
    let Some(row): Option<&Hotspot> = tables.hotspots.iter().find(|row| row.rank == rank) else {
        return Err(Error::Request(format!("this run has no hotspot with rank {rank}; it has {}", tables.hotspots.len())));
    };
    let mut text = format!("Hotspot {rank}: {}\n", escape::plain(&row.location));
    let _ = writeln!(
        text,
        "{} = {} (at least {}): {} of {}\nCategory {}; resource {}; share of the wall clock at least {}\n{}",
        escape::plain(&row.metric),
        number::share(row.value),
        number::share(row.value_lo),
        number::count(row.weight),
        number::count(row.whole),
        escape::plain(&row.category),
        escape::plain(&row.resource),
        number::share_or_absent(row.wall_share),
        escape::plain(&row.detail)
    );
    let slot = rank.to_string();
    for row in tables.evidence.iter().filter(|row| &*row.hypothesis == "hotspot" && *row.slot == *slot) {
        evidence(&mut text, row);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_told_in_full() {
        let run = crate::emit::sample();
        let view = View::new(&run);
        for subject in ["R25", "r25", "test.r25"] {
            let text = hypothesis(&view, subject).unwrap();
            for part in [
                "3/3 -> KERNEL",
                "Angle C: supports",
                "write_share = 62.0 %, interval 60.0-64.0 %, from 1 204 observations",
                "house threshold: measured on S1",
                "it would stop supporting if its lower bound went below 25.0 %",
                "Evidence: part = 746 at strace%20%7C.txt:L8",
                "Buffer the writes.",
                "one angle less and it would be DISPUTED",
            ] {
                assert!(text.contains(part), "{part}\n{text}");
            }
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
        assert!(hypothesis(&view, "R18").unwrap().contains("heaptrack -o out ./prog | cat"));
        assert!(hypothesis(&view, "R26").unwrap_err().to_string().contains("did you mean R25"));
        assert!(overview(&view).contains("R27"));
    }

    #[test]
    fn a_hotspot_shows_its_receipts() {
        let run = crate::emit::sample();
        let view = View::new(&run);
        assert!(hotspot(&view, 2).unwrap().contains("900 000 of 1 000 000"));
        assert!(hotspot(&view, 99).is_err());
    }
}
