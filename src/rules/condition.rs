//! `applies_if`: comparisons of run facts with numbers, joined by `and`.
//!
//! ```text
//! condition  = comparison *( "and" comparison )
//! comparison = fact ( ">=" | "<=" | ">" | "<" | "=" ) number
//! ```

use std::collections::BTreeMap;

/// What is known of the run: cpu_seconds, wall_seconds, cpu_share, threads, cpus, threads_per_cpu.
pub type Facts = BTreeMap<&'static str, f64>;

/// Facts a condition may name.
pub const FACTS: &[&str] = &["cpu_seconds", "wall_seconds", "cpu_share", "system_share", "threads", "cpus", "threads_per_cpu"];

#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    comparisons: Vec<Comparison>,
}

#[derive(Debug, Clone, PartialEq)]
struct Comparison {
    fact: String,
    operator: Operator,
    number: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    AtLeast,
    AtMost,
    Above,
    Below,
    Equal,
}

impl Condition {
    pub fn parse(text: &str) -> Result<Condition, String> {
        let comparisons = text.split(" and ").map(Comparison::parse).collect::<Result<Vec<_>, _>>()?;
        Ok(Condition { text: text.to_owned(), comparisons })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it does not hold, with the number; `None` where it holds or a fact is unknown.
    pub fn fails(&self, facts: &Facts) -> Option<String> {
        self.comparisons.iter().find_map(|comparison| {
            let value = *facts.get(comparison.fact.as_str())?;
            let holds = match comparison.operator {
                Operator::AtLeast => value >= comparison.number,
                Operator::AtMost => value <= comparison.number,
                Operator::Above => value > comparison.number,
                Operator::Below => value < comparison.number,
                Operator::Equal => value == comparison.number,
            };
            (!holds).then(|| format!("{} is {value:.3}; it applies only if {}", comparison.fact, self.text))
        })
    }
}

impl Comparison {
    fn parse(text: &str) -> Result<Comparison, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [fact, operator, number] = words[..] else {
            return Err(format!("expected `fact operator number`, found `{text}`"));
        };
        if !FACTS.contains(&fact) {
            return Err(format!("unknown fact `{fact}`; known: {}", FACTS.join(", ")));
        }
        let operator = match operator {
            ">=" => Operator::AtLeast,
            "<=" => Operator::AtMost,
            ">" => Operator::Above,
            "<" => Operator::Below,
            "=" => Operator::Equal,
            other => return Err(format!("unknown operator `{other}`")),
        };
        let number = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
        Ok(Comparison { fact: fact.to_owned(), operator, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_fact_decides_and_an_unknown_one_does_not() {
        let condition = Condition::parse("cpu_seconds >= 0.1 and cpu_share >= 0.05").unwrap();
        assert_eq!(condition.fails(&Facts::new()), None);
        assert_eq!(condition.fails(&Facts::from([("cpu_seconds", 3.0), ("cpu_share", 0.9)])), None);
        let reason = condition.fails(&Facts::from([("cpu_seconds", 3.0), ("cpu_share", 0.013)])).unwrap();
        assert!(reason.starts_with("cpu_share is 0.013"), "{reason}");
        assert!(Condition::parse("cpu_secs > 1").is_err() && Condition::parse("cpu_seconds ~ 1").is_err());
    }
}
