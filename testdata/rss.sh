#!/bin/bash
# Memory of process $1 every 50 ms, until it ends: a header line, then one
# line per reading of /proc/PID/smaps_rollup. ts_ns is CLOCK_REALTIME.
printf 'ts_ns\trss_bytes\tpss_bytes\tanon_bytes\tswap_bytes\n'
while sleep 0.05 && [ -r "/proc/$1/smaps_rollup" ]; do
    rss="" pss="" anon="" swap="" ts=${EPOCHREALTIME/./}000
    while read -r key value _; do
        case $key in
            Rss:) rss=$((value * 1024)) ;;
            Pss:) pss=$((value * 1024)) ;;
            Anonymous:) anon=$((value * 1024)) ;;
            Swap:) swap=$((value * 1024)) ;;
        esac
    done 2>/dev/null < "/proc/$1/smaps_rollup"
    [ -n "$swap" ] || break
    printf '%s\t%s\t%s\t%s\t%s\n' "$ts" "$rss" "$pss" "$anon" "$swap"
done
