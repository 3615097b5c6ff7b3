//! `tripod analyze`: recordings in, a run directory and a report out.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::place::Place;
use super::progress::Progress;
use super::{Outcome, dry_run, out};
use crate::AnalyzeRequest;
use crate::emit::{self, EmitOptions, Overwrite, Run, RunId, Stage, terminal, view};
use crate::error::{Error, Result};
use crate::ingest::{STDIN, STDIN_NAME};
use crate::request::Lineage;
use crate::stages::{Stages, Watch};

const HELP: &str = "Examples:
  tripod analyze testdata/scenarios/s1-unbuffered-writes
  tripod analyze perf.data -o report --symbol-dir build/
  tripod analyze system-wide/perf.data --comm postgres
  tripod analyze recordings/ --thresholds ours.txt --dry-run      (what our own bounds would change)
  tripod analyze recordings/ --dataset runs/ --run web-2024-05-01 (one of many runs, for `tripod query runs/`)
  tripod analyze recordings/ --fail-on kernel      (exit code 1 if a hypothesis is proven: for CI)";

/// Read recordings, rank hotspots, test hypotheses, write a run directory
///
/// Every file is recognized by its content, never by its name; zstd, gzip, xz and bzip2 around a file are undone. What cannot be
/// read is counted and named, and the rest is analyzed.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Files and directories with recordings; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Run directory to write [default: ./tripod-out/<name of the input>]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Replace a run directory that holds the run of other recordings
    #[arg(long)]
    force: bool,
    /// Write into this folder of many runs, as ROOT/run=ID; any number of processes and hosts may do so at once
    #[arg(long, value_name = "ROOT", requires = "run", conflicts_with_all = ["output", "force"])]
    dataset: Option<PathBuf>,
    /// Name of the run in the dataset: a letter, then up to 63 letters, digits, `_` or `-`; a run of that name is replaced
    #[arg(long, value_name = "ID", requires = "dataset", value_parser = RunId::parse)]
    run: Option<RunId>,
    /// Look here for programs and libraries with symbols (build-ids are checked), or in a tarball of `perf archive`; may
    /// be repeated
    #[arg(long, value_name = "DIR")]
    symbol_dir: Vec<PathBuf>,
    /// Look here for separate debug files, laid out like /usr/lib/debug; may be repeated
    #[arg(long, value_name = "DIR")]
    debug_dir: Vec<PathBuf>,
    /// Look up recorded paths below this root directory of another machine or container; may be repeated
    #[arg(long, value_name = "DIR")]
    sysroot: Vec<PathBuf>,
    /// Recorded paths that begin with FROM lie below the directory TO here (build-ids are checked); may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = path_map)]
    path_map: Vec<(String, PathBuf)>,
    /// Look here for perf-PID.map and jit-PID.dump of JIT compilers (beside the recording they are found); may be repeated
    #[arg(long, value_name = "DIR")]
    jit_dir: Vec<PathBuf>,
    /// Names of the recorded kernel: a copy of its /proc/kallsyms
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// Analyze the processes with this command name
    #[arg(long, value_name = "NAME")]
    comm: Option<String>,
    /// Analyze the process with this id
    #[arg(long, value_name = "PID")]
    pid: Option<i32>,
    /// Test the hypotheses of this folder too; may be repeated
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// Take a quality check's effect away; it is still listed, as silenced. May be repeated, or ids separated by commas
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    allow: Vec<String>,
    /// Use the bounds of this file in place of the published ones, one metric per line:
    /// `R25 A calls_per_second support=20000 reason="why"`
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// What basic things cost on the recorded machine, as the capture kit measures it; or a class of queries/costs.json
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Only say which verdicts and labels --thresholds, --costs, --rules and --lineage would change; nothing is written
    #[arg(long)]
    dry_run: bool,
    /// What two angles must not share: `tool` (two perf recordings count once) or only `probe`
    #[arg(long, value_enum, default_value = "tool")]
    lineage: LineageArg,
    /// Keep scheduler, system call, lock and block tracepoints in the samples table too
    #[arg(long)]
    keep_tracepoints: bool,
    /// Threads to use [default: one per CPU]
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print nothing; the files are written all the same
    #[arg(short, long)]
    quiet: bool,
    /// Print what each stage cost, and write it (but for the writing itself) into summary.json
    #[arg(long)]
    timings: bool,
    /// Exit with 1 if this holds; may be repeated
    #[arg(long, value_enum, value_name = "CONDITION")]
    fail_on: Vec<Condition>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LineageArg {
    Tool,
    Probe,
}

