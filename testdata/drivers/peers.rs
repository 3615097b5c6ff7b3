//! The numbers against other tools: perf report and script, perf sched timehist, strace, heaptrack_print.

use libtest_mimic::{Completion, Trial};

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    support::scenarios().into_iter().map(|name| Trial::ignorable_test(format!("peers::{name}"), move || check(&name))).collect()
}

fn check(name: &str) -> Outcome {
    let truth = support::testdata().join("truth").join(name);
    if !truth.is_dir() {
        return Ok(Completion::ignored_with(format!("no figures of other tools for {name} (testdata/truth.sh)")));
    }
    let scratch = tempfile::tempdir()?;
    let input = support::scenario(name);
    let run = support::analyze(&input, scratch.path(), &[])?;
    support::python_script("peers.py", &[&run, &input, &truth])
}
