//! Who was charged first: the amounts that special explanations took from general ones.

use super::page::Page;
use crate::emit::escape::plain;
use crate::emit::view::{Entry, View};
use crate::emit::{number, words};
use crate::tables::Charged;

pub fn tell(page: &mut Page, view: &View<'_>, entry: &Entry<'_>) {
    let id = &*entry.row.hypothesis;
    let charges = &view.run.tables.charges;
    let taken: Vec<&Charged> = charges.iter().filter(|row| &*row.hypothesis == id).collect();
    let given: Vec<&Charged> = charges.iter().filter(|row| &*row.special == id).collect();
    if taken.is_empty() && given.is_empty() {
        return;
    }
    page.line(0, "Charged once: special explanations take their cost from general ones, so that no second counts twice.");
    let resource = words::resource(entry.row.resource.as_deref().unwrap_or("its resource"));
    for row in &taken {
        let special = plain(&row.special);
        page.line(
            2,
            &match row.share {
                Some(share) => format!("{special} took {} of {resource}: {}", number::share(share), why(row, view)),
                None => format!("{special} took all of it: {}", why(row, view)),
            },
        );
    }
    if let (Some(cost), Some(taken)) = (entry.row.cost_share, sum(&taken)) {
        page.line(2, &format!("Of its {}, {} are left.", number::share(cost), number::share((cost - taken).max(0.0))));
    }
    for row in &given {
        let general = plain(&row.hypothesis);
        page.line(
            2,
            &match row.share {
                Some(share) => format!("It took {} of {general}'s cost: {}", number::share(share), why(row, view)),
                None => format!("It took all of {general}'s cost: {}", why(row, view)),
            },
        );
    }
}

fn sum(rows: &[&Charged]) -> Option<f64> {
    let shares: Vec<f64> = rows.iter().filter_map(|row| row.share).collect();
    (!shares.is_empty()).then(|| shares.iter().sum())
}

fn why(row: &Charged, view: &View<'_>) -> String {
    let name = |id: &str| {
        let found = view.run.tables.hypotheses.iter().find(|own| &*own.hypothesis == id);
        found.map_or_else(|| plain(id).into_owned(), |own| plain(&own.name).into_owned())
    };
    let (special, general) = (name(&row.special), name(&row.hypothesis));
    match row.how.strip_prefix("class ") {
        Some(class) => format!("what of its place lies under functions of the class {}", plain(class)),
        None if &*row.how == "all" => format!("{general} is a mere consequence of {special}"),
        None => format!("{special} is a special case of {general}, and this is its own cost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_add_up() {
        let mut run = crate::emit::sample();
        let row = |share| Charged { hypothesis: "R27".into(), special: "R25".into(), how: "share".into(), share };
        run.tables.charges =
            vec![row(Some(0.25)), Charged { hypothesis: "R27".into(), special: "R18".into(), how: "all".into(), share: None }];
        for own in run.tables.hypotheses.iter_mut().filter(|own| &*own.hypothesis == "R27") {
            own.cost_share = Some(0.60);
        }
        let view = View::new(&run);
        let said = |id: &str| {
            let mut page = Page::new(1000);
            let ledger = view.ledger();
            tell(&mut page, &view, ledger.iter().find(|entry| &*entry.row.hypothesis == id).unwrap());
            page.into_text()
        };
        // 60 % - 25 % = 35 %.
        for part in ["R25 took 25.0 % of", "R18 took all of it", "Of its 60.0 %, 35.0 % are left."] {
            assert!(said("R27").contains(part), "{part}\n{}", said("R27"));
        }
        assert!(said("R25").contains("It took 25.0 % of R27's cost"));
        assert_eq!(said("R18").lines().count(), 2);
    }
}
