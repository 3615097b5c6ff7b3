//! Stacks as a forest of nodes, and the quick way from addresses to a node.
//!
//! Most of a stack equals the one that the same thread showed before, from the root on: that part is compared, word by
//! word, and costs no lookup. Of the rest each address is looked up in a small table of recent ones, else in the maps;
//! then its node under the parent.

use rustc_hash::FxHashMap;

use super::maps::Map;
use super::stacks::{Place, Root, Space};
use crate::ingest::FrameAt;

/// A frame, as what makes it different from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    rel: i64,
    /// [`NO_ID`] where no file is mapped; [`GUEST`].
    dso: i32,
    /// [`NO_ID`] where none is known.
    function: i32,
    is_kernel: bool,
}

/// Both halves of a product, so that every bit counts.
fn folded(value: u64, by: u64) -> u64 {
    let product = u128::from(value) * u128::from(by);
    (product >> 64) as u64 ^ product as u64
}

const NO_ID: i32 = -1;
/// Stands for the dso of guests, which has no number yet.
const GUEST: i32 = -2;

impl Frame {
    /// An address without a mapping stays a frame of its own: no dso, `rel` the address as executed.
    fn new(map: Option<&Map>, place: Place) -> Frame {
        Frame {
            rel: map.map_or(place.address, |map| map.relative(place.address)) as i64,
            dso: map.map_or(NO_ID, |map| map.dso),
            function: map.and_then(|map| map.function).unwrap_or(NO_ID),
            is_kernel: place.space == Space::Kernel,
        }
    }

    fn hash(&self) -> u64 {
        let ids = u64::from(self.dso as u32) << 32 | u64::from(self.function as u32);
        folded(self.rel as u64 ^ folded(ids ^ u64::from(self.is_kernel), 0xa076_1d64_78bd_642f), 0x9e37_79b9_7f4a_7c15)
    }

    /// An address of a guest: kept apart from the host's by a dso of its own.
    fn guest(place: Place) -> Frame {
        Frame { rel: place.address as i64, dso: GUEST, function: NO_ID, is_kernel: false }
    }

    pub fn is_guest(&self) -> bool {
        self.dso == GUEST
    }

    /// `guest`: the dso of guests' frames.
    pub fn at(&self, guest: Option<i32>) -> FrameAt {
        let known = |id: i32| (id != NO_ID).then_some(id);
        FrameAt {
            dso: if self.is_guest() { guest } else { known(self.dso) },
            rel: Some(self.rel),
            function: known(self.function),
            is_kernel: self.is_kernel,
            ..FrameAt::default()
        }
    }
}

/// No node: the parent of a root, the stack of a sample without frames.
pub const NONE: u32 = u32::MAX;

/// Frames and nodes, each once. A parent comes before its children.
///
/// Most nodes have one child, made right after them: a node is called by the one before it unless it says otherwise. So a
/// node costs four bytes, and following a known stack reads memory in order.
///
/// ```text
/// node       0      1      2      3      4*     5          * starts a run
/// frame      main   parse  read   alloc  next   alloc      starts: (4, 1): node 4 is called by node 1
/// ```
#[derive(Debug, Default)]
pub struct Forest {
    pub frames: Vec<Frame>,
    /// Per node its frame, with [`STARTS`] and [`FORKS`].
    nodes: Vec<u32>,
    /// Nodes that are not called by the one before them, in order, and what calls them.
    starts: Vec<(u32, u32)>,
    /// Numbers of frames by their hash, at most half full. The frames themselves are compared: a map of them would hold
    /// each twice.
    frame_slots: Vec<u32>,
    /// (parent, frame) -> node, for the nodes in `starts`.
    forks: FxHashMap<u64, u32>,
}

/// The node is not called by the one before it.
const STARTS: u32 = 1 << 31;
/// Some of the node's children are in `forks`.
const FORKS: u32 = 1 << 30;
/// The number of the frame. More frames than this would take 32 GiB.
const FRAME: u32 = FORKS - 1;

impl Forest {
    fn frame(&mut self, frame: Frame) -> u32 {
        if self.frames.len() * 2 >= self.frame_slots.len() {
            self.more_frame_slots();
        }
        let slot = self.frame_slot(&frame);
        match self.frame_slots.get_mut(slot) {
            Some(id) if *id == NONE => {
                *id = (self.frames.len() as u32).min(FRAME);
                self.frames.push(frame);
                *id
            }
            Some(id) => *id,
            None => 0,
        }
    }

