//! Names as people write them: Rust, C++ and plain C, from all sources (symbol tables, DWARF, text) at one place.
//!
//! The order matters: Rust's v0 scheme has a prefix of its own; its legacy scheme is C++'s and is told from it only by
//! the tail of `17h` and 16 hex digits, so that C++ names such as `_ZN12_GLOBAL__N_113single_threadE` stay C++.
//! Parameters of C++ functions are kept, as perf prints them. What cannot be demangled stays as it is. So do names of
//! D (`_D...`) and Swift (`$s...`): no maintained demangler for them is written in Rust; `ddemangle` and `swift demangle`
//! read the output.

use std::borrow::Cow;
use std::fmt;

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Mangled names longer than this are not tried: compilers shorten them before.
const MANGLED_BYTES_MAX: usize = 16 << 10;
/// A few kB of mangled name can expand to megabytes.
const DEMANGLED_BYTES_MAX: usize = 32 << 10;
/// Nesting of templates and types; cpp_demangle's own default is 96 for parsing.
const RECURSION_MAX: u32 = 96;

/// The readable form of a symbol's name.
pub fn demangle(raw: &str) -> Cow<'_, str> {
    let name = without_version(raw);
    if let Some(function) = name.strip_suffix("@plt").filter(|function| is_mangled(function) && !function.contains('@')) {
        return Cow::Owned(format!("{}@plt", demangle(function)));
    }
    if name.len() > MANGLED_BYTES_MAX {
        return Cow::Borrowed(name);
    }
    if is_rust(name) {
        return match rustc_demangle::try_demangle(name) {
            // The alternate form leaves the hash out.
            Ok(demangled) => limited(&format_args!("{demangled:#}")).map_or(Cow::Borrowed(name), Cow::Owned),
            Err(_) => Cow::Borrowed(name),
        };
    }
    if name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("_GLOBAL_") {
        return cpp(name).map_or(Cow::Borrowed(name), Cow::Owned);
    }
    Cow::Borrowed(name)
}

/// Whether a name looks mangled at all.
pub fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("__Z") || is_v0(name)
}

/// `memcpy@@GLIBC_2.14` is `memcpy`; `memcpy@plt` is something else.
fn without_version(name: &str) -> &str {
    match name.find('@') {
        Some(at) if at > 0 && !name.ends_with("@plt") => name.get(..at).unwrap_or(name),
        _ => name,
    }
}

fn is_v0(name: &str) -> bool {
    // The byte after the prefix begins a path or is a version number.
    name.strip_prefix("_R").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn is_rust(name: &str) -> bool {
    if is_v0(name) {
        return true;
    }
    // `_ZN...17h0123456789abcdefE`, and what LLVM appends to it behind a dot. Dots may be in the path itself:
    // `_ZN67_$LT$a..B$u20$as$u20$c..D$GT$4step17h...E`.
    let Some(rest) = name.strip_prefix("_ZN").or_else(|| name.strip_prefix("__ZN")) else { return false };
    let Some((_, tail)) = rest.rsplit_once("17h") else { return false };
    let Some((hash, end)) = tail.split_at_checked(16) else { return false };
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_hash && (end == "E" || end.starts_with("E."))
}

fn cpp(name: &str) -> Option<String> {
    cpp_whole(name, DemangleOptions::default()).or_else(|| cpp_name(name))
}

fn cpp_whole(name: &str, options: DemangleOptions) -> Option<String> {
    let symbol = Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(RECURSION_MAX)).ok()?;
    let mut out = Limited(String::new());
    symbol.structured_demangle(&mut out, &options.recursion_limit(RECURSION_MAX)).ok()?;
    Some(out.0).filter(|name| !name.is_empty())
}

/// The function's name without its types, where one of these is beyond cpp_demangle (`std::swap` of libstdc++, whose
/// return type holds an expression). A nested or templated name ends with the first `E` up to which all can be read.
fn cpp_name(name: &str) -> Option<String> {
    const TRIES: usize = 32;
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) {
        return None;
    }
    let ends = name.bytes().enumerate().filter(|(_, byte)| *byte == b'E').map(|(at, _)| at).take(TRIES);
    let prefixes = ends.filter_map(|at| name.get(..=at)).filter(|prefix| prefix.len() < name.len());
    prefixes.filter_map(|prefix| cpp_whole(prefix, DemangleOptions::new().no_params().no_return_type())).next()
}

