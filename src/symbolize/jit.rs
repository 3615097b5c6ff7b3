//! Generated code: named from what JIT compilers left, `jit-PID.dump` before `perf-PID.map`.
//!
//! A frame of generated code is its process and its address. Where a jitdump says that different code lay at an address
//! at different times, and the recording's clock is the dump's (CLOCK_MONOTONIC: `perf record -k mono`), the frame is
//! split, one frame per piece of code, and every sample goes to the one of its time (`jit_time`). Elsewhere the newest
//! description wins, as in perf.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::Functions;
use super::jit_time::{self, Variants};
use super::{Named, Note, demangle};
use crate::objects::Library;
use crate::objects::jit::{self, JitFile, Piece, Timeline};
use crate::tables::{Dso, Frame, Tables, Text};

/// The code of one process.
struct Generated {
    dso: usize,
    pid: i32,
    /// Sorted, each once, with the frames there.
    frames: BTreeMap<u64, Vec<usize>>,
}

/// Names the frames of all processes with generated code; gives a note for each dso that has something to say.
pub fn name(tables: &mut Tables, library: &Library) -> Vec<(usize, Note)> {
    let all = generated(tables);
    let mut notes = Vec::new();
    let mut variants = Variants::default();
    for code in &all {
        let (files, doubt) = files(code, all.len(), tables, library);
        let addresses: Vec<u64> = code.frames.keys().copied().collect();
        let timelines: Vec<(&JitFile, Timeline)> =
            files.into_iter().filter_map(|file| Some((file, jit::read(file, &addresses)?))).collect();
        for (file, timeline) in &timelines {
            if let Some(problem) = &timeline.damaged {
                notes.push((
                    code.dso,
                    note("jit_file_damaged", "warn", 1, format!("{}: {problem}", file.label), "what came before was used"),
                ));
            }
        }
        let unnamed = write(code, &timelines, tables, &mut variants);
        if let (Some(doubt), true) = (doubt, unnamed < addresses.len()) {
            notes.push((
                code.dso,
                note("jit_file_by_guess", "warn", addresses.len() as i64, doubt, "give the file of this process the name perf-PID.map"),
            ));
        }
        if unnamed > 0 {
            notes.push((code.dso, missing(code, unnamed, &timelines)));
        }
        if let (Some(dso), Some((file, _))) = (tables.dsos.get_mut(code.dso), timelines.first()) {
            dso.symbol_source = Some(Text::from(file.label.as_str()));
        }
    }
    jit_time::split(tables, variants);
    notes
}

fn note(kind: &'static str, severity: &'static str, count: i64, message: String, advice: &str) -> Note {
    Note { kind, severity, count, message, advice: advice.to_owned() }
}

fn missing(code: &Generated, unnamed: usize, timelines: &[(&JitFile, Timeline)]) -> Note {
    let what = match timelines.first() {
        Some((file, _)) => format!("{} does not describe them", file.label),
        None => format!("neither perf-{0}.map nor jit-{0}.dump was found", code.pid),
    };
    note(
        "jit_symbols_missing",
        "warn",
        unnamed as i64,
        format!("generated code of process {}: {what}, {unnamed} of {} addresses stay unnamed", code.pid, code.frames.len()),
        "let the runtime write /tmp/perf-PID.map or a jitdump (node --perf-basic-prof, java with libperf-jvmti or perf-map-agent, python -X \
         perf) and copy the file beside the recording, or give its directory by --jit-dir",
    )
}

/// The process of a dso that stands for generated code.
pub fn pid_of(dso: &Dso) -> Option<i32> {
    let name = dso.path.strip_prefix("/tmp/").filter(|_| &*dso.kind == "jit")?;
    jit::pid_of(name).filter(|(kind, _)| *kind == "perf-").map(|(_, pid)| pid)
}

fn generated(tables: &Tables) -> Vec<Generated> {
    let mut found: BTreeMap<usize, Generated> = BTreeMap::new();
    for (at, frame) in tables.frames.iter().enumerate() {
        let (Some(dso), Some(rel), None) = (frame.dso_id, frame.rel, frame.function_id) else { continue };
        let Some(pid) = tables.dsos.get(dso as usize).and_then(pid_of) else { continue };
        let code = found.entry(dso as usize).or_insert_with(|| Generated { dso: dso as usize, pid, frames: BTreeMap::new() });
        code.frames.entry(rel as u64).or_default().push(at);
    }
    found.into_values().collect()
}

