//! A grouping that crosses runs, as partial sums of every batch and the sum of these.

use std::ops::ControlFlow;

use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, OrderByKind, Query, Select, SelectItem,
    VisitMut, VisitorMut, visit_expressions,
};

use super::split::{Scope, name_of, order, quoted};
use super::statement::parser;

/// What every batch is asked, and what is asked of its answers.
pub(super) struct Sums {
    pub partial: String,
    /// Columns of the answer, in terms of the partial ones.
    items: Vec<String>,
    groups: usize,
    having: Option<String>,
    /// ORDER BY, perhaps LIMIT with it.
    order: String,
    is_distinct: bool,
}

impl Sums {
    /// The second step over a table of partial sums.
    pub(super) fn last(&self, part: &str) -> String {
        let distinct = if self.is_distinct { "DISTINCT " } else { "" };
        let mut sql = format!("SELECT {distinct}{} FROM {part}", self.items.join(", "));
        if self.groups > 0 {
            let groups: Vec<String> = (0..self.groups).map(group).collect();
            sql.push_str(&format!(" GROUP BY {}", groups.join(", ")));
        }
        if let Some(having) = &self.having {
            sql.push_str(&format!(" HAVING {having}"));
        }
        sql.push_str(&self.order);
        sql
    }
}

fn group(at: usize) -> String {
    format!("__group_{at}")
}

fn column(at: usize) -> String {
    format!("__sum_{at}")
}

/// The rows of all batches once more without repetitions; `None` where they are ordered by what is not given.
pub(super) fn distinct(select: &Select, query: &Query) -> Option<Sums> {
    let names: Option<Vec<String>> = select.projection.iter().map(|item| Some(given(item)?.0.to_string())).collect();
    Some(Sums { partial: select.to_string(), items: names?, groups: 0, having: None, order: order(query)?, is_distinct: true })
}

/// Name and expression of a column of the result.
fn given(item: &SelectItem) -> Option<(&Ident, &Expr)> {
    match item {
        SelectItem::ExprWithAlias { expr, alias } => Some((alias, expr)),
        SelectItem::UnnamedExpr(expr @ Expr::Identifier(name)) => Some((name, expr)),
        SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(parts)) => parts.last().map(|name| (name, expr)),
        _ => None,
    }
}

/// `None` where something in it cannot be summed from parts.
pub(super) fn of(select: &Select, query: &Query, groups: &[Expr], scope: &Scope) -> Option<Sums> {
    let names: Vec<(&Ident, &Expr)> = select.projection.iter().map(given).collect::<Option<_>>()?;
    // A name of the result among the keys, or a number: what it stands for is the engine's business.
    let is_key = |key: &Expr| match key {
        Expr::Value(_) => false,
        Expr::Identifier(name) => names.iter().all(|(own, expr)| *own != name || *expr == key),
        _ => true,
    };
    if !groups.iter().all(is_key) {
        return None;
    }
    let mut rewrite = Rewrite { groups, scope, calls: Vec::new() };
    let exprs: Vec<Expr> = names.iter().map(|(_, expr)| rewrite.of(expr)).collect::<Option<_>>()?;
    let having = select.having.as_ref().map(|having| rewrite.of(having));
    let order = rewrite.order(query, &names, &exprs)?;
    let having = match having {
        Some(None) => return None,
        Some(Some(having)) => Some(having.to_string()),
        None => None,
    };
    let items = names.iter().zip(&exprs).map(|((name, _), expr)| format!("{expr} AS {name}")).collect();
    Some(Sums { partial: partial(select, groups, &rewrite.calls)?, items, groups: groups.len(), having, order, is_distinct: false })
}

fn partial(select: &Select, groups: &[Expr], calls: &[String]) -> Option<String> {
    let keys = groups.iter().enumerate().map(|(at, key)| format!("{key} AS {}", group(at)));
    let sums = calls.iter().enumerate().map(|(at, call)| format!("{call} AS {}", column(at)));
    let items: Vec<String> = keys.chain(sums).collect();
    let mut sql = format!("SELECT {} FROM {}", items.join(", "), select.from.first()?);
    if let Some(condition) = &select.selection {
        sql.push_str(&format!(" WHERE {condition}"));
    }
    if !groups.is_empty() {
        let keys: Vec<String> = groups.iter().map(ToString::to_string).collect();
        sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
    }
    Some(sql)
}

