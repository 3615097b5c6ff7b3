//! Finding files: made by gcc and objcopy, identified by readelf.

use std::path::{Path, PathBuf};

use super::testing::{build_id, gcc, nm, run};
use super::*;

const SOURCE: &str = "int seven(int a) { return a * 7; }\nint main(int argc, char **argv) { return seven(argc); }\n";

struct Made {
    dir: tempfile::TempDir,
    id: String,
}

impl Made {
    /// `full` (with DWARF), `bare` (stripped, with a debuglink) and `full.debug` in `made/`.
    fn new() -> Option<Made> {
        let dir = tempfile::tempdir().ok()?;
        let made = dir.path().join("made");
        std::fs::create_dir(&made).ok()?;
        gcc(&made, "full", SOURCE, &["-O1", "-g", "-Wl,--build-id=sha1"])?;
        run("objcopy", &["--only-keep-debug", "full", "full.debug"], &made)?;
        run("objcopy", &["--strip-all", "--add-gnu-debuglink=full.debug", "full", "bare"], &made)?;
        let id = build_id(&made, "full")?;
        Some(Made { dir, id })
    }

    fn made(&self, name: &str) -> PathBuf {
        self.dir.path().join("made").join(name)
    }

    /// A directory with copies of made files.
    fn dir_with(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let dir = self.dir.path().join(name);
        for (from, to) in files {
            let to = dir.join(to);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(self.made(from), to).unwrap();
        }
        dir
    }

    fn debug_path(&self) -> String {
        format!(".build-id/{}/{}.debug", &self.id[..2], &self.id[2..])
    }
}

fn library(symbol_dirs: &[&Path], debug_dirs: &[&Path]) -> Library {
    let paths = |dirs: &[&Path]| dirs.iter().map(|dir| dir.to_path_buf()).collect();
    Library::open(&Roots { symbol_dirs: paths(symbol_dirs), debug_dirs: paths(debug_dirs), ..Roots::default() })
}

fn label(elf: &Option<std::sync::Arc<Elf>>) -> Option<&str> {
    elf.as_ref().map(|elf| elf.label.as_str())
}

#[test]
fn a_better_file_of_the_same_build_replaces_a_worse_one() {
    let Some(made) = Made::new() else { return };
    // The stripped copy comes first by name; it stays the image, the debug file names.
    let dir = made.dir_with("a", &[("bare", "a-bare"), ("full.debug", "z/debug-file")]);
    let found = library(&[&dir], &[]).find("/some/where/full", Some(&made.id));
    assert_eq!((label(&found.image), label(&found.names)), (Some("a-bare"), Some("z/debug-file")));
    assert_eq!(found.doubt, None);
    // Only the stripped one: an image without names, and where a better one was looked for.
    let dir = made.dir_with("b", &[("bare", "bare")]);
    let found = library(&[&dir], &[]).find("/some/where/full", Some(&made.id));
    assert_eq!(label(&found.image), Some("bare"));
    assert!(found.tried.iter().any(|tried| tried.contains("full.debug")), "{:?}", found.tried);
}

#[test]
fn another_build_is_never_used() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir_with("a", &[("full", "full")]);
    let other = "00112233445566778899aabbccddeeff00112233";
    let found = library(&[&dir], &[]).find("/bin/full", Some(other));
    assert!(found.image.is_none() && found.names.is_none());
    // Not even at the recorded path itself.
    let path = made.made("full");
    let here = Library::open(&Roots { recorded_paths: true, ..Roots::default() });
    assert!(here.find(path.to_str().unwrap(), Some(other)).image.is_none());
    assert!(here.find(path.to_str().unwrap(), Some(&made.id)).image.is_some());
    assert!(here.find(path.to_str().unwrap(), None).image.is_none(), "a recorded path needs a build-id");
}

#[test]
fn debug_roots_are_asked_by_build_id_and_by_debuglink() {
    let Some(made) = Made::new() else { return };
    let by_id = made.dir_with("root1", &[("full.debug", &made.debug_path())]);
    let by_link = made.dir_with("root2", &[("full.debug", "opt/app/full.debug")]);
    let symbols = made.dir_with("symbols", &[("bare", "bare")]);
    let id_label = made.debug_path();
    for (root, want) in [(&by_id, id_label.as_str()), (&by_link, "opt/app/full.debug")] {
        // As recorded inside a container (A067): the prefix is no part of the path.
        let found = library(&[&symbols], &[root]).find("/proc/123/root/opt/app/bare", Some(&made.id));
        assert_eq!(label(&found.names), Some(want));
        assert_eq!(label(&found.image), Some("bare"));
    }
}

