//! The results, as data.

use super::{Text, table};

table!("hypotheses", "One hypothesis and what became of it.", Hypothesis {
    hypothesis: Text, "text", "Id, e.g. R25";
    name: Text, "text", "Name, e.g. io.small_write";
    category: Text, "text", "Category";
    label: Text, "text", "KERNEL, DISPUTED, open, discarded, refuted, unlikely, not evaluated or not applicable";
    supports: i32, "count", "Angles that support";
    rejects: i32, "count", "Angles that reject";
    not_measured: i32, "count", "Angles that are not measured, inconclusive ones included";
    site_kind: Option<Text>, "text", "What kind of place two angles agree on: function, syscall, thread";
    site: Option<Text>, "text", "The place; null where only one angle names it or none does";
    suspected_site: Option<Text>, "text", "The place one angle alone names";
    explained_by: Option<Text>, "text", "The special explanation its cost was charged to";
    resource: Option<Text>, "text", "cpu, off-cpu or memory";
    cost_share: Option<f64>, "share", "Lower bound of the resource's share it owns";
    charged_share: Option<f64>, "share", "What is left of it after special explanations were charged";
    wall_share: Option<f64>, "share", "charged_share times the resource's share of the wall clock";
    impact: Option<i32>, "0-5", "From wall_share: 5 over 50 %, then 25-50, 10-25, 5-10, 1 under 5; 0 where others explain all of it";
    confidence: Option<i32>, "1-5", "KERNEL 4, or 5 where all angles score 0.75 or more at one site and no check touched them; DISPUTED 3, or 2 where an angle rejects; one angle alone 1. One less for noisy surroundings and for an uncertain caller, 1 at least";
    effort: i32, "1-5", "As the hypothesis declares";
    opportunity: Option<f64>, "score", "impact x confidence / effort";
    handed_off: bool, "bool", "KERNEL with an opportunity of 2.0 or more";
    note: Option<Text>, "text", "Why it is not applicable, what agrees only up to the lost caller, ...";
    status: Option<Text>, "text", "stable, or preview: no recording has shown it at work yet; it is shown, charges nothing and is never handed off";
});

table!("readings", "One slot of a hypothesis: which alternate and artifact filled it, what was read, how it was judged. One row per metric; cross-checks and sites have role rows of their own.", Reading {
    hypothesis: Text, "text", "Id";
    slot: Text, "text", "A, B or C (D where a fallback replaced one)";
    role: Text, "text", "primary (judged), cross-check, site (location of the primary) or empty (nothing filled the slot)";
    alternate: Option<Text>, "text", "Name of the alternate that filled the slot";
    mechanism: Option<Text>, "text", "M1 to M10";
    probe: Option<Text>, "text", "What fired";
    tool: Option<Text>, "text", "Recording tool";
    artifact_id: Option<i32>, "id", "The artifact";
    metric: Option<Text>, "text", "Metric";
    unit: Option<Text>, "text", "Unit of the value";
    site_kind: Option<Text>, "text", "run, function, syscall or thread";
    site: Option<Text>, "text", "Name of the place";
    site_key: Option<i64>, "hash", "Key that means the same in two executions";
    part: Option<i64>, "unit", "Numerator";
    whole: Option<i64>, "unit", "Denominator";
    n: Option<i64>, "count", "Observations behind it";
    value: Option<f64>, "unit", "What is judged, in the metric's unit: part / whole, times scale_up / scale_down where these are set";
    lo: Option<f64>, "unit", "Lower bound";
    hi: Option<f64>, "unit", "Upper bound";
    score: Option<f64>, "0-1", "Ramp: reject bound 0, support threshold 0.5, saturation 1";
    verdict: Text, "text", "supports, rejects or not measured";
    reason: Option<Text>, "text", "Why not measured: absent, inconclusive, blocked by a check, conflict, ...";
    scale_up: Option<i64>, "count", "What part is multiplied by before it is divided by whole: the work of the run that the value speaks of, the bytes of a page; null: as scale_down";
    scale_down: Option<i64>, "count", "What part is divided by, too: the work of the recording, its threads or CPUs; null: as scale_up";
});

