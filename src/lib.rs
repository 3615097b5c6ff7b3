#[cfg(feature = "engine")]
pub fn probe() -> bool { use polars_io::prelude::*; use polars::prelude::*; use polars::sql::SQLContext; let mut c = SQLContext::new(); let df = DataFrame::empty(); c.register("a", df.lazy()); let _ = c.execute("SELECT 1 AS x"); let mut v=Vec::new(); let mut d=DataFrame::empty(); let _ = ParquetWriter::new(&mut v).finish(&mut d); true }
