//! Which argument of a system call is a descriptor, a length, an address, a path or an operation.

/// Where a call keeps what we want, as argument numbers.
#[derive(Debug)]
pub struct Shape {
    names: &'static [&'static str],
    pub fd: Option<usize>,
    pub length: Option<usize>,
    pub address: Option<usize>,
    pub path: Option<usize>,
    pub operation: Option<usize>,
}

const NONE: Shape = Shape { names: &[], fd: None, length: None, address: None, path: None, operation: None };

/// The shape of a call; `None` where it has nothing that we want.
pub fn shape(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.names.contains(&name))
}

const SHAPES: &[Shape] = &[
    Shape { names: &["read", "write", "pread64", "pwrite64", "sendto", "recvfrom", "getdents64"], fd: Some(0), length: Some(2), ..NONE },
    Shape { names: &["sendfile", "sendfile64"], fd: Some(0), length: Some(3), ..NONE },
    Shape { names: &["copy_file_range", "splice"], fd: Some(0), length: Some(4), ..NONE },
    Shape { names: &["ioctl", "fcntl"], fd: Some(0), operation: Some(1), ..NONE },
    Shape { names: &["mmap", "mmap2"], fd: Some(4), length: Some(1), address: Some(0), operation: Some(3), ..NONE },
    Shape { names: &["munmap"], length: Some(1), address: Some(0), ..NONE },
    Shape { names: &["mremap"], length: Some(2), address: Some(0), operation: Some(3), ..NONE },
    Shape { names: &["madvise", "mprotect"], length: Some(1), address: Some(0), operation: Some(2), ..NONE },
    Shape { names: &["brk"], address: Some(0), ..NONE },
    Shape { names: &["futex"], address: Some(0), operation: Some(1), ..NONE },
    Shape {
        names: &[
            "openat",
            "newfstatat",
            "statx",
            "unlinkat",
            "mkdirat",
            "faccessat",
            "faccessat2",
            "readlinkat",
            "renameat",
            "renameat2",
            "openat2",
        ],
        fd: Some(0),
        path: Some(1),
        ..NONE
    },
    Shape {
        names: &[
            "open", "creat", "stat", "lstat", "access", "unlink", "mkdir", "rmdir", "rename", "readlink", "chdir", "execve", "truncate",
            "statfs", "chmod", "chown",
        ],
        path: Some(0),
        ..NONE
    },
    Shape {
        names: &[
            "readv",
            "writev",
            "preadv",
            "pwritev",
            "preadv2",
            "pwritev2",
            "sendmsg",
            "recvmsg",
            "sendmmsg",
            "recvmmsg",
            "fsync",
            "fdatasync",
            "sync_file_range",
            "syncfs",
            "close",
            "fstat",
            "lseek",
            "ftruncate",
            "fallocate",
            "fadvise64",
            "flock",
            "dup",
            "dup2",
            "dup3",
            "connect",
            "accept",
            "accept4",
            "bind",
            "listen",
            "shutdown",
            "getsockopt",
            "setsockopt",
            "getsockname",
            "getpeername",
            "epoll_wait",
            "epoll_pwait",
            "epoll_ctl",
            "fchmod",
            "fchown",
            "fchdir",
            "fstatfs",
            "timerfd_settime",
        ],
        fd: Some(0),
        ..NONE
    },
];
