//! What makes two runs of a program comparable.

use super::command;
use crate::tables::{Execution, Text};

impl Execution {
    /// A run about which nothing is known but the tool it ran under.
    pub fn under(wrapper: &str) -> Execution {
        Execution {
            execution_id: 0,
            artifact_id: 0,
            argv: None,
            program: None,
            signature: None,
            wrapper: wrapper.into(),
            wall_ns: None,
            user_ns: None,
            system_ns: None,
            max_rss_bytes: None,
            minor_faults: None,
            major_faults: None,
            voluntary_switches: None,
            involuntary_switches: None,
            exit_code: None,
            work: None,
            threads: None,
            variant: None,
            places: None,
        }
    }

    /// Notes where in the artifact a value stands: `L=2`, `ptr=/bare/runs/0/wall_s`.
    pub fn note_place(&mut self, field: &str, place: &str) {
        let noted = match &self.places {
            Some(places) => format!("{places},{field}@{place}"),
            None => format!("{field}@{place}"),
        };
        self.places = Some(noted.into());
    }

    /// The place of a value, where the importer noted it.
    pub fn place_of(&self, field: &str) -> Option<&str> {
        let places = self.places.as_deref()?.split(',');
        places.filter_map(|noted| noted.split_once('@')).find_map(|(name, place)| (name == field).then_some(place))
    }

    /// Fills in `program` and `signature` from argv and what is declared. Without argv both stay null.
    pub fn sign(&mut self) {
        let Some(argv) = &self.argv else { return };
        let words = command::simple_commands(argv).into_iter().next().unwrap_or_default();
        self.program = words.first().map(|word| Text::from(command::base_name(word)));
        let declared = [
            self.work.map(|work| work.to_string()),
            self.threads.map(|threads| threads.to_string()),
            self.variant.as_deref().map(str::to_owned),
        ];
        let is_declared = |word: &str| declared.iter().flatten().any(|value| value == word);
        let mut kept = Vec::new();
        for (n, word) in words.into_iter().enumerate() {
            if n == 0 || !word.contains(char::is_whitespace) {
                if n == 0 || !is_declared(&word) {
                    kept.push(word);
                }
            } else {
                // a script in one word, such as `.parameter set :rows 1000`
                let inner: Vec<&str> = word.split_whitespace().filter(|part| !is_declared(part)).collect();
                kept.push(inner.join(" "));
            }
        }
        self.signature = Some(command::quote(&kept).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_leaves_out_what_is_declared() {
        let mut execution = Execution { argv: Some("/bin/s2 convoy 9000 4 4.5".into()), ..Execution::under("bare") };
        execution.sign();
        assert_eq!(execution.signature.as_deref(), Some("/bin/s2 convoy 9000 4 4.5"));
        execution.work = Some(9000);
        execution.threads = Some(4);
        execution.variant = Some("convoy".into());
        execution.sign();
        assert_eq!(execution.signature.as_deref(), Some("/bin/s2 4.5"));
        assert_eq!(execution.program.as_deref(), Some("s2"));
    }

    #[test]
    fn a_declared_number_inside_a_script_counts_too() {
        let mut execution =
            Execution { argv: Some("sqlite3 '.parameter set :rows 70'".into()), work: Some(70), ..Execution::under("perf") };
        execution.sign();
        assert_eq!(execution.signature.as_deref(), Some("sqlite3 '.parameter set :rows'"));
        let mut unknown = Execution::under("perf");
        unknown.sign();
        assert_eq!(unknown.signature, None);
    }
}