/// What a build may be failed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Condition {
    /// A hypothesis is KERNEL
    Kernel,
    /// A hypothesis is KERNEL or DISPUTED
    Disputed,
    /// A hypothesis is KERNEL, DISPUTED or open
    Open,
    /// A quality check blocked or demoted something
    Quality,
    /// Something was lost while reading (a diagnostic of severity warn or error)
    Loss,
}

/// What was meant.
struct Job {
    request: AnalyzeRequest,
    place: Place,
    options: EmitOptions,
    quiet: bool,
    dry_run: bool,
    fail_on: Vec<Condition>,
}

pub fn run(args: Args) -> Result<Outcome> {
    if let Some(jobs) = args.jobs {
        threads(jobs)?;
    }
    let job = resolve(args)?;
    if job.dry_run {
        out::print(dry_run::flips(&job.request)?.as_bytes())?;
        return Ok(Outcome::Done);
    }
    job.place.check()?;
    let progress = if job.quiet { None } else { Progress::start(&job.request.watch) };
    let run = crate::analyze(&job.request)?;
    something_was_read(&run)?;
    let view = emit::View::new(&run);
    let mut writing = Stages::new(job.request.watch.clone());
    let files = emit::render(&view, job.options)?;
    let note = job.place.write(&files, &run.tables)?;
    writing.end("write");
    drop(progress);
    if !job.quiet {
        // The last stage is over too late for summary.json.
        let all = || run.timings.iter().cloned().chain(writing.costs().iter().map(Stage::from)).collect();
        let timings: Vec<Stage> = if job.options.timings { all() } else { Vec::new() };
        out::print(terminal::render(&view, out::style(), Some(&job.place.dir()), &timings).as_bytes())?;
        note.iter().for_each(|note| out::complain(note));
    }
    let failed = job.fail_on.iter().any(|condition| holds(*condition, &run));
    Ok(if failed { Outcome::Failed } else { Outcome::Done })
}

/// Both thread pools get the same size: rayon's, and the one of polars, which is told by its environment variable.
fn threads(jobs: u16) -> Result<()> {
    // SAFETY: nothing else runs yet: this is the first thing the program does after parsing its arguments, and the
    // pools are started by their first use.
    unsafe { std::env::set_var("POLARS_MAX_THREADS", jobs.to_string()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(jobs))
        .build_global()
        .map_err(|error| Error::Request(format!("-j {jobs}: {error}")))
}

fn resolve(args: Args) -> Result<Job> {
    let place = match (&args.dataset, &args.run, &args.output) {
        (Some(root), Some(id), _) => Place::Member { root: root.clone(), id: id.clone() },
        (_, _, output) => {
            let dir = output.clone().map_or_else(|| default_dir(&args.paths), Ok)?;
            Place::Alone { dir, overwrite: if args.force { Overwrite::AnyRun } else { Overwrite::SameRun } }
        }
    };
    let of = |option: &'static str, dirs: &[PathBuf]| dirs.iter().map(|dir| (option, dir.clone())).collect::<Vec<_>>();
    let targets: Vec<PathBuf> = args.path_map.iter().map(|(_, to)| to.clone()).collect();
    let given =
        [of("--debug-dir", &args.debug_dir), of("--sysroot", &args.sysroot), of("--jit-dir", &args.jit_dir), of("--path-map", &targets)];
    if let Some((option, path)) = given.concat().into_iter().find(|(_, path)| !path.is_dir()) {
        return Err(Error::Request(format!("{option} {}: there is no such directory", path.display())));
    }
    if let Some(path) = args.symbol_dir.iter().find(|path| !path.exists()) {
        return Err(Error::Request(format!("--symbol-dir {}: there is no such directory or archive", path.display())));
    }
    let (options, quiet, fail_on) = (EmitOptions { timings: args.timings }, args.quiet, args.fail_on.clone());
    let dry_run = args.dry_run;
    Ok(Job { request: request(args), place, options, quiet, dry_run, fail_on })
}

/// What is to be analyzed, without where it goes.
fn request(args: Args) -> AnalyzeRequest {
    AnalyzeRequest {
        paths: args.paths,
        symbol_dirs: args.symbol_dir,
        debug_dirs: args.debug_dir,
        sysroots: args.sysroot,
        path_maps: args.path_map,
        jit_dirs: args.jit_dir,
        kallsyms: args.kallsyms,
        comm: args.comm,
        pid: args.pid,
        rules: args.rules,
        allow: args.allow.iter().map(|id| id.trim().to_uppercase()).filter(|id| !id.is_empty()).collect(),
        thresholds: args.thresholds,
        costs: args.costs,
        lineage: match args.lineage {
            LineageArg::Tool => Lineage::Tool,
            LineageArg::Probe => Lineage::Probe,
        },
        keep_tracepoints: args.keep_tracepoints,
        watch: Watch::default(),
    }
}

/// The same from the words that a run directory keeps (`AnalyzeRequest::arguments`); paths are not looked at.
pub fn request_of(arguments: &[String]) -> Result<AnalyzeRequest> {
    #[derive(clap::Parser)]
    struct Again {
        #[command(flatten)]
        args: Args,
    }
    let words = std::iter::once("analyze").chain(arguments.iter().map(String::as_str));
    let again = <Again as clap::Parser>::try_parse_from(words);
    again.map(|again| request(again.args)).map_err(|error| Error::Request(format!("fingerprint.json: arguments: {error}")))
}

/// `FROM=TO`; FROM is an absolute path of the recorded machine.
fn path_map(text: &str) -> std::result::Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((from, to)) if from.starts_with('/') && !to.is_empty() => Ok((from.to_owned(), PathBuf::from(to))),
        _ => Err("expected FROM=TO with an absolute FROM, as in /app=/home/me/build".to_owned()),
    }
}

