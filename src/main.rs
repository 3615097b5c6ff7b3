//! The program: arguments, run, exit code. Everything else is in the library.

use std::process::ExitCode;

#[cfg(feature = "engine")]
fn main() -> ExitCode {
    tripod::memory::keep();
    tripod::cli::main()
}

#[cfg(not(feature = "engine"))]
fn main() -> ExitCode {
    eprintln!("tripod: this build has no SQL engine; build it with the default features");
    ExitCode::from(2)
}
