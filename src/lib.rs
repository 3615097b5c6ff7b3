//! Tripod: an offline post-processor for recorded Linux profiles.

#[cfg(feature = "engine")]
pub mod cli;
pub mod derive;
pub mod emit;
pub mod error;
pub mod hotspots;
pub mod ingest;
pub mod objects;
pub mod request;
pub mod tables;
pub mod wall;

pub use request::AnalyzeRequest;

/// The whole pipeline: artifacts in, everything that can be printed about the run out.
#[cfg(feature = "engine")]
pub fn analyze(request: &AnalyzeRequest) -> error::Result<emit::Run> {
    Err(error::Error::Request(format!("{} paths: the pipeline is not joined up yet", request.paths.len())))
}

/// The hypotheses as they describe themselves: the embedded ones and those of the folders given.
#[cfg(feature = "engine")]
pub fn catalogue(rules: &[std::path::PathBuf]) -> error::Result<Vec<emit::HypothesisDoc>> {
    let _ = rules;
    Ok(Vec::new())
}
