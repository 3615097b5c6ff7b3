//! The frame of a perf.data file: header, attrs, feature sections; in pipe mode the records that stand for them.
//!
//! linux-perf-data knows this format well but gives a whole file up over one bad length (and allocates it first), so
//! the frame is read here with every length bounded by the file; its names of features and record types are used. A
//! feature that lies outside the file costs that feature only.
//!
//! Forms of the file (tools/perf/util/header.c and Documentation/perf.data-file-format.txt):
//!
//! ```text
//! PERFILE2, header of 104 bytes   file mode; 2ELIFREP from a big-endian machine
//! PERFILE2, header of 16 bytes    pipe mode
//! PERFFILE                        before Linux 2.6.38: the same layout, byte order known by the header's size only
//! header of 72 bytes              the oldest: no set of features
//! ```
//!
//! No recording of the last two was at hand: they are read by the documented form.

use std::collections::BTreeMap;

use linux_perf_data::{Feature, FeatureSet};

use super::attr::Attr;
use super::bytes::{Bytes, Order};
use super::naming;
use super::records::{self, Records};
use crate::error::{Error, Result};
use crate::ingest::{Input, Recorder, Severity};

/// What surrounds the records.
#[derive(Debug)]
pub struct Container<'a> {
    pub order: Order,
    pub attrs: Vec<Attr>,
    features: BTreeMap<u32, &'a [u8]>,
    /// Build-id entries that came as records (pipe mode); the feature section is `features[BUILD_ID]`.
    pub build_id_records: Vec<&'a [u8]>,
    /// The records.
    pub data: &'a [u8],
    /// Where they begin in the file.
    pub data_offset: usize,
    pub is_pipe: bool,
}

const MAGIC_LITTLE: &[u8] = b"PERFILE2";
const MAGIC_BIG: &[u8] = b"2ELIFREP";
const MAGIC_OLD: &[u8] = b"PERFFILE";
const PIPE_HEADER_BYTES: u64 = 16;
const FILE_HEADER_BYTES: usize = 104;
/// Without the set of features.
const OLD_HEADER_BYTES: usize = 72;
/// No more events than this are looked at.
const ATTRS_MAX: usize = 65_536;

pub fn sniff(head: &[u8]) -> bool {
    [MAGIC_LITTLE, MAGIC_BIG, MAGIC_OLD].iter().any(|magic| head.starts_with(magic))
}

/// The old magic is the same in both byte orders; there the header's size tells, which is absurd in the wrong one.
fn order_of(file: &[u8]) -> Order {
    let little = Bytes::at(file, 8, Order::Little).u64().unwrap_or(0);
    let is_big = file.starts_with(MAGIC_BIG) || file.starts_with(MAGIC_OLD) && little > u64::from(u32::MAX);
    if is_big { Order::Big } else { Order::Little }
}

/// The set is made of the recorder's words. A big-endian machine of 32 bits has the halves of ours the other way round,
/// which perf tells by the host name: every recorder writes it.
fn features_of(header: &mut Bytes<'_>, order: Order) -> FeatureSet {
    let words = [(); 4].map(|()| header.u64().unwrap_or(0));
    let swapped = FeatureSet(words.map(|word| word.rotate_left(32)));
    let set = FeatureSet(words);
    let is_swapped = order == Order::Big && !set.has_feature(Feature::HOSTNAME) && swapped.has_feature(Feature::HOSTNAME);
    if is_swapped { swapped } else { set }
}

/// A part of the file given by offset and size.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    fn read(bytes: &mut Bytes<'_>) -> Option<Section> {
        Some(Section { offset: bytes.u64()?, size: bytes.u64()? })
    }

    fn of(self, file: &[u8]) -> Option<&[u8]> {
        Bytes::at(file, usize::try_from(self.offset).ok()?, Order::Little).take(self.size)
    }

    /// As much of it as the file has.
    fn prefix_of(self, file: &[u8]) -> &[u8] {
        let from = usize::try_from(self.offset).ok().and_then(|offset| file.get(offset..)).unwrap_or(&[]);
        usize::try_from(self.size).ok().and_then(|size| from.get(..size)).unwrap_or(from)
    }
}

impl<'a> Container<'a> {
    pub fn open(input: &Input<'a>, recorder: &mut Recorder) -> Result<Container<'a>> {
        let file = input.bytes;
        let order = order_of(file);
        let header_bytes = Bytes::at(file, 8, order).u64().unwrap_or(0);
        let mut container = Container {
            order,
            attrs: Vec::new(),
            features: BTreeMap::new(),
            build_id_records: Vec::new(),
            data: &[],
            data_offset: 0,
            is_pipe: header_bytes == PIPE_HEADER_BYTES,
        };
        if container.is_pipe {
            container.data = file.get(PIPE_HEADER_BYTES as usize..).unwrap_or(&[]);
            container.data_offset = PIPE_HEADER_BYTES as usize;
            container.scan_pipe();
        } else {
            container.read_file(input, recorder)?;
        }
        if container.attrs.is_empty() {
            return Err(malformed(input, "attrs", "at least one event", "none", "record the file again"));
        }
        naming::by_description(&mut container);
        naming::by_simpleperf(&mut container);
        Ok(container)
    }

    /// A feature section's content.
    pub fn feature(&self, feature: Feature) -> Option<&'a [u8]> {
        self.features.get(&feature.0).copied()
    }

    /// A feature that is one string.
    pub fn string(&self, feature: Feature) -> Option<String> {
        let text = naming::string(&mut Bytes::new(self.feature(feature)?, self.order))?;
        (!text.is_empty()).then_some(text)
    }