table!("evidence", "One term of a reading: a number, and the place in an artifact where it stands.", Evidence {
    hypothesis: Text, "text", "Id; or hotspot for rows of the hotspot table, wall for the line above it, baseline and scaling for those files";
    slot: Text, "text", "Slot; the rank for hotspots, the statistic for baselines, the size for scaling";
    metric: Text, "text", "Metric";
    term: Text, "text", "part, whole or value; with a number or the name of a field behind it where several are added up (part 1, whole system_ns)";
    value: i64, "unit", "The number as it stands there; what the reading takes may be made of several (a median, a product)";
    anchor: Text, "text", "path#L=.. | #ptr=.. | #record=.. | #sum=table.column&key=value";
});

table!("hotspots", "One place, one row, ranked by its share of the wall clock.", Hotspot {
    rank: i32, "count", "From 1";
    location: Text, "text", "The place, escaped for no output in particular";
    function_id: Option<i32>, "id", "The function where it is one";
    metric: Text, "text", "What the value is";
    value: f64, "share", "Share of its resource, target processes";
    value_lo: f64, "share", "Lower bound of it";
    weight: i64, "unit", "Numerator";
    whole: i64, "unit", "Denominator";
    wall_share: Option<f64>, "share", "Lower bound times the resource's share of the wall clock; null for places without a time cost or without a known wall clock";
    resource: Text, "text", "cpu, off-cpu, memory; wall for spans timed by the wall clock";
    category: Text, "text", "CPU, I/O, Allocation, Sync, Scheduler, Network, Memory, System; Wall for spans of no stated category";
    artifact_id: i32, "id", "Where the number comes from";
    anchor: Text, "text", "The anchor shown";
    detail: Text, "text", "The line's own words: value with unit, n, what a sink was charged to";
});

table!("quality", "One check of the profile's quality and what it found.", Quality {
    check: Text, "text", "Id, e.g. Q05";
    name: Text, "text", "Name";
    artifact_id: Option<i32>, "id", "The artifact it concerns";
    status: Text, "text", "ok, warn, demote, block, not checkable, or silenced by --allow";
    effect: Text, "text", "What it does to which mechanism: none, demote:M1:location, demote:M5:time, block:M1, ...";
    value: Option<f64>, "unit", "The number that decided";
    message: Text, "text", "What was found, with numbers";
    advice: Text, "text", "What to do";
    measure: Option<Text>, "text", "Which of the check's measures; null where it has one";
    part: Option<i64>, "unit", "Numerator of the value";
    whole: Option<i64>, "unit", "Denominator of the value";
    limits: Option<Text>, "text", "Levels of the measure, as its file declares them";
    source: Option<Text>, "text", "Where the levels come from";
    short: Option<Text>, "text", "What was found in a few words";
    subject: Option<Text>, "text", "What it is about where that is less than the file: a dso, a system call";
    other_artifact_id: Option<i32>, "id", "The other file, where it compares two";
});

table!("thresholds", "One threshold as it was used, and where it comes from.", Threshold {
    hypothesis: Text, "text", "Id";
    slot: Text, "text", "Slot";
    alternate: Text, "text", "Alternate";
    metric: Text, "text", "Metric";
    unit: Text, "text", "Unit";
    reject: f64, "unit", "Reject bound";
    support: f64, "unit", "Support threshold";
    saturate: f64, "unit", "Saturation";
    scale: Text, "text", "linear or log10";
    interval: Text, "text", "wilson, complete, accounting, bootstrap, given or counter";
    min_n: i64, "count", "Fewest observations";
    source_kind: Text, "text", "tool, paper, doc, measured or house; user where --thresholds changed it";
    source: Text, "text", "The reference";
    cost: Option<Text>, "text", "The basic cost that the bounds were stated for: malloc_pair, page_fault, system_call, context_switch";
    cost_ns: Option<f64>, "ns", "What it is taken to cost on the recorded machine; the bounds follow it";
    cost_source: Option<Text>, "text", "default, a measurement's anchor, or the file given with --costs";
});

table!("charges", "One amount that a special explanation took from a general one, so that no cost counts twice.", Charged {
    hypothesis: Text, "text", "Id of the general one";
    special: Text, "text", "Id of the KERNEL that took it";
    how: Text, "text", "share: its own cost; class NAME: what of the general one's place lies under that symbol class; all: the general one is a mere consequence";
    share: Option<f64>, "share", "What was taken of their resource; null for all";
});
