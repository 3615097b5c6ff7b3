//! RULES: SQL measures, one scorer judges.
//!
//! ```text
//! quality/*.sql -> what the recordings can be trusted with        (quality.rs)
//! hypotheses/*.sql: needs -> candidates -> assignment             (assign.rs; before any value is read)
//!                   SELECT -> rows -> readings -> verdicts        (engine.rs, slot.rs, score.rs)
//!                   places that two angles name                   (site.rs)
//! verdicts -> labels -> costs charged once -> rows of the ledger  (ledger.rs)
//! ```
//!
//! The directory is the registry: one line per file below embeds it, a test compares list and directory. No threshold
//! of a hypothesis is written in Rust.

pub mod anchor;
pub(crate) mod assign;
mod comparable;
mod condition;
pub mod costs;
pub(crate) mod dialect;
pub mod engine;
pub mod file;
mod given;
pub mod overrides;
pub(crate) mod parse;
pub mod score;
mod site;
pub mod slot;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use comparable::{Comparability, Standing};
pub use condition::Facts;
pub use given::check;
pub use site::{Agreement, Site};

use polars_core::runtime::THREAD_POOL;
use rayon::prelude::*;

use crate::derive::Classes;
use crate::error::{Error, Result};
use crate::ledger;
use crate::quality::{self, Allowed, Effects};
use crate::tables::{Quality, Tables};
use engine::Engine;
use file::Hypothesis;
use given::Changes;
use slot::{Judge, SlotResult};

macro_rules! embedded {
    ($dir:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../queries/", $dir, "/", $file)))),*]
    };
}

/// Named measures, materialized in this order; the number in front is not part of the name.
pub const VIEWS: &[(&str, &str)] = embedded!("views":
    "01_bare.sql",
    "02_cpu_events.sql",
    "03_class_costs.sql",
    "04_class_sites.sql",
    "05_run_threads.sql",
    "06_off_cpu.sql",
    "09_call_sites.sql",
    "20_kernel_costs.sql",
    "21_leaf_functions.sql",
    "22_bench_base.sql",
    "23_alloc_sites.sql",
    "24_bench_partners.sql",
    "28_span_shares.sql",
    "30_alloc_classes.sql",
    "31_plain_leaves.sql",
    "32_counter_sums.sql",
    "33_pmu_ratios.sql",
    "34_saved_shares.sql",
    "35_bench_shares.sql",
    "36_tax_shares.sql",
    "37_build_places.sql",
    "51_wait_sums.sql",
    "52_wait_topics.sql",
    "53_wait_shares.sql",
    "54_wakeups.sql",
    "55_off_cpu_reasons.sql",
    "56_off_cpu_sites.sql",
    "57_call_names.sql",
    "58_call_members.sql",
    "59_call_families.sql",
    "60_call_places.sql",
    "61_class_shares.sql",
    "62_lanes.sql",
    "63_thread_costs.sql",
    "64_heap_end.sql",
    "65_mapped_bytes.sql",
    "66_program_lives.sql",
    "70_pressure.sql",
    "71_cpu_quota.sql",
    "72_steal.sql",
    "73_histogram_sums.sql",
    "74_block_time.sql",
);

