//! The one door of `SQLContext`: views and queries over the tables, one fresh context per query (a failed query poisons
//! the next one in polars 0.55).

mod parts;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use polars::prelude::{DataFrame, DataType, IntoLazy, LazyFrame, NamedFrom, PolarsResult, Series, col};
use polars::sql::{SQLContext, sql_expr};

use super::comparable::{Comparability, execution_of};
use crate::error::{Error, Result};
use crate::tables::{Tables, bridge};
use parts::parts;

/// Tables of more rows than this are worth a plan that filters and narrows them early; for smaller ones the planning of
/// some 200 statements costs more than all their rows.
const SMALL: usize = 4_096;

/// The tables and views of a run, ready to be asked, also by several threads at once. No lock is held while a statement
/// runs: the engine's threads would take up other work meanwhile, and wait for themselves.
pub struct Engine {
    frames: Mutex<Vec<Known>>,
    /// Views that nobody has asked for yet: most recordings need a part of them.
    pending: Mutex<Vec<View>>,
    views: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A table, or a view that was made.
struct Known {
    name: String,
    frame: LazyFrame,
    /// Rows; unknown where the table is read from files as it is asked.
    height: Option<usize>,
}

impl Known {
    fn made(name: String, frame: DataFrame) -> Known {
        Known { name, height: Some(frame.height()), frame: frame.lazy() }
    }
}

struct View {
    number: usize,
    name: String,
    file: String,
    sql: String,
}

impl Engine {
    /// The tables and columns that `texts` (query files) name, `admitted`: who may meet whom, and `reference`: what they
    /// are compared with. Others are not converted: the stacks of a large recording are most of its bytes, and no rule asks
    /// for them.
    pub fn over(tables: &Tables, comparability: &Comparability, texts: &[&str]) -> Result<Engine> {
        let words: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text)).collect();
        // Of a table only the columns that a text names which names the table, too.
        let is_wanted = |table: &str, column: Option<&str>| {
            words.iter().any(|words| words.contains(table) && column.is_none_or(|column| words.contains(column)))
        };
        let frames = bridge::frames(tables, &is_wanted).map_err(|error| Error::Request(format!("tables: {error}")))?;
        let mut frames: Vec<(String, DataFrame)> = frames.into_iter().map(|(name, frame)| (name.to_owned(), frame)).collect();
        frames.extend(standings(tables, comparability)?);
        Ok(Engine::plain(frames))
    }

    fn plain(frames: Vec<(String, DataFrame)>) -> Engine {
        Engine::knowing(frames.into_iter().map(|(name, frame)| Known::made(name, frame)).collect())
    }

    fn knowing(frames: Vec<Known>) -> Engine {
        Engine { frames: Mutex::new(frames), pending: Mutex::default(), views: 0 }
    }

    /// Tables without views or standing, for `tripod query` over a dataset.
    pub fn lazy(frames: Vec<(String, LazyFrame)>) -> Engine {
        Engine::knowing(frames.into_iter().map(|(name, frame)| Known { name, frame, height: None }).collect())
    }

    /// Tables read back from a run directory, and `admitted`, for which `tables` must have artifacts and executions.
    pub fn stored(mut frames: Vec<(String, DataFrame)>, tables: &Tables) -> Result<Engine> {
        frames.extend(standings(tables, &Comparability::find(tables))?);
        Ok(Engine::plain(frames))
    }

    /// Runs one SELECT. `file` names it in messages.
    pub fn query(&self, file: &str, sql: &str) -> Result<DataFrame> {
        self.ask(sql, usize::MAX).map_err(|error| Error::Request(format!("{file}: {error}")))
    }

    /// Makes the views that the statement needs: to be called for all statements before several threads ask them.
    pub fn prepare(&self, file: &str, sql: &str) -> Result<()> {
        self.materialize(&all_words(sql), usize::MAX).map_err(|error| Error::Request(format!("{file}: {error}")))
    }

    /// `before`: views from this number on are not known yet.
    fn ask(&self, sql: &str, before: usize) -> std::result::Result<DataFrame, String> {
        let words = all_words(sql);
        self.materialize(&words, before)?;
        // Registering all of a hundred tables costs more than most queries.
        let mut context = SQLContext::new();
        let mut are_small = true;
        for known in lock(&self.frames).iter().filter(|known| is_named(&words, &known.name)) {
            context.register(&known.name, known.frame.clone());
            are_small &= known.height.is_some_and(|height| height <= SMALL);
        }
        answer(&mut context, sql, are_small).map_err(|error| error.to_string())
    }

    /// Turns the views that are named into tables, those they are built on first.
    fn materialize(&self, words: &BTreeSet<String>, before: usize) -> std::result::Result<(), String> {
        loop {
            let is_named = |view: &View| view.number < before && is_named(words, &view.name);
            let mut pending = lock(&self.pending);
            let Some(at) = pending.iter().position(is_named) else { return Ok(()) };
            let view = pending.remove(at);
            drop(pending);
            let frame = self.ask(&view.sql, view.number).map_err(|error| format!("{}: {error}", view.file))?;
            lock(&self.frames).push(Known::made(view.name, frame));
        }
    }

    /// Adds a view: it is made when it is first named, and a table from then on.
    pub fn view(&mut self, name: &str, file: &str, sql: &str) {
        let number = self.views;
        self.views += 1;
        self.pending.get_mut().unwrap_or_else(PoisonError::into_inner).push(View {
            number,
            name: name.to_owned(),
            file: file.to_owned(),
            sql: sql.to_owned(),
        });
    }

    /// The artifacts that have a row in `table` (where `predicate` holds). Most conditions of a catalogue are on tables
    /// without rows, which no engine needs to be asked about; [`Engine::can_ask`] finds what is wrong with a condition there.
    pub fn artifacts_with(&self, table: &str, predicate: Option<&str>) -> Result<Vec<i32>> {
        self.condition(table, predicate, true)
    }

    /// Whether a condition can be asked of a table, also of an empty one: the message says why not.
    pub fn can_ask(&self, table: &str, predicate: Option<&str>) -> Result<()> {
        self.condition(table, predicate, false).map(drop)
    }

    fn condition(&self, table: &str, predicate: Option<&str>, skips_empty: bool) -> Result<Vec<i32>> {
        let shown = predicate.map_or_else(String::new, |predicate| format!(" WHERE {predicate}"));
        let wrong = |error: String| Error::Request(format!("needs: {table}{shown}: {error}"));
        self.materialize(&all_words(table), usize::MAX).map_err(wrong)?;
        let known = lock(&self.frames).iter().find(|known| known.name == table).map(|known| (known.frame.clone(), known.height));
        let Some((frame, height)) = known else { return Err(wrong("there is no such table".to_owned())) };
        if skips_empty && height == Some(0) {
            return Ok(Vec::new());
        }
        let found = with_condition(frame, predicate).and_then(|found| found.without_optimizations().collect());
        let found = found.map_err(|error| wrong(error.to_string()))?;
        let mut out: Vec<i32> = integers(&found, "artifact_id")?.into_iter().flatten().filter_map(|id| i32::try_from(id).ok()).collect();
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }
}