/// The text, or nothing where it is too long.
fn limited(text: &fmt::Arguments<'_>) -> Option<String> {
    let mut out = Limited(String::new());
    fmt::Write::write_fmt(&mut out, *text).ok()?;
    Some(out.0)
}

struct Limited(String);

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > DEMANGLED_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C++ names: what binutils' c++filt 2.40 prints. Rust names: examples of rustc's book (symbol mangling v0) and of
    /// rustc-demangle's documentation.
    #[test]
    fn names_of_all_schemes() {
        let table = [
            ("main", "main"),
            ("__libc_start_main", "__libc_start_main"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("memcpy@plt", "memcpy@plt"),
            ("_ZN3foo3barEi@plt", "foo::bar(int)@plt"),
            ("_ZN12_GLOBAL__N_113single_threadE", "(anonymous namespace)::single_thread"),
            ("_Z3fooi", "foo(int)"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)"),
            ("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"),
            ("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE.llvm.1234", "core::fmt::Formatter::write_str"),
            (
                "_ZN56_$LT$hot..numbers..Xor$u20$as$u20$hot..numbers..Step$GT$4step17h77f93bf78f8ddb02E",
                "<hot::numbers::Xor as hot::numbers::Step>::step",
            ),
            // A hash of 15 digits is no Rust name, and 17h... is then a component of 17 bytes as in any C++ name.
            ("_ZN3foo17h0123456789abcdeE", "_ZN3foo17h0123456789abcdeE"),
            ("_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"),
            ("_RNvMs_Cs4Cv8Wi1oAIB_4testNtB4_3Foo3bar", "<test::Foo>::bar"),
            // Beyond cpp_demangle 0.5 (c++filt writes its types too): the name alone.
            (
                "_ZSt4swapIjENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EESt21is_move_constructibleIS4_ESt18is_move_\
                 assignableIS4_EEE5valueEvE4typeERS4_SE_",
                "std::swap<unsigned int>",
            ),
            ("_D3std5stdio7writelnFZv", "_D3std5stdio7writelnFZv"),
            ("$s4main3fooyyF", "$s4main3fooyyF"),
            ("_Rust_is_no_prefix", "_Rust_is_no_prefix"),
            ("_ZNotReallyMangled", "_ZNotReallyMangled"),
        ];
        for (raw, want) in table {
            assert_eq!(demangle(raw), want, "{raw}");
        }
    }

    #[test]
    fn hostile_names_stay_as_they_are() {
        let nested = format!("_Z{}", "1AI".repeat(40_000));
        assert_eq!(demangle(&nested), nested);
        let deep = format!("_Z1fI{}iEvv", "P".repeat(10_000));
        assert_eq!(demangle(&deep), deep);
        // Every substitution doubles the text.
        let mut doubling = String::from("_Z1fSt4pairIiiE");
        for at in 0..30 {
            doubling.push_str(&format!("St4pairIS{at}_S{at}_E"));
        }
        assert!(demangle(&doubling).len() <= DEMANGLED_BYTES_MAX);
        let rust = format!("_RNvC{}", "N".repeat(10_000));
        assert_eq!(demangle(&rust), rust);
        // 100 kB of every kind of nesting, and just below the limit of length: on a small stack, as threads have it.
        let check = || {
            for len in [4_000, 15_000, 100_000] {
                for (head, unit, tail) in [
                    ("_Z", "N1a", "E"),
                    ("_Z1f", "PKR", "i"),
                    ("_Z1fI", "1AI", "E"),
                    ("_Z1f", "DpT_", "v"),
                    ("_Z1fIX", "ntL", "E"),
                    ("_Z1f", "FvM1A", "vE"),
                    ("_RNvC1a", "NvC1b", "1c"),
                    ("_RINvC1a1b", "TRSA", "E"),
                    ("_RINvC1a1b", "FKC", "uE"),
                    ("_RNvXs_", "INtC1a1b", "E"),
                    ("_Z1f", "@plt", "@plt"),
                ] {
                    let name = format!("{head}{}{tail}", unit.repeat(len / unit.len()));
                    assert!(demangle(&name).len() <= name.len().max(DEMANGLED_BYTES_MAX));
                }
            }
        };
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(check).unwrap();
        thread.join().unwrap();
    }
}
