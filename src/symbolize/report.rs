//! What could not be named, per dso, and what would name it.

use std::collections::BTreeSet;

use super::Note;
use crate::objects::Library;
use crate::tables::{Diagnostic, Tables, Text};

/// Adds one diagnostic per note, in the order of the dsos' paths.
pub fn write(tables: &mut Tables, library: &Library, notes: &[(usize, &Note)]) {
    let mut rows: Vec<(Text, Option<Text>, Diagnostic)> = Vec::new();
    for (index, note) in notes {
        let Some(dso) = tables.dsos.get(*index) else { continue };
        let row = Diagnostic {
            artifact_id: artifact(tables, *index),
            kind: Text::from(note.kind),
            severity: Text::from(note.severity),
            count: note.count,
            message: Text::from(note.message.as_str()),
            advice: Text::from(note.advice.as_str()),
            places: dso.path.clone(),
        };
        rows.push((dso.path.clone(), dso.build_id.clone(), row));
    }
    rows.sort_by(|a, b| (&a.0, &a.1, &a.2.kind).cmp(&(&b.0, &b.1, &b.2.kind)));
    tables.diagnostics.extend(rows.into_iter().map(|(_, _, row)| row));
    for problem in library.problems() {
        tables.diagnostics.push(Diagnostic {
            artifact_id: None,
            kind: Text::from("symbol_file_unusable"),
            severity: Text::from("warn"),
            count: 1,
            message: Text::from(problem.as_str()),
            advice: Text::from("copy the file again"),
            places: Text::from(""),
        });
    }
}

/// The artifact that maps the dso, where it is only one.
fn artifact(tables: &Tables, dso: usize) -> Option<i32> {
    let all: BTreeSet<i32> =
        tables.mappings.iter().filter(|mapping| mapping.dso_id as usize == dso).map(|mapping| mapping.artifact_id).collect();
    all.first().filter(|_| all.len() == 1).copied()
}
