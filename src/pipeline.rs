//! The pipeline, stage after stage: the one place where they meet.

use std::path::{Path, PathBuf};

use crate::derive::{self, TargetChoice};
use crate::emit::{AlternateDoc, HypothesisDoc, Missing, Run, SlotDoc, Stage, WallLine, WallPart};
use crate::error::{Error, Result};
use crate::ingest::{self, ImportOptions, Inputs};
use crate::objects::{Library, Roots};
use crate::request::{AnalyzeRequest, Lineage};
use crate::rules::{self, Judgement, RuleOptions, file::Hypothesis};
use crate::stages::Stages;
use crate::wall::{self, Shares};
use crate::{hotspots, memory, symbolize};

/// Reads, names, derives, judges and ranks. Fails where no input could be read at all.
pub fn analyze(request: &AnalyzeRequest) -> Result<Run> {
    let mut stages = Stages::new(request.watch.clone());
    rules::check(&rule_options(request))?;
    let inputs = Inputs::find(&request.paths)?;
    let library = Library::open(&roots(request, &inputs));
    stages.end("open");
    let recorders =
        ingest::read_all(&inputs, &library, &ImportOptions { keep_tracepoints: request.keep_tracepoints, ..ImportOptions::default() });
    if !recorders.iter().any(|recorder| matches!(recorder.artifact.status.as_ref(), "complete" | "partial" | "truncated")) {
        let why: Vec<String> =
            recorders.iter().flat_map(|recorder| recorder.tables.diagnostics.iter()).take(3).map(|row| row.message.to_string()).collect();
        // Not a request that cannot be met: exit code 3 is for this.
        return Err(Error::Unusable {
            path: request.paths.first().map_or_else(String::new, |path| path.display().to_string()),
            what: format!("none of {} files could be read", inputs.len())
                + &if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) },
            advice: "`tripod formats` lists what can be read and how to record it".to_owned(),
        });
    }
    stages.end("ingest");
    let manifests = ingest::manifest::manifests(&recorders);
    let mut tables = ingest::merge(recorders);
    ingest::manifest::apply(&mut tables, &manifests);
    stages.end("merge");
    let inlined = symbolize::name(&mut tables, &library);
    memory::give_back();
    stages.end("symbolize");
    let derived = derive::derive(&mut tables, &inlined, &TargetChoice { comm: request.comm.clone(), pid: request.pid })?;
    drop(inlined);
    stages.end("derive");
    let shares = Shares::measure(&tables);
    let judge = || rules::judge(&tables, &rule_options(request));
    let rank = || hotspots::rank(&tables, &shares, &derived);
    // The rules leave a part of two cores idle. The engine has a pool of its own, so that for this moment one thread more
    // runs than was asked for; with one thread that would be twice as many.
    let (measured, ranked) = if rayon::current_num_threads() > 1 { rayon::join(judge, rank) } else { (judge(), rank()) };
    let judgement = measured?.settle(&mut tables);
    ranked.settle(&mut tables);
    memory::give_back();
    stages.end("rules");
    let line = wall::line(&tables, &shares);
    tables.evidence.extend(wall::evidence(&line));
    let wall_line = match line {
        wall::Line::Unknown(reason) => WallLine::Unknown { reason },
        wall::Line::Known { wall_ns, threads, source, parts } => WallLine::Known {
            wall_ns,
            threads,
            source,
            parts: parts.into_iter().map(|(name, ns, source)| WallPart { name, ns, source }).collect(),
        },
    };
    let timings = stages.costs().iter().map(Stage::from).collect();
    let target = derived.target;
    let named = if target.name.is_empty() { "unknown".to_owned() } else { target.name };
    Ok(Run {
        tables,
        calls: Some(derived.calls),
        wall_line,
        target: format!("{named} ({})", target.reason),
        missing: missing(&judgement),
        catalogue: judgement.hypotheses.iter().map(document).collect(),
        queries: queries(&judgement),
        arguments: request.arguments(),
        timings,
    })
}

