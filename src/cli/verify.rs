//! `tripod verify`: is what a run directory says still what its recordings say?

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::Value as Json;

use super::stored::Stored;
use super::{Outcome, analyze, out};
use crate::emit::escape;
use crate::error::{Error, Result};
use crate::verify::{self, Level, Report, Request};

const HELP: &str = "Examples:
  tripod verify tripod-out/recordings
  tripod verify tripod-out/recordings --input /mnt/evidence/recordings     the recordings lie elsewhere now
  tripod verify tripod-out/recordings --level re-read --list               every number, and on which basis it holds

artifacts  the files are those the run was made from (sha256), none missing, none added
re-read    a small reader that shares no code with the importers opens every anchor and finds the number: in the
           artifact (basis `file`), or, for places on stacks and reasons of waits, in the run's tables (basis
           `tables`), whose rows are compared with the artifact's records
replay     the analysis runs again with the same options; every file must come out the same

What cannot be checked is counted, printed with the reason, and fails.
Exit codes: 0 all is confirmed, 1 something differs or could not be checked, 2 DIR is no run directory or an option is
wrong, 3 the recordings are not there";

/// Check a run directory against its recordings: every number again
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Run directory that `tripod analyze` wrote
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The recordings lie here now [default: where they lay when they were analyzed]
    #[arg(long, value_name = "ROOT")]
    input: Option<PathBuf>,
    /// What was given to `analyze` below FROM (symbols, rules, ...) lies below TO now; may be repeated
    #[arg(long, value_name = "FROM=TO", value_parser = moved)]
    moved: Vec<(PathBuf, PathBuf)>,
    /// Run one level only
    #[arg(long, value_enum)]
    level: Option<LevelArg>,
    /// Print every number that was confirmed, with its basis
    #[arg(long)]
    list: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: FormatArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LevelArg {
    /// Open every anchor
    ReRead,
    /// Analyze again
    Replay,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Text,
    Json,
}

pub fn run(args: Args) -> Result<Outcome> {
    // Says what is wrong with a directory that is none of ours.
    Stored::open(&args.dir)?;
    let fingerprint = fingerprint(&args.dir)?;
    let request = request(&args, &fingerprint)?;
    let mut report = verify::run(&request)?;
    note_version(&fingerprint, &mut report);
    let text = match args.format {
        FormatArg::Json => {
            let text = serde_json::to_string_pretty(&report.json()).map_err(|error| Error::Request(error.to_string()))?;
            format!("{text}\n")
        }
        FormatArg::Text if args.list => format!("{}{}", report.list(), report.text()),
        FormatArg::Text => report.text(),
    };
    // Names from recordings and from a directory that anybody may have changed.
    let shown: Vec<_> = text.lines().map(escape::plain).collect();
    out::print(format!("{}\n", shown.join("\n")).as_bytes())?;
    Ok(if report.is_confirmed() { Outcome::Done } else { Outcome::Failed })
}

fn fingerprint(dir: &Path) -> Result<Json> {
    let path = dir.join("fingerprint.json");
    let failed = |what: String| Error::Request(format!("{}: {what}; `tripod analyze PATH` writes it", path.display()));
    let bytes = fs::read(&path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))
}

/// Another version may say other things about the same recordings.
fn note_version(fingerprint: &Json, report: &mut Report) {
    let own = env!("CARGO_PKG_VERSION");
    let theirs = fingerprint.get("version").and_then(Json::as_str).unwrap_or("unknown");
    if theirs != own {
        report.notes.push(format!("the run was written by tripod {theirs}, this is {own}: the replay may differ for that alone"));
    }
}