#[test]
fn recorded_paths_are_looked_up_below_the_other_root() {
    let Some(made) = Made::new() else { return };
    let debug = made.debug_path();
    let root = made.dir_with("root", &[("bare", "opt/app/bare"), ("full.debug", &format!("usr/lib/debug/{debug}"))]);
    std::os::unix::fs::symlink("/opt/app", root.join("current")).unwrap();
    std::os::unix::fs::symlink(made.made("full"), root.join("opt/app/leads-out")).unwrap();
    let open = |sysroots: &[&PathBuf], maps: &[(&str, &PathBuf)]| {
        Library::open(&Roots {
            sysroots: sysroots.iter().map(|root| root.to_path_buf()).collect(),
            path_maps: maps.iter().map(|(from, to)| (from.to_string(), to.to_path_buf())).collect(),
            ..Roots::default()
        })
    };
    let sysroot = open(&[&root], &[]);
    for path in ["/opt/app/bare", "/current/bare", "/opt/app/bare (deleted)", "/proc/7/root/opt/app/bare", "/../opt/app/bare"] {
        let found = sysroot.find(path, Some(&made.id));
        assert_eq!(label(&found.names), Some(debug.as_str()), "{path}");
        assert!(found.image.is_some() && found.doubt.is_none(), "{path}");
    }
    // A link out of the root, `..`, and another build.
    assert!(sysroot.find("/opt/app/leads-out", Some(&made.id)).image.is_none());
    assert!(sysroot.find("/../made/full", Some(&made.id)).image.is_none());
    let other = sysroot.find("/opt/app/bare", Some("00112233445566778899aabbccddeeff00112233"));
    assert!(other.image.is_none() && other.tried.iter().any(|tried| tried.contains("another build")), "{:?}", other.tried);
    // Without a build-id the user's word counts, with a doubt.
    let unknown = sysroot.find("/opt/app/bare", None);
    assert!(unknown.image.is_some() && unknown.doubt.is_some());
    let map = open(&[], &[("/srv", &made.made("none")), ("/container/app", &root.join("opt/app"))]);
    assert!(map.find("/container/app/bare", Some(&made.id)).image.is_some());
    assert!(map.find("/container/application/bare", Some(&made.id)).image.is_none());
}

#[test]
fn compressed_files_and_archive_layouts_are_read() {
    let Some(made) = Made::new() else { return };
    let bytes = std::fs::read(made.made("full")).unwrap();
    let dir = made.dir.path().join("packed");
    // The layout of `perf archive`: path/buildid/elf with a link from .build-id.
    let inner = dir.join("opt/app/full").join(&made.id);
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("elf.zst"), zstd::encode_all(&bytes[..], 3).unwrap()).unwrap();
    std::fs::create_dir_all(dir.join(".build-id").join(&made.id[..2])).unwrap();
    std::os::unix::fs::symlink(&inner, dir.join(".build-id").join(&made.id[..2]).join(&made.id[2..])).unwrap();
    // A link that leads back up.
    std::os::unix::fs::symlink(&dir, dir.join("loop")).unwrap();
    let found = library(&[&dir], &[]).find("/opt/app/full", Some(&made.id));
    let names = found.names.as_ref().expect("found");
    assert_eq!(names.summary.quality, Quality::Dwarf);
    let seven = nm(&made.dir.path().join("made"), "full", "seven").unwrap();
    assert_eq!(SymbolTable::read(&[names]).lookup(seven + 1).map(|symbol| symbol.name.as_ref()), Some("seven"));
}

