//! A program copies its own registers and stack and says, by glibc's backtrace(), what the frames are.

use std::path::Path;

use super::*;
use crate::objects::testing::{build_id, gcc, run};
use crate::objects::{Library, Roots};

const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
volatile int sink;
static unsigned char copy[1 << 16];
static unsigned long stack_end(void) {
  char line[512];
  unsigned long start, end = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "[stack]")) sscanf(line, "%lx-%lx", &start, &end);
  fclose(maps);
  return end;
}
__attribute__((noinline)) void dump(void) {
  unsigned long ip, sp, bp, end = stack_end();
  void *trace[1000];
  int n = backtrace(trace, 1000);
  __asm__ volatile("mov %%rsp, %1\n mov %%rbp, %2\n lea 0(%%rip), %0" : "=r"(ip), "=r"(sp), "=r"(bp));
  unsigned long len = end - sp < sizeof copy ? end - sp : sizeof copy;
  memcpy(copy, (void *)sp, len);
  printf("regs %lx %lx %lx\nstack ", ip, sp, bp);
  for (unsigned long i = 0; i < len; i++) printf("%02x", copy[i]);
  printf("\ntrace");
  for (int i = 0; i < n; i++) printf(" %lx", (unsigned long)trace[i]);
  printf("\n");
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (strstr(line, "r-xp")) printf("map %s", line);
  fflush(stdout);
  _Exit(0);
}
static void on_signal(int number) { sink = number; dump(); }
__attribute__((noinline)) int recurse(int n) {
  char *room = __builtin_alloca(16 * (n % 7 + 1));
  memset(room, n, 16);
  sink += room[n % 16];
  if (n == 0) {
#ifdef SIGNAL
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
#else
    dump();
#endif
  }
  int got = recurse(n - 1);
  return got + sink;
}
static int compare(const void *a, const void *b) { sink = recurse(DEPTH); return *(const int *)a - *(const int *)b; }
int main(void) {
  int values[3] = {3, 1, 2};
  qsort(values, 3, sizeof *values, compare);
  return sink;
}
"#;

/// What the program said.
struct Dump {
    regs: UserRegs,
    stack: Vec<u8>,
    trace: Vec<u64>,
    process: ProcessUnwinder,
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

fn dump(dir: &Path, name: &str, flags: &[&str]) -> Option<Dump> {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: the program reads x86-64 registers");
        return None;
    }
    let path = gcc(dir, name, SOURCE, flags)?;
    let text = run(path.to_str()?, &[], dir)?;
    let line = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)).unwrap().trim().to_owned();
    let regs: Vec<u64> = line("regs").split(' ').map(hex).collect();
    let digits = line("stack");
    let stack = (0..digits.len() / 2).map(|at| hex(&digits[2 * at..2 * at + 2]) as u8).collect();
    let trace = line("trace").split(' ').map(hex).collect();
    // The files are those of this machine, since the program ran here.
    let library = Library::open(&Roots { recorded_paths: true, ..Roots::default() });
    let mut process = ProcessUnwinder::default();
    for map in text.lines().filter_map(|line| line.strip_prefix("map ")) {
        let parts: Vec<&str> = map.split_whitespace().collect();
        let (start, end) = parts[0].split_once('-').unwrap();
        let path = parts.get(5).copied().unwrap_or("//anon");
        let id = path.starts_with('/').then(|| build_id(dir, path)).flatten();
        process.add_map(&library, hex(start), hex(end), hex(parts[2]), id.as_deref(), path);
    }
    Some(Dump { regs: UserRegs { ip: regs[0], sp: regs[1], bp: regs[2], lr: None }, stack, trace, process })
}

#[test]
fn stacks_equal_those_of_backtrace() {
    let dir = tempfile::tempdir().unwrap();
    for (name, flags) in [
        ("plain", &["-O2", "-DDEPTH=50"][..]),
        ("fp", &["-O0", "-g", "-DDEPTH=50", "-fno-omit-frame-pointer"]),
        ("fixed", &["-O2", "-no-pie", "-DDEPTH=3"]),
        // Its own functions are in .debug_frame only, those of crt1.o in .eh_frame.
        ("debugframe", &["-O1", "-g", "-DDEPTH=10", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-omit-frame-pointer"]),
    ] {
        let flags = [flags, &["-Wl,--build-id=sha1"]].concat();
        let Some(dump) = dump(dir.path(), name, &flags) else { return };
        let mut out = Vec::new();
        let end = dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack, &mut out);
        assert_eq!(end, UnwindEnd::Root, "{name}: {out:x?}");
        assert_eq!(out[0], dump.regs.ip);
        // backtrace() has no table for the functions of the last program.
        if name != "debugframe" {
            assert_eq!(out[1..], dump.trace[1..], "{name}");
        } else {
            assert!(out.len() >= 16, "main, qsort, compare, 11 of recurse and dump: {out:x?}");
        }
        // A second process with the same maps shares the tables and gives the same.
        let (mut again, copy) = (Vec::new(), dump.process.clone());
        copy.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack, &mut again);
        assert_eq!(again, out);
    }
}

