//! S3 in Rust: each step drops a random slot of a table of 20 000 and allocates
//! 16 to 1 039 bytes in its place.
//!
//!     s3r churn STEPS           a new Node per step, in new_node
//!     s3r preallocated STEPS    the same steps on nodes made once

const SLOTS: usize = 20_000;
const LARGEST: usize = 1040;

struct Node {
    payload: Vec<u8>,
}

/// A new node in the slot; whatever was there goes.
#[inline(never)]
fn new_node(slot: &mut Option<Node>, size: usize, tag: u8) {
    *slot = None;
    let mut payload = Vec::with_capacity(size);
    payload.push(tag);
    *slot = Some(Node { payload });
}

#[inline(never)]
fn reuse_node(slot: &mut Option<Node>, tag: u8) {
    if let Some(node) = slot {
        node.payload.clear();
        node.payload.push(tag);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (Some(variant), Some(steps)) = (args.get(1), args.get(2).and_then(|n| n.parse::<u64>().ok()))
    else {
        eprintln!("usage: s3r churn|preallocated STEPS");
        std::process::exit(2);
    };
    let preallocated = variant == "preallocated";
    let first = if preallocated { LARGEST } else { 16 };
    let mut table: Vec<Option<Node>> = (0..SLOTS).map(|_| None).collect();
    for slot in &mut table {
        new_node(slot, first, 0);
    }
    let mut state = 88_172_645_463_325_252u64;
    let mut sum = 0u64;
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let slot = (state >> 20) as usize % SLOTS;
        let size = 16 + (state & 1023) as usize;
        sum += size as u64;
        if preallocated {
            reuse_node(&mut table[slot], state as u8);
        } else {
            new_node(&mut table[slot], size, state as u8);
        }
    }
    println!("{sum}");
}
