//! MMAP, MMAP2 and KSYMBOL records -> mappings, dsos, the maps of processes and of the kernel.

use std::sync::Arc;

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::features::build_id;
use super::import::{Import, time_of};
use super::maps::{Map, Origin};
use super::order::Record;
use super::records;
use super::stacks::Kernel;
use super::unwind::NewMap;
use crate::tables::Mapping;

/// What an MMAP or MMAP2 record says.
struct Mmap {
    pid: i32,
    start: u64,
    end: u64,
    offset: u64,
    build_id: Option<String>,
    executable: bool,
    path: String,
}

const PROT_EXEC: u32 = 4;

impl Import<'_, '_> {
    pub(super) fn mmap(&mut self, record: &Record<'_>) -> Option<()> {
        let mmap = self.read_mmap(record)?;
        match record.misc & PERF_RECORD_MISC_CPUMODE_MASK {
            PERF_RECORD_MISC_KERNEL => self.map_kernel(mmap, time_of(record)),
            PERF_RECORD_MISC_HYPERVISOR | PERF_RECORD_MISC_GUEST_KERNEL | PERF_RECORD_MISC_GUEST_USER => {}
            _ if mmap.pid < 0 => self.map_kernel(mmap, time_of(record)),
            _ => self.map_user(mmap, time_of(record)),
        }
        Some(())
    }

    fn read_mmap(&self, record: &Record<'_>) -> Option<Mmap> {
        let mut body = self.body(record);
        let (pid, _tid) = (body.i32()?, body.i32()?);
        let (start, len, offset) = (body.u64()?, body.u64()?, body.u64()?);
        let mut mmap = Mmap {
            pid,
            start,
            end: start.saturating_add(len),
            offset,
            build_id: None,
            executable: record.misc & PERF_RECORD_MISC_MMAP_DATA == 0,
            path: String::new(),
        };
        if record.kind == records::MMAP2 {
            // Either device, inode and generation, or a build-id with its length in front.
            let identity = body.take(24)?;
            if record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID != 0 {
                mmap.build_id = inline_build_id(identity);
            }
            mmap.executable = body.u32()? & PROT_EXEC != 0;
            body.u32()?;
        }
        mmap.path = body.c_string().into_owned();
        Some(mmap)
    }

    fn map_kernel(&mut self, mmap: Mmap, time: Option<i64>) {
        // `[kernel.kallsyms]_text`: the record's offset is the address of the symbol behind the bracket.
        let (path, kind, origin) = match mmap.path.split_once(']') {
            Some((name, symbol)) if name.starts_with("[kernel") && (symbol.is_empty() || symbol.starts_with('_')) => {
                let base = if mmap.offset == 0 { mmap.start } else { mmap.offset };
                (format!("{name}]"), "kernel", Origin::Base(base))
            }
            _ => (mmap.path.clone(), "module", Origin::File),
        };
        let build_id = mmap.build_id.or_else(|| self.build_ids.get(&path).cloned());
        let dso = self.recorder.intern_dso(&path, build_id.as_deref(), kind);
        let map = Map { start: mmap.start, end: mmap.end, offset: mmap.offset, dso, origin, function: None };
        self.push_mapping(None, &map, time);
        if kind == "kernel" {
            self.change_kernel().image.get_or_insert_with(|| map.clone());
        }
        self.change_kernel().maps.insert(map);
    }

