//! What the snapshots and intervals say about the surroundings of a recording: table `environment`, one mean per artifact.

use crate::tables::{Accounting, EnvironmentReading, Tables};

/// Fills in steal and pressure. Called after the pairs are joined.
pub fn note(tables: &mut Tables) {
    let mut found = Vec::new();
    for artifact in tables.artifacts.iter().filter(|row| matches!(row.kind.as_ref(), "accounting" | "sysstat")) {
        let own: Vec<&Accounting> =
            tables.accounting.iter().filter(|row| row.artifact_id == artifact.artifact_id && row.scope.as_ref() == "system").collect();
        let between = |key: &str| between(&own, key);
        let window = artifact.window_ns.or(artifact.wall_ns);
        let steal = between("cpu_steal").zip(between("cpu_total")).and_then(|(part, whole)| share(part, whole)).or_else(|| mean(&own));
        let mut put = |metric: &str, value: Option<f64>| {
            if let Some(value) = value {
                let source = artifact.path.clone();
                found.push(EnvironmentReading { artifact_id: artifact.artifact_id, metric: metric.into(), value, source });
            }
        };
        put("steal", steal);
        for key in ["psi_cpu_some", "psi_io_some", "psi_memory_some"] {
            put(key, between(key).zip(window).and_then(|(part, whole)| share(part, whole)));
        }
    }
    tables.environment.extend(found);
}

/// From the first to the last snapshot.
fn between(rows: &[&Accounting], key: &str) -> Option<i64> {
    let of = |at: &str| {
        rows.iter().find(|row| row.key.as_ref() == key && row.moment.as_ref() == at && row.unit.as_ref() == "ns").map(|row| row.value)
    };
    of("last")?.checked_sub(of("first")?)
}

/// Steal over the intervals of a tool.
fn mean(rows: &[&Accounting]) -> Option<f64> {
    let steal = || rows.iter().filter(|row| row.key.as_ref() == "cpu_steal" && row.moment.as_ref() == "interval").map(|row| row.value);
    let sum = steal().fold(0i64, i64::saturating_add);
    share(sum, (steal().count() as i64).saturating_mul(1_000_000))
}

fn share(part: i64, whole: i64) -> Option<f64> {
    (whole > 0 && (0..=whole).contains(&part)).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::testing::read_text;

    /// 30 of 210 ticks on all CPUs are steal; 1 s of pressure in 4 s of uptime.
    #[test]
    fn one_mean_per_artifact() {
        let text = "==> /proc/uptime <==\n10.00 1.00\n==> /proc/pressure/cpu <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n==> /proc/stat <==\ncpu  100 0 50 800 40 0 2 8 0 0\n==> /proc/uptime <==\n14.00 1.00\n==> /proc/pressure/cpu <==\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\n==> /proc/stat <==\ncpu  160 0 70 890 50 0 2 38 0 0\n";
        let recorder = read_text(super::super::FORMAT.read, text);
        let mut tables = recorder.tables;
        tables.artifacts.push(crate::tables::Artifact { kind: "accounting".into(), ..recorder.artifact });
        note(&mut tables);
        let found: Vec<_> = tables.environment.iter().map(|row| (row.metric.as_ref(), (row.value * 1e6).round() as i64)).collect();
        assert_eq!(found, [("steal", 142_857), ("psi_cpu_some", 250_000)]);
    }
}
