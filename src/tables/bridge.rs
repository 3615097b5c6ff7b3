//! The one place where arrow-rs arrays become polars frames.