#[test]
fn tarballs_of_perf_archive_and_debuginfod_caches_are_read() {
    let Some(made) = Made::new() else { return };
    let (id, kernel) = (made.id.clone(), "48dc540c8b76393804ca8088dbfa7d42911a9444");
    let tree = made.dir_with("tree", &[("full", &format!("opt/app/full/{id}/elf"))]);
    let kallsyms = tree.join("[kernel.kallsyms]").join(kernel);
    std::fs::create_dir_all(&kallsyms).unwrap();
    std::fs::write(kallsyms.join("kallsyms"), "ffffffff81000000 T _text\nffffffff81000100 T do_it\n").unwrap();
    std::fs::create_dir_all(tree.join(".build-id").join(&id[..2])).unwrap();
    std::os::unix::fs::symlink(format!("../../opt/app/full/{id}"), tree.join(".build-id").join(&id[..2]).join(&id[2..])).unwrap();
    // A long name (tar writes it into an entry of its own), and junk.
    std::fs::write(tree.join("junk".repeat(60)), "x").unwrap();
    let by_kernel = KernelId { release: None, build_id: Some(kernel.to_owned()) };
    assert!(library(&[&tree], &[]).kallsyms(&by_kernel).is_some());
    for (option, name) in [("-cf", "a.tar"), ("-czf", "a.tar.gz"), ("-cjf", "perf.data.tar.bz2"), ("-cJf", "a.tar.xz")] {
        let file = made.dir.path().join(name);
        if run("tar", &[option, file.to_str().unwrap(), "."], &tree).is_none() {
            eprintln!("skipped: tar cannot make {name}");
            continue;
        }
        let library = library(&[&file], &[]);
        let found = library.find("/opt/app/full", Some(&id));
        assert_eq!(found.names.as_ref().map(|elf| elf.summary.quality), Some(Quality::Dwarf), "{name}");
        assert_eq!(label(&found.names), Some(format!("{name}/opt/app/full/{id}/elf").as_str()));
        assert_eq!(library.kallsyms(&by_kernel).and_then(|file| file.reference("_text")), Some(0xffff_ffff_8100_0000), "{name}");
        assert!(library.problems().is_empty(), "{:?}", library.problems());
        // Cut: what came before stays, and a word about it.
        let bytes = std::fs::read(&file).unwrap();
        for at in 1..8 {
            std::fs::write(&file, &bytes[..bytes.len() * at / 8]).unwrap();
            let _ = self::library(&[&file], &[]);
        }
        std::fs::write(&file, &bytes[..bytes.len() / 3]).unwrap();
        assert_eq!(self::library(&[&file], &[]).problems().len(), 1, "{name}");
    }
    // A debuginfod client's cache: BUILDID/executable and BUILDID/debuginfo.
    let cache = made.dir_with("cache", &[("bare", &format!("{id}/executable")), ("full.debug", &format!("{id}/debuginfo"))]);
    let found = library(&[&cache], &[]).find("/opt/app/full", Some(&id));
    assert_eq!(label(&found.image), Some(format!("{id}/executable").as_str()));
    assert_eq!(label(&found.names), Some(format!("{id}/debuginfo").as_str()));
}

#[test]
fn without_a_recorded_build_id_the_name_serves_with_a_doubt() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir_with("a", &[("full", "bin/full")]);
    let found = library(&[&dir], &[]).find("/elsewhere/full", None);
    assert_eq!(label(&found.names), Some("bin/full"));
    assert!(found.doubt.is_some());
    assert!(library(&[&dir], &[]).find("[vdso]", None).image.is_none());
    // Two builds of one name: neither.
    let made_dir = made.dir.path().join("made");
    if gcc(&made_dir, "second", &format!("{SOURCE}int more;"), &["-O2", "-Wl,--build-id=sha1"]).is_none() {
        return;
    }
    let dir = made.dir_with("b", &[("full", "one/full"), ("second", "two/full")]);
    let found = library(&[&dir], &[]).find("/elsewhere/full", None);
    assert!(found.names.is_none() && found.doubt.is_some());
}

#[test]
fn file_offsets_become_addresses_by_segment() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir.path().join("made");
    for (name, flags) in [
        ("pie", &["-pie"][..]),
        ("fixed", &["-no-pie"]),
        ("joined", &["-Wl,-z,noseparate-code"]),
        ("moved", &["-no-pie", "-Wl,-Ttext-segment=0x10000000"]),
    ] {
        let Some(path) = gcc(&dir, name, SOURCE, &[&["-g", "-Wl,--build-id=sha1"], flags].concat()) else { continue };
        let seven = nm(&dir, name, "seven").unwrap();
        // readelf: the segment that holds the symbol.
        let headers = run("readelf", &["-lW", name], &dir).unwrap();
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        let (offset, vaddr) = headers
            .lines()
            .filter_map(|line| line.trim().strip_prefix("LOAD"))
            .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .map(|parts| (hex(&parts[0]), hex(&parts[1]), hex(&parts[3])))
            .find(|(_, vaddr, size)| (*vaddr..vaddr + size).contains(&seven))
            .map(|(offset, vaddr, _)| (offset, vaddr))
            .unwrap();
        let file_offset = seven - vaddr + offset;
        let id = build_id(&dir, name).unwrap();
        let symbols = made.dir_with(&format!("s-{name}"), &[(name, name)]);
        let found = library(&[&symbols], &[]).find("/x", Some(&id));
        assert_eq!(found.svma(file_offset, None), Some(seven), "{name}");
        // With the debug file alone the recorded mapping tells where the code began.
        let debug = format!("{name}.debug");
        run("objcopy", &["--only-keep-debug", path.to_str().unwrap(), &debug], &dir).unwrap();
        let symbols = made.dir_with(&format!("d-{name}"), &[(&debug, "file")]);
        let found = library(&[&symbols], &[]).find("/x", Some(&id));
        assert!(found.image.is_none());
        assert_eq!(found.svma(file_offset, Some(offset & !4095)), Some(seven), "{name}, debug file");
    }
}

