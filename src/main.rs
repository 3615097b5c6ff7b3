//! The program: arguments, run, exit code. Everything else is in the library.

use std::process::ExitCode;

#[cfg(feature = "engine")]
fn main() -> ExitCode {
    keep_memory();
    tripod::cli::main()
}

/// Freed memory stays with the process: given back and taken again it costs a page fault per 4 KiB, which was a fifth of
/// the time on large recordings.
#[cfg(all(feature = "engine", target_env = "gnu"))]
fn keep_memory() {
    // SAFETY: mallopt only changes parameters of the allocator; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}

#[cfg(all(feature = "engine", not(target_env = "gnu")))]
fn keep_memory() {}

#[cfg(not(feature = "engine"))]
fn main() -> ExitCode {
    eprintln!("tripod: this build has no SQL engine; build it with the default features");
    ExitCode::from(2)
}
