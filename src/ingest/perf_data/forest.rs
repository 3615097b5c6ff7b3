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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    dso: Option<i32>,
    rel: i64,
    function: Option<i32>,
    is_kernel: bool,
}

impl Frame {
    /// An address without a mapping stays a frame of its own: no dso, `rel` the address as executed.
    fn new(map: Option<&Map>, place: Place) -> Frame {
        Frame {
            dso: map.map(|map| map.dso),
            rel: map.map_or(place.address, |map| map.relative(place.address)) as i64,
            function: map.and_then(|map| map.function),
            is_kernel: place.space == Space::Kernel,
        }
    }

    /// An address of a guest: kept apart from the host's by a dso of its own.
    fn guest(place: Place) -> Frame {
        Frame { dso: Some(GUEST), rel: place.address as i64, function: None, is_kernel: false }
    }

    pub fn is_guest(&self) -> bool {
        self.dso == Some(GUEST)
    }

    /// `guest`: the dso of guests' frames.
    pub fn at(&self, guest: Option<i32>) -> FrameAt {
        FrameAt {
            dso: if self.is_guest() { guest } else { self.dso },
            rel: Some(self.rel),
            function: self.function,
            is_kernel: self.is_kernel,
            ..FrameAt::default()
        }
    }
}

/// Stands for the dso of guests, which has no number yet.
const GUEST: i32 = -2;

/// No node: the parent of a root, the stack of a sample without frames.
pub const NONE: u32 = u32::MAX;

/// Frames and nodes, each once. A parent comes before its children.
#[derive(Debug, Default)]
pub struct Forest {
    pub frames: Vec<Frame>,
    pub nodes: Vec<Node>,
    frame_ids: FxHashMap<Frame, u32>,
    /// The roots, and the children of nodes that have many: (parent, frame) -> node.
    crowds: FxHashMap<u64, u32>,
}

/// One node. Most have one child or two: those hang on a list, which costs no hashing and little memory to touch.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub parent: u32,
    pub frame: u32,
    /// The newest child.
    child: u32,
    /// The next older child of the same parent.
    sibling: u32,
    children: u32,
}

/// Nodes with more children than this have them in the table.
const LISTED: u32 = 8;

impl Forest {
    fn frame(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        let id = *self.frame_ids.entry(frame).or_insert(next);
        if id == next {
            self.frames.push(frame);
        }
        id
    }

    fn key(parent: u32, frame: u32) -> u64 {
        u64::from(parent) << 32 | u64::from(frame)
    }

    fn node(&mut self, parent: u32, frame: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let up = self.nodes.get(parent as usize).copied();
        match up.filter(|up| up.children <= LISTED) {
            None => {
                let id = *self.crowds.entry(Forest::key(parent, frame)).or_insert(next);
                if id != next {
                    return id;
                }
            }
            Some(up) => {
                let mut at = up.child;
                while let Some(node) = self.nodes.get(at as usize) {
                    if node.frame == frame {
                        return at;
                    }
                    at = node.sibling;
                }
                if up.children == LISTED {
                    self.list_to_table(parent, up.child);
                    self.crowds.insert(Forest::key(parent, frame), next);
                }
            }
        }
        let sibling = up.map_or(NONE, |up| up.child);
        self.nodes.push(Node { parent, frame, child: NONE, sibling, children: 0 });
        if let Some(up) = self.nodes.get_mut(parent as usize) {
            up.child = next;
            up.children += 1;
        }
        next
    }

    fn list_to_table(&mut self, parent: u32, first: u32) {
        let mut at = first;
        while let Some(node) = self.nodes.get(at as usize) {
            self.crowds.insert(Forest::key(parent, node.frame), at);
            at = node.sibling;
        }
    }

    /// Gives back the memory that only interning needs.
    pub fn forget(&mut self) {
        self.frame_ids = FxHashMap::default();
        self.crowds = FxHashMap::default();
    }

    /// Takes in another forest; gives the new number of each of its nodes.
    pub fn absorb(&mut self, other: &Forest) -> Vec<u32> {
        let frames: Vec<u32> = other.frames.iter().map(|frame| self.frame(*frame)).collect();
        let mut ids: Vec<u32> = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let parent = ids.get(node.parent as usize).copied().unwrap_or(NONE);
            let frame = frames.get(node.frame as usize).copied().unwrap_or(0);
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

/// Power of two; 256 KiB in all.
const RECENT: usize = 1 << 14;
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
        let at = (mixed >> 50) as usize % RECENT;
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
