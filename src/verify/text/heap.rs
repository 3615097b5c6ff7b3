//! heaptrack's interpreted file: totals by its own records. `a SIZE TRACE` defines an allocation, `+ INFO` makes one,
//! `- INFO` frees one; numbers are hexadecimal, an allocation freed by the very next event is temporary. heaptrack counts that
//! with 0 for "no allocation since the last release", which is also the number of the first: so does this.

/// Totals over the whole recording.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Heap {
    pub calls: i64,
    pub bytes: i64,
    pub peak_bytes: i64,
    pub leaked_bytes: i64,
    pub temporary_calls: i64,
}

pub fn totals(bytes: &[u8]) -> Heap {
    let mut sizes: Vec<i64> = Vec::new();
    let mut heap = Heap::default();
    let (mut live, mut last) = (0_i64, 0_i64);
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some((kind, rest)) = line.split_first() else { continue };
        let mut words = rest.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let mut number = || words.next().and_then(|word| i64::from_str_radix(std::str::from_utf8(word).ok()?.trim_end(), 16).ok());
        match kind {
            b'a' => sizes.push(number().unwrap_or(0)),
            b'+' | b'-' => {
                let Some((info, size)) = number().and_then(|info| Some((info, *sizes.get(usize::try_from(info).ok()?)?))) else { continue };
                if *kind == b'+' {
                    heap.calls += 1;
                    heap.bytes = heap.bytes.saturating_add(size);
                    live = live.saturating_add(size);
                    heap.peak_bytes = heap.peak_bytes.max(live);
                    last = info;
                } else {
                    heap.temporary_calls += i64::from(last == info);
                    live = live.saturating_sub(size);
                    last = 0;
                }
            }
            _ => {}
        }
    }
    heap.leaked_bytes = live;
    heap
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 16, 32 and 16 bytes asked for; 48 at once; the 32 freed by the next event, one 16 never.
    #[test]
    fn totals_counted_by_hand() {
        let heap = totals(b"v 10400 3\na 10 1\na 20 1\n+ 0\n+ 1\n- 1\n+ 0\n- 0\n+ 9\n- zz\n");
        assert_eq!(heap, Heap { calls: 3, bytes: 64, peak_bytes: 48, leaked_bytes: 16, temporary_calls: 2 });
    }
}
