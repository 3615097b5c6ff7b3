//! Every printed number can be followed to its place: a resolver in Python that shares no code with Tripod opens every
//! anchor and finds the value there.

use libtest_mimic::Trial;

use crate::support::{self, Outcome};

pub fn trials() -> Vec<Trial> {
    support::scenarios().into_iter().map(|name| Trial::ignorable_test(format!("anchors::{name}"), move || check(&name))).collect()
}

fn check(name: &str) -> Outcome {
    let scratch = tempfile::tempdir()?;
    let input = support::scenario(name);
    let run = support::analyze(&input, scratch.path(), &[])?;
    support::python_script("resolve.py", &[&run, &input, &support::project().join("queries/symbol_classes.json")])
}
