//! The names of events, which a file keeps in one of five places: the EVENT_DESC feature, EVENT_UPDATE records (pipe
//! mode), a table by config (up to Linux 3.4), simpleperf's META_INFO, or nowhere (`events.rs` then derives them).

use std::collections::{BTreeMap, VecDeque};

use linux_perf_data::Feature;
use rustc_hash::FxHashMap;

use super::attr::Attr;
use super::bytes::{Bytes, text_of, words};
use super::container::Container;

/// EVENT_DESC: number, attr size, then per event attr, number of ids, name, ids. Matched by the first id, else by place.
pub fn by_description(container: &mut Container<'_>) {
    let Some(section) = container.feature(Feature::EVENT_DESC) else { return };
    let by_id = by_id(&container.attrs);
    let mut bytes = Bytes::new(section, container.order);
    let (Some(count), Some(attr_bytes)) = (bytes.u32(), bytes.u32()) else { return };
    for place in 0..count as usize {
        let Some(()) = bytes.skip(u64::from(attr_bytes)) else { return };
        let Some(ids) = bytes.u32() else { return };
        let Some(name) = string(&mut bytes) else { return };
        let Some(ids) = bytes.items(u64::from(ids), 8) else { return };
        let first = words(ids, container.order).next();
        let index = first.and_then(|id| by_id.get(&id).copied());
        if let Some(attr) = container.attrs.get_mut(index.unwrap_or(place))
            && !name.is_empty()
        {
            attr.name = Some(name);
        }
    }
}

/// Entries of the table by config: config, name. Of events with the same config the first without a name gets it.
pub fn by_config<'a>(container: &mut Container<'_>, entries: impl Iterator<Item = &'a [u8]>) {
    let mut unnamed: FxHashMap<u64, VecDeque<usize>> = FxHashMap::default();
    for (index, attr) in container.attrs.iter().enumerate().filter(|(_, attr)| attr.name.is_none()) {
        unnamed.entry(attr.config).or_default().push_back(index);
    }
    for entry in entries {
        let mut bytes = Bytes::new(entry, container.order);
        let Some(config) = bytes.u64() else { continue };
        let name = bytes.c_string().into_owned();
        if name.is_empty() {
            continue;
        }
        let index = unnamed.get_mut(&config).and_then(VecDeque::pop_front);
        if let Some(attr) = index.and_then(|index| container.attrs.get_mut(index)) {
            attr.name = Some(name);
        }
    }
}

/// EVENT_UPDATE records of type NAME: type, id, name.
pub fn by_update(container: &mut Container<'_>, bodies: &[&[u8]]) {
    const UPDATE_NAME: u64 = 2;
    let by_id = by_id(&container.attrs);
    for body in bodies {
        let mut bytes = Bytes::new(body, container.order);
        let (Some(kind), Some(id)) = (bytes.u64(), bytes.u64()) else { continue };
        let index = by_id.get(&id).copied().filter(|_| kind == UPDATE_NAME);
        if let Some(attr) = index.and_then(|index| container.attrs.get_mut(index)) {
            attr.name = Some(bytes.c_string().into_owned());
        }
    }
}

/// simpleperf's `event_type_info`: a line per event of name, type and config.
pub fn by_simpleperf(container: &mut Container<'_>) {
    let meta = meta_info(container);
    let Some(lines) = meta.get("event_type_info") else { return };
    let mut names: FxHashMap<(u32, u64), &str> = FxHashMap::default();
    for line in lines.lines() {
        let mut fields = line.rsplitn(3, ',');
        let (Some(config), Some(kind), Some(name)) = (fields.next(), fields.next(), fields.next()) else { continue };
        if let (Ok(config), Ok(kind)) = (config.parse(), kind.parse()) {
            names.insert((kind, config), name);
        }
    }
    for attr in container.attrs.iter_mut().filter(|attr| attr.name.is_none()) {
        attr.name = names.get(&(attr.kind, attr.config)).map(|name| (*name).to_owned());
    }
}

/// Event by its ids; of equal ids the first event's counts.
fn by_id(attrs: &[Attr]) -> FxHashMap<u64, usize> {
    let mut index = FxHashMap::default();
    for (place, attr) in attrs.iter().enumerate() {
        attr.ids.iter().for_each(|id| {
            index.entry(*id).or_insert(place);
        });
    }
    index
}

/// simpleperf's META_INFO: keys and values in turn, each ended by a NUL. Empty for other recorders.
pub fn meta_info(container: &Container<'_>) -> BTreeMap<String, String> {
    let section = container.feature(Feature::SIMPLEPERF_META_INFO).unwrap_or(&[]);
    let mut bytes = Bytes::new(section, container.order);
    let mut pairs = BTreeMap::new();
    while !bytes.rest().is_empty() {
        let (key, value) = (bytes.c_string().into_owned(), bytes.c_string().into_owned());
        pairs.insert(key, value);
    }
    pairs
}

/// `perf_header_string`: a length, then text padded with NULs.
pub fn string(bytes: &mut Bytes<'_>) -> Option<String> {
    let len = bytes.u32()?;
    bytes.take(u64::from(len)).map(|text| text_of(text).into_owned())
}
