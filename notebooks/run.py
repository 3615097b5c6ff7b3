"""Runs the notebooks top to bottom, as a reader would, and fails at the first error.

usage: run.py [--write] [--same] [NOTEBOOK...]

  --write   save the outputs in the notebooks
  --same    fail where the text of an output differs from the committed one (without it, that is said only)

Every code cell runs: tags, with which notebooks skip cells or allow errors, are refused. What is saved holds no time, no
version, no path of this machine and nothing that a program printed to standard error, so that running again changes
nothing. Pictures are not compared: fonts differ.
"""
import argparse
import copy
import os
import pathlib
import re
import socket
import sys
import tempfile

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# A cell that takes longer than this hangs.
SECONDS_MAX = 900


def same_surroundings(scratch):
    """The kernels start with settings of their own: what a user has configured does not reach an output."""
    os.environ |= {
        "IPYTHONDIR": scratch, "JUPYTER_CONFIG_DIR": scratch, "MPLCONFIGDIR": scratch, "PYTHONHASHSEED": "0", "TZ": "UTC",
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": scratch, "PYSPARK_PYTHON": sys.executable,
    }


def private_words():
    """What would tell on which machine a notebook ran."""
    folders = {str(HERE.parent), str(pathlib.Path.home()), tempfile.gettempdir() + "/", os.environ.get("TRIPOD_RUNS", "")}
    # A short name may well be a word of the text.
    return {word for word in folders if len(word) > 3} | {name for name in [socket.gethostname()] if len(name) > 8 and name != "localhost"}


def refuse(path, notebook):
    """What a notebook must not have before it runs."""
    faults = []
    for at, cell in enumerate(notebook.cells):
        if cell.cell_type == "raw" or cell.metadata.get("tags"):
            faults.append(f"{path.name}: cell {at} is raw or has tags: it might be skipped, or fail unseen")
        if cell.cell_type == "code" and not cell.source.strip():
            faults.append(f"{path.name}: cell {at} is empty")
    return faults


def joined(outputs):
    """Printed text as one output: into how many pieces the kernel cuts it depends on how fast the machine is."""
    out = []
    for own in outputs:
        if out and own.output_type == out[-1].output_type == "stream" and own.name == out[-1].name:
            out[-1].text += own.text
        else:
            out.append(own)
    return out


def clean(notebook):
    """Leaves out what differs from one run to the next."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            cell.outputs = joined(own for own in cell.outputs if own.get("name") != "stderr")
            for own in cell.outputs:
                if own.output_type != "stream":
                    own.metadata = nbformat.from_dict({})
    return notebook


def texts(cell):
    """The text of a cell's outputs, without pictures."""
    out = []
    for own in cell.get("outputs", []):
        out.append(own.get("text") or own.get("data", {}).get("text/markdown") or own.get("data", {}).get("text/plain", ""))
    return out


def look(path, done):
    """What is wrong with a notebook that ran."""
    faults, expected, words = [], 0, private_words()
    for at, cell in enumerate(done.cells):
        if cell.cell_type != "code":
            continue
        expected += 1
        if cell.execution_count != expected:
            faults.append(f"{path.name}: cell {at} was not run in its turn ({cell.execution_count} instead of {expected})")
        if any(own.output_type == "error" for own in cell.outputs):
            faults.append(f"{path.name}: cell {at} ended with an error")
        said = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
        faults += [f"{path.name}: the output of cell {at} says {word}" for word in sorted(words) if word in said]
    return faults


def differences(before, done):
    pairs = zip(before.cells, done.cells)
    return [at for at, (old, new) in enumerate(pairs) if new.cell_type == "code" and texts(old) != texts(new)]


def run(path, options):
    before = nbformat.read(path, as_version=4)
    if faults := refuse(path, before):
        return faults
    done = copy.deepcopy(before)
    for cell in done.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = nbclient.NotebookClient(
        done, kernel_name="python3", timeout=SECONDS_MAX, record_timing=False, allow_errors=False, force_raise_errors=True,
        resources={"metadata": {"path": str(HERE)}}, extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        # Its colors are for a terminal.
        plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
        return [f"{path.name}: {plain}"]
    faults = look(path, clean(done))
    changed = differences(before, done)
    if changed and not options.write:
        print(f"{path.name}: other text than committed in cells {changed}; run.py --write saves it")
    if changed and options.same:
        faults.append(f"{path.name}: other text than committed in cells {changed}")
    if options.write and not faults:
        nbformat.validate(done)
        path.write_text(nbformat.writes(done) + "\n", encoding="utf-8")
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in done.cells)} cells ran")
    return faults


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if missing := [str(path) for path in options.notebooks if not path.is_file()]:
        sys.exit(f"no such notebook: {', '.join(missing)}")
    notebooks = options.notebooks or sorted(HERE.glob("*.ipynb"))
    faults = [] if notebooks else ["no notebooks"]
    with tempfile.TemporaryDirectory() as scratch:
        same_surroundings(scratch)
        for path in notebooks:
            faults += run(path, options)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