#[test]
fn broken_files_name_nothing_and_break_nothing() {
    let Some(made) = Made::new() else { return };
    let bytes = std::fs::read(made.made("full")).unwrap();
    let dir = made.dir.path().join("broken");
    std::fs::create_dir(&dir).unwrap();
    // Cut anywhere, and with every 97th byte of the headers overwritten.
    for (at, len) in [0, 3, 17, 63, 64, 500, bytes.len() / 2, bytes.len() - 1].into_iter().enumerate() {
        std::fs::write(dir.join(format!("cut{at}")), &bytes[..len]).unwrap();
    }
    for seed in 0..60_usize {
        let mut copy = bytes.clone();
        for at in (seed..copy.len()).step_by(97 + seed * 13) {
            copy[at] = 0xff;
        }
        std::fs::write(dir.join(format!("hit{seed:02}")), &copy).unwrap();
    }
    let library = library(&[&dir], &[]);
    for seed in 0..60 {
        let path = dir.join(format!("hit{seed:02}"));
        let Some(elf) = super::index::Candidate::at(&path, "x".into()).and_then(|candidate| candidate.open()) else { continue };
        let _ = SymbolTable::read(&[&elf]).lookup(0x1139);
        let addresses: Vec<u64> = (0x1000..0x1200).step_by(3).collect();
        let _ = look_up(&elf, &library, &addresses);
        let found = library.find("/x", elf.summary.build_id.as_deref());
        let _ = found.unwind_table();
    }
}

#[test]
fn a_short_build_id_is_found_as_perf_pads_it() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir.path().join("short");
    std::fs::create_dir(&dir).unwrap();
    // A058: the linker writes 8 bytes, perf records 20.
    if gcc(&dir, "short", SOURCE, &["-Wl,--build-id=0xe92f46d2108b8df2"]).is_none() {
        return;
    }
    let found = library(&[&dir], &[]).find("/bin/short", Some("e92f46d2108b8df2000000000000000000000000"));
    assert_eq!(label(&found.image), Some("short"));
    assert_eq!(found.doubt, None);
}

#[test]
fn common_debug_information_that_dwz_moved_is_followed() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir.path().join("dwz");
    std::fs::create_dir(&dir).unwrap();
    // Two programs with the same inline function, long enough for dwz to move it.
    let shared = "struct s { int a, b, c, d, e, f; };\nstatic inline __attribute__((always_inline)) int shared_one(volatile struct s *s) \
                  { s->a++; s->b++; s->c++; s->d++; s->e++; return s->f; }\n";
    for (name, body) in [
        ("one", "int one(volatile struct s *s) { return shared_one(s); }"),
        ("two", "int two(volatile struct s *s) { return shared_one(s) + 2; }"),
    ] {
        std::fs::write(dir.join("shared.h"), shared).unwrap();
        let source = format!("#include \"shared.h\"\n{body}\nint main(void) {{ return 0; }}\n");
        if gcc(&dir, name, &source, &["-O2", "-g", "-Wl,--build-id=sha1"]).is_none() {
            return;
        }
    }
    // The link that Debian writes.
    if run("dwz", &["-m", "common.debug", "-M", "/usr/lib/debug/.dwz/common.debug", "one", "two"], &dir).is_none() {
        eprintln!("skipped: no dwz");
        return;
    }
    let one = nm(&dir, "one", "one").unwrap();
    let id = build_id(&dir, "one");
    let check = |library: &Library, wanted: Option<&str>| {
        let found = library.find("/bin/one", id.as_deref());
        let names = found.names.as_ref().expect("found");
        assert!(names.summary.altlink.is_some());
        let chains = look_up(names, library, &[one + 1]).unwrap().chains;
        assert_eq!(chains[0].0.last().and_then(|place| place.name.as_deref()), wanted);
    };
    // Beside the program, by build-id; in a debug root, by the link; and a file of another build there.
    check(&library(&[&dir], &[]), Some("shared_one"));
    let apart = made.dir_with("apart", &[("../dwz/one", "one")]);
    let root = made.dir_with("root", &[("../dwz/common.debug", ".dwz/common.debug")]);
    check(&library(&[&apart], &[&root]), Some("shared_one"));
    let other = made.dir_with("other", &[("full", ".dwz/common.debug")]);
    check(&library(&[&apart], &[&other]), None);
}