/// One file per hypothesis, in order of id.
pub const HYPOTHESES: &[(&str, &str)] = embedded!("hypotheses":
    "R01_cpu_hot_function.sql",
    "R02_cpu_superlinear.sql",
    "R03_mem_backend_bound.sql",
    "R04_cpu_branch_mispredict.sql",
    "R05_mem_dtlb.sql",
    "R06_cpu_frontend_icache.sql",
    "R07_mem_false_sharing.sql",
    "R08_build_unoptimized.sql",
    "R09_cpu_copy.sql",
    "R10_tax_serialization.sql",
    "R11_tax_hash_crypto.sql",
    "R12_tax_compression.sql",
    "R13_tax_formatting.sql",
    "R14_cpu_interpreter.sql",
    "R15_cpu_exception_unwind.sql",
    "R16_rt_gc_pressure.sql",
    "R17_cpu_spin_wait.sql",
    "R18_alloc_churn.sql",
    "R19_alloc_leak.sql",
    "R20_alloc_fragmentation.sql",
    "R21_mem_mmap_churn.sql",
    "R22_mem_page_fault_storm.sql",
    "R23_io_major_faults.sql",
    "R25_io_small_write.sql",
    "R26_io_small_read.sql",
    "R27_io_fsync_bound.sql",
    "R28_io_disk_wait.sql",
    "R29_sys_kernel_time.sql",
    "R30_sys_metadata_storm.sql",
    "R31_net_wait.sql",
    "R32_lock_contention.sql",
    "R33_lock_kernel.sql",
    "R34_sched_sleep_bound.sql",
    "R35_sched_runq_saturation.sql",
    "R36S_sched_stolen.sql",
    "R36_sched_throttled.sql",
    "R37_sched_thread_churn.sql",
    "R38_sched_handoff.sql",
    "R39_sched_serial.sql",
    "R40_start_dynamic_link.sql",
    "R41_proc_fork_exec_storm.sql",
);

/// One file per quality check, in order of id.
pub const CHECKS: &[(&str, &str)] = embedded!("quality":
    "Q01_too_few_samples.sql",
    "Q02_unequal_weights.sql",
    "Q03_lockstep.sql",
    "Q04_timer_only.sql",
    "Q05_interrupt_sinks.sql",
    "Q06_sample_deficit.sql",
    "Q07_lost_records.sql",
    "Q08_counts_disagree.sql",
    "Q09_unknown_symbols.sql",
    "Q10_cut_stacks.sql",
    "Q11_lost_callers.sql",
    "Q12_inlining.sql",
    "Q13_throttling.sql",
    "Q14_kernel_names.sql",
    "Q15_half_recorded.sql",
    "Q16_strangers.sql",
    "Q17_debug_build.sql",
    "Q18_other_builds.sql",
    "Q19_phases.sql",
    "Q20_strace_clock.sql",
    "Q21_tracer_distortion.sql",
    "Q22_tracer_coverage.sql",
    "Q23_heap_blind.sql",
    "Q24_heap_baseline.sql",
    "Q25_not_counted.sql",
    "Q26_multiplexing.sql",
    "Q27_counter_scope.sql",
    "Q28_benchmark_noise.sql",
    "Q29_surroundings.sql",
    "Q30_executions.sql",
    "Q31_clocks.sql",
    "Q32_idle_threads.sql",
    "Q33_preemption.sql",
    "Q34_unfinished.sql",
    "Q35_observers.sql",
    "Q36_lineage.sql",
    "Q37_lost_switches.sql",
);

/// The check of which executions may meet; what it says is done when artifacts are assigned.
const COMPARISONS: &str = "Q30";

/// What the user asked of the rules.
#[derive(Debug, Clone, Default)]
pub struct RuleOptions {
    /// More hypotheses (`--rules DIR`); one with the id of a built-in one takes its place.
    pub rules_dirs: Vec<PathBuf>,
    /// `--lineage probe`: two recordings of one tool count as two angles if their probes differ.
    pub lineage_probe: bool,
    /// Quality checks that are to have no effect (`--allow Q29`).
    pub allow: Vec<String>,
    /// Bounds of the user's own (`--thresholds FILE`).
    pub thresholds: Option<PathBuf>,
    /// What basic things cost on the recorded machine (`--costs FILE`).
    pub costs: Option<PathBuf>,
}

/// A command that would fill an open slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub hypothesis: String,
    pub slot: String,
    pub command: String,
}

/// What a filled slot says in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub hypothesis: String,
    pub slot: String,
    pub text: String,
}

/// What judging leaves beside the rows in the tables.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    pub missing: Vec<Missing>,
    pub statements: Vec<Statement>,
    /// The hypotheses as declared, in order of id.
    pub hypotheses: Vec<Hypothesis>,
    /// Files of the user that changed thresholds: (name, text).
    pub given: Vec<(String, String)>,
    pub facts: Facts,
}

/// One hypothesis after its angles were judged.
#[derive(Debug, Clone)]
pub struct Judged {
    pub hypothesis: Hypothesis,
    pub slots: Vec<SlotResult>,
    pub not_applicable: Option<String>,
    pub agreement: Agreement,
}

