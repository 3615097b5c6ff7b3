//! What the user gave: thresholds, costs and hypotheses of their own. A mistake in them is found before any recording is
//! read.

use super::costs::{Costs, Given};
use super::engine::Engine;
use super::file::Hypothesis;
use super::{Comparability, HYPOTHESES, RuleOptions, VIEWS, add_views, ask, hypotheses, overrides};
use crate::error::{Error, Result};
use crate::tables::Tables;

/// Files that change thresholds.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Name and content of `--thresholds`.
    thresholds: Option<(String, String)>,
    costs: Option<Given>,
}

impl Changes {
    pub fn read(options: &RuleOptions) -> Result<Changes> {
        let thresholds = match &options.thresholds {
            None => None,
            Some(path) => {
                let text =
                    std::fs::read_to_string(path).map_err(|error| Error::Request(format!("--thresholds {}: {error}", path.display())))?;
                Some((path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()), text))
            }
        };
        Ok(Changes { thresholds, costs: options.costs.as_deref().map(Given::read).transpose()? })
    }

    /// The hypotheses with the bounds that hold for this machine and this user.
    pub fn apply(&self, tables: &Tables, hypotheses: &mut [Hypothesis]) -> Result<()> {
        Costs::find(tables, self.costs.as_ref())?.calibrate(hypotheses);
        match &self.thresholds {
            None => Ok(()),
            Some((file, text)) => overrides::apply(file, &overrides::parse(file, text)?, hypotheses),
        }
    }

    pub fn files(self) -> Vec<(String, String)> {
        let thresholds = self.thresholds.map(|(_, text)| ("thresholds.txt".to_owned(), text));
        let costs = self.costs.map(|given| ("costs.json".to_owned(), given.text));
        thresholds.into_iter().chain(costs).collect()
    }
}

/// Finds the mistakes in what the user gave, before any recording is read.
pub fn check(options: &RuleOptions) -> Result<()> {
    let mut hypotheses = hypotheses(&options.rules_dirs)?;
    if !options.rules_dirs.is_empty() {
        try_queries(&hypotheses)?;
    }
    Changes::read(options)?.apply(&Tables::default(), &mut hypotheses)
}

/// Runs the queries of the user's own hypotheses over empty tables, so that an unknown table or column is found before
/// any recording is read.
fn try_queries(hypotheses: &[Hypothesis]) -> Result<()> {
    let tables = Tables::default();
    let comparability = Comparability::find(&tables);
    let own = hypotheses.iter().map(|own| own.text.as_str());
    let texts: Vec<&str> = VIEWS.iter().map(|(_, text)| *text).chain(own).collect();
    let mut engine = Engine::over(&tables, &comparability, &texts)?;
    add_views(&mut engine);
    let built_in: Vec<&str> = HYPOTHESES.iter().map(|(_, text)| *text).collect();
    for own in hypotheses.iter().filter(|own| !built_in.contains(&own.text.as_str())) {
        for alternate in own.slots.iter().flat_map(|slot| &slot.alternates) {
            for need in alternate.needs.iter().chain(&alternate.with) {
                let asked = engine.can_ask(&need.table, need.predicate.as_deref());
                asked.map_err(|error| own.at("needs", &need.table).error("a condition on a table", error.to_string()))?;
            }
            ask(&engine, own, alternate)?;
        }
    }
    Ok(())
}