    fn read_file(&mut self, input: &Input<'a>, recorder: &mut Recorder) -> Result<()> {
        let file = input.bytes;
        let is_oldest = Bytes::at(file, 8, self.order).u64() == Some(OLD_HEADER_BYTES as u64);
        let header = file.get(..if is_oldest { OLD_HEADER_BYTES } else { FILE_HEADER_BYTES });
        let header = header.ok_or_else(|| malformed(input, "header", "104 bytes", &file.len().to_string(), "copy the file again"))?;
        let mut header = Bytes::at(header, 16, self.order);
        let cut = || malformed(input, "header", "104 bytes", "less", "copy the file again");
        let attr_bytes = header.u64().ok_or_else(cut)?;
        let attrs = Section::read(&mut header).ok_or_else(cut)?;
        let mut data = Section::read(&mut header).ok_or_else(cut)?;
        let event_types = Section::read(&mut header).ok_or_else(cut)?;
        let features = features_of(&mut header, self.order);
        self.read_attrs(input, attr_bytes, attrs)?;
        self.data_offset = usize::try_from(data.offset).unwrap_or(usize::MAX);
        if data.size == 0 {
            // The recorder died before it wrote the size: the records go on to the end of the file, features are missing.
            data.size = (file.len() as u64).saturating_sub(data.offset);
            let message = "the recording was aborted: its header has no data size, features are missing";
            recorder.skip("perf_aborted_recording", Severity::Warn, message, "records to the end of the file were read", "");
        } else {
            self.read_features(features, data, file, recorder);
        }
        self.data = data.prefix_of(file);
        if (self.data.len() as u64) < data.size {
            let missing = data.size - self.data.len() as u64;
            recorder.artifact.status = "truncated".into();
            let message = format!("the file ends {missing} bytes before its records do");
            recorder.skip("perf_truncated", Severity::Error, &message, "what came before was read; copy the file again", "");
        }
        self.read_event_types(event_types, file);
        Ok(())
    }

    fn read_attrs(&mut self, input: &Input<'a>, entry_bytes: u64, section: Section) -> Result<()> {
        let entry = usize::try_from(entry_bytes).ok().filter(|bytes| *bytes >= 64 + 16);
        let entry =
            entry.ok_or_else(|| malformed(input, "header", "attrs of 80 bytes or more", &entry_bytes.to_string(), "record it again"))?;
        // No two events share their ids, so all of them together fit into the file.
        let mut room = input.bytes.len() / 8;
        for bytes in section.prefix_of(input.bytes).chunks_exact(entry).take(ATTRS_MAX) {
            let (attr, ids) = bytes.split_at(entry - 16);
            let mut attr = Attr::parse(attr, self.order);
            if let Some(ids) = Section::read(&mut Bytes::new(ids, self.order)) {
                attr.ids = super::bytes::words(ids.prefix_of(input.bytes), self.order).take(room).collect();
                room = room.saturating_sub(attr.ids.len());
            }
            self.attrs.push(attr);
        }
        Ok(())
    }

    /// The table of sections lies right behind the records, one entry per bit of the set.
    fn read_features(&mut self, set: FeatureSet, data: Section, file: &'a [u8], recorder: &mut Recorder) {
        let table = data.offset.saturating_add(data.size);
        let mut table = Bytes::at(file, usize::try_from(table).unwrap_or(usize::MAX), self.order);
        for feature in set.iter() {
            let section = Section::read(&mut table);
            match section.and_then(|section| section.of(file)) {
                Some(bytes) => {
                    self.features.insert(feature.0, bytes);
                }
                None => {
                    let message = format!("feature section {feature} lies outside the file");
                    recorder.skip("perf_bad_feature", Severity::Warn, &message, "that feature is missing, the rest was read", "");
                }
            }
        }
    }

    /// Up to Linux 3.4 the names of events stood here, by config.
    fn read_event_types(&mut self, section: Section, file: &'a [u8]) {
        naming::by_config(self, section.prefix_of(file).chunks_exact(72));
    }

    /// In pipe mode attrs and features are records among the others.
    fn scan_pipe(&mut self) {
        let mut types: Vec<&'a [u8]> = Vec::new();
        let mut updates: Vec<&'a [u8]> = Vec::new();
        for record in Records::new(self.data, self.order) {
            match record.kind {
                records::HEADER_ATTR => self.pipe_attr(record.body),
                records::HEADER_EVENT_TYPE => types.push(record.body),
                records::EVENT_UPDATE => updates.push(record.body),
                records::HEADER_BUILD_ID => self.build_id_records.push(record.whole),
                records::HEADER_TRACING_DATA => {
                    self.features.insert(Feature::TRACING_DATA.0, record.appendix);
                }
                records::HEADER_FEATURE => {
                    let mut body = Bytes::new(record.body, self.order);
                    if let Some(feature) = body.u64().and_then(|feature| u32::try_from(feature).ok()) {
                        self.features.insert(feature, body.rest());
                    }
                }
                _ => {}
            }
        }
        naming::by_config(self, types.into_iter());
        naming::by_update(self, &updates);
    }

    /// The attr, as long as it says, then the ids.
    fn pipe_attr(&mut self, body: &'a [u8]) {
        if self.attrs.len() >= ATTRS_MAX {
            return;
        }
        let size = Bytes::at(body, 4, self.order).u32().unwrap_or(0) as usize;
        let size = if size < 64 { 64 } else { size };
        let mut attr = Attr::parse(body, self.order);
        attr.ids = super::bytes::words(body.get(size..).unwrap_or(&[]), self.order).collect();
        self.attrs.push(attr);
    }
}

fn malformed(input: &Input<'_>, place: &str, expected: &str, found: &str, advice: &str) -> Error {
    Error::Malformed {
        path: input.name.to_owned(),
        place: place.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
        advice: advice.to_owned(),
    }
}
