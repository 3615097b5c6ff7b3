//! A statement over all runs, split into what can be asked of one batch of runs after the other, and what is asked of the
//! rows that come out.
//!
//! Ids mean something within their run only, so a statement over many runs joins its tables on `run` and sums afterwards.
//! What it does within the runs is the bulk of the work and needs no run but its own:
//!
//! ```text
//! WITH per_run AS (SELECT c.run AS run, f.name AS name, CAST(SUM(c.self_weight) AS BIGINT) AS weight
//!                  FROM function_costs AS c JOIN functions AS f ON f.run = c.run AND f.function_id = c.function_id
//!                  GROUP BY c.run, f.name)                 -- by run: each batch gives its part of the rows
//! SELECT name AS name, COUNT(*) AS runs, CAST(SUM(weight) AS BIGINT) AS weight
//! FROM per_run GROUP BY name ORDER BY weight DESC          -- sums: each batch gives partial sums, which are summed
//! ```
//!
//! A SELECT is *by run* if all its tables are, every join has `a.run = b.run`, and whatever it groups, numbers or makes
//! distinct has the run among its keys. It is *sums* if only its grouping crosses runs, with SUM, COUNT, MIN and MAX, or
//! COUNT(DISTINCT run), or its DISTINCT. The rest is asked of whole tables. The rows are those of the statement as it stands, whatever is
//! recognized here; only the memory differs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Cte, Distinct, Expr, Function, FunctionArguments, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, OrderByKind,
    Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, TableFactor, TableWithJoins, WindowType, visit_expressions,
};

use super::statement::{conjuncts, parse, relation_name, relations};
use super::sums;

/// The column that says which run a row is of.
pub const RUN: &str = "run";

/// What is asked of every batch: the rows of all batches make a table of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    pub sql: String,
}

/// A statement in two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Tables that every batch makes for itself first, since several parts read them.
    pub shared: Vec<Part>,
    pub parts: Vec<Part>,
    /// Asked of the tables that the parts make.
    pub last: String,
    /// Tables of which every row is needed at once.
    pub whole: Vec<String>,
}

/// How a name after FROM stands to the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It has rows run by run, and a column `run`.
    ByRun,
    /// A table of the second step.
    Last,
}

/// What a SELECT does with its runs.
pub(super) enum Kind {
    ByRun { has_run: bool },
    Sums(sums::Sums),
    Rest,
}

/// Splits a statement over the tables of those names.
pub fn split(statement: &str, tables: &[&str]) -> Result<Plan, String> {
    let mut query = parse(statement)?;
    let with = query.with.take();
    let is_recursive = with.as_ref().is_some_and(|with| with.recursive);
    let ctes = with.map(|with| with.cte_tables).unwrap_or_default();
    let names: Vec<&str> = ctes.iter().map(|cte| cte.alias.name.value.as_str()).collect();
    let shadows = names.iter().enumerate().any(|(at, name)| tables.contains(name) || names.iter().take(at).any(|other| other == name));
    let mut splitter = Splitter {
        sources: tables.iter().map(|name| ((*name).to_owned(), Source::ByRun)).collect(),
        tables,
        by_run: Vec::new(),
        rest: Vec::new(),
        parts: Vec::new(),
        plan: Plan::default(),
    };
    if is_recursive || shadows {
        splitter.need(&relations(&parse(statement)?))?;
        splitter.plan.last = statement.to_owned();
        return Ok(splitter.finish());
    }
    for cte in ctes {
        splitter.cte(cte)?;
    }
    splitter.body(query)?;
    Ok(splitter.finish())
}

struct Splitter<'a> {
    sources: BTreeMap<String, Source>,
    tables: &'a [&'a str],
    /// CTEs that every batch has for itself.
    by_run: Vec<Cte>,
    /// CTEs of the second step.
    rest: Vec<Cte>,
    parts: Vec<OwnPart>,
    plan: Plan,
}

/// A part without the CTEs that it may name: the first `ctes` of those that are by run.
struct OwnPart {
    name: String,
    query: Query,
    ctes: usize,
}

