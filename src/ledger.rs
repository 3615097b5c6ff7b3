//! VERDICTS -> LEDGER: labels, costs charged once, and the rows that say all of it.

mod charge;
mod rows;

use crate::quality::Effects;
use crate::rules::score::Word;
use crate::rules::slot::SlotResult;
use crate::rules::{Judged, Judgement};
use crate::tables::Tables;

/// What three angles together say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Kernel,
    Disputed,
    Open,
    Discarded,
    Refuted,
    Unlikely,
    NotEvaluated,
    NotApplicable,
}

impl Label {
    /// S slots support, R reject, U are not measured.
    pub fn of(supports: usize, rejects: usize, not_measured: usize) -> Label {
        match (supports, rejects, not_measured) {
            (3.., _, _) => Label::Kernel,
            (2, _, _) => Label::Disputed,
            (1, _, 0) => Label::Discarded,
            (1, _, _) => Label::Open,
            (0, 2.., _) => Label::Refuted,
            (0, 1, _) => Label::Unlikely,
            (0, 0, _) => Label::NotEvaluated,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Label::Kernel => "KERNEL",
            Label::Disputed => "DISPUTED",
            Label::Open => "open",
            Label::Discarded => "discarded",
            Label::Refuted => "refuted",
            Label::Unlikely => "unlikely",
            Label::NotEvaluated => "not evaluated",
            Label::NotApplicable => "not applicable",
        }
    }
}

/// How many slots say what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    supports: usize,
    rejects: usize,
    not_measured: usize,
}

impl Count {
    /// An angle that supports by what is not there ("hardly any allocation") counts beside two that say what is
    /// (rules.md 2.3); beside fewer it settles nothing.
    fn of(judged: &Judged) -> Count {
        let count = |word: Word| judged.slots.iter().filter(|slot| slot.verdict.word() == word).count();
        let is_exclusion = |slot: &&SlotResult| slot.alternate.as_ref().is_some_and(|alternate| alternate.is_exclusion);
        let idle = judged.slots.iter().filter(|slot| slot.verdict.word() == Word::Supports).filter(is_exclusion).count();
        let (supports, not_measured) = (count(Word::Supports), count(Word::NotMeasured));
        let counted = if supports - idle >= 2 { supports } else { supports - idle };
        Count { supports: counted, rejects: count(Word::Rejects), not_measured: not_measured + (supports - counted) }
    }

    fn label(self, judged: &Judged) -> Label {
        match judged.not_applicable {
            Some(_) => Label::NotApplicable,
            None => Label::of(self.supports, self.rejects, self.not_measured),
        }
    }
}

/// Writes the rows of readings, evidence, hypotheses and thresholds, and what is missing.
pub fn settle(tables: &mut Tables, judged: &[Judged], effects: &Effects, out: &mut Judgement) {
    let charges = charge::charge(tables, judged, &out.facts);
    for (own, charge) in judged.iter().zip(&charges) {
        rows::hypothesis(tables, own, charge, effects);
        rows::charges(tables, own, charge);
        rows::readings(tables, own);
        rows::evidence(tables, own);
        rows::thresholds(tables, own);
        rows::statements(tables, own, out);
    }
}

#[cfg(test)]
mod tests {
    use super::Label;

    /// design.md section 4: all ten ways in which three slots can fall.
    #[test]
    fn ten_triples() {
        let table = [
            (3, 0, 0, "KERNEL"),
            (2, 1, 0, "DISPUTED"),
            (2, 0, 1, "DISPUTED"),
            (1, 2, 0, "discarded"),
            (1, 1, 1, "open"),
            (1, 0, 2, "open"),
            (0, 3, 0, "refuted"),
            (0, 2, 1, "refuted"),
            (0, 1, 2, "unlikely"),
            (0, 0, 3, "not evaluated"),
        ];
        for (s, r, u, label) in table {
            assert_eq!(Label::of(s, r, u).name(), label, "S={s} R={r} U={u}");
        }
    }
}