/// The files that describe a process's code, the better one first, and a doubt where its process id did not decide.
fn files<'a>(code: &Generated, processes: usize, tables: &Tables, library: &'a Library) -> (Vec<&'a JitFile>, Option<String>) {
    let own = [format!("jit-{}.dump", code.pid), format!("perf-{}.map", code.pid)];
    // A program that writes a jitdump maps it, so that the recording has its name: in a container that of another pid.
    let processes_of: BTreeSet<Option<i32>> =
        tables.mappings.iter().filter(|map| map.dso_id as usize == code.dso).map(|map| map.process_id).collect();
    let marker = tables.mappings.iter().filter(|map| map.process_id.is_some() && processes_of.contains(&map.process_id));
    let marker = marker.filter_map(|map| tables.dsos.get(map.dso_id as usize)).filter_map(|dso| dso.path.rsplit('/').next());
    let marked: BTreeSet<&str> = marker.filter(|name| jit::pid_of(name).is_some_and(|(kind, _)| kind == "jit-")).collect();
    let mut files: Vec<&JitFile> = marked.iter().filter_map(|name| library.jit(name)).collect();
    let inside = marked.iter().filter_map(|name| Some(format!("perf-{}.map", jit::pid_of(name)?.1)));
    for name in own.into_iter().chain(inside) {
        if let Some(file) = library.jit(&name)
            && !files.iter().any(|known| known.path == file.path)
        {
            files.push(file);
        }
    }
    if files.is_empty()
        && processes == 1
        && let Some(file) = library.only_perf_map()
    {
        let doubt = format!(
            "{} was used for process {}: the only perf map that is there, of the only process with generated code",
            file.label, code.pid
        );
        return (vec![file], Some(doubt));
    }
    (files, None)
}

/// Names the frames of one process; gives the number of addresses that stay unnamed.
fn write(code: &Generated, timelines: &[(&JitFile, Timeline)], tables: &mut Tables, variants: &mut Variants) -> usize {
    let is_monotonic = is_monotonic(code.dso, tables);
    let Some(dso_name) = tables.dsos.get(code.dso).map(|dso| dso.name.clone()) else { return code.frames.len() };
    let dso = code.dso as i32;
    let mut functions = Functions::new(&mut tables.functions);
    let mut unnamed = 0;
    for (at, (address, frames)) in code.frames.iter().enumerate() {
        let pieces = pieces(at, timelines, is_monotonic);
        let Some((_, first)) = pieces.first() else {
            unnamed += 1;
            continue;
        };
        for index in frames {
            let Some(frame) = tables.frames.get_mut(*index) else { continue };
            name_frame(frame, first, *address, dso, &dso_name, &mut functions);
            let base = frame.clone();
            for (from, piece) in pieces.iter().skip(1) {
                let mut variant = base.clone();
                name_frame(&mut variant, piece, *address, dso, &dso_name, &mut functions);
                variants.add(base.frame_id, *from, variant);
            }
        }
    }
    unnamed
}

fn name_frame(frame: &mut Frame, piece: &Piece, address: u64, dso: i32, dso_name: &Text, functions: &mut Functions<'_>) {
    let line = piece.line(address);
    let number = line.and_then(|(_, line)| i32::try_from(line).ok()).filter(|line| *line > 0);
    let named = Named {
        name: Some(demangle(&piece.name).into()),
        file: line.map(|(file, _)| file.clone()).filter(|file| !file.is_empty()),
        declared: piece.lines.first().and_then(|(_, line, _)| i32::try_from(*line).ok()).filter(|line| *line > 0),
        line: number,
    };
    frame.function_id = functions.intern_text(&named, dso, dso_name);
    frame.line = named.line;
    frame.symbol_rel = Some(piece.start as i64);
}

/// What lay at an address, by time; the first from the beginning. One entry where times cannot be compared.
fn pieces<'a>(at: usize, timelines: &'a [(&JitFile, Timeline)], is_monotonic: bool) -> Vec<(i64, &'a Piece)> {
    let Some((_, timeline)) = timelines.iter().find(|(_, timeline)| timeline.last(at).is_some()) else { return Vec::new() };
    if !timeline.timed || !is_monotonic {
        return timeline.last(at).map(|piece| (i64::MIN, piece)).into_iter().collect();
    }
    let mut out: Vec<(i64, &Piece)> = Vec::new();
    let mut changes: Vec<&(u64, Option<u32>)> = timeline.changes.get(at).into_iter().flatten().collect();
    changes.sort_by_key(|(time, _)| *time);
    for (time, piece) in changes {
        // Code that is gone is not executed: whoever was sampled there was in what lay there last.
        let Some(piece) = piece.and_then(|piece| timeline.pieces.get(piece as usize)) else { continue };
        match out.last() {
            Some((_, last)) if last.name == piece.name && last.start == piece.start => {}
            Some(_) => out.push((i64::try_from(*time).unwrap_or(i64::MAX), piece)),
            None => out.push((i64::MIN, piece)),
        }
    }
    out
}

/// Whether the recordings that map the dso all have the clock of a jitdump.
fn is_monotonic(dso: usize, tables: &Tables) -> bool {
    let artifacts: BTreeSet<i32> = tables.mappings.iter().filter(|map| map.dso_id as usize == dso).map(|map| map.artifact_id).collect();
    let clock = |id: &i32| tables.artifacts.iter().find(|row| row.artifact_id == *id).and_then(|row| row.clock.as_deref());
    !artifacts.is_empty() && artifacts.iter().all(|id| clock(id) == Some("monotonic"))
}
