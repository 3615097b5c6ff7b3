//! Names against other tools, per address: every case of testdata/symbols-cases was recorded together with what
//! `perf report`, `perf script` and `addr2line -i` (LLVM's for clang and C++) say of it (record-symbols.sh has the commands).
//!
//! Differences that are allowed, each with its reason:
//! * `[vdso]`: perf names it from the machine that it runs on; a recording has no file of it. Compared per dso only.
//! * stack dumps: libdw gives up where framehop goes on, so a user part may be longer than perf's, never shorter by a
//!   known frame; trailing frames without a name are dropped on both sides.
//! * perf looks callers up at the return address, Tripod at the byte before it: where that is the first byte of a
//!   function (a stray word in a frame-pointer chain, or a call that does not return), perf names the next function.
//! * A chain's last word may be 0: perf shows a frame for it.
//! * Symbol versions (`clock_gettime@@GLIBC_2.17`) and the hashes of Rust's legacy scheme are no part of a name.
//! * Libraries of which there is no copy here (libstdc++) are compared per dso only.
//! * `perf inject --jit` puts generated code into files (jitted-PID-N.so): compared by the functions' names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libtest_mimic::{Completion, Failed, Trial};

use crate::run_tables::{Frame, RunTables};
use crate::support::{self, Outcome};

pub fn cases() -> PathBuf {
    support::testdata().join("symbols-cases")
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for dir in support::list(&cases()).into_iter().filter(|dir| dir.join("perf.data.zst").is_file()) {
        let name = dir.file_name().expect("has a name").to_string_lossy().into_owned();
        let (own, inner) = (dir.clone(), dir.clone());
        trials.push(Trial::ignorable_test(format!("names::{name}::self_and_stacks_equal_perf"), move || stacks(&own)));
        trials.push(Trial::ignorable_test(format!("names::{name}::inline_chains_equal_addr2line"), move || chains(&inner)));
    }
    trials.push(Trial::ignorable_test("names::another_root_gives_the_same_names", another_root));
    trials
}

fn read(dir: &Path, name: &str) -> Result<String, Failed> {
    let bytes = std::fs::read(dir.join(name))?;
    let text = if name.ends_with(".zst") { zstd::decode_all(&bytes[..])? } else { bytes };
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn analyze(dir: &Path) -> Result<RunTables, Failed> {
    let scratch = tempfile::tempdir()?;
    RunTables::read(&support::analyze(&dir.join("perf.data.zst"), scratch.path(), &[])?)
}

/// One name for what perf and Tripod call differently.
fn place(dso: &str) -> &str {
    let base = dso.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(dso);
    match base {
        _ if base.starts_with("perf-") || base.starts_with("jitted-") || base.starts_with("[JIT]") => "JIT",
        _ => base,
    }
}

type Named = (String, String);

/// The name of a frame that is not compared.
const ANY: &str = "*";

/// Whether `want` names the same frames from the leaf on, as far as it goes.
fn begins(got: &[Named], want: &[Named]) -> bool {
    let same = |(got, want): (&Named, &Named)| got.1 == want.1 && (want.0 == ANY || got.0 == want.0);
    got.len() >= want.len() && got.iter().zip(want).all(same)
}

fn named(symbol: &str, dso: &str) -> Named {
    let unknown = symbol.is_empty() || symbol == "[unknown]" || symbol.starts_with("0x");
    let dso = place(dso);
    let has_file = ["hot", "jit", "JIT", "[kernel.kallsyms]", "libc.so.6", "ld-linux-x86-64.so.2"].contains(&dso);
    let symbol = symbol.split("@@").next().unwrap_or(symbol);
    let symbol = if unknown || !has_file { "[unknown]" } else { without_hash(symbol) };
    (symbol.to_owned(), dso.to_owned())
}

/// `hot::selection_sort::h09deb6a2578a3a5c`, as c++filt leaves it.
fn without_hash(symbol: &str) -> &str {
    match symbol.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    }
}

