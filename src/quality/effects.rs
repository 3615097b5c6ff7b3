//! What the checks do to slots. A slot that loses its word says which check took it.
//!
//! ```text
//! block:M1                 the recording fills no slot with this mechanism (`*`: with none)
//! demote:M5:time           what is read from it there is inconclusive
//! no_zero:M5               a zero in it proves nothing
//! widen:M4:time            intervals widen by the value; widen_root: by the root of what the value lacks to 1
//! lost:*                   the value is the share of observations that are missing
//! one_root:*               it is the other file in another form: together they are one angle
//! ```
//!
//! The third part narrows it: a basis of metrics (count, time, share, leaf, cputime, memory), a probe (block), `location`
//! (the places it names), `path` (a place it names holds up to the lost caller only), `kernel` (shares of kernel code),
//! `kernel_names` (shares of named kernel code), `dso` (places in the dso that the row is about). `caller` has no effect of
//! its own: which places lost their caller is known one by one.

use crate::rules::file::{Alternate, Basis};
use crate::tables::{Quality, Text};

/// What an effect is about.
#[derive(Debug, Clone, PartialEq)]
enum Aspect {
    Everything,
    Location,
    Path,
    Kernel,
    KernelNames,
    Dso(Option<Text>),
    Basis(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    Block,
    Demote,
    NoZero,
    Widen(f64),
    Lost(f64),
    OneRoot(Option<i32>),
}

#[derive(Debug, Clone, PartialEq)]
struct Effect {
    artifact: Option<i32>,
    mechanism: String,
    aspect: Aspect,
    action: Action,
    reason: String,
    /// From a check that found nothing to complain about.
    is_ok: bool,
}

impl Effect {
    fn about(&self, artifact: i32, mechanism: &str) -> bool {
        self.artifact.is_none_or(|own| own == artifact) && (self.mechanism == "*" || self.mechanism == mechanism)
    }
}

/// The effects of all checks.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    list: Vec<Effect>,
    /// Symbol classes of kernel code alone: a SELECT that names one reads the kernel's names.
    kernel_classes: Vec<String>,
}

/// Whether the text is an effect that this module knows.
pub fn is_known(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let (action, mechanism, aspect) = (parts.first().copied(), parts.get(1).copied(), parts.get(2).copied());
    let known_mechanism = |name: &str| name == "*" || matches!(name.strip_prefix('M').and_then(|n| n.parse::<u8>().ok()), Some(1..=10));
    let known_aspect =
        |name: &str| Basis::named(name).is_some() || ["location", "path", "kernel", "kernel_names", "dso", "caller"].contains(&name);
    text == "none"
        || parts.len() <= 3
            && action.is_some_and(|action| ["block", "demote", "no_zero", "widen", "widen_root", "lost", "one_root"].contains(&action))
            && mechanism.is_some_and(known_mechanism)
            && aspect.is_none_or(known_aspect)
}

impl Effects {
    /// Reads the effects out of the rows of `quality`.
    pub fn of(rows: &[Quality], kernel_classes: Vec<String>) -> Effects {
        let mut list = Vec::new();
        for row in rows {
            list.extend(row.effect.split(',').filter_map(|text| effect(row, text)));
        }
        Effects { list, kernel_classes }
    }

    fn find(&self, artifact: i32, mechanism: &str, wanted: impl Fn(&Effect) -> bool) -> Option<&Effect> {
        self.list.iter().find(|effect| effect.about(artifact, mechanism) && wanted(effect))
    }

    fn covers(&self, aspect: &Aspect, alternate: &Alternate, basis: Option<Basis>) -> bool {
        let names_kernel = || self.kernel_classes.iter().any(|class| alternate.sql.contains(&format!("'{class}'")));
        match aspect {
            Aspect::Everything => true,
            Aspect::Kernel => names_kernel() || ["kernel_costs", "leaf_is_kernel"].iter().any(|word| alternate.sql.contains(word)),
            Aspect::KernelNames => names_kernel(),
            Aspect::Basis(own) => match basis {
                Some(basis) => basis.name() == own,
                None => alternate.probe == *own,
            },
            Aspect::Location | Aspect::Path | Aspect::Dso(_) => false,
        }
    }

    /// The artifact must not fill a slot with this alternate.
    pub fn block(&self, artifact: i32, alternate: &Alternate) -> Option<String> {
        let hit = |effect: &Effect| effect.action == Action::Block && self.covers(&effect.aspect, alternate, None);
        self.find(artifact, &alternate.mechanism, hit).map(|effect| effect.reason.clone())
    }

