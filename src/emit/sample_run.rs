//! A run made by hand for the tests of the emitters: every name in it is hostile, every number is easy to check.

use super::run::*;
use crate::tables::*;

/// Breaks tables, tags, terminals and readers unless it is escaped.
pub const EVIL: &str = "a|b<script>alert(1)</script>&`x`\n\u{1b}[31m\u{202e};evil 12";

pub fn artifact(id: i32, path: &str, kind: &str, tool: &str) -> Artifact {
    Artifact {
        artifact_id: id,
        path: path.into(),
        kind: kind.into(),
        tool: tool.into(),
        tool_version: None,
        sha256: format!("{id:064x}").into(),
        root: format!("{id:064x}").into(),
        size_bytes: 10,
        compression: None,
        status: "complete".into(),
        records: 1204,
        skipped: 0,
        execution_id: None,
        command: None,
        clock: None,
        call_clock: None,
        clock_source: None,
        unwinding: Some("fp".into()),
        follows_children: None,
        syscall_filter: None,
        system_wide: None,
        window_ns: None,
        wall_ns: None,
        psi_cpu_share: None,
    }
}

pub fn hypothesis(id: &str, label: &str, counts: [i32; 3]) -> Hypothesis {
    let [supports, rejects, not_measured] = counts;
    Hypothesis {
        hypothesis: id.into(),
        name: format!("test.{id}").into(),
        category: "I/O".into(),
        label: label.into(),
        supports,
        rejects,
        not_measured,
        site_kind: None,
        site: None,
        suspected_site: None,
        explained_by: None,
        resource: None,
        cost_share: None,
        charged_share: None,
        wall_share: None,
        impact: None,
        confidence: None,
        effort: 2,
        opportunity: None,
        handed_off: false,
        note: None,
        status: None,
    }
}

/// A judged reading of 0.62 within 0.6 and 0.64 over 1204 observations.
pub fn reading(id: &str, slot: &str, verdict: &str, artifact: i32) -> Reading {
    Reading {
        hypothesis: id.into(),
        slot: slot.into(),
        role: "primary".into(),
        alternate: Some("alternate".into()),
        mechanism: Some("M1".into()),
        probe: Some("hrtimer".into()),
        tool: Some("perf".into()),
        artifact_id: Some(artifact),
        metric: Some("write_share".into()),
        unit: Some("share".into()),
        site_kind: Some("run".into()),
        site: None,
        site_key: None,
        part: Some(746),
        whole: Some(1204),
        n: Some(1204),
        value: Some(0.62),
        lo: Some(0.60),
        hi: Some(0.64),
        score: Some(0.75),
        verdict: verdict.into(),
        reason: None,
        scale_up: None,
        scale_down: None,
    }
}

pub fn threshold(id: &str, slot: &str) -> Threshold {
    Threshold {
        hypothesis: id.into(),
        slot: slot.into(),
        alternate: "alternate".into(),
        metric: "write_share".into(),
        unit: "share".into(),
        reject: 0.05,
        support: 0.25,
        saturate: 0.6,
        scale: "linear".into(),
        interval: "wilson".into(),
        min_n: 100,
        source_kind: "house".into(),
        source: "measured on S1".into(),
        cost: None,
        cost_ns: None,
        cost_source: None,
    }
}

fn stacks(tables: &mut Tables) {
    for (id, name) in ["main", EVIL, "write", "tiny"].iter().enumerate() {
        let id = id as i32;
        tables.functions.push(Function {
            function_id: id,
            name: (*name).into(),
            dso_id: None,
            dso: None,
            file: None,
            line: None,
            function_key: i64::from(id),
        });
        tables.frames.push(Frame {
            frame_id: id,
            dso_id: None,
            rel: Some(i64::from(id)),
            inline_depth: 0,
            is_inlined: false,
            is_kernel: false,
            function_id: Some(id),
            line: None,
            symbol_rel: None,
            has_frame: None,
        });
        tables.stacks.push((id > 0).then_some(0), id);
    }
    tables.events.push(cpu_clock());
    for (stack_id, self_weight) in [(1, 900_000), (2, 99_900), (3, 100)] {
        tables.stack_costs.push(StackCost {
            event_id: 0,
            stack_id,
            self_weight,
            self_count: 1,
            leaf_function_id: None,
            leaf_is_kernel: false,
            leaf_dso_id: None,
            site_function_id: None,
            caller_certain: None,
            reaches_start: None,
            classes: None,
        });
        tables.waits.push(Wait {
            artifact_id: 0,
            is_aggregate: true,
            thread_id: None.into(),
            start_ns: None.into(),
            dur_ns: self_weight,
            runnable_ns: None.into(),
            state: None,
            reason: "sleep".into(),
            stack_id: Some(stack_id).into(),
            waker_thread_id: None.into(),
            waker_stack_id: None.into(),
            clipped: false,
            record_no: 0,
        });
        tables.allocations.push(Allocation {
            artifact_id: 1,
            stack_id: Some(stack_id),
            calls: self_weight,
            bytes: 0,
            peak_bytes: 0,
            leaked_bytes: 0,
            temporary_calls: 0,
            line_no: 1,
        });
    }
}