    fn map_user(&mut self, mmap: Mmap, time: Option<i64>) {
        let mmap = if mmap.executable && is_anonymous(&mmap.path) { self.moved_code(mmap) } else { mmap };
        let is_anonymous = is_anonymous(&mmap.path);
        let (path, kind, origin) = if is_anonymous && mmap.executable {
            // Where JIT compilers describe their code (tools/perf/Documentation/jit-interface.txt).
            (format!("/tmp/perf-{}.map", mmap.pid), "jit", Origin::Absolute)
        } else if is_anonymous {
            (mmap.path.clone(), "anon", Origin::Absolute)
        } else {
            (mmap.path.clone(), file_kind(&mmap.path), Origin::File)
        };
        let build_id = mmap.build_id.or_else(|| self.build_ids.get(&path).cloned());
        let dso = self.recorder.intern_dso(&path, build_id.as_deref(), kind);
        let map = Map { start: mmap.start, end: mmap.end, offset: mmap.offset, dso, origin, function: None };
        let process = self.tasks.introduce(mmap.pid, self.recorder);
        self.push_mapping(Some(process), &map, time);
        let dumps = self.batch.arch().is_some() && mmap.executable;
        let Some(state) = self.tasks.state(process) else { return };
        if dumps {
            let (start, end, offset) = (map.start, map.end, map.offset);
            state.unwinding.new_maps.push(NewMap { start, end, offset, build_id, path });
        }
        Arc::make_mut(&mut state.maps).insert(map);
        state.root = None;
    }

    /// Code moved to huge pages (mremap or copied, as iodlr and hugify do): executable anonymous memory in the place of a
    /// file's code is still that file.
    fn moved_code(&mut self, mmap: Mmap) -> Mmap {
        let process = self.tasks.introduce(mmap.pid, self.recorder);
        let old = self.tasks.state(process).and_then(|state| state.maps.find(mmap.start));
        let Some(old) = old.filter(|old| old.origin == Origin::File && mmap.end <= old.end).cloned() else { return mmap };
        let Some(dso) = self.recorder.tables.dsos.get(old.dso as usize) else { return mmap };
        Mmap {
            offset: old.relative(mmap.start),
            path: dso.path.to_string(),
            build_id: dso.build_id.as_ref().map(ToString::to_string),
            ..mmap
        }
    }

    fn push_mapping(&mut self, process_id: Option<i32>, map: &Map, ts_ns: Option<i64>) {
        self.recorder.tables.mappings.push(Mapping {
            artifact_id: 0,
            process_id,
            start_avma: map.start as i64,
            end_avma: map.end as i64,
            file_offset: map.offset as i64,
            dso_id: map.dso,
            ts_ns,
        });
    }

    /// KSYMBOL: address, length, type, flags, name. BPF programs and the kernel's trampolines come and go by it.
    pub(super) fn ksymbol(&mut self, record: &Record<'_>) -> Option<()> {
        const UNREGISTER: u16 = 1;
        let mut body = self.body(record);
        let (start, len) = (body.u64()?, body.u32()?);
        let (_kind, flags) = (body.u16()?, body.u16()?);
        let end = start.saturating_add(u64::from(len));
        if flags & UNREGISTER != 0 {
            self.change_kernel().maps.remove(start, end);
        } else {
            let dso = self.recorder.intern_dso("[bpf]", None, "bpf");
            let function = self.recorder.intern_function(&body.c_string(), Some(dso), None);
            self.change_kernel().maps.insert(Map { start, end, offset: 0, dso, origin: Origin::Absolute, function: Some(function) });
        }
        Some(())
    }

    /// The kernel's maps, to be changed: stacks from now on see others.
    fn change_kernel(&mut self) -> &mut Kernel {
        self.kernel_no = self.kernel_no.wrapping_add(1);
        Arc::make_mut(&mut self.kernel)
    }
}

/// `struct { u8 size; u8 reserved; u16 reserved; u8 build_id[20]; }`
fn inline_build_id(identity: &[u8]) -> Option<String> {
    let (size, id) = (*identity.first()?, identity.get(4..)?);
    let mut sized = id.to_vec();
    sized.push(size);
    build_id(&sized, true)
}

fn is_anonymous(path: &str) -> bool {
    path.is_empty()
        || ["//anon", "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV", "[heap]", "[stack", "[anon"]
            .iter()
            .any(|start| path.starts_with(start))
}

fn file_kind(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match path {
        "[vdso]" | "[vsyscall]" | "[vvar]" => "vdso",
        // What jitdump's injector writes.
        _ if name.starts_with("jitted-") && name.ends_with(".so") => "jit",
        _ => "user",
    }
}