#[test]
fn functions_in_mini_debug_information_are_named() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir.path().join("made");
    // What find-debuginfo of rpm does: a symbol table alone, compressed by xz, in a section of the stripped program.
    for (tool, args) in [
        ("objcopy", &["-S", "--keep-symbol=seven", "--keep-symbol=main", "full", "mini"][..]),
        ("xz", &["-9", "mini"]),
        ("objcopy", &["--add-section", ".gnu_debugdata=mini.xz", "bare", "packed"]),
        ("objcopy", &["--remove-section=.gnu_debuglink", "packed"]),
    ] {
        if run(tool, args, &dir).is_none() {
            eprintln!("skipped: no {tool}");
            return;
        }
    }
    let symbols = made.dir_with("m", &[("packed", "packed")]);
    let found = library(&[&symbols], &[]).find("/bin/full", Some(&made.id));
    let names = found.names.as_ref().expect("found");
    assert_eq!(names.summary.quality, Quality::Mini);
    let seven = nm(&dir, "full", "seven").unwrap();
    assert_eq!(SymbolTable::read(&[names]).lookup(seven + 1).map(|symbol| symbol.name.as_ref()), Some("seven"));
    // A separate debug file knows more.
    let symbols = made.dir_with("n", &[("packed", "packed"), ("full.debug", "full.debug")]);
    assert_eq!(label(&library(&[&symbols], &[]).find("/bin/full", Some(&made.id)).names), Some("full.debug"));
}

#[test]
fn what_lies_beside_a_recording_decides_before_this_machines_debug_packages() {
    let Some(made) = Made::new() else { return };
    if run("objcopy", &["--strip-debug", "full", "plain"], &made.dir.path().join("made")).is_none() {
        return;
    }
    let root = made.dir_with("root", &[("full.debug", &made.debug_path())]);
    let plain = made.dir_with("plain", &[("plain", "plain")]);
    assert_eq!(label(&library(&[&plain], &[&root]).find("/bin/full", Some(&made.id)).names), Some("plain"));
    // A file that names exported functions only does not decide.
    let bare = made.dir_with("bare", &[("bare", "bare")]);
    assert_eq!(label(&library(&[&bare], &[&root]).find("/bin/full", Some(&made.id)).names), Some(made.debug_path().as_str()));
}

#[test]
fn slots_of_the_linkage_table_are_named_as_objdump_names_them() {
    let Some(made) = Made::new() else { return };
    let dir = made.dir.path().join("made");
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { puts(v[0]); return atoi(v[c - 1]); }\n";
    if gcc(&dir, "calls", source, &["-O1", "-fno-builtin", "-Wl,-z,lazy", "-Wl,--build-id=sha1"]).is_none() {
        return;
    }
    let Some(text) = run("objdump", &["-d", "calls"], &dir) else { return };
    let slots: Vec<(u64, &str)> = text
        .lines()
        .filter_map(|line| line.strip_suffix("@plt>:")?.split_once(" <"))
        .filter_map(|(address, name)| Some((u64::from_str_radix(address, 16).ok()?, name)))
        .filter(|(_, name)| ["puts", "atoi"].contains(name))
        .collect();
    let symbols = made.dir_with("calls", &[("calls", "calls")]);
    let found = library(&[&symbols], &[]).find("/bin/calls", build_id(&dir, "calls").as_deref());
    let names = found.names.as_ref().expect("found");
    let table = SymbolTable::read(&[names]);
    for (address, name) in slots {
        assert_eq!(table.lookup(address + 5).map(|symbol| symbol.name.to_string()), Some(format!("{name}@plt")));
    }
}
