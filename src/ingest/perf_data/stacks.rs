//! From a sample's chain of addresses to the places on its stack.

use std::sync::Arc;

use linux_perf_data::linux_perf_event_reader::constants::*;

use super::bytes::{Order, words};
use super::maps::{Map, Maps};
use super::sample::{BRANCH_BYTES, Sample};
use super::unwind::ProcessUnwinder;

/// Whose address it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Kernel,
    User,
    /// Kernel and programs of a guest: addresses of their own, for which the host's maps say nothing.
    Guest,
    /// The hypervisor: no maps are known.
    Elsewhere,
}

impl Space {
    /// The mode in a record's `misc`; where it does not say, the upper half of the addresses is the kernel's.
    pub fn of(misc: u16, address: u64) -> Space {
        match misc & PERF_RECORD_MISC_CPUMODE_MASK {
            PERF_RECORD_MISC_KERNEL => Space::Kernel,
            PERF_RECORD_MISC_USER => Space::User,
            PERF_RECORD_MISC_CPUMODE_UNKNOWN if address >> 63 != 0 => Space::Kernel,
            PERF_RECORD_MISC_CPUMODE_UNKNOWN => Space::User,
            PERF_RECORD_MISC_GUEST_KERNEL | PERF_RECORD_MISC_GUEST_USER => Space::Guest,
            _ => Space::Elsewhere,
        }
    }
}

/// One frame: the address to look up. Return addresses are already minus one, so that they lie in the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub address: u64,
    pub space: Space,
}

/// Values at and above this are context markers, not addresses.
const CONTEXT_MIN: u64 = -4095i64 as u64;
const CONTEXT_KERNEL: u64 = -128i64 as u64;
const CONTEXT_USER: u64 = -512i64 as u64;
/// Linux 6.18: the next word is a cookie for a user stack that comes later.
const CONTEXT_USER_DEFERRED: u64 = -640i64 as u64;

/// The frames of a sample, innermost first, into `places`.
pub fn chain(sample: &Sample<'_>, misc: u16, order: Order, places: &mut Vec<Place>) {
    places.clear();
    let ip = sample.ip.unwrap_or(0);
    let start = Space::of(misc, ip);
    let mut space = start;
    // The first address after a marker is where the CPU is; the others are return addresses.
    let mut is_ip = true;
    let mut is_cookie = false;
    let mut has_user = false;
    let mut frames = 0;
    for word in words(sample.chain, order) {
        if std::mem::take(&mut is_cookie) {
            continue;
        }
        if word >= CONTEXT_MIN {
            space = match word {
                CONTEXT_KERNEL => Space::Kernel,
                CONTEXT_USER => Space::User,
                PERF_CONTEXT_GUEST | PERF_CONTEXT_GUEST_KERNEL | PERF_CONTEXT_GUEST_USER => Space::Guest,
                _ => Space::Elsewhere,
            };
            is_cookie = word == CONTEXT_USER_DEFERRED;
            has_user |= space == Space::User;
            is_ip = true;
            continue;
        }
        let address = if is_ip { word } else { word.wrapping_sub(1) };
        places.push(Place { address, space });
        is_ip = false;
        if word != 0 {
            frames = places.len();
        }
    }
    // Unwinders go on past the root: an address 0 there is no frame.
    places.truncate(frames);
    if has_user {
        join_branches(sample.branches, order, places);
    }
    match places.first_mut() {
        // With precise events the sample's own address is the better one.
        Some(leaf) if leaf.space == start && ip != 0 => leaf.address = ip,
        Some(_) => {}
        None if ip != 0 => places.push(Place { address: ip, space: start }),
        None => {}
    }
}

/// The user part from the branches that the CPU kept as a call stack, as perf joins them (`resolve_lbr_callchain_sample`):
/// behind the kernel's frames the place where the CPU was, then where each call was made, innermost first. These are
/// the calls themselves, no return addresses.
fn join_branches(branches: &[u8], order: Order, places: &mut Vec<Place>) {
    let mut entries = branches.chunks_exact(BRANCH_BYTES).map(|entry| {
        let mut entry = words(entry, order);
        (entry.next().unwrap_or(0), entry.next().unwrap_or(0))
    });
    let Some((first, to)) = entries.next() else { return };
    let user = places.iter().position(|place| place.space == Space::User).unwrap_or(places.len());
    // The chain's first user address is more exact than the entry of the function that was called last.
    places.truncate(user + 1);
    if places.len() == user {
        places.push(Place { address: to, space: Space::User });
    }
    let calls = std::iter::once(first).chain(entries.map(|(from, _)| from)).take_while(|from| *from != 0);
    places.extend(calls.map(|address| Place { address, space: Space::User }));
}