fn request(args: &Args, fingerprint: &Json) -> Result<Request> {
    let words = fingerprint.get("arguments").and_then(Json::as_array);
    let arguments: Vec<String> = words.into_iter().flatten().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
    if arguments.is_empty() {
        let what = "fingerprint.json: does not say what was analyzed; analyze again with this version";
        return Err(Error::Request(format!("{}: {what}", args.dir.display())));
    }
    let mut analyze = analyze::request_of(&arguments)?;
    let recorded = analyze.paths.clone();
    analyze.change_paths(&|path| moved_to(path, &args.moved));
    if let Some(root) = &args.input {
        analyze.paths = below(&recorded, root, fingerprint);
    }
    if analyze.paths.iter().any(|path| path.as_os_str() == crate::ingest::STDIN) {
        let what = "the recording came on standard input, which is gone; analyze the file itself to be able to verify";
        return Err(Error::Request(what.to_owned()));
    }
    if let Some(path) = analyze.paths.iter().find(|path| !path.exists()) {
        let (path, what) = (path.display().to_string(), "the recordings are not there".to_owned());
        return Err(Error::Unusable { path, what, advice: "--input ROOT says where they lie now".to_owned() });
    }
    if let Some((option, path)) = analyze.places().into_iter().find(|(_, path)| !path.exists()) {
        let path = path.display();
        return Err(Error::Request(format!(
            "the run was made with {option}, and {path} is not there; --moved {path}=TO says where it lies now"
        )));
    }
    let level = match args.level {
        None => Level::Both,
        Some(LevelArg::ReRead) => Level::ReRead,
        Some(LevelArg::Replay) => Level::Replay,
    };
    Ok(Request { dir: args.dir.clone(), analyze, arguments, level })
}

/// What was given as `path`, by the first FROM that it lies below.
fn moved_to(path: &Path, moved: &[(PathBuf, PathBuf)]) -> PathBuf {
    let found = moved.iter().find_map(|(from, to)| Some((path.strip_prefix(from).ok()?, to)));
    match found {
        Some((rest, to)) if rest.as_os_str().is_empty() => to.clone(),
        Some((rest, to)) => to.join(rest),
        None => path.to_path_buf(),
    }
}

/// The paths that were analyzed, now below `root`: of one folder the root itself, of several paths each by its last part.
fn below(paths: &[PathBuf], root: &Path, fingerprint: &Json) -> Vec<PathBuf> {
    let artifacts = fingerprint.get("artifacts").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let only = match artifacts {
        [one] => one.get("path").and_then(Json::as_str),
        _ => None,
    };
    match paths {
        // A single file has its own name as the name of its artifact.
        [path] if root.is_dir() && path.file_name().is_some_and(|name| Some(&*name.to_string_lossy()) == only) => {
            let file = path.file_name().map_or_else(|| root.to_path_buf(), |name| root.join(name));
            vec![if file.exists() { file } else { root.to_path_buf() }]
        }
        [_] => vec![root.to_path_buf()],
        several => several.iter().map(|path| path.file_name().map_or_else(|| root.to_path_buf(), |name| root.join(name))).collect(),
    }
}

/// `FROM=TO`.
fn moved(text: &str) -> std::result::Result<(PathBuf, PathBuf), String> {
    match text.split_once('=') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((PathBuf::from(from), PathBuf::from(to))),
        _ => Err("expected FROM=TO".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_asked_for_again() {
        let words = ["--symbol-dir=sym", "--path-map=/app=build", "--pid=7", "--lineage=probe", "--keep-tracepoints", "--", "-odd", "rec"];
        let words: Vec<String> = words.map(str::to_owned).to_vec();
        assert_eq!(analyze::request_of(&words).unwrap().arguments(), words);
        assert!(analyze::request_of(&["--nonsense".to_owned(), "x".to_owned()]).is_err());
    }

    #[test]
    fn things_that_were_moved_are_found() {
        let moved = [(PathBuf::from("old/sym"), PathBuf::from("new"))];
        assert_eq!(moved_to(Path::new("old/sym/a"), &moved), Path::new("new/a"));
        assert_eq!(moved_to(Path::new("old/sym"), &moved), Path::new("new"));
        assert_eq!(moved_to(Path::new("old/symbols"), &moved), Path::new("old/symbols"));
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("perf.data"), "x").unwrap();
        let one: Json = serde_json::json!({"artifacts": [{"path": "perf.data"}]});
        assert_eq!(below(&["rec/perf.data".into()], root.path(), &one), [root.path().join("perf.data")]);
        assert_eq!(below(&["rec".into()], root.path(), &one), [root.path()]);
        assert_eq!(below(&["a/b".into(), "c".into()], Path::new("r"), &one), [Path::new("r/b"), Path::new("r/c")]);
    }
}
