#!/bin/bash
# Many runs: writes a synthetic dataset from the recordings of testdata with Tripod's own writer, and asks it the questions
# of queries/fleet, on Tripod and on DuckDB, in one run.
#
#   benches/fleet.sh [DIR [RUNS [SAMPLES]]]
#
# DIR is $TMPDIR/tripod-fleet by default, RUNS 1000, SAMPLES 200000000 (about 3 GB); a dataset that is there is kept. Try it
# small first: benches/fleet.sh /tmp/fleet 50 5000000.
#
# Prints: bytes on disk per sample; samples written into Parquet per CPU second; per query the median wall time of Tripod
# (the whole process) and of DuckDB (from the opening of the files to the last row, without the start of Python), their
# ratio, CPU seconds and peak memory of both; and the cost of all runs against a tenth of them. Rounds alternate.
#
#   TRIPOD         the binary (default: release/tripod of the target directory)
#   TRIPOD_PYTHON  a Python with duckdb (notebooks/requirements.txt)
#   REPEAT         rounds (default 3)
set -euo pipefail
from=$PWD
cd "$(dirname "$0")/.."
dir=${1:-${TMPDIR:-/tmp}/tripod-fleet}
case $dir in /*) ;; *) dir=$from/$dir ;; esac
runs=${2:-1000}
samples=${3:-200000000}
tripod=${TRIPOD:-${CARGO_TARGET_DIR:-target}/release/tripod}
python=${TRIPOD_PYTHON:-python3}
[ -x "$tripod" ] || { echo "build first: cargo build --release (looked for $tripod)" >&2; exit 2; }
"$python" -c 'import duckdb' 2>/dev/null || { echo "needs a Python with duckdb: set TRIPOD_PYTHON" >&2; exit 2; }
if [ ! -f "$dir/written.json" ]; then
    mkdir -p "$dir"
    cargo bench -q --bench fleet -- "$dir/runs" "$runs" "$samples" >"$dir/written.tmp"
    mv "$dir/written.tmp" "$dir/written.json"
fi
exec "$python" -uB benches/fleet/measure.py "$tripod" "$dir" "${REPEAT:-3}"