/// `artifact_id` of the rows where the condition holds.
fn with_condition(frame: LazyFrame, predicate: Option<&str>) -> PolarsResult<LazyFrame> {
    let kept = match predicate {
        Some(predicate) => frame.filter(sql_expr(predicate)?),
        None => frame,
    };
    Ok(kept.select([col("artifact_id")]))
}

/// Over small tables the queries behind WITH are answered one after the other; over others as one plan, in which a filter
/// reaches the tables.
fn answer(context: &mut SQLContext, sql: &str, are_small: bool) -> PolarsResult<DataFrame> {
    if !are_small {
        return context.execute(sql)?.collect();
    }
    let (named, last) = parts(sql).unwrap_or((Vec::new(), sql));
    for (name, query) in named {
        let frame = context.execute(query)?.without_optimizations().collect()?;
        context.register(name, frame.lazy());
    }
    context.execute(last)?.without_optimizations().collect()
}

/// Every word of a statement in lower case, also what stands in quotes: rather a table too many than one that is missed.
pub fn all_words(sql: &str) -> BTreeSet<String> {
    sql.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a table's name is among the words; the user's own may have capitals, or be of several words.
fn is_named(words: &BTreeSet<String>, name: &str) -> bool {
    all_words(name).is_subset(words)
}

/// Every name in the queries and conditions of a file; text in quotes and comments of no meaning are passed over.
fn words(text: &str) -> BTreeSet<String> {
    let is_condition = |line: &str| ["-- needs:", "-- with:"].iter().any(|key| line.trim_start().starts_with(key));
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("--") || is_condition(line));
    let code: Vec<String> = lines.map(|line| line.split('\'').step_by(2).collect::<Vec<_>>().join(" ")).collect();
    let words = code.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The two tables that are not written into a run directory.
fn standings(tables: &Tables, comparability: &Comparability) -> Result<[(String, DataFrame); 2]> {
    let wrong = |error| Error::Request(format!("admitted: {error}"));
    let admitted = admitted(tables, comparability).map_err(wrong)?;
    Ok([("admitted".to_owned(), admitted), ("reference".to_owned(), reference(comparability).map_err(wrong)?)])
}

/// `reference`: signature, work and threads of the run and the CPUs of its machine, one row.
fn reference(comparability: &Comparability) -> PolarsResult<DataFrame> {
    let columns = vec![
        Series::new("signature".into(), [comparability.signature.as_deref()]).into(),
        Series::new("work".into(), [comparability.work]).into(),
        Series::new("threads".into(), [comparability.threads]).into(),
        Series::new("cpus".into(), [comparability.cpus]).into(),
    ];
    DataFrame::new(1, columns)
}

/// `admitted`: artifact_id, standing, what sets a refused one apart (difference), and by what counts of it are multiplied and divided so that they are counts of the
/// bare run's work (1 and 1 where either declares none).
fn admitted(tables: &Tables, comparability: &Comparability) -> PolarsResult<DataFrame> {
    let mut ids = Vec::new();
    let mut standings = Vec::new();
    let mut up: Vec<i64> = Vec::new();
    let mut down: Vec<i64> = Vec::new();
    let mut differences: Vec<Option<&str>> = Vec::new();
    for artifact in &tables.artifacts {
        ids.push(artifact.artifact_id);
        standings.push(comparability.standing_of(artifact.artifact_id).name());
        differences.push(comparability.differences.get(&artifact.artifact_id).map(String::as_str));
        let own = execution_of(tables, artifact).and_then(|row| row.work).filter(|work| *work > 0);
        let (numerator, denominator) = match (comparability.work.filter(|work| *work > 0), own) {
            (Some(bare), Some(own)) if bare != own => (bare, own),
            _ => (1, 1),
        };
        up.push(numerator);
        down.push(denominator);
    }
    let columns = vec![
        Series::new("artifact_id".into(), ids).into(),
        Series::new("standing".into(), standings).into(),
        Series::new("difference".into(), differences).into(),
        Series::new("work_up".into(), up).into(),
        Series::new("work_down".into(), down).into(),
    ];
    DataFrame::new(tables.artifacts.len(), columns)
}

/// One row of a hypothesis' SELECT.
#[derive(Debug, Clone, Default)]
pub struct Row {
    pub artifact_id: i32,
    pub site_kind: String,
    pub site_id: Option<i64>,
    pub metric: String,
    pub part: Option<i64>,
    pub whole: Option<i64>,
    pub n: Option<i64>,
    /// Effective number of samples.
    pub n_eff: Option<f64>,
    /// Bounds of a derived statistic, in the metric's unit.
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    /// What `N` stands for in a bound.
    pub factor: Option<f64>,
    /// part is multiplied by scale_up and divided by scale_down: counts of other work.
    pub scale_up: Option<i64>,
    pub scale_down: Option<i64>,
    /// Share of the time hardware counters ran.
    pub running: Option<f64>,
    /// 0 where unwinding may have lost the site's true caller.
    pub certain: Option<i64>,
    /// Anchors without the path: `L=8`, `sum=samples.weight&class=ALLOC`, or `@user_ns+system_ns`: fields of the
    /// artifact's execution.
    pub part_anchor: Option<String>,
    pub whole_anchor: Option<String>,
    /// The artifact in which the denominator stands, where it is another one.
    pub whole_artifact_id: Option<i32>,
}

impl Row {
    /// What part is multiplied by, and what it is divided by; 1 where the SELECT does not say.
    pub fn scale(&self) -> (i64, i64) {
        (self.scale_up.unwrap_or(1), self.scale_down.filter(|down| *down > 0).unwrap_or(1))
    }
}

const REQUIRED: &[&str] = &["artifact_id", "site_kind", "site_id", "metric", "part", "whole", "n"];
const OPTIONAL: &[&str] =
    &["n_eff", "lo", "hi", "factor", "running", "scale_up", "scale_down", "certain", "part_anchor", "whole_anchor", "whole_artifact_id"];

/// The rows of a SELECT, in order of artifact, metric and site. Wrong columns are an error.
pub fn rows(frame: &DataFrame) -> Result<Vec<Row>> {
    let names: Vec<String> = frame.get_column_names().iter().map(|name| name.to_string()).collect();
    if let Some(missing) = REQUIRED.iter().find(|name| !names.iter().any(|own| own == *name)) {
        return Err(Error::Request(format!("the SELECT has no column {missing}; it must return {}", REQUIRED.join(", "))));
    }
    if let Some(extra) = names.iter().find(|name| !REQUIRED.contains(&name.as_str()) && !OPTIONAL.contains(&name.as_str())) {
        return Err(Error::Request(format!(
            "the SELECT has a column {extra}; beside the required ones it may have {}",
            OPTIONAL.join(", ")
        )));
    }
    let has = |name: &str| names.iter().any(|own| own == name);
    let whole = |name: &str| if has(name) { integers(frame, name) } else { Ok(vec![None; frame.height()]) };
    let real = |name: &str| if has(name) { floats(frame, name) } else { Ok(vec![None; frame.height()]) };
    let text = |name: &str| if has(name) { texts(frame, name) } else { Ok(vec![None; frame.height()]) };
    let (artifact, site_kind, site, metric) = (whole("artifact_id")?, text("site_kind")?, whole("site_id")?, text("metric")?);
    let (part, denominator, n) = (whole("part")?, whole("whole")?, whole("n")?);
    let (n_eff, lo, hi, factor) = (real("n_eff")?, real("lo")?, real("hi")?, real("factor")?);
    let running = real("running")?;
    let (up, down, certain) = (whole("scale_up")?, whole("scale_down")?, whole("certain")?);
    let (part_anchor, whole_anchor, whole_artifact) = (text("part_anchor")?, text("whole_anchor")?, whole("whole_artifact_id")?);
    let narrow = |value: &[Option<i64>], at: usize| get(value, at).and_then(|id| i32::try_from(id).ok());
    let mut out: Vec<Row> = (0..frame.height())
        .filter_map(|at| {
            Some(Row {
                artifact_id: narrow(&artifact, at)?,
                site_kind: get(&site_kind, at)?,
                site_id: get(&site, at),
                metric: get(&metric, at)?,
                part: get(&part, at),
                whole: get(&denominator, at),
                n: get(&n, at),
                n_eff: get(&n_eff, at),
                lo: get(&lo, at),
                hi: get(&hi, at),
                factor: get(&factor, at),
                running: get(&running, at),
                scale_up: get(&up, at),
                scale_down: get(&down, at),
                certain: get(&certain, at),
                part_anchor: get(&part_anchor, at),
                whole_anchor: get(&whole_anchor, at),
                whole_artifact_id: narrow(&whole_artifact, at),
            })
        })
        .collect();
    out.sort_by(|a, b| (a.artifact_id, &a.metric, &a.site_kind, a.site_id).cmp(&(b.artifact_id, &b.metric, &b.site_kind, b.site_id)));
    Ok(out)
}

fn get<T: Clone>(values: &[Option<T>], at: usize) -> Option<T> {
    values.get(at).cloned().flatten()
}

fn wrong(name: &str, error: impl std::fmt::Display) -> Error {
    Error::Request(format!("column {name}: {error}"))
}

/// A column as whole numbers.
pub fn integers(frame: &DataFrame, name: &str) -> Result<Vec<Option<i64>>> {
    let column = frame.column(name).and_then(|column| column.cast(&DataType::Int64)).map_err(|error| wrong(name, error))?;
    Ok(column.i64().map_err(|error| wrong(name, error))?.to_vec())
}

/// A column as real numbers.
pub fn floats(frame: &DataFrame, name: &str) -> Result<Vec<Option<f64>>> {
    let column = frame.column(name).and_then(|column| column.cast(&DataType::Float64)).map_err(|error| wrong(name, error))?;
    Ok(column.f64().map_err(|error| wrong(name, error))?.to_vec())
}

/// A column as texts.
pub fn texts(frame: &DataFrame, name: &str) -> Result<Vec<Option<String>>> {
    let column = frame.column(name).and_then(|column| column.cast(&DataType::String)).map_err(|error| wrong(name, error))?;
    Ok(column.str().map_err(|error| wrong(name, error))?.iter().map(|value| value.map(str::to_owned)).collect())
}