fn cpu_clock() -> Event {
    Event {
        event_id: 0,
        artifact_id: 0,
        name: "cpu-clock".into(),
        mechanism: "M1".into(),
        probe: "hrtimer".into(),
        role: "cpu".into(),
        frequency_hz: Some(997),
        period: None,
        unit: "ns".into(),
        running_share: None,
        n: 1204,
        total_weight: 1_000_000,
        target_n: 1204,
        target_weight: 1_000_000,
        n_eff: None,
        design_effect: None,
        lost: None,
        excludes: None,
    }
}

fn results(tables: &mut Tables) {
    for (rank, location) in [(1, EVIL), (2, "write")] {
        tables.hotspots.push(Hotspot {
            rank,
            location: location.into(),
            function_id: None,
            metric: "self CPU time".into(),
            value: 0.9,
            value_lo: 0.88,
            weight: 900_000,
            whole: 1_000_000,
            wall_share: Some(0.4),
            resource: "cpu".into(),
            category: "CPU".into(),
            artifact_id: 0,
            anchor: "perf.data#sum=stack_costs.self_weight&function=x%7Cy".into(),
            detail: format!("n = 1204; {EVIL}").into(),
        });
    }
    let mut kernel = hypothesis("R25", "KERNEL", [3, 0, 0]);
    kernel.site_kind = Some("function".into());
    kernel.site = Some(EVIL.into());
    kernel.note = Some(EVIL.into());
    kernel.opportunity = Some(10.0);
    kernel.cost_share = Some(0.6);
    tables.hypotheses.push(hypothesis("R01", "refuted", [0, 3, 0]));
    tables.hypotheses.push(hypothesis("R18", "open", [1, 0, 2]));
    tables.hypotheses.push(kernel);
    tables.hypotheses.push(hypothesis("R27", "DISPUTED", [2, 1, 0]));
    for slot in ["A", "B", "C"] {
        tables.readings.push(reading("R25", slot, "supports", 0));
        tables.thresholds.push(threshold("R25", slot));
        tables.evidence.push(Evidence {
            hypothesis: "R25".into(),
            slot: slot.into(),
            metric: "write_share".into(),
            term: "part".into(),
            value: 746,
            anchor: "strace%20%7C.txt#L=8".into(),
        });
    }
    let mut open = reading("R18", "A", "not measured", 0);
    open.reason = Some("inconclusive: n=27, 63-92 %".into());
    tables.readings.push(open);
    for (check, status) in [("Q01", "ok"), ("Q05", "warn"), ("Q29", "demote"), ("Q09", "not checkable")] {
        tables.quality.push(Quality {
            check: check.into(),
            name: "check".into(),
            artifact_id: Some(0),
            status: status.into(),
            effect: "none".into(),
            value: None,
            message: EVIL.into(),
            advice: EVIL.into(),
            measure: Some(EVIL.into()),
            part: None,
            whole: None,
            limits: Some(EVIL.into()),
            source: Some(EVIL.into()),
            short: Some(EVIL.into()),
            subject: Some(EVIL.into()),
            other_artifact_id: None,
        });
    }
    tables.diagnostics.push(Diagnostic {
        artifact_id: Some(0),
        kind: "perf_lost_samples".into(),
        severity: "warn".into(),
        count: 7,
        message: EVIL.into(),
        advice: EVIL.into(),
        places: "record=3".into(),
    });
}