impl Splitter<'_> {
    fn cte(&mut self, mut cte: Cte) -> Result<(), String> {
        let name = cte.alias.name.value.clone();
        let is_plain = cte.alias.columns.is_empty() && cte.materialized.is_none() && cte.from.is_none();
        let is_ordered = cte.query.order_by.is_some() || cte.query.limit_clause.is_some();
        match if is_plain { self.kind(&cte.query) } else { Kind::Rest } {
            Kind::ByRun { has_run: true } if !is_ordered => {
                self.sources.insert(name, Source::ByRun);
                self.by_run.push(cte);
                return Ok(());
            }
            Kind::ByRun { has_run: false } if !is_ordered => self.part(&name, *cte.query.clone()),
            Kind::Sums(sums) => {
                let part = self.fresh_part(parse(&sums.partial)?);
                cte.query = Box::new(parse(&sums.last(&part))?);
                self.rest.push(cte);
            }
            _ => {
                self.need(&relations(&*cte.query))?;
                self.rest.push(cte);
            }
        }
        self.sources.insert(name, Source::Last);
        Ok(())
    }

    fn body(&mut self, query: Query) -> Result<(), String> {
        match self.kind(&query) {
            Kind::ByRun { .. } => {
                if let Some(order) = order(&query) {
                    let bare = Query { order_by: None, limit_clause: None, ..query };
                    let part = self.fresh_part(bare);
                    self.plan.last = format!("SELECT * FROM {part}{order}");
                    return Ok(());
                }
            }
            Kind::Sums(sums) => {
                let part = self.fresh_part(parse(&sums.partial)?);
                self.plan.last = sums.last(&part);
                return Ok(());
            }
            Kind::Rest => {}
        }
        self.need(&relations(&query))?;
        self.plan.last = with(&self.rest, &query.to_string());
        Ok(())
    }

    /// The second step asks these by their names.
    fn need(&mut self, names: &BTreeSet<String>) -> Result<(), String> {
        for name in names {
            let is_by_run = self.sources.get(name) == Some(&Source::ByRun);
            if is_by_run && !self.parts.iter().any(|part| part.name == *name) {
                self.part(name, parse(&format!("SELECT * FROM \"{name}\""))?);
                if self.tables.contains(&name.as_str()) {
                    self.plan.whole.push(name.clone());
                }
            }
        }
        Ok(())
    }

    fn part(&mut self, name: &str, query: Query) {
        self.parts.push(OwnPart { name: name.to_owned(), query, ctes: self.by_run.len() });
    }

    fn fresh_part(&mut self, query: Query) -> String {
        let name = format!("__part_{}", self.parts.len());
        self.part(&name, query);
        name
    }

    /// Gives every part the CTEs it may name; those that two or more read are made once for all.
    fn finish(mut self) -> Plan {
        let users: Vec<BTreeSet<String>> =
            self.by_run.iter().map(|cte| relations(&*cte.query)).chain(self.parts.iter().map(|part| relations(&part.query))).collect();
        let is_shared = |cte: &Cte| users.iter().filter(|names| names.contains(&cte.alias.name.value)).count() > 1;
        let own = |count: usize| self.by_run.iter().take(count).filter(|cte| !is_shared(cte)).cloned().collect::<Vec<Cte>>();
        for (at, cte) in self.by_run.iter().enumerate().filter(|(_, cte)| is_shared(cte)) {
            let sql = with(&own(at), &cte.query.to_string());
            self.plan.shared.push(Part { name: cte.alias.name.value.clone(), sql });
        }
        for part in &self.parts {
            let sql = with(&own(part.ctes), &part.query.to_string());
            self.plan.parts.push(Part { name: part.name.clone(), sql });
        }
        self.plan
    }

    fn kind(&self, query: &Query) -> Kind {
        let is_plain = query.with.is_none()
            && query.fetch.is_none()
            && query.locks.is_empty()
            && query.for_clause.is_none()
            && query.settings.is_none()
            && query.format_clause.is_none()
            && query.pipe_operators.is_empty();
        if is_plain { self.kind_of(&query.body, query) } else { Kind::Rest }
    }

    fn kind_of(&self, body: &SetExpr, query: &Query) -> Kind {
        match body {
            SetExpr::Select(select) => self.kind_of_select(select, query),
            SetExpr::SetOperation { left, op: SetOperator::Union, set_quantifier: SetQuantifier::All, right } => {
                match (self.kind_of(left, query), self.kind_of(right, query)) {
                    (Kind::ByRun { has_run: a }, Kind::ByRun { has_run: b }) => Kind::ByRun { has_run: a && b },
                    _ => Kind::Rest,
                }
            }
            _ => Kind::Rest,
        }
    }

    fn kind_of_select(&self, select: &Select, query: &Query) -> Kind {
        let Some(scope) = self.scope(select) else { return Kind::Rest };
        let Some(groups) = groups(select) else { return Kind::Rest };
        let calls = calls(select);
        let distinct = match &select.distinct {
            None => false,
            Some(Distinct::Distinct) => true,
            Some(_) => return Kind::Rest,
        };
        let windows: Vec<&Function> = calls.iter().filter(|call| call.over.is_some()).collect();
        if !is_plain(select) || has_subquery(select) || !windows.iter().all(|call| scope.is_partitioned(call)) {
            return Kind::Rest;
        }
        let by_run = groups.iter().any(|group| scope.is_run(group));
        let has_run = select.projection.iter().any(|item| scope.gives_run(item));
        let is_known = |call: &&Function| SCALARS.contains(&name_of(call).as_str()) || call.over.is_some();
        let is_row_wise = groups.is_empty() && calls.iter().all(|call| is_known(&call));
        if (by_run || is_row_wise) && (!distinct || has_run) {
            return Kind::ByRun { has_run };
        }
        if is_row_wise && distinct && windows.is_empty() {
            return sums::distinct(select, query).map_or(Kind::Rest, Kind::Sums);
        }
        if by_run || is_row_wise || distinct || !windows.is_empty() {
            return Kind::Rest;
        }
        sums::of(select, query, &groups, &scope).map_or(Kind::Rest, Kind::Sums)
    }

    /// The tables of a SELECT, if all are by run and joined by it.
    fn scope(&self, select: &Select) -> Option<Scope> {
        let [TableWithJoins { relation, joins }] = select.from.as_slice() else { return None };
        let first = self.alias(relation)?;
        let mut scope = Scope { certain: vec![first.clone()], is_single: joins.is_empty() };
        let mut seen = vec![first];
        for join in joins {
            let Join { relation, join_operator, .. } = join;
            let alias = self.alias(relation)?;
            let (on, is_certain) = match join_operator {
                JoinOperator::Join(JoinConstraint::On(on)) | JoinOperator::Inner(JoinConstraint::On(on)) => (on, true),
                JoinOperator::Left(JoinConstraint::On(on))
                | JoinOperator::LeftOuter(JoinConstraint::On(on))
                | JoinOperator::LeftSemi(JoinConstraint::On(on))
                | JoinOperator::LeftAnti(JoinConstraint::On(on))
                | JoinOperator::Semi(JoinConstraint::On(on))
                | JoinOperator::Anti(JoinConstraint::On(on)) => (on, false),
                _ => return None,
            };
            if !conjuncts(on).iter().any(|term| joins_runs(term, &alias, &seen)) {
                return None;
            }
            if is_certain {
                scope.certain.push(alias.clone());
            }
            seen.push(alias);
        }
        Some(scope)
    }

    fn alias(&self, factor: &TableFactor) -> Option<String> {
        match factor {
            TableFactor::Table { name, alias, args: None, version: None, sample: None, .. } => {
                let name = relation_name(name);
                let is_by_run = self.sources.get(&name) == Some(&Source::ByRun);
                is_by_run.then(|| alias.as_ref().map_or(name, |alias| alias.name.value.clone()))
            }
            TableFactor::Derived { lateral: false, subquery, alias: Some(alias), .. } if alias.columns.is_empty() => {
                let is_ordered = subquery.order_by.is_some() || subquery.limit_clause.is_some();
                let is_by_run = matches!(self.kind(subquery), Kind::ByRun { has_run: true });
                (is_by_run && !is_ordered).then(|| alias.name.value.clone())
            }
            _ => None,
        }
    }
}

