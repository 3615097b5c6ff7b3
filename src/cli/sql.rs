//! Stands in for `rules::engine` until that lands.

use polars::prelude::{DataFrame, IntoLazy};
use polars::sql::SQLContext;

use crate::error::{Error, Result};

pub fn query(frames: &[(String, DataFrame)], sql: &str) -> Result<DataFrame> {
    let mut context = SQLContext::new();
    for (name, frame) in frames {
        context.register(name, frame.clone().lazy());
    }
    context.execute(sql).and_then(polars::prelude::LazyFrame::collect).map_err(|error| Error::Request(error.to_string()))
}
