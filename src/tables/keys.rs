//! Hashes that mean the same in two runs, on two machines and in two versions of Tripod; and how a path or a value is
//! written into an evidence anchor.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays as it is in a value of an anchor.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/').remove(b'~');

/// Percent-encodes a path or a value of an anchor.
pub fn encode(value: &str) -> String {
    utf8_percent_encode(value, PLAIN).to_string()
}

/// FNV-1a, 64 bit (http://www.isthe.com/chongo/tech/comp/fnv/): fixed for all time, unlike the hashes of hash maps.
pub fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// FNV's offset basis.
pub const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// `functions.function_key`: the name without hash and clone suffix, and the dso's base name.
pub fn function_key(name: &str, dso: Option<&str>) -> i64 {
    let hash = fnv1a(SEED, plain_name(name).as_bytes());
    fnv1a(fnv1a(hash, &[0]), dso.unwrap_or("").as_bytes()) as i64
}

/// `stacks.stack_key`: the caller's key and the function's.
pub fn stack_key(parent: Option<i64>, function: i64) -> i64 {
    let hash = parent.map_or(SEED, |key| fnv1a(SEED, &key.to_le_bytes()));
    fnv1a(hash, &function.to_le_bytes()) as i64
}

/// A name without what compilers append to copies of one function: `.isra.0`, `.part.1`, `.constprop.2`, `.cold`,
/// `.llvm.123`, and Rust's legacy `::h0123456789abcdef`.
pub fn plain_name(name: &str) -> &str {
    let mut name = name;
    if let Some(at) = name.rfind("::h") {
        let hash = &name[at + 3..];
        if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            name = &name[..at];
        }
    }
    for suffix in [".isra.", ".part.", ".constprop.", ".cold", ".llvm.", ".lto_priv.", " [clone"] {
        if let Some(at) = name.find(suffix).filter(|at| *at > 0) {
            name = &name[..at];
        }
    }
    name.strip_suffix("()").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_and_hashes_share_a_key() {
        for name in ["emit.isra.0", "emit.part.1.cold", "emit::h0123456789abcdef", "emit"] {
            assert_eq!(plain_name(name), "emit");
        }
        assert_ne!(function_key("emit", Some("a")), function_key("emit", Some("b")));
    }
}
