"""Reads many folders of recordings into one dataset, with Spark: one task per folder, each calls the program `tripod`.

usage: python spark_ingest.py [--tripod PROGRAM] [--symbol-dir DIR] ROOT FOLDER...
       spark-submit spark_ingest.py ...                (the same on a cluster)

ROOT is the dataset; FOLDER is what `tripod analyze` takes, or ID=FOLDER where the run shall have another name than the folder.
Every machine of the cluster needs the program, the folders and ROOT at the same paths (a shared file system). No task waits
for another: a run appears in ROOT as a whole, by one rename, so a task that Spark starts twice does no harm, and whoever
reads ROOT meanwhile sees whole runs only.

Prints one line per folder and ends with 1 if one of them could not be read; the others are in ROOT all the same.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

from pyspark.sql import SparkSession


def job(text):
    """(run ID, folder) of an argument. A run ID is a letter, then letters, digits, - and _, 64 at most."""
    match = re.fullmatch(r"([A-Za-z][A-Za-z0-9_-]{0,63})=(.+)", text)
    run, folder = match.groups() if match else (None, text)
    folder = pathlib.Path(folder).resolve()
    name = re.sub(r"[^A-Za-z0-9_-]", "-", folder.name)
    return run or (name if name[:1].isalpha() else f"run-{name}")[:64], str(folder)


def analyze(run, folder, root, program, more):
    """What one task does; it runs wherever Spark starts it."""
    command = [program, "analyze", folder, "--dataset", root, "--run", run, "-q", *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        return run, folder, 1, f"{program}: {error.strerror}"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return run, folder, done.returncode, lines[0] if done.returncode and lines else ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tripod", default="tripod", metavar="PROGRAM")
    arguments.add_argument("--symbol-dir", metavar="DIR")
    arguments.add_argument("root")
    arguments.add_argument("folders", nargs="+", metavar="FOLDER")
    given = arguments.parse_args()
    root, program = os.path.abspath(given.root), given.tripod
    more = ["--symbol-dir", os.path.abspath(given.symbol_dir)] if given.symbol_dir else []
    jobs = [job(text) for text in given.folders]
    if len({run for run, _ in jobs}) < len(jobs):
        sys.exit("two folders have the same run ID; say ID=FOLDER")

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("tripod-ingest").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # One partition, so one task, per folder.
    done = spark.sparkContext.parallelize(jobs, len(jobs)).map(lambda own: analyze(*own, root, program, more)).collect()
    failed = 0
    for run, folder, code, message in done:
        failed += code != 0
        print(f"{run}: {'read' if code == 0 else f'failed with {code}: {message}'} ({folder})")
    print(f"{len(done) - failed} of {len(done)} folders are in {root}")
    spark.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
