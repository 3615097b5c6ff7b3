//! How the C library's allocator is told to behave.

/// Freed memory stays with the process: given back and taken again it costs a page fault per 4 KiB, which was a fifth of
/// the time on large recordings. Blocks of 4 MiB and more are given back all the same: they leave holes that nothing else
/// fits into (measured on 900,000 samples: a fifth less memory at its peak, and no more time). To be called at the start of
/// a program.
#[cfg(target_env = "gnu")]
pub fn keep() {
    // SAFETY: mallopt only changes parameters of the allocator.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}

/// Gives back what is free by now: after a stage that left holes between what is kept. Takes some milliseconds.
#[cfg(target_env = "gnu")]
pub fn give_back() {
    // SAFETY: malloc_trim touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Nothing, where the C library is not glibc.
#[cfg(not(target_env = "gnu"))]
pub fn give_back() {}

/// Freed memory stays with the process where the C library is glibc; elsewhere nothing changes.
#[cfg(not(target_env = "gnu"))]
pub fn keep() {}
