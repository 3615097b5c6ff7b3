"""Adds up the spans of a perf.profile.* log and compares them with what a run says of it.

usage: spans.py RUN LOG
Shares no code with Tripod: the log is read again with json, the sums are made here.
"""
import json
import pathlib
import sys

import polars as pl

run, log = map(pathlib.Path, sys.argv[1:3])
events = [json.loads(line) for line in log.read_text().splitlines()]
spans = [e for e in events if e["event"] == "perf.profile.span_summary"]
total = {s["span"]: round(s["cumulative_us"] * 1000) for s in spans}
parent = {s["span"]: s["parent"] for s in spans}
own = {name: ns - sum(total[c] for c in total if parent[c] == name) for name, ns in total.items()}
duration = round(next(e["duration_sec"] for e in events if e["event"] == "perf.profile.run_complete") * 1e9)
roots = sum(total[name] for name in total if parent[name] is None)
whole = max(duration, roots)


def table(name):
    return pl.read_parquet(run / "tables" / f"{name}.parquet")


wrong = []


def same(what, found, wanted):
    if found != wanted:
        wrong.append(f"{what}: {found}, expected {wanted}")


rows = {row["name"]: row for row in table("span_costs").iter_rows(named=True)}
same("names", sorted(rows), sorted(total))
for name, row in rows.items():
    same(f"{name} total", row["total_ns"], total[name])
    same(f"{name} self", row["self_ns"], own[name])
row = table("span_logs").row(0, named=True)
same("whole", row["whole_ns"], whole)
same("outside", row["outside_ns"], whole - roots)
same("between", row["between_ns"], whole - roots + sum(own[p] for p in set(parent.values()) if p))

statistics = {"p50": "p50_us", "p95": "p95_us", "p99": "p99_us", "p999": "p99_9_us", "max": "max_us"}
stated = {(s["span"], key): round(s[field] * 1000) for s in spans for key, field in statistics.items()}
found = {(row["name"], row["statistic"]): row["value_ns"] for row in table("baselines").iter_rows(named=True)}
same("baselines", found, stated)
calls = {s["span"]: s["count"] for s in spans}
few = {(row["name"], row["statistic"]) for row in table("baselines").iter_rows(named=True) if row["is_conservative"]}
same("conservative", few, {(name, key) for name in total for key in ("p999", "max") if calls[name] < 1000})

law = next(e for e in events if e["event"] == "perf.profile.scaling_law")
steps = table("scaling_steps").sort("size")
same("sizes", steps["size"].to_list(), law["sizes"])
same("times", steps["value_ns"].to_list(), [round(us * 1000) for us in law["p95s_us"]])
for at in range(1, len(law["sizes"])):
    ratio = law["p95s_us"][at] / law["p95s_us"][at - 1]
    if abs(steps["ratio"][at] - ratio) > 1e-9:
        wrong.append(f"ratio {at}: {steps['ratio'][at]}, expected {ratio}")

hotspots = {row["location"]: row for row in table("hotspots").iter_rows(named=True)}
for name in total:
    if own[name] / whole >= 0.001:
        same(f"hotspot {name}", (hotspots[name]["weight"], hotspots[name]["whole"]), (own[name], whole))
verdicts = [(row["hypothesis"], row["verdict"], row["evidence"]) for row in table("stated_verdicts").iter_rows(named=True)]
wanted = [(e["name"], e["verdict"], e["evidence"]) for e in events if e["event"] == "perf.profile.hypothesis_evaluated"]
same("verdicts", verdicts, wanted + [(f"scaling over {law['axis']}", law["verdict"], None)])

print(f"{len(spans)} spans, {len(wrong)} differences")
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
