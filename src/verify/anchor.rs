//! An evidence anchor taken apart, by its documented form and nothing else (queries/README.md; design of anchors):
//!
//! ```text
//! anchor = path [ "#" part *( "&" part ) ]           path and values percent-encoded
//! part   = "L=" n [ "-" m ] | "ptr=" json-pointer | "record=" n | "sum=" table "." column *( "&" key "=" value )
//! ```

use percent_encoding::percent_decode_str;

/// A place in an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Name of the artifact relative to the input root.
    pub path: String,
    pub part: Part,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The file as a whole.
    File,
    /// First and last line, from 1.
    Lines(usize, usize),
    Pointer(String),
    Record(u64),
    Sum(Sum),
    /// Not of the documented form.
    Unknown(String),
}

/// A sum over rows of one artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    pub table: String,
    pub column: String,
    pub keys: Vec<(String, String)>,
}

impl Sum {
    pub fn key(&self, name: &str) -> Option<&str> {
        self.keys.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The values of a key that lists several.
    pub fn list(&self, name: &str) -> Option<Vec<&str>> {
        self.key(name).map(|value| value.split(',').collect())
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

pub fn parse(text: &str) -> Anchor {
    let (path, part) = match text.split_once('#') {
        Some((path, part)) => (path, self::part(part).unwrap_or_else(|| Part::Unknown(part.to_owned()))),
        None => (text, Part::File),
    };
    Anchor { path: decode(path), part }
}

/// What people read, `path:L8`, as an anchor again; every other form stays as it is.
pub fn of_shown(text: &str) -> String {
    let lines = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match text.rsplit_once(":L") {
        Some((path, rest)) if !text.contains('#') && lines(rest) => format!("{path}#L={rest}"),
        _ => text.to_owned(),
    }
}

fn part(text: &str) -> Option<Part> {
    let (kind, value) = text.split_once('=')?;
    match kind {
        "L" => {
            let (first, last) = value.split_once('-').unwrap_or((value, value));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first >= 1 && first <= last).then_some(Part::Lines(first, last))
        }
        "ptr" => Some(Part::Pointer(decode(value))),
        "record" => value.parse().ok().map(Part::Record),
        "sum" => {
            let mut parts = value.split('&');
            let (table, column) = parts.next()?.split_once('.')?;
            let keys: Option<Vec<(String, String)>> =
                parts.map(|pair| pair.split_once('=').map(|(key, value)| (key.to_owned(), decode(value)))).collect();
            Some(Part::Sum(Sum { table: table.to_owned(), column: column.to_owned(), keys: keys? }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_forms() {
        let anchor = parse("a%20b/t.txt#L=8");
        assert_eq!((anchor.path.as_str(), anchor.part), ("a b/t.txt", Part::Lines(8, 8)));
        assert_eq!(parse("x#L=3-5").part, Part::Lines(3, 5));
        assert_eq!(parse("x#ptr=/results/0/mean%7E1").part, Part::Pointer("/results/0/mean~1".into()));
        assert_eq!(parse("x#record=12").part, Part::Record(12));
        assert_eq!(parse("x").part, Part::File);
        let Part::Sum(sum) = parse("p#sum=samples.weight&has=ALLOC&site=operator%3D%28x%29").part else { panic!() };
        assert_eq!((sum.table.as_str(), sum.column.as_str(), sum.key("site")), ("samples", "weight", Some("operator=(x)")));
        for wrong in ["x#L=0", "x#L=5-3", "x#L=a", "x#sum=samples", "x#sum=a.b&c", "x#nonsense", "x#=", "x#"] {
            assert!(matches!(parse(wrong).part, Part::Unknown(_)), "{wrong}");
        }
    }

    #[test]
    fn what_people_read_is_an_anchor_again() {
        assert_eq!(of_shown("time-v.txt:L2"), "time-v.txt#L=2");
        assert_eq!(of_shown("perf.data#sum=samples.weight"), "perf.data#sum=samples.weight");
        assert_eq!(of_shown("odd:Lname"), "odd:Lname");
    }
}
