//! What is known to be wrong with the tools: `queries/biases.json`, shown where a tool filled an angle.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::tables::{Artifact, Reading};

const FILE: &str = include_str!("../../queries/biases.json");

#[derive(Debug, Deserialize)]
struct File {
    biases: Vec<Bias>,
}

/// One bias and what it applies to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Bias {
    tool: String,
    probe: Option<String>,
    kind: Option<String>,
    unwinding: Option<String>,
    /// What goes wrong.
    pub bias: String,
    /// How large the effect was, and where that is known from.
    pub seen: String,
    /// What Tripod does about it.
    pub answer: String,
}

/// All of them.
pub fn all() -> Result<Vec<Bias>> {
    let file: File = serde_json::from_str(FILE).map_err(|error| Error::Request(format!("queries/biases.json: {error}")))?;
    Ok(file.biases)
}

impl Bias {
    /// Whether it concerns a reading of that recording.
    pub fn applies(&self, reading: &Reading, artifact: Option<&Artifact>) -> bool {
        let among = |list: Option<&str>, name: &str| list.is_some_and(|list| list.split('+').any(|one| one == name));
        let is = |wanted: &Option<String>, value: Option<&str>| wanted.as_deref().is_none_or(|wanted| value == Some(wanted));
        among(reading.tool.as_deref(), &self.tool)
            && self.probe.as_deref().is_none_or(|probe| among(reading.probe.as_deref(), probe))
            && is(&self.kind, artifact.map(|artifact| &*artifact.kind))
            && is(&self.unwinding, artifact.and_then(|artifact| artifact.unwinding.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bias_is_shown_for_its_tool_only() {
        let (row, _) = crate::emit::sample_reading("supports");
        let of = |tool: &str, probe: &str| Reading { tool: Some(tool.into()), probe: Some(probe.into()), ..row.clone() };
        let found = |reading: &Reading| -> Vec<String> {
            all().unwrap().into_iter().filter(|bias| bias.applies(reading, None)).map(|bias| bias.bias).collect()
        };
        assert!(found(&of("strace", "ptrace_stop"))[0].contains("stopped twice"));
        assert!(found(&of("perf", "hrtimer"))[0].contains("interrupts off"));
        assert_eq!(found(&of("perf", "sched_switch")), [""; 0], "the kind of the file is not known");
        assert_eq!(found(&of("unheard-of", "hrtimer")), [""; 0]);
        assert_eq!(found(&of("time+hyperfine", "cputime")).len(), 2);
    }
}
