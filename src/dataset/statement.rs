//! A statement as its parser sees it: what it names.
//!
//! The parser is the one that polars uses, with the same options: what is understood here is understood there.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, ObjectName, Query, Select, SelectItem, Statement, Visit, Visitor, visit_relations};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserOptions};

/// The parser, over a text.
pub fn parser(sql: &str) -> Result<Parser<'static>, String> {
    let options = ParserOptions { trailing_commas: true, ..ParserOptions::default() };
    Parser::new(&GenericDialect).with_options(options).try_with_sql(sql).map_err(|error| error.to_string())
}

/// What [`parse`] says of a text that is a statement of another kind, or more than one.
pub const NO_SELECT: &str = "expected one SELECT (`tripod query DIR` lists the tables, `tripod tables NAME` the columns of one)";

/// The one SELECT of a text.
pub fn parse(sql: &str) -> Result<Query, String> {
    let mut statements = parser(sql)?.parse_statements().map_err(|error| error.to_string())?;
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(query)), true) => Ok(*query),
        _ => Err(NO_SELECT.to_owned()),
    }
}

/// What a statement reads.
#[derive(Debug, Default)]
pub struct Names {
    /// Every table and CTE after FROM and JOIN.
    pub relations: BTreeSet<String>,
    /// The CTEs.
    pub ctes: BTreeSet<String>,
    /// Every word of the text: columns are among them.
    pub words: BTreeSet<String>,
    /// Whether it asks for columns without naming them.
    pub every_column: bool,
}

impl Names {
    pub fn of(sql: &str, query: &Query) -> Names {
        let mut finder = Finder::default();
        let _ = query.visit(&mut finder);
        let words: BTreeSet<String> =
            sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let is_natural = words.iter().any(|word| word.eq_ignore_ascii_case("natural"));
        Names { relations: finder.relations, ctes: finder.ctes, words, every_column: finder.every_column || is_natural }
    }

    /// The names that are neither CTEs nor among those.
    pub fn unknown<'a>(&'a self, known: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.relations.iter().filter(|name| !self.ctes.contains(*name) && !known.contains(name)).map(String::as_str)
    }

    pub fn wants(&self, column: &str) -> bool {
        self.every_column || self.words.contains(column)
    }
}

#[derive(Default)]
struct Finder {
    relations: BTreeSet<String>,
    ctes: BTreeSet<String>,
    every_column: bool,
}

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.relations.insert(relation_name(relation));
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.ctes.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| cte.alias.name.value.clone()));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let is_open = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        self.every_column |= select.projection.iter().any(is_open) || select.projection.is_empty();
        ControlFlow::Continue(())
    }
}

/// The name of a table as it is registered.
pub fn relation_name(name: &ObjectName) -> String {
    name.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.as_str()).collect::<Vec<_>>().join(".")
}

/// The tables and CTEs that a part of a statement names.
pub fn relations(part: &impl Visit) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let _ = visit_relations(part, |name| {
        names.insert(relation_name(name));
        ControlFlow::<()>::Continue(())
    });
    names
}

/// The terms that AND joins.
pub fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    let mut open = vec![condition];
    let mut terms = Vec::new();
    while let Some(next) = open.pop() {
        match next {
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => open.extend([&**right, &**left]),
            Expr::Nested(inner) => open.push(inner),
            term => terms.push(term),
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_statement() {
        let sql = "WITH a AS (SELECT run, n FROM events WHERE name = 'x') SELECT a.n AS n FROM a JOIN threads AS t ON t.run = a.run";
        let names = Names::of(sql, &parse(sql).unwrap());
        assert_eq!(names.relations.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "events", "threads"]);
        assert_eq!(names.unknown(&["events".to_owned()]).collect::<Vec<_>>(), ["threads"]);
        assert!(names.wants("name") && names.wants("run") && !names.wants("weight"));
        let open = "SELECT COUNT(*) AS n FROM (SELECT s.* FROM samples AS s) AS q";
        assert!(Names::of(open, &parse(open).unwrap()).wants("weight"));
        let count = "SELECT COUNT(*) AS n FROM samples";
        assert!(!Names::of(count, &parse(count).unwrap()).wants("weight"));
    }

    #[test]
    fn only_one_select() {
        assert!(parse("SELECT n FROM a; SELECT n FROM b").is_err());
        assert!(parse("DROP TABLE a").is_err());
        assert!(parse("SELECT n FROM").is_err());
    }
}