/// The hypotheses known: built in, and those of `dirs`.
pub fn hypotheses(dirs: &[PathBuf]) -> Result<Vec<Hypothesis>> {
    let mut known: BTreeMap<String, Hypothesis> = BTreeMap::new();
    for (file, text) in HYPOTHESES {
        let own = parse::hypothesis(file, text)?;
        known.insert(own.id.clone(), own);
    }
    let mut own_files: BTreeMap<String, String> = BTreeMap::new();
    for dir in dirs {
        for (file, text) in sql_files(dir)? {
            let own = parse::hypothesis(&file, &text)?;
            if let Some(other) = own_files.insert(own.id.clone(), file) {
                return Err(own
                    .at("id", &own.id)
                    .error("an id that no other file of --rules has", format!("{} (also in {other})", own.id)));
            }
            known.insert(own.id.clone(), own);
        }
    }
    for own in known.values().filter(|own| own_files.contains_key(&own.id)) {
        if let Some(edge) = own.explains.iter().find(|edge| !known.contains_key(&edge.hypothesis)) {
            return Err(own.at("explains", &edge.hypothesis).error("the id of a hypothesis", edge.hypothesis.as_str()));
        }
    }
    Ok(known.into_values().collect())
}

/// The rows of one alternate; a mistake is placed.
fn ask(engine: &Engine, own: &Hypothesis, alternate: &file::Alternate) -> Result<Vec<engine::Row>> {
    let frame = engine.query(&format!("hypotheses/{}", own.file), &alternate.sql);
    frame.and_then(|frame| engine::rows(&frame)).map_err(|error| misplaced(own, alternate, &error))
}

fn misplaced(own: &Hypothesis, alternate: &file::Alternate, error: &Error) -> Error {
    let at = parse::At { file: &own.file, line: alternate.line, key: "SELECT" };
    at.error("a query over the tables and views", error.to_string())
}

/// Makes the views that one alternate needs.
fn prepare(engine: &Engine, own: &Hypothesis, alternate: &file::Alternate) -> Result<()> {
    engine.prepare(&format!("hypotheses/{}", own.file), &alternate.sql).map_err(|error| misplaced(own, alternate, &error))
}

fn add_views(engine: &mut Engine) {
    for (file, sql) in VIEWS {
        engine.view(view_name(file), &format!("views/{file}"), strip_comments(sql).trim().trim_end_matches(';'));
    }
}

/// The built-in quality checks.
pub fn checks() -> Result<Vec<quality::Check>> {
    CHECKS.iter().map(|(file, text)| quality::parse(file, text)).collect()
}

fn sql_files(dir: &Path) -> Result<Vec<(String, String)>> {
    let io = |error| Error::Request(format!("--rules {}: {error}", dir.display()));
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir).map_err(io)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).map_err(|error| Error::Request(format!("{}: {error}", path.display())))?;
        Ok((path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()), text))
    };
    paths.into_iter().map(read).collect()
}

/// What the rules found, before it is written into the tables.
#[derive(Debug)]
#[must_use]
pub struct Measured {
    quality: Vec<Quality>,
    effects: Effects,
    judged: Vec<Judged>,
    judgement: Judgement,
}

impl Measured {
    /// Fills `quality`, `readings`, `evidence`, `hypotheses` and `thresholds`.
    pub fn settle(self, tables: &mut Tables) -> Judgement {
        let Measured { quality, effects, judged, mut judgement } = self;
        tables.quality = quality;
        ledger::settle(tables, &judged, &effects, &mut judgement);
        judgement
    }
}

/// Measures and judges. All tables but those that [`Measured::settle`] fills must be complete.
///
/// On a thread of polars' own pool: from any other thread each of some hundred statements is handed over and waited for,
/// which was a seventh of the rules' time.
pub fn judge(tables: &Tables, options: &RuleOptions) -> Result<Measured> {
    THREAD_POOL.install(|| judge_here(tables, options))
}