#[test]
fn a_signal_handler_is_unwound_to_what_it_interrupted() {
    let dir = tempfile::tempdir().unwrap();
    let Some(dump) = dump(dir.path(), "signal", &["-O2", "-DDEPTH=5", "-DSIGNAL", "-fno-optimize-sibling-calls", "-Wl,--build-id=sha1"])
    else {
        return;
    };
    let mut out = Vec::new();
    let end = dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack, &mut out);
    assert_eq!(end, UnwindEnd::Root, "{out:x?}");
    // dump, on_signal, __restore_rt, then the interrupted instruction, which carries one more.
    let mut want = dump.trace.clone();
    want[3] += 1;
    assert_eq!(out[1..], want[1..]);
}

#[test]
fn a_short_copy_keeps_the_frames_it_holds() {
    let dir = tempfile::tempdir().unwrap();
    let Some(dump) = dump(dir.path(), "cut", &["-O2", "-DDEPTH=200", "-Wl,--build-id=sha1"]) else { return };
    let mut whole = Vec::new();
    dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack, &mut whole);
    // dump() itself holds 8 kB of addresses.
    for len in (8300..dump.stack.len()).step_by(301) {
        let mut out = Vec::new();
        let end = dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack[..len], &mut out);
        assert!(whole.starts_with(&out), "{len}");
        assert!(end == UnwindEnd::CutAtDump || end == UnwindEnd::Root, "{len}: {end:?}");
        assert!(end == UnwindEnd::Root || out.len() < whole.len());
    }
    let mut out = Vec::new();
    assert_eq!(dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &[], &mut out), UnwindEnd::CutAtDump);
    assert_eq!(out, [dump.regs.ip]);
}

#[test]
fn garbage_ends_without_frames_that_are_no_code() {
    let dir = tempfile::tempdir().unwrap();
    let Some(dump) = dump(dir.path(), "garbage", &["-O2", "-DDEPTH=20", "-Wl,--build-id=sha1"]) else { return };
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..200 {
        let mut stack = dump.stack.clone();
        for byte in &mut stack {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (state >> 56) as u8;
        }
        let mut out = Vec::new();
        dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &stack, &mut out);
        assert_eq!(out, [dump.regs.ip], "random bytes are no return addresses");
        let regs = UserRegs { ip: state, sp: state.rotate_left(7), bp: u64::MAX - 3, lr: None };
        dump.process.unwind(&mut UnwindCache::new(Arch::X86_64), &regs, &stack, &mut out);
    }
    // Without any table the frame pointer is followed as far as it leads to code.
    let blind = ProcessUnwinder::default();
    let mut out = Vec::new();
    assert_eq!(blind.unwind(&mut UnwindCache::new(Arch::X86_64), &dump.regs, &dump.stack, &mut out), UnwindEnd::NoTable);
    assert_eq!(out, [dump.regs.ip]);
}

#[test]
fn a_new_map_replaces_what_it_overlaps() {
    let mut maps = BTreeMap::new();
    let map = |end: u64, file_offset: u64| Map { end, file_offset, found: None };
    maps.insert(0x1000, map(0x5000, 0x100));
    maps.insert(0x6000, map(0x7000, 0));
    cut_out(&mut maps, 0x2000..0x3000);
    let shape = |maps: &BTreeMap<u64, Map>| maps.iter().map(|(start, map)| (*start, map.end, map.file_offset)).collect::<Vec<_>>();
    assert_eq!(shape(&maps), [(0x1000, 0x2000, 0x100), (0x3000, 0x5000, 0x2100), (0x6000, 0x7000, 0)]);
    cut_out(&mut maps, 0..0x6800);
    assert_eq!(shape(&maps), [(0x6800, 0x7000, 0x800)]);
}
