//! One line -> an event with its fields.
//!
//! The event's name stands under `event`, `type`, `msg`, `message`, `target` or `name`, with or without the prefix
//! `perf.profile.`, or as text in front of the object. Fields stand in the object itself or under `fields` (as
//! tracing-subscriber's JSON has them; what is there goes first). Keys are compared in lower case, with `.` and `-` as `_`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::value;

/// The events that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    RunStart,
    SampleCollected,
    SpanSummary,
    HypothesisEvaluated,
    ScalingLaw,
    RunComplete,
}

const PREFIX: &str = "perf.profile.";

/// Where the name of an event is looked for, in this order.
const NAME_KEYS: [&str; 6] = ["event", "type", "msg", "message", "target", "name"];

impl Event {
    fn of(name: &str) -> Option<Event> {
        Some(match name {
            "run_start" => Event::RunStart,
            "sample_collected" => Event::SampleCollected,
            "span_summary" => Event::SpanSummary,
            "hypothesis_evaluated" => Event::HypothesisEvaluated,
            "scaling_law" => Event::ScalingLaw,
            "run_complete" => Event::RunComplete,
            _ => return None,
        })
    }
}

/// What a line is.
#[derive(Debug)]
pub enum Line {
    Blank,
    Event {
        event: Event,
        has_prefix: bool,
        fields: Fields,
    },
    /// It begins as an object and is none; why.
    Broken(String),
    /// An event with the prefix that is not known.
    Unknown(String),
    OtherObject,
    Text,
}

/// An object's keys in their order, doubles included.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Object(out))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The fields of an event, by key.
#[derive(Debug, Default)]
pub struct Fields {
    values: BTreeMap<String, Value>,
    /// The first key that stood twice in one object.
    pub twice: Option<String>,
}

impl Fields {
    fn add(&mut self, entries: Vec<(String, Value)>) {
        let mut seen: BTreeMap<String, ()> = BTreeMap::new();
        for (key, value) in entries {
            if seen.insert(key.clone(), ()).is_some() {
                self.twice.get_or_insert_with(|| key.clone());
            }
            self.values.insert(key.to_ascii_lowercase().replace(['.', '-'], "_"), value);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is there, be it null.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// A text that is not empty.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    pub fn whole(&self, key: &str) -> Option<i64> {
        value::whole(self.get(key)?)
    }

    /// Any value as text: texts as they are, everything else as JSON.
    pub fn shown(&self, key: &str) -> Option<String> {
        let value = self.get(key)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)).filter(|text| !text.is_empty())
    }

    /// A command line: a text, or a list of words.
    pub fn words(&self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::Array(words) => {
                let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
                Some(crate::ingest::command::quote(&words?)).filter(|line| !line.is_empty())
            }
            _ => self.text(key),
        }
    }

    pub fn list<T>(&self, key: &str, read: impl Fn(&Value) -> T) -> Option<Vec<T>> {
        Some(self.get(key)?.as_array()?.iter().map(read).collect())
    }

    /// The event's name is no field.
    fn take_event(&mut self) -> Option<(Event, bool)> {
        let known = |text: &str| {
            let (name, has_prefix) = text.trim().strip_prefix(PREFIX).map_or((text.trim(), false), |rest| (rest, true));
            Event::of(name).map(|event| (event, has_prefix))
        };
        let (key, found) = NAME_KEYS.iter().find_map(|key| Some((*key, known(self.values.get(*key)?.as_str()?)?)))?;
        self.values.remove(key);
        Some(found)
    }

    /// An event with the prefix, whatever it is.
    fn prefixed(&self) -> Option<&str> {
        NAME_KEYS.iter().filter_map(|key| self.values.get(*key)?.as_str()).find(|text| text.starts_with(PREFIX))
    }
}

/// Reads one line. Bytes that are no UTF-8 are replaced: they cost a name a letter, not a number.
pub fn parse(line: &[u8]) -> Line {
    let line = String::from_utf8_lossy(line);
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Line::Blank;
    }
    let (in_front, object) = match line.find('{') {
        Some(at) => line.split_at(at),
        None if line.starts_with(PREFIX) => return Line::Broken(format!("an event without an object: {}", start_of(line))),
        None => return Line::Text,
    };
    let in_front = in_front.trim().trim_end_matches(':').trim_end();
    let by_text = in_front.strip_prefix(PREFIX).and_then(Event::of).map(|event| (event, true));
    if !in_front.is_empty() && by_text.is_none() {
        return if in_front.starts_with(PREFIX) { Line::Unknown(start_of(in_front)) } else { Line::Text };
    }
    let entries = match serde_json::from_str::<Object>(object) {
        Ok(Object(entries)) => entries,
        Err(error) => return Line::Broken(format!("no JSON object: {error}")),
    };
    let mut fields = Fields::default();
    let (inner, outer): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, value)| key == "fields" && value.is_object());
    fields.add(outer);
    for (_, value) in inner {
        if let Value::Object(map) = value {
            fields.add(map.into_iter().collect());
        }
    }
    match by_text.or_else(|| fields.take_event()) {
        Some((event, has_prefix)) => Line::Event { event, has_prefix, fields },
        None => fields.prefixed().map_or(Line::OtherObject, |name| Line::Unknown(start_of(name))),
    }
}

fn start_of(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Whether a text that may be cut in its first line begins as an event.
pub fn begins_as_event(head: &[u8]) -> bool {
    let line = text_of_first_line(head);
    let names = ["run_start", "sample_collected", "span_summary", "hypothesis_evaluated", "scaling_law", "run_complete"];
    let begins = line.starts_with('{') || line.starts_with(PREFIX);
    begins && names.iter().any(|name| line.contains(&format!("{PREFIX}{name}")))
}

fn text_of_first_line(head: &[u8]) -> String {
    let first = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    String::from_utf8_lossy(first).trim().to_owned()
}