/// The symbol of a copy that the compiler made says so; DWARF does not.
fn without_clone(name: &str) -> &str {
    name.split(" [clone ").next().unwrap_or(name)
}

fn ours(frame: &Frame) -> Named {
    named(frame.name.as_deref().unwrap_or(""), frame.dso.as_deref().unwrap_or("[unknown]"))
}

fn stacks(dir: &Path) -> Outcome {
    let tables = analyze(dir)?;
    let is_dump = dir.to_string_lossy().ends_with("-dwarf");
    self_periods(&tables, &read(dir, "self.txt")?)?;
    let theirs = script(&read(dir, "script.txt.zst")?);
    if theirs.len() < 100 {
        return Err(format!("only {} samples in script.txt", theirs.len()).into());
    }
    let mine: BTreeMap<(i32, i64), Vec<Named>> = tables
        .samples
        .iter()
        .map(|sample| ((sample.tid, sample.ts_ns), tables.physical(sample.stack).iter().map(|frame| ours(frame)).collect()))
        .collect();
    if mine.len() != theirs.len() {
        return Err(format!("{} samples, perf script has {}", mine.len(), theirs.len()).into());
    }
    let mut different = Vec::new();
    for (key, want) in &theirs {
        let got = mine.get(key).ok_or_else(|| format!("no sample of thread {} at {}", key.0, key.1))?;
        if let Some(difference) = compare(got, want, is_dump) {
            different.push(format!("{key:?}: {difference}\n  tripod {got:?}\n  perf   {want:?}"));
        }
    }
    // The kernel part is never allowed to differ; the user part of stack dumps in two of a hundred.
    let kernel = different.iter().filter(|text| text.contains("kernel part")).count();
    let allowed = if is_dump { theirs.len() / 50 } else { 0 };
    if kernel > 0 || different.len() > allowed {
        return Err(format!("{} of {} stacks differ; the first: {}", different.len(), theirs.len(), different[0]).into());
    }
    Ok(Completion::Completed)
}

fn is_kernel(frame: &Named) -> bool {
    frame.1.starts_with("[kernel")
        || frame.1.starts_with("[guest")
        || frame.1.ends_with(".ko")
        || (frame.1.starts_with('[') && !["[vdso]", "[unknown]", "[heap]", "[stack]"].contains(&frame.1.as_str()))
}

/// Both leaf first; `None` where they agree.
fn compare(got: &[Named], want: &[Named], is_dump: bool) -> Option<&'static str> {
    let split = |stack: &[Named]| stack.iter().take_while(|frame| is_kernel(frame)).count();
    let (got, want) = if is_dump { (known(got), known(want)) } else { (got, want) };
    let (kernel, user) = got.split_at(split(got));
    let (kernel_want, user_want) = want.split_at(split(want));
    if kernel.len() != kernel_want.len() || !begins(kernel, kernel_want) {
        return Some("kernel part");
    }
    let same = begins(user, user_want) && (is_dump || user.len() == user_want.len());
    (!same).then_some("user part")
}

/// Without the nameless frames at the root.
fn known(stack: &[Named]) -> &[Named] {
    let len = stack.iter().rposition(|frame| frame.0 != "[unknown]" && frame.0 != ANY).map_or(0, |last| last + 1);
    &stack[..len]
}