/// `./tripod-out/<name>`, by the first path in alphabetical order and the number of others: the order of the arguments
/// does not matter.
fn default_dir(paths: &[PathBuf]) -> Result<PathBuf> {
    let mut sorted: Vec<&PathBuf> = paths.iter().collect();
    sorted.sort();
    sorted.dedup();
    let first = sorted.first().map_or(Path::new("."), |path| path.as_path());
    let name = if first.as_os_str() == STDIN {
        STDIN_NAME.to_owned()
    } else {
        // `.` and `..` have a name only once they are resolved.
        let resolved = first.canonicalize().map_err(|source| Error::Io { path: first.to_path_buf(), source })?;
        resolved.file_name().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let others = sorted.len() - 1;
    let name = if others > 0 { format!("{name}+{others}") } else { name };
    Ok(Path::new("tripod-out").join(name))
}

/// Exit code 3 is for this: not one file could be used.
fn something_was_read(run: &Run) -> Result<()> {
    let artifacts = &run.tables.artifacts;
    if artifacts.iter().any(|row| &*row.status != "unreadable") {
        return Ok(());
    }
    let path = artifacts.first().map_or_else(|| "the input".to_owned(), |row| row.path.to_string());
    let why = run
        .tables
        .diagnostics
        .first()
        .map_or_else(|| "nothing in it is a recording that Tripod knows".to_owned(), |row| row.message.to_string());
    let what = if artifacts.len() > 1 { format!("{why} (and {} files more that cannot be read)", artifacts.len() - 1) } else { why };
    Err(Error::Unusable { path, what, advice: "`tripod formats` lists what can be read and how to record it".to_owned() })
}

fn holds(condition: Condition, run: &Run) -> bool {
    let best = run.tables.hypotheses.iter().map(|row| view::rank(&row.label)).min().unwrap_or(usize::MAX);
    match condition {
        Condition::Kernel => best == 0,
        Condition::Disputed => best <= 1,
        Condition::Open => best <= 2,
        Condition::Quality => run.tables.quality.iter().any(|row| matches!(&*row.status, "demote" | "block")),
        Condition::Loss => run.tables.diagnostics.iter().any(|row| matches!(&*row.severity, "warn" | "error")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Artifact, Hypothesis};

    #[test]
    fn the_default_place_does_not_depend_on_the_order() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        assert_eq!(default_dir(&[a.join("..").join("a")]).unwrap(), Path::new("tripod-out/a"));
        assert_eq!(default_dir(&[b.clone(), a.clone()]).unwrap(), Path::new("tripod-out/a+1"));
        assert_eq!(default_dir(&[a, b]).unwrap(), Path::new("tripod-out/a+1"));
    }

    #[test]
    fn conditions() {
        let run = crate::emit::sample();
        assert!(holds(Condition::Kernel, &run) && holds(Condition::Quality, &run) && holds(Condition::Loss, &run));
        let mut mild = Run::default();
        assert!(!holds(Condition::Open, &mild));
        mild.tables.hypotheses = vec![Hypothesis { label: "open".into(), ..run.tables.hypotheses[0].clone() }];
        assert!(holds(Condition::Open, &mild) && !holds(Condition::Disputed, &mild));
    }

    #[test]
    fn a_run_without_a_readable_file_is_an_error() {
        let mut run = crate::emit::sample();
        something_was_read(&run).unwrap();
        run.tables.artifacts = run.tables.artifacts.iter().map(|row| Artifact { status: "unreadable".into(), ..row.clone() }).collect();
        let error = something_was_read(&run).unwrap_err();
        assert!(error.to_string().contains("tripod formats"));
        assert_eq!(super::super::exit_code(&error), 3);
    }
}