fn judge_here(tables: &Tables, options: &RuleOptions) -> Result<Measured> {
    let mut hypotheses = hypotheses(&options.rules_dirs)?;
    let changes = Changes::read(options)?;
    changes.apply(tables, &mut hypotheses)?;
    let checks = checks()?;
    let allowed = Allowed::new(&options.allow, &checks)?;
    let comparability = match allowed.has(COMPARISONS) {
        true => Comparability::find(tables).lenient(),
        false => Comparability::find(tables),
    };
    let own = hypotheses.iter().map(|own| own.text.as_str());
    let texts: Vec<&str> = VIEWS.iter().chain(CHECKS).map(|(_, text)| *text).chain(own).collect();
    let mut engine = Engine::over(tables, &comparability, &texts)?;
    add_views(&mut engine);
    let facts = facts(&engine, &comparability)?;
    let quality = quality::judge(tables, &engine, &checks, &comparability, &allowed)?;
    let effects = Effects::of(&quality, Classes::embedded()?.kernel_only());
    let judged = judge_all(tables, &engine, &hypotheses, &comparability, &effects, &facts, options)?;
    let judgement = Judgement { facts, hypotheses, given: changes.files(), ..Judgement::default() };
    Ok(Measured { quality, effects, judged, judgement })
}

fn judge_all(
    tables: &Tables,
    engine: &Engine,
    hypotheses: &[Hypothesis],
    comparability: &Comparability,
    effects: &Effects,
    facts: &Facts,
    options: &RuleOptions,
) -> Result<Vec<Judged>> {
    let sites = site::SiteFinder { tables, effects };
    let judge = Judge { tables, effects, sites: &sites };
    let mut assigner = assign::Assigner::new(tables, comparability, effects, options.lineage_probe);
    // Who fills which slot is found first, so that all queries can be asked at once.
    let mut slots = Vec::new();
    for (at, hypothesis) in hypotheses.iter().enumerate() {
        for (letter, assigned) in assigner.assign(engine, hypothesis)? {
            let slot = if assigned.is_fallback { hypothesis.slots.get(3) } else { hypothesis.slot(letter) };
            let alternate = assigned.primary.as_ref().and_then(|primary| slot?.alternates.get(primary.alternate));
            slots.push((at, letter, assigned, alternate));
        }
    }
    let fails = |own: &Hypothesis| own.applies_if.as_ref().and_then(|condition| condition.fails(facts));
    let not_applicable: Vec<Option<String>> = hypotheses.iter().map(fails).collect();
    let is_asked = |at: usize| not_applicable.get(at).is_some_and(Option::is_none);
    for (at, _, _, alternate) in slots.iter().filter(|slot| is_asked(slot.0)) {
        if let (Some(own), Some(alternate)) = (hypotheses.get(*at), alternate) {
            prepare(engine, own, alternate)?;
        }
    }
    let fill = |(at, letter, assigned, alternate): &(usize, char, assign::Assigned, Option<&file::Alternate>)| {
        let own = hypotheses.get(*at).filter(|_| is_asked(*at));
        Ok(match (own, alternate) {
            (None, _) => {
                let reason = not_applicable.get(*at).cloned().flatten();
                judge.empty(*letter, &assign::Assigned { reason, ..Default::default() })
            }
            (Some(_), None) => judge.empty(*letter, assigned),
            (Some(own), Some(alternate)) => judge.fill(*letter, alternate, assigned, &ask(engine, own, alternate)?),
        })
    };
    let filled: Vec<Result<_>> = slots.par_iter().map(fill).collect();
    let mut out: Vec<Judged> = Vec::with_capacity(hypotheses.len());
    let mut filled = slots.iter().map(|slot| slot.0).zip(filled).peekable();
    for ((at, hypothesis), not_applicable) in hypotheses.iter().enumerate().zip(not_applicable.iter().cloned()) {
        let mut own = Vec::new();
        while let Some((_, slot)) = filled.next_if(|(of, _)| *of == at) {
            own.push(slot?);
        }
        let agreement = site::agree(tables, &own);
        out.push(Judged { hypothesis: hypothesis.clone(), slots: own, not_applicable, agreement });
    }
    Ok(out)
}

