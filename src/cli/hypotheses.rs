//! `tripod hypotheses`: the catalogue, from the registry.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Outcome, catalogue, out};
use crate::emit::HypothesisDoc;
use crate::emit::escape::plain;
use crate::error::Result;
use crate::rules::RuleOptions;

const HELP: &str = "Examples:
  tripod hypotheses
  tripod hypotheses --docs          the catalogue in Markdown: thresholds with sources, commands, advice
  tripod hypotheses --rules my-rules/";

/// List the hypotheses with their three angles
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Show the hypotheses of this folder too; may be repeated
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// Print the catalogue as a page in Markdown
    #[arg(long)]
    docs: bool,
}

pub fn run(args: Args) -> Result<Outcome> {
    crate::rules::check(&RuleOptions { rules_dirs: args.rules.clone(), ..RuleOptions::default() })?;
    let text = match args.docs {
        true => catalogue::page(&crate::rules::hypotheses(&args.rules)?)?,
        false => list(&crate::catalogue(&args.rules)?),
    };
    out::print(text.as_bytes())?;
    Ok(Outcome::Done)
}

fn list(catalogue: &[HypothesisDoc]) -> String {
    let mut text =
        String::from("Each hypothesis is tested from three angles; what fills an angle is the first alternate whose recording is there.\n");
    for doc in catalogue {
        let _ = write!(
            text,
            "\n{} {} ({}, effort {} of 5{})\n  {}\n",
            plain(&doc.id),
            plain(&doc.name),
            plain(&doc.category),
            doc.effort,
            if doc.status == "preview" { "; preview: shown, never handed off" } else { "" },
            plain(&doc.claim)
        );
        for slot in &doc.slots {
            let alternates: Vec<String> =
                slot.alternates.iter().map(|alternate| format!("{} ({})", alternate.name, alternate.mechanism)).collect();
            let _ = writeln!(text, "    {}: {}", slot.slot, plain(&alternates.join(", else ")));
        }
    }
    text
}
