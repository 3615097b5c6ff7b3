//! For the tests of objects and symbolize: programs made on the spot, and what binutils say about them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a tool; `None` where it is not installed or fails.
pub fn run(tool: &str, args: &[&str], dir: &Path) -> Option<String> {
    // Some versions of llvm-dwp never end.
    let output = Command::new("timeout").args(["20", tool]).args(args).current_dir(dir).env("LC_ALL", "C").output().ok()?;
    if !output.status.success() {
        eprintln!("{tool} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compiles `source` to `dir/name`; `None` (and a word on stderr) where there is no compiler.
pub fn gcc(dir: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    std::fs::write(dir.join(format!("{name}.c")), source).ok()?;
    let mut args = vec!["-o", name];
    let file = format!("{name}.c");
    args.push(&file);
    args.extend(flags);
    if run("gcc", &args, dir).is_none() {
        eprintln!("skipped: gcc cannot make {name}");
        return None;
    }
    Some(dir.join(name))
}

/// The address of a symbol, by nm.
pub fn nm(dir: &Path, file: &str, symbol: &str) -> Option<u64> {
    let text = run("nm", &[file], dir)?;
    text.lines().find_map(|line| {
        let mut parts = line.split_whitespace();
        let address = u64::from_str_radix(parts.next()?, 16).ok()?;
        (parts.nth(1)? == symbol).then_some(address)
    })
}

/// The build-id, by readelf.
pub fn build_id(dir: &Path, file: &str) -> Option<String> {
    let text = run("readelf", &["-n", file], dir)?;
    text.lines().find_map(|line| line.trim().strip_prefix("Build ID: ").map(str::to_owned))
}
