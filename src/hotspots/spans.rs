//! Spans among the hotspots. A span is a place of its own; only where a place has exactly its name is it told there.

use super::{Row, SMALL_SHARE, encode, share};
use crate::tables::{Hotspot, SpanCost, SpanLog, Tables};

/// Adds the spans of the first log whose whole is known.
pub fn add(tables: &Tables, rows: &mut Vec<Row>) {
    let Some((log, whole)) = tables.span_logs.iter().find_map(|log| Some((log, log.whole_ns.filter(|whole| *whole > 0)?))) else { return };
    let Some(artifact) = tables.artifacts.get(log.artifact_id as usize) else { return };
    let path = encode(&artifact.path);
    let whole_anchor = format!("{path}#{}", log.whole_at);
    for cost in tables.span_costs.iter().filter(|cost| cost.artifact_id == log.artifact_id) {
        let (weight, at, metric) = match (cost.self_ns, cost.total_ns) {
            (Some(own), _) => (own, &cost.self_at, "span time without its children"),
            // What it calls is in it: such rows overlap.
            (None, Some(total)) => (total, &cost.total_at, "span time with its children"),
            (None, None) => continue,
        };
        let anchor = format!("{path}#{at}");
        if share(weight, whole) < SMALL_SHARE {
            continue;
        }
        let same = rows.iter_mut().find(|row| row.hotspot.resource.as_ref() == "cpu" && row.hotspot.location == cost.name);
        if let Some(row) = same {
            let told = format!(
                "{}; a span of this name: {:.1} % of {:.3} s",
                row.hotspot.detail,
                100.0 * share(weight, whole),
                whole as f64 / 1e9
            );
            row.hotspot.detail = told.into();
            row.terms.extend([("span", weight, anchor), ("span whole", whole, whole_anchor.clone())]);
            continue;
        }
        let hotspot = hotspot(cost, log, (weight, whole), metric, &anchor);
        rows.push(Row { hotspot, terms: vec![("part", weight, anchor), ("whole", whole, whole_anchor.clone())] });
    }
}

fn hotspot(cost: &SpanCost, log: &SpanLog, (weight, whole): (i64, i64), metric: &str, anchor: &str) -> Hotspot {
    let value = share(weight, whole);
    let calls = cost.calls.map_or_else(|| "calls not told".to_owned(), |calls| format!("{calls} calls"));
    Hotspot {
        rank: 0,
        location: cost.name.clone(),
        function_id: cost.function_id,
        metric: metric.into(),
        value,
        value_lo: value,
        weight,
        whole,
        // What its shares are shares of is the wall clock, or what its threads spent in spans.
        wall_share: Some(value.min(1.0)),
        resource: cost.clock.clone(),
        category: cost.category.clone(),
        artifact_id: log.artifact_id,
        anchor: anchor.into(),
        detail: format!("{calls}, {:.3} s of {:.3} s", weight as f64 / 1e9, whole as f64 / 1e9).into(),
    }
}
