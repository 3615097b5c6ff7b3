# shellcheck shell=bash disable=SC2154 # part of record.sh: variables and functions come from there
# ---------------------------------------------------------------- what is shared

# Everything that names the symbols of the recordings, found by build-id.
symbols() {
    local to=$out/scenarios/symbols tmp=$rec/symbols file id debug
    rm -rf "$tmp"
    mkdir -p "$to" "$tmp"
    for file in "$rec"/bin/*; do
        [ -n "$(build_id "$file")" ] || continue
        case $file in
            # The standard library's debug information is left out.
            *r) objcopy --strip-debug "$file" "$tmp/$(basename "$file")" ;;
            *) cp "$file" "$tmp/$(basename "$file")" ;;
        esac
    done
    for file in "$libc" "$loader" /usr/bin/sqlite3 "$sqlite_lib"; do
        cp "$(readlink -f "$file")" "$tmp/$(basename "$file")"
    done
    for file in "$libc" "$loader"; do
        id=$(build_id "$file")
        debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
        [ -e "$debug" ] || { echo "record.sh: $debug is missing (Debian package libc6-dbg)" >&2; exit 2; }
        objcopy --strip-debug "$debug" "$tmp/$(basename "$file").debug"
    done
    cat /proc/kallsyms > "$tmp/kallsyms"
    # DW_AT_comp_dir names the folder of whoever built; as long, but neutral.
    python3 - "$here" "$tmp" <<'PYTHON'
import os, sys
here, tmp = sys.argv[1].encode(), sys.argv[2]
neutral = b'/testdata'.ljust(len(here), b'/')
for name in os.listdir(tmp):
    path = os.path.join(tmp, name)
    data = open(path, 'rb').read()
    if here in data and len(neutral) == len(here):
        open(path, 'wb').write(data.replace(here, neutral))
PYTHON
    for file in "$to"/*.zst; do
        [ -e "$tmp/$(basename "$file" .zst)" ] || rm -f "$file"
    done
    for file in "$tmp"/*; do
        zstd -q -d -c "$to/$(basename "$file").zst" 2>/dev/null | cmp -s - "$file" && continue
        zstd -q -19 -f "$file" -o "$to/$(basename "$file").zst"
        chmod 644 "$to/$(basename "$file").zst"
    done
    printf '{"kernel_release": "%s", "kernel_build_id": "%s", "file": "kallsyms.zst"}\n' \
        "$(uname -r)" "$(kernel_build_id)" > "$to/kallsyms.json"
}

# The list of recorded files, between two marks of README.md.
readme() {
    python3 - "$out" "$here" <<'PYTHON'
import fnmatch, json, os, re, sys
out, here = sys.argv[1:]
rows = []
def row(file, command):
    rows.append(f"| `{file}` | {command} |")
def code(command):
    return '`' + ' '.join(command.split()).replace('|', '\\|') + '`'
scenarios = os.path.join(out, 'scenarios')
for name in sorted(os.listdir(scenarios)):
    manifest = os.path.join(scenarios, name, 'manifest.json')
    if not os.path.exists(manifest):
        continue
    base = f'scenarios/{name}'
    row(f'{base}/manifest.json', '`record.sh`')
    seen = set()
    for artifact in json.load(open(manifest))['artifacts']:
        path = re.sub(r'^(bench[^/]*)/\d+\.json$', r'\1/*.json', artifact['path'])
        if path not in seen:
            seen.add(path)
            row(f'{base}/{path}', code(artifact['command']))
truth = [
    ('*.events.tsv', 'perf script --ns -G -F comm,pid,tid,event,period,ip,sym,symoff,dso -i {0}.perf.data, samples and periods added up per event'),
    ('*.leaf.tsv', 'perf script --ns -G --show-mmap-events -F comm,pid,tid,event,period,ip,sym,symoff,dso -i {0}.perf.data, leaf frames added up per address of the symbol'),
    ('*.self.txt', "perf report --stdio --no-children --no-inline -g none --percent-limit 0 --sort dso,sym -F overhead,period,sample,dso,sym -t ';' -i {0}.perf.data"),
    ('*.summary.txt', 'perf sched timehist --summary -i {0}.perf.data'),
    ('*.timehist.txt.zst', 'perf sched timehist --state --no-call-graph -i {0}.perf.data; zstd -19'),
    ('*.threads.tsv', 'wait, delay and run time of that timehist, added up per thread'),
    ('heaptrack.txt', 'heaptrack_print -a 1 -p 1 -l 1 -T 1 -n 10 -f heaptrack.zst'),
    ('heaptrack.sites.txt.zst', 'heaptrack_print -m 0 -a 1 -p 1 -l 1 -T 1 -n 1000 -f heaptrack.zst; zstd -19'),
]
folder = os.path.join(out, 'truth')
for name in sorted(os.listdir(folder)):
    for file in sorted(os.listdir(os.path.join(folder, name))):
        for pattern, command in truth:
            if fnmatch.fnmatch(file, pattern):
                row(f'truth/{name}/{file}', '`truth.sh`: ' + code(command.format(file.split('.')[0])))
                break
        else:
            sys.exit(f'record.sh: nothing says how truth/{name}/{file} was made')
for file in sorted(os.listdir(os.path.join(scenarios, 'symbols'))):
    stem = file.removesuffix('.zst')
    if stem == 'kallsyms':
        how = code('cat /proc/kallsyms')
    elif stem == 'kallsyms.json':
        how = '`uname -r; perf buildid-list -k`'
    elif stem.endswith('.debug'):
        how = code(f'objcopy --strip-debug /usr/lib/debug/.build-id/... {stem}') + ' (libc6-dbg)'
    elif os.path.exists(os.path.join(here, 'workloads', stem + '.c')):
        library = ' -l:libz.a' if stem == 's23' else ''
        how = code(f'gcc -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map=... -pthread -o {stem} workloads/{stem}.c{library}')
    elif os.path.exists(os.path.join(here, 'workloads', stem + '.cpp')):
        how = code(f'g++ -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffile-prefix-map=... -static-libstdc++ -static-libgcc -o {stem} workloads/{stem}.cpp')
    elif stem in ('s19many', 's19one'):
        how = code(f'gcc ... -DTOOL -o {stem} workloads/s19.c') + (', with 120 libraries made by `-DLIBRARY`' if stem == 's19many' else '')
    elif os.path.exists(os.path.join(here, 'workloads', stem + '.rs')):
        how = code(f'rustc --edition 2021 -O -g -C force-frame-pointers=yes -o {stem} workloads/{stem}.rs; objcopy --strip-debug {stem}')
    else:
        how = f'as Debian ships it'
    row(f'scenarios/symbols/{file}', how + ('' if stem == file else '; `zstd -19`'))
path = os.path.join(out, 'README.md')
if not os.path.exists(path):
    path_from = os.path.join(here, 'README.md')
    text = open(path_from).read()
else:
    text = open(path).read()
begin, end = '<!-- recordings: written by record.sh readme -->\n', '<!-- end of recordings -->\n'
head, rest = text.split(begin)
tail = rest.split(end)[1]
table = '| file | command |\n|---|---|\n' + '\n'.join(rows) + '\n'
open(path, 'w').write(head + begin + table + end + tail)
PYTHON
}