fn self_periods(tables: &RunTables, text: &str) -> Result<(), Failed> {
    let mut want: BTreeMap<Named, i64> = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.splitn(4, '|').map(str::trim);
        let (Some(period), Some(_), Some(dso), Some(symbol)) = (fields.next(), fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let symbol = symbol.get(4..).unwrap_or("").trim();
        *want.entry(named(symbol, dso)).or_default() += period.parse::<i64>()?;
    }
    let mut got: BTreeMap<Named, i64> = BTreeMap::new();
    for sample in &tables.samples {
        let leaf = tables.physical(sample.stack).first().map_or_else(|| named("", "[unknown]"), |frame| ours(frame));
        *got.entry(leaf).or_default() += sample.weight;
    }
    let wrong: Vec<String> = got
        .iter()
        .map(|(key, period)| (key, *period, want.get(key).copied().unwrap_or(0)))
        .chain(want.iter().filter(|(key, _)| !got.contains_key(key)).map(|(key, period)| (key, 0, *period)))
        .filter(|(_, got, want)| got != want)
        .map(|(key, got, want)| format!("{key:?}: tripod {got}, perf report {want}"))
        .collect();
    if want.is_empty() || !wrong.is_empty() {
        return Err(format!("self periods differ ({} functions):\n{}", want.len(), wrong.join("\n")).into());
    }
    Ok(())
}

/// (thread, time) -> frames, leaf first, of what `perf script -F comm,pid,tid,time,period,ip,sym,symoff,dso` printed.
fn script(text: &str) -> BTreeMap<(i32, i64), Vec<Named>> {
    let mut out: BTreeMap<(i32, i64), Vec<Named>> = BTreeMap::new();
    let mut at = None;
    let (mut is_leaf, mut was_kernel) = (true, false);
    for line in text.lines() {
        if !line.starts_with(char::is_whitespace) {
            at = header(line).or(at);
            (is_leaf, was_kernel) = (true, false);
            out.extend(header(line).map(|key| (key, Vec::new())));
            continue;
        }
        let Some((address, rest)) = line.trim().split_once(' ') else { continue };
        let Some((symbol, dso)) = rest.rsplit_once(" (").or_else(|| rest.strip_prefix('(').map(|dso| ("", dso))) else { continue };
        let (symbol, offset) = match symbol.rsplit_once("+0x") {
            Some((name, offset)) => (name, offset),
            None => (symbol, ""),
        };
        let (name, dso) = named(symbol, dso.trim_end_matches(')'));
        let in_kernel = is_kernel(&(String::new(), dso.clone()));
        // Behind the kernel's part comes an instruction pointer again.
        let is_ip = is_leaf || was_kernel && !in_kernel;
        let name = if offset == "0" && !is_ip { ANY.to_owned() } else { name };
        (is_leaf, was_kernel) = (false, in_kernel);
        if address != "0"
            && let Some(frames) = at.and_then(|key| out.get_mut(&key))
        {
            frames.push((name, dso));
        }
    }
    out
}

/// `hot  1156/1156  12512.553829057:    1003009`
fn header(line: &str) -> Option<(i32, i64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.ends_with(':') && word.contains('.'))?;
    let (_, tid) = words.get(at.checked_sub(1)?)?.split_once('/')?;
    let (seconds, nanos) = words.get(at)?.trim_end_matches(':').split_once('.')?;
    Some((tid.parse().ok()?, seconds.parse::<i64>().ok()? * 1_000_000_000 + nanos.parse::<i64>().ok()?))
}

/// Function and line.
type Place = (String, Option<i32>);

/// Innermost first.
type Chain = Vec<Place>;

fn chains(dir: &Path) -> Outcome {
    let tables = analyze(dir)?;
    let program = if dir.join("symbols/jit.zst").is_file() { "jit" } else { "hot" };
    let mine = tables.chains(program);
    let (mut compared, mut inlined, mut wrong) = (0, 0, Vec::new());
    for (address, want) in addr2line(&read(dir, "inline.txt.zst")?) {
        let Some(got) = mine.get(&address) else {
            wrong.push(format!("{address:#x} is on no stack"));
            continue;
        };
        let got: Chain = got.iter().map(|(name, line)| (without_clone(name).to_owned(), *line)).collect();
        let want: Chain = want.iter().map(|(name, line)| (without_clone(without_hash(name)).to_owned(), *line)).collect();
        // Start-up code has no debug information: addr2line takes a symbol that reaches over it.
        if want.iter().all(|(_, line)| line.is_none()) {
            continue;
        }
        compared += 1;
        inlined += usize::from(want.len() > 1);
        if !same_chain(&got, &want) {
            wrong.push(format!("{address:#x}:\n  tripod    {got:?}\n  addr2line {want:?}"));
        }
    }
    let needs_inlines = program == "hot";
    if !wrong.is_empty() || compared == 0 || needs_inlines && inlined == 0 {
        let list: Vec<String> = wrong.iter().take(5).cloned().collect();
        return Err(
            format!("{} of {compared} addresses differ ({inlined} with inlined functions):\n{}", wrong.len(), list.join("\n")).into()
        );
    }
    Ok(Completion::Completed)
}