fn rule_options(request: &AnalyzeRequest) -> RuleOptions {
    RuleOptions {
        rules_dirs: request.rules.clone(),
        lineage_probe: request.lineage == Lineage::Probe,
        allow: request.allow.clone(),
        thresholds: request.thresholds.clone(),
        costs: request.costs.clone(),
    }
}

/// What the user gave, and the documented places: `symbols/` in an input directory and next to it, /usr/lib/debug by
/// build-id, and the recorded path itself if the file there has the recorded build-id.
fn roots(request: &AnalyzeRequest, inputs: &Inputs) -> Roots {
    let mut symbol_dirs = request.symbol_dirs.clone();
    symbol_dirs.extend(request.kallsyms.clone());
    for root in &inputs.roots {
        for dir in [root.join("symbols"), root.join("..").join("symbols")] {
            if dir.is_dir() && !symbol_dirs.contains(&dir) {
                symbol_dirs.push(dir);
            }
        }
    }
    let mut debug_dirs = request.debug_dirs.clone();
    debug_dirs.push(PathBuf::from("/usr/lib/debug"));
    Roots {
        symbol_dirs,
        debug_dirs,
        recorded_paths: true,
        sysroots: request.sysroots.clone(),
        path_maps: request.path_maps.clone(),
        jit_dirs: jit_dirs(request, inputs),
    }
}

/// Directories the user gave, then those in which the inputs lie. /tmp, where JIT compilers write on this machine too,
/// only where it was given as a directory: the process ids of a recording mean nothing there.
fn jit_dirs(request: &AnalyzeRequest, inputs: &Inputs) -> Vec<PathBuf> {
    let mut dirs = request.jit_dirs.clone();
    let is_given = |dir: &PathBuf| request.paths.contains(dir);
    let is_tmp = |dir: &PathBuf| dir.canonicalize().is_ok_and(|dir| dir == Path::new("/tmp"));
    let mut beside: Vec<PathBuf> = inputs.iter().filter_map(|(_, path)| path.parent().map(PathBuf::from)).collect();
    beside.sort();
    beside.dedup();
    for dir in beside {
        let dir = if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir };
        if (is_given(&dir) || !is_tmp(&dir)) && !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs
}

/// The hypotheses as they describe themselves: the embedded ones and those of the folders given.
pub fn catalogue(rules: &[PathBuf]) -> Result<Vec<HypothesisDoc>> {
    Ok(rules::hypotheses(rules)?.iter().map(document).collect())
}

fn document(own: &Hypothesis) -> HypothesisDoc {
    let alternate = |alternate: &rules::file::Alternate| AlternateDoc {
        name: alternate.name.clone(),
        mechanism: alternate.mechanism.clone(),
        record: alternate.record.clone(),
    };
    let slot =
        |slot: &rules::file::Slot| SlotDoc { slot: slot.letter.to_string(), alternates: slot.alternates.iter().map(alternate).collect() };
    HypothesisDoc {
        id: own.id.clone(),
        name: own.name.clone(),
        claim: own.claim.clone(),
        category: own.category.clone(),
        advice: own.advice.clone(),
        false_positives: own.false_positives.clone(),
        status: own.status.name().to_owned(),
        effort: own.effort,
        slots: own.slots.iter().map(slot).collect(),
    }
}

/// The query files that ran, whole: views, quality checks and the hypotheses with those of the user.
fn queries(judgement: &Judgement) -> Vec<(String, String)> {
    let views = rules::VIEWS.iter().map(|(file, text)| (format!("views/{file}"), (*text).to_owned()));
    let checks = rules::CHECKS.iter().map(|(file, text)| (format!("quality/{file}"), (*text).to_owned()));
    let hypotheses = judgement.hypotheses.iter().map(|own| (format!("hypotheses/{}", own.file), own.text.clone()));
    views.chain(checks).chain(hypotheses).chain(judgement.given.iter().cloned()).collect()
}

/// The commands that would fill open slots, each with the reason why its slot is open.
fn missing(judgement: &Judgement) -> Vec<Missing> {
    let row = |row: &rules::Missing| Missing {
        hypothesis: row.hypothesis.clone(),
        slot: row.slot.clone(),
        command: row.command.clone(),
        reason: String::new(),
    };
    judgement.missing.iter().map(row).collect()
}
