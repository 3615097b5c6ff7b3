//! Tripod: an offline post-processor for recorded Linux profiles.

pub mod derive;
pub mod error;
pub mod hotspots;
pub mod ingest;
pub mod objects;
pub mod symbolize;
pub mod tables;
pub mod wall;
