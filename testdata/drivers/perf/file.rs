//! perf.data files for the tests, made to the documented form (tools/perf/Documentation/perf.data-file-format.txt and
//! `perf_event_open(2)`), independent of the code that reads them. Little-endian, 64 bit.

use std::collections::BTreeMap;

/// Record types.
pub const LOST: u32 = 2;
pub const COMM: u32 = 3;
pub const FORK: u32 = 7;
pub const SAMPLE: u32 = 9;
pub const MMAP2: u32 = 10;
pub const KSYMBOL: u32 = 17;
pub const FINISHED_ROUND: u32 = 68;
pub const COMPRESSED: u32 = 81;
pub const COMPRESSED2: u32 = 83;

/// `misc` of a record: whose address it is, and what it says more.
pub const KERNEL: u16 = 1;
pub const USER: u16 = 2;
pub const GUEST_KERNEL: u16 = 4;
pub const COMM_EXEC: u16 = 1 << 13;
pub const MMAP_BUILD_ID: u16 = 1 << 14;

/// Context markers in a chain.
pub const CONTEXT_KERNEL: u64 = -128i64 as u64;
pub const CONTEXT_USER: u64 = -512i64 as u64;

/// Bits of `sample_type`.
pub const IP: u64 = 1;
pub const TID: u64 = 1 << 1;
pub const TIME: u64 = 1 << 2;
pub const CALLCHAIN: u64 = 1 << 5;
pub const ID: u64 = 1 << 6;
pub const CPU: u64 = 1 << 7;
pub const PERIOD: u64 = 1 << 8;
pub const RAW: u64 = 1 << 10;
pub const BRANCH_STACK: u64 = 1 << 11;
pub const REGS_USER: u64 = 1 << 12;
pub const STACK_USER: u64 = 1 << 13;
pub const IDENTIFIER: u64 = 1 << 16;

/// Bits of the attr's flags.
pub const INHERIT: u64 = 1 << 1;
pub const FREQ: u64 = 1 << 10;
pub const SAMPLE_ID_ALL: u64 = 1 << 18;
pub const EXCLUDE_GUEST: u64 = 1 << 20;
pub const HAS_COMM_EXEC: u64 = 1 << 24;

/// Feature bits.
pub const TRACING_DATA: u32 = 1;
pub const BUILD_ID: u32 = 2;
pub const HOSTNAME: u32 = 3;
pub const ARCH: u32 = 6;
pub const CMDLINE: u32 = 11;

/// Bytes one after the other.
#[derive(Debug, Clone, Default)]
pub struct Words(pub Vec<u8>);