/// The tables of a SELECT by the names it gives them.
pub(super) struct Scope {
    /// Those whose run is never null.
    certain: Vec<String>,
    is_single: bool,
}

impl Scope {
    /// Whether an expression is the run of the row.
    pub(super) fn is_run(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Identifier(ident) => self.is_single && ident.value == RUN,
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [alias, column] => column.value == RUN && self.certain.contains(&alias.value),
                _ => false,
            },
            _ => false,
        }
    }

    fn gives_run(&self, item: &SelectItem) -> bool {
        match item {
            SelectItem::UnnamedExpr(expr) => self.is_run(expr),
            SelectItem::ExprWithAlias { expr, alias } => alias.value == RUN && self.is_run(expr),
            SelectItem::Wildcard(_) => self.is_single,
            _ => false,
        }
    }

    fn is_partitioned(&self, call: &Function) -> bool {
        match &call.over {
            Some(WindowType::WindowSpec(spec)) => spec.window_name.is_none() && spec.partition_by.iter().any(|key| self.is_run(key)),
            _ => false,
        }
    }
}

/// `alias.run = other.run`, in either order.
fn joins_runs(term: &Expr, alias: &str, seen: &[String]) -> bool {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = term else { return false };
    let owner = |side: &Expr| match side {
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [owner, column] if column.value == RUN => Some(owner.value.clone()),
            _ => None,
        },
        _ => None,
    };
    let (Some(left), Some(right)) = (owner(left), owner(right)) else { return false };
    left == alias && seen.contains(&right) || right == alias && seen.contains(&left)
}

