"""What the notebooks share: where the program and the recordings are, how a run or a dataset is opened, how pictures look.

Nothing here is needed to read the tables: they are plain Parquet. It keeps the notebooks short and free of paths.
"""
import math
import os
import pathlib
import re
import shutil
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent.parent
QUERIES = PROJECT / "queries"
SCENARIOS = PROJECT / "testdata" / "scenarios"
# Where runs and datasets are made: a folder that git ignores, unless the tests say otherwise.
RUNS = pathlib.Path(os.environ.get("TRIPOD_RUNS", PROJECT / "target" / "notebooks"))

DUCKDB_TYPES = {"int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE", "utf8": "VARCHAR", "bool": "BOOLEAN"}
SPARK_TYPES = {"int32": "INT", "int64": "BIGINT", "float64": "DOUBLE", "utf8": "STRING", "bool": "BOOLEAN"}


def tripod():
    """The program: the environment variable TRIPOD, else what `cargo build --release` made, else the one on the PATH."""
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")) / "release" / "tripod"
    for place in (os.environ.get("TRIPOD"), built, shutil.which("tripod")):
        if place and pathlib.Path(place).is_file():
            return str(place)
    raise FileNotFoundError("no tripod: run `cargo build --release`, or set TRIPOD to the program")


def call(*arguments):
    """Runs the program and gives what it prints; what it prints to standard error where it fails."""
    done = subprocess.run([tripod(), *map(str, arguments)], capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"tripod {arguments[0]} ended with {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def analyze(scenario):
    """`tripod analyze` over one recording of testdata/scenarios; gives the run directory."""
    run = RUNS / scenario
    run.parent.mkdir(parents=True, exist_ok=True)
    call("analyze", SCENARIOS / scenario, "-o", run, "--force", "-q")
    return run


def dataset(name, runs):
    """A dataset, made anew: a folder with one `run=ID` folder for each ID and recording of `runs`."""
    root = RUNS / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for run, scenario in runs.items():
        call("analyze", SCENARIOS / scenario, "--dataset", root, "--run", run, "-q")
    return root


def documented():
    """{table: {column: type}} of every table there is, from the page that `tripod tables --docs` prints."""
    tables, current = {}, None
    for line in call("tables", "--docs").splitlines():
        if heading := re.match(r"#+ `?(\w+)`?\s*$", line):
            current = tables.setdefault(heading.group(1), {})
        elif current is not None and (column := re.match(r"\| `?(\w+)`? \| `?(int32|int64|float64|utf8|bool)\b", line)):
            current[column.group(1)] = column.group(2)
    return {name: columns for name, columns in tables.items() if columns}


def quoted(path):
    """A path as a literal of SQL."""
    return "'" + str(path).replace("'", "''") + "'"


def without_rows(columns, types):
    """A SELECT that has the columns of a table and no rows. A run does not write a table without rows."""
    fields = ", ".join(f"CAST(NULL AS {types[kind]}) AS {name}" for name, kind in columns.items())
    return f"SELECT {fields} WHERE 1 = 0"


def duck(root):
    """A DuckDB connection with one view per table of a dataset; its column `run` is the folder's name after `run=`.

    Of a single run directory the views are its tables, without `run`.
    """
    import duckdb

    root = pathlib.Path(root)
    is_run = (root / "tables").is_dir()
    if not is_run and not any(root.glob("run=*")):
        raise FileNotFoundError(f"{root}: neither a run directory (tables/) nor a dataset (run=ID/)")
    of_folder = {} if is_run else {"run": "utf8"}
    db = duckdb.connect()
    for table, columns in documented().items():
        files = f"tables/{table}.parquet" if is_run else f"run=*/tables/{table}.parquet"
        if any(root.glob(files)):
            hive = "false" if is_run else "true, hive_types_autocast = false, union_by_name = true"
            body = f"SELECT * FROM read_parquet({quoted(root / files)}, hive_partitioning = {hive})"
        else:
            body = without_rows(columns | of_folder, DUCKDB_TYPES)
        db.execute(f"CREATE VIEW {table} AS {body}")
    return db


def spark(root):
    """A Spark session of this machine's cores with one view per table of a dataset."""
    from pyspark.sql import SparkSession

    quiet = pathlib.Path(__file__).with_name("log4j2.properties").as_uri()
    session = (
        SparkSession.builder.master("local[*]")
        .appName("tripod")
        # Short work: compile it quickly rather than well.
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={quiet} -XX:TieredStopAtLevel=1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", (RUNS / "spark-warehouse").as_uri())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Small tables: more partitions than cores only cost time.
        .config("spark.sql.shuffle.partitions", "2")
        # `run` is text whatever a run is called.
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .getOrCreate()
    )
    for table, columns in documented().items():
        columns = columns | {"run": "utf8"}
        if any(root.glob(f"run=*/tables/{table}.parquet")):
            # With the columns given, Spark opens no file before it is asked; mergeSchema would open all of them to find out.
            schema = ", ".join(f"{name} {SPARK_TYPES[kind]}" for name, kind in columns.items())
            frame = session.read.schema(schema).option("basePath", str(root)).parquet(f"{root}/run=*/tables/{table}.parquet")
        else:
            frame = session.sql(without_rows(columns, SPARK_TYPES))
        frame.createOrReplaceTempView(table)
    return session


class Question:
    """A file of queries/: the question it answers, what a row of the answer is, and its SQL."""

    def __init__(self, path):
        self.name = path.stem
        self.sql = path.read_text(encoding="utf-8")
        header = dict(re.findall(r"^-- (question|row): (.*)$", self.sql, flags=re.MULTILINE))
        self.question, self.row = header.get("question", ""), header.get("row", "")


def questions(folder):
    """Every question of queries/FOLDER, by name."""
    return {question.name: question for question in map(Question, sorted((QUERIES / folder).glob("*.sql")))}


def same_rows(one, other):
    """Whether two engines gave the same rows in the same order; floating-point numbers to nine digits."""

    def same(a, b):
        if isinstance(a, float) and isinstance(b, float):
            return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
        return a == b

    return len(one) == len(other) and all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(one, other))


# Colors that also people with a color vision deficiency tell apart (Okabe and Ito), each with the same meaning throughout.
COLORS = {
    "on CPU": "#009E73",
    "runnable": "#F0E442",
    "lock": "#D55E00",
    "sleep": "#56B4E9",
    "fsync": "#CC79A7",
    "disk": "#E69F00",
    "other": "#0072B2",
    "unknown": "#BBBBBB",
}


def style():
    """One look for all pictures; nothing in them depends on the machine."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({
        "figure.figsize": (8, 3.2),
        "figure.dpi": 80,
        "savefig.dpi": 80,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    })
    return plt
