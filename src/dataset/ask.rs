//! One statement over all runs.

use polars::prelude::{DataFrame, IntoLazy, LazyFrame};

use super::split::{Plan, split};
use super::statement::{Names, parse};
use super::table::{Table, load};
use super::traps::{refuse_strangers, refuse_traps};
use super::{Dataset, Member};
use crate::error::{Error, Result};
use crate::rules::engine::Engine;

/// Of the memory that a statement may use, what one batch of runs takes.
const BATCH_SHARE: u64 = 8;

/// A statement that is understood, with the tables it names.
pub struct Ask<'a> {
    dataset: &'a Dataset,
    statement: &'a str,
    tables: Vec<Table>,
    /// Bytes that tables and rows may take.
    memory: u64,
    /// Of these, bytes of one batch of runs.
    batch: u64,
}

impl<'a> Ask<'a> {
    /// `known`: the names of all tables.
    pub fn new(dataset: &'a Dataset, statement: &'a str, known: &[String], memory: u64) -> Result<Ask<'a>> {
        let query = parse(statement).map_err(Error::Request)?;
        refuse_traps(&query).and_then(|()| refuse_strangers(&query)).map_err(Error::Request)?;
        let names = Names::of(statement, &query);
        let named = known.iter().filter(|name| names.relations.contains(*name));
        let tables = named.map(|name| Table::find(dataset, name, &names)).collect::<Result<_>>()?;
        Ok(Ask { dataset, statement, tables, memory, batch: memory / BATCH_SHARE })
    }

    /// With batches of another size.
    #[cfg(test)]
    pub fn in_batches_of(self, batch: u64) -> Ask<'a> {
        Ask { batch, ..self }
    }

    /// Every column that the statement may name.
    pub fn columns(&self) -> Vec<&str> {
        self.tables.iter().flat_map(Table::column_names).chain([super::RUN]).collect()
    }

    /// Whether the engine understands the statement: its columns and types, without a row.
    pub fn check(&self) -> Result<()> {
        let frames = self.tables.iter().map(|table| (table.name.clone(), table.every_column().lazy())).collect();
        Engine::lazy(frames).query("query", self.statement).map(drop)
    }

    /// Its rows.
    pub fn rows(&self) -> Result<DataFrame> {
        let batches = self.batches();
        if let [batch] = batches.as_slice() {
            return self.engine(batch)?.query("query", self.statement);
        }
        let names: Vec<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
        let plan = split(self.statement, &names).map_err(Error::Request)?;
        self.admit(&plan)?;
        let mut parts: Vec<Option<DataFrame>> = plan.parts.iter().map(|_| None).collect();
        for batch in batches {
            let mut engine = self.engine(batch)?;
            for shared in &plan.shared {
                engine.view(&shared.name, "query", &shared.sql);
            }
            for (part, rows) in plan.parts.iter().zip(&mut parts) {
                let found = engine.query("query", &part.sql)?;
                match rows {
                    None => *rows = Some(found),
                    Some(rows) => rows.vstack_mut_owned(found).map(drop).map_err(|error| Error::Request(format!("query: {error}")))?,
                }
            }
            let held = parts.iter().flatten().map(|rows| rows.estimated_size() as u64).sum();
            self.fits(held, "the rows that its first steps give")?;
        }
        let frames = plan.parts.iter().zip(parts).filter_map(|(part, rows)| Some((part.name.clone(), rows?.lazy()))).collect();
        Engine::lazy(frames).query("query", &plan.last)
    }

    /// Runs that together take a share of the memory; one at least.
    fn batches(&self) -> Vec<&'a [Member]> {
        let mut batches = Vec::new();
        let (mut start, mut sum) = (0, 0_u64);
        for at in 0..self.dataset.runs.len() {
            let bytes = self.bytes_of(at);
            if at > start && sum.saturating_add(bytes) > self.batch {
                batches.extend(self.dataset.runs.get(start..at));
                (start, sum) = (at, 0);
            }
            sum = sum.saturating_add(bytes);
        }
        batches.extend(self.dataset.runs.get(start..));
        batches
    }

    fn bytes_of(&self, run: usize) -> u64 {
        self.tables.iter().filter_map(|table| table.bytes.get(run)).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn engine(&self, runs: &[Member]) -> Result<Engine> {
        let frames = load(runs, &self.tables)?;
        let named: Vec<(String, LazyFrame)> =
            self.tables.iter().zip(frames).map(|(table, frame)| (table.name.clone(), frame.lazy())).collect();
        Ok(Engine::lazy(named))
    }

    /// Refuses before any work what is known to need too much.
    fn admit(&self, plan: &Plan) -> Result<()> {
        let whole = self.tables.iter().filter(|table| plan.whole.contains(&table.name));
        let bytes = whole.flat_map(|table| &table.bytes).fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let names = plan.whole.join(", ");
        self.fits(bytes, &format!("every row of {names}, since it does more with them than sum them run by run"))?;
        let largest = (0..self.dataset.runs.len()).max_by_key(|run| self.bytes_of(*run));
        let (bytes, id) = largest.map_or((0, ""), |run| (self.bytes_of(run), self.dataset.runs.get(run).map_or("", |run| &run.id)));
        self.fits(bytes, &format!("what it reads of run {id}"))
    }

    fn fits(&self, bytes: u64, what: &str) -> Result<()> {
        if bytes <= self.memory {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let table = self.tables.first().map_or("samples", |table| table.name.as_str());
        Err(Error::Request(format!(
            "this statement needs {} MiB at once for {what}; the limit is {} MiB\n\
             name fewer columns, group by run in a CTE first, raise the limit with --memory MIB, or ask DuckDB, which does not keep all in \
             memory: {table} is read_parquet('{}/run=*/tables/{table}.parquet', hive_partitioning = true, union_by_name = true)",
            mib(bytes),
            mib(self.memory),
            self.dataset.root.display()
        )))
    }
}
