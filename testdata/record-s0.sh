#!/bin/bash
# Records S0, the clean program, several times: no hypothesis may be KERNEL in any of them.
#
#   testdata/record-s0.sh OUTDIR [TIMES]    20 times by default, about 20 s each
#
# Each recording goes to OUTDIR/NN/scenarios/s0-clean, with fewer tools and less work than record.sh s0 takes; the symbols
# are shared by all. The table of labels is checked on one of them by
#
#   TRIPOD_SCENARIOS=OUTDIR/NN/scenarios cargo test --release --test tripod labels::s0-clean
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: record-s0.sh OUTDIR [TIMES]}
times=${2:-20}
mkdir -p "$out/symbols"
out=$(cd "$out" && pwd)

for n in $(seq -w 1 "$times"); do
    mkdir -p "$out/$n/scenarios"
    ln -sfn "$out/symbols" "$out/$n/scenarios/symbols"
    if ! "$here/record.sh" s0-again "$out/$n" > "$out/$n/record.log" 2>&1; then
        echo "record-s0.sh: run $n failed, see $out/$n/record.log" >&2
        exit 1
    fi
    export RECORD_BUILT=1
    echo "$n $out/$n/scenarios/s0-clean"
done