/// Functions of one row.
const SCALARS: &[&str] =
    &["coalesce", "nullif", "abs", "round", "lower", "upper", "floor", "ceil", "length", "concat", "replace", "substr"];

pub(super) fn name_of(call: &Function) -> String {
    call.name.to_string().to_lowercase()
}

/// A SELECT without what is after FROM: subqueries there are looked at by themselves.
fn without_from(select: &Select) -> Select {
    Select { from: Vec::new(), ..select.clone() }
}

/// Every function call of a SELECT.
fn calls(select: &Select) -> Vec<Function> {
    let mut calls = Vec::new();
    let _ = visit_expressions(&without_from(select), |expr| {
        if let Expr::Function(call) = expr {
            calls.push(call.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    calls
}

fn has_subquery(select: &Select) -> bool {
    let found = visit_expressions(&without_from(select), |expr| {
        let is_one = match expr {
            Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => true,
            Expr::Function(call) => matches!(call.args, FunctionArguments::Subquery(_)),
            Expr::AnyOp { .. } | Expr::AllOp { .. } => true,
            _ => false,
        };
        if is_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.is_break()
}

/// Whether a SELECT has only the clauses that are understood here.
fn is_plain(select: &Select) -> bool {
    select.top.is_none()
        && select.into.is_none()
        && select.exclude.is_none()
        && select.lateral_views.is_empty()
        && select.prewhere.is_none()
        && select.connect_by.is_empty()
        && select.cluster_by.is_empty()
        && select.distribute_by.is_empty()
        && select.sort_by.is_empty()
        && select.named_window.is_empty()
        && select.qualify.is_none()
        && select.value_table_mode.is_none()
        && !select.projection.is_empty()
}

fn groups(select: &Select) -> Option<Vec<Expr>> {
    match &select.group_by {
        GroupByExpr::Expressions(groups, modifiers) if modifiers.is_empty() => Some(groups.clone()),
        _ => None,
    }
}

/// The ORDER BY and LIMIT of a query in terms of the columns it gives; `None` where they need others.
pub(super) fn order(query: &Query) -> Option<String> {
    let mut text = String::new();
    if let Some(order_by) = &query.order_by {
        let OrderByKind::Expressions(keys) = &order_by.kind else { return None };
        let keys: Option<Vec<String>> = keys
            .iter()
            .map(|key| {
                let mut key = key.clone();
                key.expr = Expr::Identifier(quoted(&given_name(&query.body, &key.expr)?));
                Some(key.to_string())
            })
            .collect();
        text = format!(" ORDER BY {}", keys?.join(", "));
    }
    if let Some(limit) = &query.limit_clause {
        text.push_str(&limit.to_string());
    }
    Some(text)
}

/// A name that may be a word of the language (`view`), as it can stand anywhere.
pub(super) fn quoted(name: &Ident) -> Ident {
    Ident::with_quote('"', name.value.clone())
}

/// The name under which a SELECT gives an expression.
fn given_name(body: &SetExpr, expr: &Expr) -> Option<Ident> {
    let SetExpr::Select(select) = body else {
        return match expr {
            Expr::Identifier(name) => Some(name.clone()),
            _ => None,
        };
    };
    for item in &select.projection {
        match item {
            SelectItem::ExprWithAlias { expr: own, alias } if own == expr || matches!(expr, Expr::Identifier(name) if name == alias) => {
                return Some(alias.clone());
            }
            SelectItem::UnnamedExpr(own) if own == expr => match own {
                Expr::Identifier(name) => return Some(name.clone()),
                Expr::CompoundIdentifier(parts) => return parts.last().cloned(),
                _ => return None,
            },
            SelectItem::Wildcard(_) => {
                if let Expr::Identifier(name) = expr {
                    return Some(name.clone());
                }
            }
            _ => {}
        }
    }
    None
}

fn with(ctes: &[Cte], sql: &str) -> String {
    if ctes.is_empty() {
        return sql.to_owned();
    }
    let ctes: Vec<String> = ctes.iter().map(ToString::to_string).collect();
    format!("WITH {} {sql}", ctes.join(", "))
}
