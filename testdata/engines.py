"""The engines that answer the queries: polars (as Tripod ships it), DuckDB and Spark, over one run or over many.

What opens the Parquet is a few lines per engine; copy them from here.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import duckdb
import polars
import pyarrow
import pyarrow.parquet

DUCKDB_TYPES = {"int32": "INTEGER", "int64": "BIGINT", "float64": "DOUBLE", "utf8": "VARCHAR", "bool": "BOOLEAN"}
POLARS_TYPES = {"int32": polars.Int32, "int64": polars.Int64, "float64": polars.Float64, "utf8": polars.String, "bool": polars.Boolean}
SPARK_TYPES = {"int32": "INT", "int64": "BIGINT", "float64": "DOUBLE", "utf8": "STRING", "bool": "BOOLEAN"}

# Names of types as the table reference has them. Arrow has three layouts of text; the engines differ in which they give.
ARROW_TYPES = {
    pyarrow.int32(): "int32", pyarrow.int64(): "int64", pyarrow.float64(): "float64", pyarrow.bool_(): "bool",
    pyarrow.string(): "utf8", pyarrow.large_string(): "utf8", pyarrow.string_view(): "utf8",
}


def documented(page):
    """{table: {column: type}} from the page that `tripod tables --docs` prints: `## name`, then rows `| column | type | ...`."""
    tables, current = {}, None
    for line in pathlib.Path(page).read_text().splitlines():
        if match := re.match(r"#+ `?(\w+)`?\s*$", line):
            current = tables.setdefault(match.group(1), {})
        elif current is not None and (match := re.match(r"\| `?(\w+)`? \| `?(int32|int64|float64|utf8|bool)\b", line)):
            current[match.group(1)] = match.group(2)
    return {name: columns for name, columns in tables.items() if columns}


def type_name(kind):
    return ARROW_TYPES.get(kind, str(kind))


class Polars:
    """Tripod itself. `place` is a run directory or a dataset."""
    name = "polars"

    def __init__(self, tripod, place, scratch):
        self.tripod, self.place, self.scratch = str(pathlib.Path(tripod).resolve()), place, scratch

    def ask(self, sql=None, file=None):
        what = [str(sql)] if file is None else ["--file", str(file)]
        handle, answer = tempfile.mkstemp(suffix=".parquet", dir=self.scratch)
        os.close(handle)
        command = [self.tripod, "query", str(self.place), *what, "--format", "parquet", "-o", answer]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"})
        try:
            if done.returncode != 0:
                raise RuntimeError(f"tripod query: {done.stderr.strip()}")
            return pyarrow.parquet.read_table(answer)
        finally:
            os.unlink(answer)


class PythonPolars:
    """polars as a Python package: another version of it than Tripod is built with."""
    name = "polars of Python"

    def __init__(self, tables):
        self.tables, self.context = tables, None

    def open_dataset(self, root):
        self.context = polars.SQLContext()
        for table, columns in self.tables.items():
            schema = {name: POLARS_TYPES[kind] for name, kind in columns.items()}
            if any(pathlib.Path(root).glob(f"run=*/tables/{table}.parquet")):
                # The schema, since the first file may be of an older Tripod and lack a column.
                rows = polars.scan_parquet(
                    f"{root}/run=*/tables/{table}.parquet", schema=schema, hive_partitioning=True, hive_schema={"run": polars.String},
                    missing_columns="insert", extra_columns="ignore",
                )
            else:
                rows = polars.LazyFrame(schema=schema | {"run": polars.String})
            self.context.register(table, rows)
        return self

    def ask(self, sql):
        return self.context.execute(sql, eager=True).to_arrow()


class DuckDB:
    """`copy` reads every table once; without it each query reads the files."""
    name = "DuckDB"

    def __init__(self, tables, copy=False):
        self.db = duckdb.connect()
        self.db.execute("SET threads = 1")
        self.tables, self.kind = tables, "TABLE" if copy else "VIEW"

    def open_run(self, run):
        for table, columns in self.tables.items():
            file = pathlib.Path(run) / "tables" / f"{table}.parquet"
            # DuckDB would make a column of a folder that is called run=ID.
            self._make(table, columns, f"read_parquet('{file}', hive_partitioning = false)" if file.exists() else None)
        return self

    def open_dataset(self, root):
        for table, columns in self.tables.items():
            files = f"{root}/run=*/tables/{table}.parquet"
            has = any(pathlib.Path(root).glob(f"run=*/tables/{table}.parquet"))
            # union_by_name: a run that an older Tripod wrote may lack a column.
            source = f"read_parquet('{files}', hive_partitioning = true, hive_types = {{'run': VARCHAR}}, union_by_name = true)"
            self._make(table, columns | {"run": "utf8"}, source if has else None)
        return self

    def _make(self, table, columns, source):
        if source is None:
            nothing = ", ".join(f"CAST(NULL AS {DUCKDB_TYPES[kind]}) AS {name}" for name, kind in columns.items())
            source = f"(SELECT {nothing} WHERE false)"
        self.db.execute(f"CREATE OR REPLACE {self.kind} {table} AS SELECT * FROM {source}")

    def add(self, name, rows):
        """A table that is in no file."""
        self.db.register("rows_to_add", rows)
        self.db.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM rows_to_add")
        self.db.unregister("rows_to_add")

    def ask(self, sql):
        return self.db.sql(sql).to_arrow_table()

    def keep(self, name, sql):
        """The rows of a query, which is a table from now on."""
        self.db.execute(f"CREATE OR REPLACE TABLE {name} AS {sql}")
        return self.ask(f"SELECT * FROM {name}")


class Spark:
    """Opens a table in seconds, so it opens only those that a query names."""
    name = "Spark"

    def __init__(self, tables, texts):
        words = set(re.findall(r"\w+", " ".join(texts)))
        self.tables = {name: columns for name, columns in tables.items() if name in words}
        self.spark = self.session()

    @staticmethod
    def missing():
        """Why Spark cannot run here, or None."""
        try:
            import pyspark  # noqa: F401
        except ImportError:
            return "no pyspark"
        home = os.environ.get("JAVA_HOME")
        java = os.path.join(home, "bin", "java") if home else shutil.which("java")
        if not java or not os.path.exists(java):
            return "no Java (Debian: openjdk-17-jre-headless)"
        return None

    @staticmethod
    def session():
        from pyspark.sql import SparkSession
        settings = {
            "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.ui.enabled": "false",
            "spark.driver.memory": "2g", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
            "spark.sql.session.timeZone": "UTC", "spark.sql.execution.arrow.pyspark.enabled": "true",
            # Many small files and short queries: what would pay for large ones is left out.
            "spark.sql.files.openCostInBytes": "16384", "spark.sql.codegen.wholeStage": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
        }
        builder = SparkSession.builder.master("local[2]").appName("tripod-parity")
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        return spark

    def open_run(self, run):
        for table, columns in self.tables.items():
            file = pathlib.Path(run) / "tables" / f"{table}.parquet"
            rows = self.spark.read.parquet(str(file)) if file.exists() else self._empty(columns)
            rows.createOrReplaceTempView(table)
        return self

    def open_dataset(self, root):
        for table, columns in self.tables.items():
            if any(pathlib.Path(root).glob(f"run=*/tables/{table}.parquet")):
                # basePath makes `run` a column; mergeSchema: a run that an older Tripod wrote may lack one.
                read = self.spark.read.option("basePath", str(root)).option("mergeSchema", "true")
                rows = read.parquet(f"{root}/run=*/tables/{table}.parquet").coalesce(2).cache()
            else:
                rows = self._empty(columns | {"run": "utf8"})
            rows.createOrReplaceTempView(table)
        return self

    def _empty(self, columns):
        return self.spark.createDataFrame([], ", ".join(f"`{name}` {SPARK_TYPES[kind]}" for name, kind in columns.items()))

    def add(self, name, rows):
        if rows.num_rows == 0:
            frame = self._empty({field.name: type_name(field.type) for field in rows.schema})
        else:
            plain = [field.with_type(pyarrow.string()) if type_name(field.type) == "utf8" else field for field in rows.schema]
            frame = self.spark.createDataFrame(rows.cast(pyarrow.schema(plain)))
        frame.createOrReplaceTempView(name)

    def ask(self, sql):
        return self.spark.sql(sql).toArrow()

    def keep(self, name, sql):
        frame = self.spark.sql(sql).coalesce(1).cache()
        frame.createOrReplaceTempView(name)
        return frame.toArrow()

    def close(self):
        self.spark.stop()
