//! Tripod: an offline post-processor for recorded Linux profiles.

pub mod derive;
pub mod error;
pub mod ingest;
#[cfg(feature = "engine")]
pub mod ledger;
pub mod objects;
#[cfg(feature = "engine")]
pub mod quality;
#[cfg(feature = "engine")]
pub mod rules;
pub mod tables;
