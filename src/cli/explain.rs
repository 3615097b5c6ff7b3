//! `tripod explain`: one ledger entry in full, in plain language.

mod angle;
mod charges;
mod page;

use std::fmt::Write;
use std::path::PathBuf;

use super::stored::Stored;
use super::{Outcome, change, columns, out};
use crate::emit::view::{Entry, View};
use crate::emit::{biases, cost_text, escape, number, terminal, words};
use crate::error::{Error, Result};
use crate::tables::Hotspot;
use page::Page;

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
    let width = out::style().width;
    let text = match args.subject.as_deref() {
        None => overview(&view),
        Some(subject) => match subject.parse::<i32>() {
            Ok(rank) => hotspot(&view, rank, width)?,
            Err(_) => hypothesis(&view, subject, width)?,
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

fn hypothesis(view: &View<'_>, subject: &str, width: usize) -> Result<String> {
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
    let biases = biases::all()?;
    let mut page = Page::new(width);
    page.line(0, &format!("{} {}: {result}", escape::plain(&row.hypothesis), escape::plain(&row.name)));
    page.line(0, &format!("That is: {}.", words::label(&row.label)));
    if let Some(doc) = entry.doc {
        page.blank();
        page.line(0, &format!("Claim: {}", escape::plain(&doc.claim)));
    }
    for slot in &entry.slots {
        angle::angle(&mut page, view, entry, slot, &biases);
    }
    let change = change::label_sentence(row.supports, row.rejects, row.not_measured);
    page.blank();
    page.line(0, &format!("Result | {result}"));
    page.line(0, &format!("What would change the label: {change}."));
    rest(&mut page, view, entry);
    Ok(page.into_text())
}

/// Place, cost, charges, notes and advice.
fn rest(page: &mut Page, view: &View<'_>, entry: &Entry<'_>) {
    let row = entry.row;
    if let Some((site, agreed)) = entry.site() {
        let how = if agreed { "two angles agree on it" } else { "one angle alone names it, so it is only suspected" };
        page.line(0, &format!("Place: {} ({}; {how})", escape::plain(site), escape::plain(row.site_kind.as_deref().unwrap_or("place"))));
    }
    if let Some(special) = &row.explained_by {
        page.line(0, &format!("Explained by {}: its cost is charged there, not here.", escape::plain(special)));
    }
    charges::tell(page, view, entry);
    if let Some(cost) = cost_text(entry) {
        page.line(0, &escape::plain(&cost));
        page.line(
            2,
            "Impact is the share of the wall clock (1 to 5), confidence how well the angles agree (1 to 5), effort what a repair takes (1 \
             to 5); a KERNEL with an opportunity of 2.0 or more is handed off.",
        );
    }
    if let Some(note) = row.note.as_deref().filter(|note| !note.is_empty()) {
        page.line(0, &format!("Note: {}", escape::plain(note)));
    }
    if let Some(doc) = entry.doc {
        for (word, said) in [("Advice", &doc.advice), ("Known false positives", &doc.false_positives)] {
            if !said.is_empty() {
                page.line(0, &format!("{word}: {}", escape::plain(said)));
            }
        }
    }
}

/// All terms of one row of the hotspot table.
fn hotspot(view: &View<'_>, rank: i32, width: usize) -> Result<String> {
    let tables = &view.run.tables;
    let Some(row): Option<&Hotspot> = tables.hotspots.iter().find(|row| row.rank == rank) else {
        return Err(Error::Request(format!("this run has no hotspot with rank {rank}; it has {}", tables.hotspots.len())));
    };
    let mut page = Page::new(width);
    page.line(0, &format!("Hotspot {rank}: {}", escape::plain(&row.location)));
    page.line(
        0,
        &format!(
            "{} = {} (at least {}): {} of {}",
            escape::plain(&row.metric),
            number::share(row.value),
            number::share(row.value_lo),
            number::count(row.weight),
            number::count(row.whole)
        ),
    );
    page.line(
        0,
        &format!(
            "Category {}; a share of {}; of the wall clock at least {}",
            escape::plain(&row.category),
            escape::plain(words::resource(&row.resource)),
            number::share_or_absent(row.wall_share)
        ),
    );
    page.line(0, &escape::plain(&row.detail));
    let slot = rank.to_string();
    for row in tables.evidence.iter().filter(|row| &*row.hypothesis == "hotspot" && *row.slot == *slot) {
        angle::evidence(&mut page, row);
    }
    Ok(page.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_told_in_full() {
        let run = crate::emit::sample();
        let view = View::new(&run);
        for subject in ["R25", "r25", "test.r25"] {
            let text = hypothesis(&view, subject, 10_000).unwrap();
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
        assert!(hypothesis(&view, "R18", 10_000).unwrap().contains("heaptrack -o out ./prog | cat"));
        assert!(hypothesis(&view, "R26", 100).unwrap_err().to_string().contains("did you mean R25"));
        assert!(overview(&view).contains("R27"));
    }

    #[test]
    fn prose_keeps_its_width() {
        let run = crate::emit::sample();
        let view = View::new(&run);
        let text = hypothesis(&view, "R25", 72).unwrap();
        let long =
            |line: &&str| line.chars().count() > 72 && !line.trim_start().starts_with("Evidence: ") && line.trim_start().contains(' ');
        // Commands and places stay whole, so that they can be copied.
        let commands = ["strace", "perf", "heaptrack", "hyperfine"];
        let wide: Vec<&str> =
            text.lines().filter(long).filter(|line| !commands.iter().any(|tool| line.trim_start().starts_with(tool))).collect();
        assert_eq!(wide, [""; 0]);
    }

    #[test]
    fn a_hotspot_shows_its_receipts() {
        let run = crate::emit::sample();
        let view = View::new(&run);
        assert!(hotspot(&view, 2, 100).unwrap().contains("900 000 of 1 000 000"));
        assert!(hotspot(&view, 99, 100).is_err());
    }
}