    /// Where the frame's number is, or an empty slot for it.
    fn frame_slot(&self, frame: &Frame) -> usize {
        let mask = self.frame_slots.len().wrapping_sub(1);
        let mut at = frame.hash() as usize & mask;
        while let Some(id) = self.frame_slots.get(at).filter(|id| **id != NONE) {
            if self.frames.get(*id as usize) == Some(frame) {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn more_frame_slots(&mut self) {
        self.frame_slots = vec![NONE; (self.frames.len() * 4).next_power_of_two().max(1024)];
        for id in 0..self.frames.len() {
            let slot = self.frames.get(id).map(|frame| self.frame_slot(frame));
            if let Some(slot) = slot.and_then(|slot| self.frame_slots.get_mut(slot)) {
                *slot = id as u32;
            }
        }
    }

    fn key(parent: u32, frame: u32) -> u64 {
        u64::from(parent) << 32 | u64::from(frame)
    }

    /// The node for `frame` below `parent`, added where it is new.
    fn node(&mut self, parent: u32, frame: u32) -> u32 {
        let next = self.nodes.len() as u32;
        // One past NONE is 0, which starts a run: roots are found among the forks.
        let after = parent.wrapping_add(1);
        match self.nodes.get(after as usize) {
            Some(word) if word & (STARTS | FRAME) == frame => return after,
            None if parent != NONE => {
                self.nodes.push(frame);
                return next;
            }
            _ => {}
        }
        let forks = match self.nodes.get_mut(parent as usize) {
            Some(word) => std::mem::replace(word, *word | FORKS) & FORKS != 0,
            None => true,
        };
        let key = Forest::key(parent, frame);
        if forks && let Some(id) = self.forks.get(&key) {
            return *id;
        }
        self.forks.insert(key, next);
        self.starts.push((next, parent));
        self.nodes.push(frame | STARTS);
        next
    }

    /// Parent ([`NONE`] for roots) and frame of every node, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut starts = self.starts.iter();
        self.nodes.iter().enumerate().map(move |(at, word)| {
            let parent = match word & STARTS {
                0 => (at as u32).wrapping_sub(1),
                _ => starts.next().map_or(NONE, |(_, parent)| *parent),
            };
            (parent, word & FRAME)
        })
    }

    /// Gives back the memory that only interning needs.
    pub fn forget(&mut self) {
        self.frame_slots = Vec::new();
        self.forks = FxHashMap::default();
    }

    /// Takes in another forest; gives the new number of each of its nodes.
    pub fn absorb(&mut self, other: &Forest) -> Vec<u32> {
        let frames: Vec<u32> = other.frames.iter().map(|frame| self.frame(*frame)).collect();
        let mut ids: Vec<u32> = Vec::with_capacity(other.nodes.len());
        for (parent, frame) in other.nodes() {
            let parent = ids.get(parent as usize).copied().unwrap_or(NONE);
            let frame = frames.get(frame as usize).copied().unwrap_or(0);
            ids.push(self.node(parent, frame));
        }
        ids
    }
}

/// A forest that is being filled, and what was looked up last.
pub struct Interner {
    pub forest: Forest,
    recent: Vec<Recent>,
    trails: Vec<Trail>,
}

/// An address that was looked up. Kernel addresses mean the same in all processes.
#[derive(Debug, Clone, Copy)]
struct Recent {
    address: u64,
    /// What the maps were: a number of [`Root`], or of the kernel's maps.
    maps: u32,
    frame: u32,
}

/// The stack that a thread showed last, from the root on.
#[derive(Debug, Default, Clone)]
struct Trail {
    root: u32,
    places: Vec<Place>,
    nodes: Vec<u32>,
}

/// Power of two; 2 MiB in all: what does not fit costs a search in the maps.
const RECENT: usize = 1 << 17;
/// Threads share trails if there are more; that costs time only.
const TRAILS: usize = 64;
const NO_MAPS: u32 = u32::MAX;

impl Default for Interner {
    fn default() -> Interner {
        Interner {
            forest: Forest::default(),
            recent: vec![Recent { address: 0, maps: NO_MAPS, frame: 0 }; RECENT],
            trails: vec![Trail { root: NO_MAPS, ..Trail::default() }; TRAILS],
        }
    }
}

impl Interner {
    /// The node of a stack of frames, innermost first, in the maps of `root`; [`NONE`] for no frames. `thread` is any
    /// number that stacks of one thread have in common.
    pub fn intern(&mut self, places: &[Place], root: &Root, thread: u32) -> u32 {
        let Some(slot) = self.trails.get_mut(thread as usize % TRAILS) else { return NONE };
        let mut trail = std::mem::take(slot);
        let same = match trail.root == root.no {
            true => trail.places.iter().zip(places.iter().rev()).take_while(|(before, now)| before == now).count(),
            false => 0,
        };
        trail.root = root.no;
        trail.places.truncate(same);
        trail.nodes.truncate(same);
        let mut node = trail.nodes.last().copied().unwrap_or(NONE);
        for place in places.iter().rev().skip(same) {
            let frame = self.frame(*place, root);
            node = self.forest.node(node, frame);
            trail.places.push(*place);
            trail.nodes.push(node);
        }
        if let Some(slot) = self.trails.get_mut(thread as usize % TRAILS) {
            *slot = trail;
        }
        node
    }

    fn frame(&mut self, place: Place, root: &Root) -> u32 {
        // The two spaces share no addresses that are looked up in different maps under one number.
        let (maps, tag) = match place.space {
            Space::Kernel => (root.kernel_no, 1),
            Space::User => (root.no, 0),
            Space::Guest => return self.forest.frame(Frame::guest(place)),
            Space::Elsewhere => return self.forest.frame(Frame::new(None, place)),
        };
        let maps = maps << 1 | tag;
        let mixed = (place.address ^ u64::from(maps) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (mixed >> 47) as usize % RECENT;
        if let Some(recent) = self.recent.get(at)
            && recent.address == place.address
            && recent.maps == maps
        {
            return recent.frame;
        }
        let map = match place.space {
            Space::Kernel => root.kernel.find(place.address),
            _ => root.maps.find(place.address),
        };
        let frame = self.forest.frame(Frame::new(map, place));
        if let Some(recent) = self.recent.get_mut(at) {
            *recent = Recent { address: place.address, maps, frame };
        }
        frame
    }
}