/// Puts partial columns in the place of keys and sums.
struct Rewrite<'a> {
    groups: &'a [Expr],
    scope: &'a Scope,
    /// What every batch sums, in order of their columns.
    calls: Vec<String>,
}

impl Rewrite<'_> {
    /// ORDER BY and LIMIT of the second step.
    fn order(&mut self, query: &Query, names: &[(&Ident, &Expr)], exprs: &[Expr]) -> Option<String> {
        let mut text = String::new();
        if let Some(order_by) = &query.order_by {
            let OrderByKind::Expressions(keys) = &order_by.kind else { return None };
            let mut texts = Vec::new();
            for key in keys {
                let mut key = key.clone();
                if !matches!(&key.expr, Expr::Identifier(name) if names.iter().any(|(own, _)| *own == name)) {
                    let rewritten = self.of(&key.expr)?;
                    let given = exprs.iter().position(|own| *own == rewritten).and_then(|at| names.get(at));
                    key.expr = given.map_or(rewritten, |(name, _)| Expr::Identifier(quoted(name)));
                }
                texts.push(key.to_string());
            }
            text = format!(" ORDER BY {}", texts.join(", "));
        }
        if let Some(limit) = &query.limit_clause {
            text.push_str(&limit.to_string());
        }
        Some(text)
    }

    fn of(&mut self, expr: &Expr) -> Option<Expr> {
        let mut expr = expr.clone();
        if expr.visit(self).is_break() {
            return None;
        }
        // What is left of the original tables cannot be answered from sums.
        let is_foreign = |own: &Expr| match own {
            Expr::Identifier(name) => !name.value.starts_with("__group_") && !name.value.starts_with("__sum_"),
            Expr::CompoundIdentifier(_) | Expr::CompoundFieldAccess { .. } => true,
            _ => false,
        };
        let left = visit_expressions(&expr, |own| if is_foreign(own) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        left.is_continue().then_some(expr)
    }

    /// The sum of the parts of an aggregate.
    fn total(&mut self, call: &Function) -> Option<Expr> {
        let FunctionArguments::List(list) = &call.args else { return None };
        let is_simple = call.over.is_none()
            && call.within_group.is_empty()
            && call.null_treatment.is_none()
            && matches!(call.parameters, FunctionArguments::None)
            && list.clauses.is_empty();
        let is_distinct = matches!(list.duplicate_treatment, Some(DuplicateTreatment::Distinct));
        let (part, total) = match name_of(call).as_str() {
            "sum" if !is_distinct => (call.to_string(), "SUM"),
            "min" => (call.to_string(), "MIN"),
            "max" => (call.to_string(), "MAX"),
            // No run is in two batches.
            "count" if !is_distinct || self.counts_runs(&list.args) => (format!("CAST({call} AS BIGINT)"), "SUM"),
            _ => return None,
        };
        if !is_simple {
            return None;
        }
        let at = self.calls.iter().position(|own| *own == part).unwrap_or_else(|| {
            self.calls.push(part);
            self.calls.len() - 1
        });
        parser(&format!("{total}({})", column(at))).ok()?.parse_expr().ok()
    }

    fn counts_runs(&self, args: &[FunctionArg]) -> bool {
        matches!(args, [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] if self.scope.is_run(expr))
    }
}

impl VisitorMut for Rewrite<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Some(at) = self.groups.iter().position(|key| key == expr) {
            *expr = Expr::Identifier(Ident::new(group(at)));
            return ControlFlow::Continue(());
        }
        if let Expr::Function(call) = expr
            && !SCALARS.contains(&name_of(call).as_str())
        {
            match self.total(call) {
                Some(total) => *expr = total,
                None => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    }
}

/// Functions of one row that may stand around sums.
const SCALARS: &[&str] = &["coalesce", "nullif", "abs", "round", "lower", "upper", "floor", "ceil"];