/// Equal, but for a name that cpp_demangle cannot read as a whole: it is then without its types (see `demangle`).
fn same_chain(got: &Chain, want: &Chain) -> bool {
    let is_short =
        |got: &str, want: &str| want.starts_with("std::enable_if<") && got.starts_with("std::") && want.contains(&format!(" {got}("));
    let same = |((got, line), (want, of)): (&Place, &Place)| line == of && (got == want || is_short(got, want));
    got.len() == want.len() && got.iter().zip(want).all(same)
}

fn addr2line(text: &str) -> Vec<(i64, Chain)> {
    let mut out: Vec<(i64, Chain)> = Vec::new();
    let mut name: Option<String> = None;
    for line in text.lines() {
        match (line.strip_prefix("0x"), name.take()) {
            (Some(address), None) => {
                if let Ok(address) = i64::from_str_radix(address, 16) {
                    out.push((address, Vec::new()));
                }
            }
            (_, None) => name = Some(line.to_owned()),
            (_, Some(function)) => {
                let number = line.rsplit(':').next().and_then(|text| text.split_whitespace().next()?.parse().ok()).filter(|line| *line > 0);
                if let Some((_, chain)) = out.last_mut() {
                    chain.push((function, number));
                }
            }
        }
    }
    out
}

/// Recorded in a chroot, analyzed with the tree as `--sysroot`: the names are those of perf with `--symfs`, and those
/// that a symbol directory gives.
fn another_root() -> Outcome {
    let dir = cases().join("sysroot");
    if !dir.join("perf.data.zst").is_file() {
        return Ok(Completion::ignored_with("the case sysroot was not recorded"));
    }
    let scratch = tempfile::tempdir()?;
    let alone = scratch.path().join("recording");
    let app = scratch.path().join("root/opt/app");
    std::fs::create_dir_all(&alone)?;
    std::fs::create_dir_all(&app)?;
    std::fs::copy(dir.join("perf.data.zst"), alone.join("perf.data.zst"))?;
    std::fs::write(app.join("hot"), zstd::decode_all(&std::fs::read(dir.join("symbols/hot.zst"))?[..])?)?;
    let root = scratch.path().join("root").to_string_lossy().into_owned();
    let map = format!("/opt/app={}", app.display());
    let stacks = |more: &[&str], input: &Path| -> Result<Vec<Vec<Named>>, Failed> {
        let out = tempfile::tempdir()?;
        let tables = RunTables::read(&support::analyze(input, out.path(), more)?)?;
        Ok(tables.samples.iter().map(|sample| tables.whole(sample.stack).iter().map(|frame| ours(frame)).collect()).collect())
    };
    let wanted = stacks(&[], &dir.join("perf.data.zst"))?;
    let nameless = stacks(&[], &alone.join("perf.data.zst"))?;
    if wanted == nameless || !wanted.iter().flatten().any(|frame| frame.0 == "rounds") {
        return Err("the test tests nothing: the names were found without the other root".into());
    }
    for more in [["--sysroot", &root], ["--path-map", &map]] {
        if stacks(&more, &alone.join("perf.data.zst"))? != wanted {
            return Err(format!("{more:?} gives other names").into());
        }
    }
    Ok(Completion::Completed)
}
