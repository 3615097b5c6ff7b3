//! Address ranges and what lies in them: one set per process, one for the kernel.

/// How an address in a mapping is made relative to its dso.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Offset in the file: address - start + file offset.
    File,
    /// Distance from this address: the kernel's `_text`, a module's start.
    Base(u64),
    /// The address itself: anonymous memory, where JIT compilers put code.
    Absolute,
}

/// One mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    pub start: u64,
    /// One past the last address.
    pub end: u64,
    /// Offset in the file that `start` shows.
    pub offset: u64,
    pub dso: i32,
    pub origin: Origin,
    /// What the file itself calls the whole range (KSYMBOL).
    pub function: Option<i32>,
}

impl Map {
    pub fn relative(&self, address: u64) -> u64 {
        match self.origin {
            Origin::File => address.wrapping_sub(self.start).wrapping_add(self.offset),
            Origin::Base(base) => address.wrapping_sub(base),
            Origin::Absolute => address,
        }
    }
}

/// Mappings that do not overlap, by start.
#[derive(Debug, Clone, Default)]
pub struct Maps {
    list: Vec<Map>,
}

impl Maps {
    pub fn find(&self, address: u64) -> Option<&Map> {
        let after = self.list.partition_point(|map| map.start <= address);
        self.list.get(after.checked_sub(1)?).filter(|map| address < map.end)
    }

    /// Adds a mapping. It replaces what it covers; of mappings that stick out the ends stay.
    pub fn insert(&mut self, map: Map) {
        if map.start >= map.end {
            return;
        }
        let first = self.list.partition_point(|old| old.end <= map.start);
        let last = self.list.partition_point(|old| old.start < map.end).max(first);
        let head =
            self.list.get(first).filter(|old| old.start < map.start && first < last).map(|old| Map { end: map.start, ..old.clone() });
        let tail = last.checked_sub(1).and_then(|last| self.list.get(last)).filter(|old| old.end > map.end && first < last);
        let tail = tail.map(|old| {
            let cut = map.end.wrapping_sub(old.start);
            Map { start: map.end, offset: old.offset.wrapping_add(cut), ..old.clone() }
        });
        let pieces = head.into_iter().chain(std::iter::once(map)).chain(tail);
        self.list.splice(first..last, pieces);
    }

    pub fn remove(&mut self, start: u64, end: u64) {
        self.list.retain(|map| map.start != start || map.end != end);
    }

    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &Map> {
        self.list.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(start: u64, end: u64, dso: i32) -> Map {
        Map { start, end, offset: start, dso, origin: Origin::File, function: None }
    }

    // By hand: what munmap-and-map of the middle of a mapping leaves.
    #[test]
    fn a_mapping_replaces_what_it_covers() {
        let mut maps = Maps::default();
        maps.insert(map(100, 200, 1));
        maps.insert(map(200, 300, 2));
        maps.insert(map(150, 250, 3));
        maps.insert(map(160, 170, 4));
        let found: Vec<_> = [99, 100, 149, 150, 160, 169, 170, 249, 250, 299, 300]
            .map(|address| maps.find(address).map(|map| (map.dso, map.relative(address))))
            .into_iter()
            .collect();
        let same = |dso, address| Some((dso, address));
        let expected = [
            None,
            same(1, 100),
            same(1, 149),
            same(3, 150),
            same(4, 160),
            same(4, 169),
            same(3, 170),
            same(3, 249),
            same(2, 250),
            same(2, 299),
            None,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn one_that_covers_everything_is_alone() {
        let mut maps = Maps::default();
        maps.insert(map(10, 20, 1));
        maps.insert(map(30, 40, 2));
        maps.insert(map(0, u64::MAX, 3));
        assert_eq!(maps.iter().count(), 1);
        maps.insert(map(7, 7, 4));
        assert_eq!(maps.iter().count(), 1);
    }
}