impl Words {
    pub fn u16(mut self, value: u16) -> Words {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u32(mut self, value: u32) -> Words {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u64(mut self, value: u64) -> Words {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn all(self, values: &[u64]) -> Words {
        values.iter().fold(self, |words, value| words.u64(*value))
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Words {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Text with its NUL, padded to eight bytes as the kernel does.
    pub fn text(mut self, text: &str) -> Words {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }
}

/// A record with its header.
pub fn record(kind: u32, misc: u16, body: &Words) -> Vec<u8> {
    let size = u16::try_from(8 + body.0.len()).expect("a record is smaller than 64 KiB");
    Words::default().u32(kind).u16(misc).u16(size).bytes(&body.0).0
}

/// `perf_header_string`.
pub fn string(text: &str) -> Vec<u8> {
    let padded = Words::default().text(text).0;
    Words::default().u32(padded.len() as u32).bytes(&padded).0
}

/// An event and how its records look.
#[derive(Debug, Clone)]
pub struct Attr {
    pub kind: u32,
    pub config: u64,
    pub period: u64,
    pub sample_type: u64,
    pub flags: u64,
    pub branches: u64,
    pub regs: u64,
    pub ids: Vec<u64>,
}

/// What a sample says. `tail` is what follows the chain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample<'a> {
    pub ip: u64,
    pub pid: u32,
    pub tid: u32,
    pub time: u64,
    pub cpu: u32,
    pub period: u64,
    pub chain: &'a [u64],
    pub tail: &'a [u8],
}

impl Attr {
    /// cpu-clock at a frequency, with chains.
    pub fn cpu_clock() -> Attr {
        Attr {
            kind: 1,
            config: 0,
            period: 997,
            sample_type: IP | TID | TIME | CALLCHAIN | CPU | PERIOD,
            flags: FREQ | SAMPLE_ID_ALL | EXCLUDE_GUEST | HAS_COMM_EXEC | INHERIT,
            branches: 0,
            regs: 0,
            ids: vec![77],
        }
    }

    /// `struct perf_event_attr` in so many bytes.
    pub fn bytes(&self, size: usize) -> Vec<u8> {
        let head = Words::default().u32(self.kind).u32(size as u32).u64(self.config).u64(self.period).u64(self.sample_type);
        let mut bytes = head.u64(0).u64(self.flags).all(&[0, 0, 0]).u64(self.branches).u64(self.regs).0;
        bytes.resize(size, 0);
        bytes
    }

    fn has(&self, field: u64) -> bool {
        self.sample_type & field != 0
    }

    /// A record that is no sample, with the trailer of `sample_id_all`.
    pub fn record(&self, kind: u32, misc: u16, body: Words, (pid, tid): (u32, u32), time: u64) -> Vec<u8> {
        let mut body = body;
        if self.flags & SAMPLE_ID_ALL != 0 {
            body = if self.has(TID) { body.u32(pid).u32(tid) } else { body };
            body = if self.has(TIME) { body.u64(time) } else { body };
            body = if self.has(ID) { body.u64(self.ids[0]) } else { body };
            body = if self.has(CPU) { body.u64(0) } else { body };
            body = if self.has(IDENTIFIER) { body.u64(self.ids[0]) } else { body };
        }
        record(kind, misc, &body)
    }

    pub fn sample(&self, misc: u16, sample: Sample<'_>) -> Vec<u8> {
        let mut body = Words::default();
        body = if self.has(IDENTIFIER) { body.u64(self.ids[0]) } else { body };
        body = if self.has(IP) { body.u64(sample.ip) } else { body };
        body = if self.has(TID) { body.u32(sample.pid).u32(sample.tid) } else { body };
        body = if self.has(TIME) { body.u64(sample.time) } else { body };
        body = if self.has(ID) { body.u64(self.ids[0]) } else { body };
        body = if self.has(CPU) { body.u32(sample.cpu).u32(0) } else { body };
        body = if self.has(PERIOD) { body.u64(sample.period) } else { body };
        body = if self.has(CALLCHAIN) { body.u64(sample.chain.len() as u64).all(sample.chain) } else { body };
        record(SAMPLE, misc, &body.bytes(sample.tail))
    }

    pub fn comm(&self, pid: u32, name: &str, misc: u16, time: u64) -> Vec<u8> {
        self.record(COMM, misc, Words::default().u32(pid).u32(pid).text(name), (pid, pid), time)
    }

    pub fn fork(&self, pid: u32, parent: u32, time: u64) -> Vec<u8> {
        let body = Words::default().u32(pid).u32(parent).u32(pid).u32(parent).u64(time);
        self.record(FORK, 0, body, (parent, parent), time)
    }

    /// An executable mapping of a program.
    pub fn map(&self, pid: u32, (start, len, offset): (u64, u64, u64), path: &str, time: u64) -> Vec<u8> {
        self.map2(pid, (start, len, offset), (USER, 5, [0; 24]), path, time)
    }

    /// MMAP2 with misc, protection and the 24 bytes of identity (device and inode, or a build-id).
    pub fn map2(
        &self,
        pid: u32,
        (start, len, offset): (u64, u64, u64),
        (misc, protection, identity): (u16, u32, [u8; 24]),
        path: &str,
        time: u64,
    ) -> Vec<u8> {
        let body = Words::default().u32(pid).u32(pid).all(&[start, len, offset]).bytes(&identity).u32(protection).u32(2);
        self.record(MMAP2, misc, body.text(path), (pid, pid), time)
    }
}

/// A whole file.
#[derive(Debug, Clone, Default)]
pub struct File {
    pub attrs: Vec<Attr>,
    /// Bytes of each attr.
    pub attr_bytes: usize,
    /// What the header says of it; 0: the same.
    pub attr_stride: usize,
    pub records: Vec<u8>,
    pub features: BTreeMap<u32, Vec<u8>>,
}

/// A file's bytes and where its table of features is.
pub struct Laid {
    pub bytes: Vec<u8>,
    /// The table of feature sections: offset and size of each.
    pub table: usize,
}

impl File {
    pub fn new(attrs: &[Attr]) -> File {
        File { attrs: attrs.to_vec(), attr_bytes: 128, ..File::default() }
    }

    pub fn push(&mut self, record: Vec<u8>) -> &mut File {
        self.records.extend(record);
        self
    }

    pub fn feature(&mut self, feature: u32, bytes: Vec<u8>) -> &mut File {
        self.features.insert(feature, bytes);
        self
    }

    /// In file mode: header, ids, attrs, records, table of features, features.
    pub fn laid(&self) -> Laid {
        let stride = if self.attr_stride == 0 { self.attr_bytes } else { self.attr_stride } + 16;
        let ids: Vec<u64> = self.attrs.iter().flat_map(|attr| attr.ids.clone()).collect();
        let (ids_at, attrs_at) = (104, 104 + 8 * ids.len());
        let data_at = attrs_at + stride * self.attrs.len();
        let table = data_at + self.records.len();
        let mut bits = [0u64; 4];
        self.features.keys().for_each(|bit| bits[*bit as usize / 64] |= 1 << (bit % 64));
        let sections = [attrs_at, stride * self.attrs.len(), data_at, self.records.len(), 0, 0].map(|value| value as u64);
        let mut file = Words(b"PERFILE2".to_vec()).u64(104).u64(stride as u64).all(&sections).all(&bits).all(&ids);
        let mut id_at = ids_at;
        for attr in &self.attrs {
            let mut bytes = attr.bytes(self.attr_bytes);
            bytes.resize(stride - 16, 0);
            file = file.bytes(&bytes).u64(id_at as u64).u64(8 * attr.ids.len() as u64);
            id_at += 8 * attr.ids.len();
        }
        file = file.bytes(&self.records);
        let mut at = table + 16 * self.features.len();
        for section in self.features.values() {
            file = file.u64(at as u64).u64(section.len() as u64);
            at += section.len();
        }
        file = self.features.values().fold(file, |file, section| file.bytes(section));
        Laid { bytes: file.0, table }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.laid().bytes
    }

    /// In pipe mode: attrs and features as records.
    pub fn piped(&self) -> Vec<u8> {
        let mut file = Words(b"PERFILE2".to_vec()).u64(16);
        for attr in &self.attrs {
            file = file.bytes(&record(64, 0, &Words(attr.bytes(self.attr_bytes)).all(&attr.ids)));
        }
        for (feature, section) in &self.features {
            let mut body = Words::default().u64(u64::from(*feature)).bytes(section);
            body.0.resize(body.0.len().next_multiple_of(8), 0);
            file = file.bytes(&record(80, 0, &body));
        }
        file.bytes(&self.records).0
    }
}

/// A process 10 called `prog` that maps /opt/prog at 0x400000, and samples in it at the given times, each with one caller.
pub fn program(attr: &Attr, times: &[u64]) -> File {
    let mut file = File::new(std::slice::from_ref(attr));
    file.push(attr.comm(10, "prog", COMM_EXEC, 1)).push(attr.map(10, (0x40_0000, 0x10_0000, 0), "/opt/prog", 2));
    for (place, time) in times.iter().enumerate() {
        let ip = 0x40_0100 + 0x100 * place as u64;
        let chain = [CONTEXT_USER, ip, 0x40_8001];
        file.push(attr.sample(USER, Sample { ip, pid: 10, tid: 10, time: *time, period: 1000, chain: &chain, ..Sample::default() }));
    }
    file
}
