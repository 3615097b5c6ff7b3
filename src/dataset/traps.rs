//! What polars 0.55 would answer with other rows than the statement means, and no error; and what means nothing over many
//! runs.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Join, JoinConstraint, JoinOperator, Query, Select, SelectItem, Visit, Visitor};

use super::statement::{conjuncts, relation_name};

/// Refuses what polars 0.55 would answer with other rows than SQL means, and no error: an outer join on more than
/// equalities of columns becomes an inner one, and a sum beside a column is repeated on every row.
pub fn refuse_traps(query: &Query) -> Result<(), String> {
    first_of(query, |select| {
        let mut joins = select.from.iter().flat_map(|from| &from.joins);
        let outer = joins.find_map(trap).map(|condition| {
            format!(
                "an outer join takes equalities of columns only, found `{condition}` after ON (polars would leave rows out without a word); \
                 filter in a CTE first, and join its rows"
            )
        });
        outer.or_else(|| mixed(select))
    })
}

/// Refuses a join that takes the ids of one run for those of another: ids mean something within their run only.
pub fn refuse_strangers(query: &Query) -> Result<(), String> {
    first_of(query, |select| {
        let mut of_where = select.selection.iter().flat_map(conjuncts).filter_map(compared).flatten();
        if of_where.any(|name| name == super::RUN) {
            return None;
        }
        select.from.iter().flat_map(|from| &from.joins).find_map(strangers)
    })
}

/// The first reason that a SELECT of the statement gives.
fn first_of(query: &Query, why: impl Fn(&Select) -> Option<String>) -> Result<(), String> {
    struct Traps<F>(F);
    impl<F: Fn(&Select) -> Option<String>> Visitor for Traps<F> {
        type Break = String;
        fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
            (self.0)(select).map_or(ControlFlow::Continue(()), ControlFlow::Break)
        }
    }
    match query.visit(&mut Traps(why)) {
        ControlFlow::Break(why) => Err(why),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The functions of polars' SQL that make one value of many rows.
const AGGREGATES: &[&str] = &[
    "array_agg",
    "avg",
    "corr",
    "count",
    "covar",
    "covar_pop",
    "covar_samp",
    "first",
    "group_concat",
    "last",
    "listagg",
    "max",
    "median",
    "min",
    "quantile_cont",
    "quantile_disc",
    "stddev",
    "stddev_samp",
    "stdev",
    "stdev_samp",
    "string_agg",
    "sum",
    "total",
    "var",
    "var_samp",
    "variance",
];

/// A column that stands beside an aggregate where nothing is grouped.
fn mixed(select: &Select) -> Option<String> {
    if !matches!(&select.group_by, GroupByExpr::Expressions(own, _) if own.is_empty()) {
        return None;
    }
    let items: Vec<(&SelectItem, Holds)> = select.projection.iter().map(|item| (item, Holds::of(item))).collect();
    let aggregate = items.iter().find(|(_, holds)| holds.aggregate)?.0;
    let column = items.iter().find(|(_, holds)| holds.column && !holds.aggregate && !holds.window)?.0;
    Some(format!("`{column}` stands beside `{aggregate}` and nothing is grouped; write GROUP BY {column}, or leave one of them out"))
}

/// What a selected item is made of.
#[derive(Default)]
struct Holds {
    aggregate: bool,
    window: bool,
    column: bool,
    /// Inside a SELECT of its own, which is looked at by itself.
    depth: usize,
}

impl Holds {
    fn of(item: &SelectItem) -> Holds {
        let mut holds = Holds { column: matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)), ..Holds::default() };
        let _ = item.visit(&mut holds);
        holds
    }
}

