//! What made a file's code, and whether it optimized.
//!
//! GCC writes its options into DW_AT_producer, and no `-O` among them means that it did not optimize. clang writes them
//! with `-grecord-command-line` only, rustc and others never: nothing is known of those.

use super::Producers;
use crate::tables::{Dso, Text};

/// Sets the dso's producer and counts.
pub fn note(dso: &mut Dso, producers: &Producers) {
    // The first of equals, in the order of names.
    let most = producers.iter().fold(None, |best: Option<(&str, i64)>, (name, count)| match best {
        Some((_, most)) if most >= *count => best,
        _ => Some((name, *count)),
    });
    if let Some((name, _)) = most {
        dso.producer = Some(Text::from(name));
    }
    let places = |wanted: bool| {
        let own = producers.iter().filter(|(name, _)| optimizes(name) == Some(wanted));
        own.fold(0_i64, |sum, (_, count)| sum.saturating_add(*count))
    };
    let (optimized, plain) = (places(true), places(false));
    if optimized > 0 || plain > 0 {
        (dso.optimized_places, dso.plain_places) = (Some(optimized), Some(plain));
    }
}

/// `None` where the producer does not say.
fn optimizes(producer: &str) -> Option<bool> {
    let level = producer.split_whitespace().filter_map(|word| word.strip_prefix("-O")).next_back();
    let is_compiled_by_gcc = producer.starts_with("GNU ") && !producer.starts_with("GNU AS");
    match level {
        Some("0" | "g") => Some(false),
        Some(_) => Some(true),
        // GCC before 4.7 wrote no options at all: not even -g or -m.
        None if is_compiled_by_gcc && producer.contains(" -") => Some(false),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strings as readelf --debug-dump=info prints them for gcc 12.2, as 2.40, clang 14 and rustc 1.7x.
    #[test]
    fn what_producers_say() {
        let gcc = "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g";
        assert_eq!(optimizes(gcc), Some(false));
        assert_eq!(optimizes(&format!("{gcc} -O2 -fno-omit-frame-pointer")), Some(true));
        assert_eq!(optimizes(&format!("{gcc} -O2 -O0")), Some(false));
        assert_eq!(optimizes(&format!("{gcc} -Og")), Some(false));
        assert_eq!(optimizes(&format!("{gcc} -Os")), Some(true));
        assert_eq!(optimizes("GNU AS 2.40"), None);
        assert_eq!(optimizes("GNU C 4.4.7"), None);
        assert_eq!(optimizes("clang LLVM (rustc version 1.79.0)"), None);
        assert_eq!(optimizes("Debian clang version 14.0.6"), None);
        assert_eq!(optimizes("clang version 14.0.6 /usr/bin/clang -O3 -g a.c"), Some(true));
    }

    #[test]
    fn places_are_counted_by_what_their_producer_says() {
        let mut dso = Dso::default();
        note(&mut dso, &Producers::from([("clang LLVM (rustc version 1.79.0)".into(), 9)]));
        assert_eq!((dso.producer.as_deref(), dso.optimized_places), (Some("clang LLVM (rustc version 1.79.0)"), None));
        note(&mut dso, &Producers::from([("GNU C17 12.2.0 -g -O2".into(), 3), ("GNU C17 12.2.0 -g".into(), 5), ("GNU AS 2.40".into(), 1)]));
        assert_eq!((dso.producer.as_deref(), dso.optimized_places, dso.plain_places), (Some("GNU C17 12.2.0 -g"), Some(3), Some(5)));
    }
}