/// A stated verdict, and one value each for BASELINE.md and scaling_law.md.
fn stated(tables: &mut Tables) {
    tables.stated_verdicts.push(StatedVerdict {
        artifact_id: 1,
        line_no: 9,
        hypothesis: EVIL.into(),
        verdict: EVIL.into(),
        evidence: Some(EVIL.into()),
    });
    for source in ["benchmark", "span"] {
        tables.baselines.push(Baseline {
            artifact_id: 1,
            source: source.into(),
            name: EVIL.into(),
            variant: Some(EVIL.into()),
            threads: Some(2),
            work: Some(3),
            function: Some(EVIL.into()),
            statistic: "p999".into(),
            value_ns: 5_000_000,
            n: Some(12),
            rank: Some(12),
            lo_ns: None,
            hi_ns: None,
            is_conservative: true,
            anchor: "a#L=9".into(),
        });
    }
    let (series, metric): (Text, Text) = (EVIL.into(), EVIL.into());
    tables.scaling_steps.push(ScalingStep {
        artifact_id: 1,
        series_id: None,
        line_no: Some(9),
        series: series.clone(),
        metric: metric.clone(),
        size: 8,
        n: None,
        value_ns: 5,
        ratio: None,
        size_ratio: None,
        exponent: None,
        anchor: "a#L=9".into(),
    });
    tables.stated_scaling.push(StatedScaling {
        artifact_id: 1,
        line_no: 9,
        series,
        metric,
        sizes: 1,
        start_ns: 0,
        exponent: 1.0,
        lo: None,
        hi: None,
        shape: Some(EVIL.into()),
    });
}

pub fn hostile() -> Run {
    let mut tables = Tables::default();
    tables.artifacts.push(artifact(0, "perf | <data>.data", "perf.data", "perf"));
    tables.artifacts.push(artifact(1, EVIL, "heaptrack", "heaptrack"));
    tables.threads.push(Thread { thread_id: 0, process_id: 0, artifact_id: 0, tid: 7, name: Some(EVIL.into()), is_target: true });
    tables.thread_states.push(ThreadState {
        artifact_id: 0,
        thread_id: 0,
        window_ns: 1_000_000_000,
        on_cpu_ns: 500_000_000,
        runnable_ns: 100_000_000,
        lock_ns: 100_000_000,
        sleep_ns: 100_000_000,
        fsync_ns: 0,
        disk_ns: 0,
        other_ns: 100_000_000,
        unknown_ns: 100_000_000,
        switches: 12,
        role: "worker".into(),
    });
    stacks(&mut tables);
    results(&mut tables);
    stated(&mut tables);
    let part = |name: &str, ns| WallPart { name: name.to_owned(), ns, source: "bare.txt#L=5".to_owned() };
    Run {
        calls: None,
        tables,
        wall_line: WallLine::Known {
            wall_ns: 3_000_000_000,
            threads: 1,
            source: "bare.txt#L=5".to_owned(),
            parts: vec![part(EVIL, 1_000_000_000), part("on CPU in the kernel", 1_000_000_000)],
        },
        target: format!("{EVIL}: the recorded command"),
        missing: vec![Missing {
            hypothesis: "R18".to_owned(),
            slot: "B".to_owned(),
            command: "heaptrack -o out ./prog | cat".to_owned(),
            reason: "absent".to_owned(),
        }],
        queries: vec![("hypotheses/R25.sql".to_owned(), "SELECT 1".to_owned()), ("../../escape.sql".to_owned(), "SELECT 2".to_owned())],
        arguments: vec![format!("--comm={EVIL}"), "--".to_owned(), "recordings".to_owned()],
        timings: vec![Stage { name: "ingest".to_owned(), wall_ms: 12, cpu_ms: 20, peak_bytes: 1 << 20 }],
        catalogue: vec![HypothesisDoc {
            id: "R25".to_owned(),
            name: "test.R25".to_owned(),
            claim: EVIL.to_owned(),
            category: "I/O".to_owned(),
            advice: "Buffer the writes.".to_owned(),
            false_positives: "Logs that must be durable.".to_owned(),
            status: "stable".to_owned(),
            effort: 2,
            slots: vec![SlotDoc {
                slot: "A".to_owned(),
                alternates: vec![AlternateDoc { name: "summary".to_owned(), mechanism: "M5".to_owned(), record: "strace -c".to_owned() }],
            }],
        }],
    }
}