    /// What is read from it there is inconclusive.
    pub fn demotion(&self, artifact: i32, alternate: &Alternate, basis: Basis) -> Option<String> {
        let hit = |effect: &Effect| effect.action == Action::Demote && self.covers(&effect.aspect, alternate, Some(basis));
        self.find(artifact, &alternate.mechanism, hit).map(|effect| effect.reason.clone())
    }

    /// The places it names do not count; `dso` is where the place is.
    pub fn location(&self, artifact: i32, mechanism: &str, dso: Option<&str>) -> Option<String> {
        let hit = |effect: &Effect| {
            effect.action == Action::Demote
                && match &effect.aspect {
                    Aspect::Location | Aspect::Everything => true,
                    Aspect::Dso(own) => own.is_some() && own.as_deref() == dso,
                    _ => false,
                }
        };
        self.find(artifact, mechanism, hit).map(|effect| effect.reason.clone())
    }

    /// The places it names may lack their true caller.
    pub fn path(&self, artifact: i32, mechanism: &str) -> bool {
        self.find(artifact, mechanism, |effect| effect.action == Action::Demote && effect.aspect == Aspect::Path).is_some()
    }

    /// A zero in it proves nothing.
    pub fn no_zero(&self, artifact: i32, mechanism: &str) -> Option<String> {
        self.find(artifact, mechanism, |effect| effect.action == Action::NoZero).map(|effect| effect.reason.clone())
    }

    /// By what share its intervals widen: the largest of what the checks say.
    pub fn widening(&self, artifact: i32, alternate: &Alternate, basis: Basis) -> f64 {
        let of = |effect: &Effect| match effect.action {
            Action::Widen(share) if effect.about(artifact, &alternate.mechanism) && self.covers(&effect.aspect, alternate, Some(basis)) => {
                share
            }
            _ => 0.0,
        };
        self.list.iter().map(of).fold(0.0, f64::max)
    }

    /// Observations that are missing from it, as a share of all.
    pub fn lost(&self, artifact: i32, mechanism: &str) -> f64 {
        let of = |effect: &Effect| match effect.action {
            Action::Lost(share) if effect.about(artifact, mechanism) => share,
            _ => 0.0,
        };
        self.list.iter().map(of).fold(0.0, f64::max)
    }

    /// Artifacts that are the same recording in another form.
    pub fn same_recording(&self, artifact: i32) -> impl Iterator<Item = i32> {
        self.list.iter().filter(move |effect| effect.artifact == Some(artifact)).filter_map(|effect| match effect.action {
            Action::OneRoot(other) => other,
            _ => None,
        })
    }

    /// Whether a check took anything from this artifact; confidence falls where one did.
    pub fn touched(&self, artifact: i32, mechanism: &str) -> bool {
        self.find(artifact, mechanism, |effect| !effect.is_ok && !matches!(effect.action, Action::NoZero | Action::OneRoot(_))).is_some()
    }
}

fn effect(row: &Quality, text: &str) -> Option<Effect> {
    let mut parts = text.split(':');
    let value = row.value.unwrap_or(0.0);
    let action = match parts.next()? {
        "block" => Action::Block,
        "demote" => Action::Demote,
        "no_zero" => Action::NoZero,
        "widen" => Action::Widen(value.clamp(0.0, 1.0)),
        "widen_root" => Action::Widen((1.0 - value).clamp(0.0, 1.0).sqrt()),
        "lost" => Action::Lost(value.clamp(0.0, 1.0)),
        "one_root" => Action::OneRoot(row.other_artifact_id),
        _ => return None,
    };
    let mechanism = parts.next().unwrap_or("").to_owned();
    let aspect = match parts.next() {
        None => Aspect::Everything,
        Some("location") => Aspect::Location,
        Some("path") => Aspect::Path,
        Some("kernel") => Aspect::Kernel,
        Some("kernel_names") => Aspect::KernelNames,
        Some("dso") => Aspect::Dso(row.subject.clone()),
        Some(basis) => Aspect::Basis(basis.to_owned()),
    };
    let word = match action {
        Action::Block => "blocked",
        _ => "demoted",
    };
    let reason = format!("{word} by {}: {}", row.check, row.message);
    Some(Effect { artifact: row.artifact_id, mechanism, aspect, action, reason, is_ok: row.status.as_ref() == "ok" })
}