/// Kernel frames of the chain, then the unwound user stack (ip and unmodified return addresses).
pub fn join_unwound(places: &mut Vec<Place>, unwound: &[u64]) {
    let kernel = places.iter().take_while(|place| place.space == Space::Kernel).count();
    places.truncate(kernel);
    let frames = unwound.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
    let user = unwound.iter().take(frames).enumerate().map(|(at, word)| if at == 0 { *word } else { word.wrapping_sub(1) });
    places.extend(user.map(|address| Place { address, space: Space::User }));
}

/// The kernel's maps.
#[derive(Debug, Default, Clone)]
pub struct Kernel {
    pub maps: Maps,
    /// The kernel itself. Its record spans `_text` to `_etext`; behind that comes code that ran at boot only, which the
    /// idle task's stacks still show.
    pub image: Option<Map>,
}

/// No kernel image is larger: x86-64 leaves it 1 GiB of addresses, others less.
const KERNEL_IMAGE_BYTES_MAX: u64 = 1 << 30;

impl Kernel {
    pub fn find(&self, address: u64) -> Option<&Map> {
        let behind = || self.image.as_ref().filter(|image| address >= image.start && address - image.start < KERNEL_IMAGE_BYTES_MAX);
        self.maps.find(address).or_else(behind)
    }
}

/// All that decides what an address means, at one moment.
#[derive(Debug, Clone)]
pub struct Root {
    /// Equal numbers, equal maps.
    pub no: u32,
    pub maps: Arc<Maps>,
    /// The same for the kernel's.
    pub kernel_no: u32,
    pub kernel: Arc<Kernel>,
    /// Where stacks were dumped.
    pub unwinder: Option<ProcessUnwinder>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places_of(chain_words: &[u64], ip: u64, misc: u16) -> Vec<(u64, Space)> {
        let bytes: Vec<u8> = chain_words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sample = Sample { ip: Some(ip), chain: &bytes, ..Sample::default() };
        let mut places = Vec::new();
        chain(&sample, misc, Order::Little, &mut places);
        places.iter().map(|place| (place.address, place.space)).collect()
    }

    // By hand after include/uapi/linux/perf_event.h, enum perf_callchain_context.
    #[test]
    fn markers_switch_spaces_and_callers_are_looked_up_in_the_call() {
        let k = 0xffff_ffff_8100_0000;
        let found = places_of(&[CONTEXT_KERNEL, k, k + 0x20, CONTEXT_USER, 0x1000, 0x2000, 0], k, PERF_RECORD_MISC_KERNEL);
        let expected = [(k, Space::Kernel), (k + 0x1f, Space::Kernel), (0x1000, Space::User), (0x1fff, Space::User)];
        assert_eq!(found, expected);
        assert_eq!(places_of(&[CONTEXT_USER], 0x1000, PERF_RECORD_MISC_USER), [(0x1000, Space::User)]);
        assert_eq!(places_of(&[], 0, PERF_RECORD_MISC_USER), []);
        let guest = places_of(&[PERF_CONTEXT_GUEST_KERNEL, k], k, PERF_RECORD_MISC_GUEST_KERNEL);
        assert_eq!(guest, [(k, Space::Guest)]);
        let deferred = places_of(&[CONTEXT_KERNEL, k, CONTEXT_USER_DEFERRED, 77], k, PERF_RECORD_MISC_KERNEL);
        assert_eq!(deferred, [(k, Space::Kernel)]);
    }

    // By hand after the drawing at resolve_lbr_callchain_sample (tools/perf/util/machine.c): A calls B calls C calls D,
    // the branches are C->D, B->C, A->B, and the user chain is what frame pointers gave.
    #[test]
    fn branches_kept_as_a_call_stack_replace_the_user_part() {
        let entries: Vec<u8> = [[0x3010, 0x4000, 0], [0x2010, 0x3000, 0], [0x1010, 0x2000, 0]]
            .iter()
            .flatten()
            .flat_map(|word: &u64| word.to_le_bytes())
            .collect();
        let joined = |words: &[u64], misc| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let ip = words.get(1).copied();
            let sample = Sample { ip, chain: &bytes, branches: &entries, ..Sample::default() };
            let mut places = Vec::new();
            chain(&sample, misc, Order::Little, &mut places);
            places.iter().map(|place| place.address).collect::<Vec<u64>>()
        };
        let k = 0xffff_ffff_8100_0000;
        assert_eq!(joined(&[CONTEXT_USER, 0x4321, 0x77], PERF_RECORD_MISC_USER), [0x4321, 0x3010, 0x2010, 0x1010]);
        let from_kernel = joined(&[CONTEXT_KERNEL, k, k + 0x20, CONTEXT_USER, 0x4321], PERF_RECORD_MISC_KERNEL);
        assert_eq!(from_kernel, [k, k + 0x1f, 0x4321, 0x3010, 0x2010, 0x1010]);
        // Without a user part the branches say nothing of this sample.
        assert_eq!(joined(&[CONTEXT_KERNEL, k], PERF_RECORD_MISC_KERNEL), [k]);
    }
}