/// `03_class_costs.sql` -> `class_costs`.
pub fn view_name(file: &str) -> &str {
    let name = file.strip_suffix(".sql").unwrap_or(file);
    name.split_once('_').map_or(name, |(_, name)| name)
}

/// SQL without its comment lines.
pub fn strip_comments(sql: &str) -> String {
    sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n")
}

/// What is known of the run, for `applies_if` and the impact on the wall clock.
fn facts(engine: &Engine, comparability: &Comparability) -> Result<Facts> {
    let frame = engine.query(
        "views/01_bare.sql",
        "SELECT b.wall_ns AS wall_ns, b.user_ns AS user_ns, b.system_ns AS system_ns, t.threads AS threads FROM bare AS b CROSS JOIN run_threads AS t",
    )?;
    let first = |name: &str| Ok::<Option<f64>, Error>(engine::integers(&frame, name)?.first().copied().flatten().map(|value| value as f64));
    let (wall, user, system, threads) = (first("wall_ns")?, first("user_ns")?, first("system_ns")?, first("threads")?);
    let mut facts = Facts::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            facts.insert(name, value);
        }
    };
    let cpu = user.zip(system).map(|(user, system)| user + system);
    put("wall_seconds", wall.map(|ns| ns / 1e9));
    put("cpu_seconds", cpu.map(|ns| ns / 1e9));
    put("cpu_share", cpu.zip(wall).map(|(cpu, wall)| cpu / wall));
    put("system_share", system.zip(cpu).map(|(system, cpu)| system / cpu));
    put("threads", threads);
    let cpus = comparability.cpus.map(|cpus| cpus as f64);
    put("cpus", cpus);
    put("threads_per_cpu", threads.zip(cpus).map(|(threads, cpus)| threads / cpus));
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[(&str, &str)]) -> Vec<String> {
        list.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    #[test]
    fn directory_and_registry_agree() {
        for (dir, list) in [("views", VIEWS), ("hypotheses", HYPOTHESES), ("quality", CHECKS)] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("queries").join(dir);
            let mut found: Vec<String> = sql_files(&path).unwrap().into_iter().map(|(name, _)| name).collect();
            found.sort();
            assert_eq!(found, names(list), "queries/{dir}");
        }
    }

    #[test]
    fn every_file_is_well_formed() {
        let all = hypotheses(&[]).unwrap();
        assert_eq!(all.len(), HYPOTHESES.len());
        for own in &all {
            assert!(own.file.starts_with(&own.id), "{}: the file name begins with the id", own.file);
        }
        checks().unwrap();
        for (file, sql) in VIEWS {
            assert_eq!(dialect::check(strip_comments(sql).trim()), Ok(()), "{file}");
        }
    }

    #[test]
    fn questions_are_in_the_dialect_and_say_what_they_answer() {
        for (dir, least) in [("explore", 15), ("fleet", 6)] {
            let files = sql_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("queries").join(dir)).unwrap();
            assert!(files.len() >= least, "queries/{dir} has {} files", files.len());
            for (file, text) in files {
                assert_eq!(dialect::check(strip_comments(&text).trim()), Ok(()), "{dir}/{file}");
                for key in ["question", "row", "units", "empty"] {
                    assert!(text.lines().any(|line| line.starts_with(&format!("-- {key}: "))), "{dir}/{file}: no `-- {key}:`");
                }
                assert!(text.contains("ORDER BY"), "{dir}/{file}: its rows come in no order");
            }
        }
    }

    /// Ids repeat from run to run: two tables meet on the run, too.
    #[test]
    fn tables_of_many_runs_meet_on_the_run() {
        let tables: Vec<&str> = Tables::descriptors().iter().map(|table| table.name).collect();
        for (file, text) in sql_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("queries/fleet")).unwrap() {
            let code = strip_comments(&text);
            for join in code.split("JOIN ").skip(1) {
                let table = join.split_whitespace().next().unwrap_or("");
                let on = join.lines().next().unwrap_or("");
                assert!(!tables.contains(&table) || on.contains(".run = "), "{file}: {on}");
            }
        }
    }
}