impl Visitor for Holds {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            _ if self.depth > 0 => {}
            Expr::Function(call) if call.over.is_some() => self.window = true,
            Expr::Function(call) => {
                self.aggregate |= AGGREGATES.contains(&relation_name(&call.name).to_ascii_lowercase().as_str());
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.column = true,
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Ids that a join compares without comparing the runs.
fn strangers(join: &Join) -> Option<String> {
    let constraint = match &join.join_operator {
        JoinOperator::Join(own)
        | JoinOperator::Inner(own)
        | JoinOperator::Left(own)
        | JoinOperator::LeftOuter(own)
        | JoinOperator::Right(own)
        | JoinOperator::RightOuter(own)
        | JoinOperator::FullOuter(own)
        | JoinOperator::Semi(own)
        | JoinOperator::LeftSemi(own)
        | JoinOperator::RightSemi(own)
        | JoinOperator::Anti(own)
        | JoinOperator::LeftAnti(own)
        | JoinOperator::RightAnti(own) => own,
        _ => return None,
    };
    let columns: Vec<String> = match constraint {
        JoinConstraint::On(on) => conjuncts(on).into_iter().filter_map(compared).flatten().collect(),
        JoinConstraint::Using(names) => names.iter().map(relation_name).collect(),
        _ => return None,
    };
    // A build-id is the same in all runs.
    let id = columns.iter().find(|name| name.ends_with("_id") && *name != "build_id")?;
    if columns.iter().any(|name| name == super::RUN) {
        return None;
    }
    Some(format!(
        "this joins on {id} but not on {}: ids of two runs have nothing to do with each other; add AND a.run = b.run (a, b: the two tables), \
         or ask one run: tripod query ROOT/run=ID",
        super::RUN
    ))
}

/// The names of the two columns that an equality compares; `None` for any other term.
fn compared(term: &Expr) -> Option<[String; 2]> {
    let name = |side: &Expr| match side {
        Expr::Identifier(own) => Some(own.value.clone()),
        Expr::CompoundIdentifier(parts) => parts.last().map(|own| own.value.clone()),
        _ => None,
    };
    match term {
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => Some([name(left)?, name(right)?]),
        _ => None,
    }
}

fn trap(join: &Join) -> Option<String> {
    let on = match &join.join_operator {
        JoinOperator::Left(JoinConstraint::On(on))
        | JoinOperator::LeftOuter(JoinConstraint::On(on))
        | JoinOperator::Right(JoinConstraint::On(on))
        | JoinOperator::RightOuter(JoinConstraint::On(on))
        | JoinOperator::FullOuter(JoinConstraint::On(on)) => on,
        _ => return None,
    };
    conjuncts(on).into_iter().find(|term| compared(term).is_none()).map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::super::statement::parse;
    use super::*;

    #[test]
    fn outer_joins_on_more_than_equalities_are_refused() {
        let check = |sql: &str| refuse_traps(&parse(sql).unwrap());
        assert_eq!(check("SELECT a.n FROM a LEFT JOIN b ON a.x = b.x AND (a.run = b.run)"), Ok(()));
        assert_eq!(check("SELECT a.n FROM a JOIN b ON a.x = b.x AND a.ts_ns < b.ts_ns"), Ok(()));
        for sql in [
            "SELECT a.n FROM a LEFT JOIN b ON a.x = b.x AND a.ts_ns < b.ts_ns",
            "WITH c AS (SELECT a.n FROM a FULL JOIN b ON a.x = b.x OR a.y = b.y) SELECT n FROM c",
            "SELECT n FROM (SELECT a.n FROM a LEFT JOIN b ON a.x = b.x AND b.name = 'z') AS q",
        ] {
            assert!(check(sql).unwrap_err().contains("equalities"), "{sql}");
        }
    }

    #[test]
    fn a_sum_beside_a_column_is_refused() {
        let check = |sql: &str| refuse_traps(&parse(sql).unwrap());
        for sql in [
            "SELECT SUM(calls) AS c FROM syscalls",
            "SELECT name, SUM(calls) AS c FROM syscalls GROUP BY name",
            "SELECT name, SUM(calls) OVER (PARTITION BY name) AS c FROM syscalls",
            "SELECT 'all' AS what, COUNT(*) AS n, MAX(calls) - MIN(calls) AS range FROM syscalls",
            "SELECT name, (SELECT MAX(calls) FROM syscalls) AS most FROM syscalls",
            "SELECT name, calls IN (SELECT MAX(calls) FROM syscalls) AS is_most FROM syscalls",
        ] {
            assert_eq!(check(sql), Ok(()), "{sql}");
        }
        for sql in [
            "SELECT name, SUM(calls) AS c FROM syscalls",
            "WITH a AS (SELECT s.name, max(s.calls) + 1 AS c FROM syscalls AS s) SELECT name FROM a",
            "SELECT *, COUNT(*) AS n FROM syscalls",
            "SELECT name, TOTAL(calls) AS c FROM syscalls",
        ] {
            assert!(check(sql).unwrap_err().contains("GROUP BY"), "{sql}");
        }
    }

    #[test]
    fn ids_of_two_runs_do_not_meet() {
        let check = |sql: &str| refuse_strangers(&parse(sql).unwrap());
        for sql in [
            "SELECT t.name FROM samples AS s JOIN threads AS t ON s.thread_id = t.thread_id AND s.run = t.run",
            "SELECT t.name FROM samples JOIN threads AS t USING (run, thread_id)",
            "SELECT f.name FROM functions AS f JOIN functions AS g ON f.function_key = g.function_key",
            "SELECT a.name FROM dsos AS a JOIN dsos AS b ON a.build_id = b.build_id",
            "SELECT t.name FROM samples AS s JOIN threads AS t ON s.thread_id = t.thread_id WHERE s.run = t.run AND t.tid = 5",
            "SELECT e.name FROM events AS e CROSS JOIN (SELECT MIN(event_id) AS event_id FROM events) AS m",
        ] {
            assert_eq!(check(sql), Ok(()), "{sql}");
        }
        for sql in [
            "SELECT t.name FROM samples AS s JOIN threads AS t ON s.thread_id = t.thread_id",
            "WITH a AS (SELECT t.name FROM samples AS s LEFT JOIN threads AS t ON t.tid = 5 AND s.thread_id = t.thread_id) SELECT name FROM a",
            "SELECT t.name FROM samples JOIN threads AS t USING (thread_id)",
        ] {
            assert!(check(sql).unwrap_err().contains("a.run = b.run"), "{sql}");
        }
    }
}
