//! Numbers that the kernel uses and people do not: of system calls, errors, and what their arguments mean.

use super::container::Container;
use linux_perf_data::Feature;

/// `name x86_64 aarch64`, see the file's head for its source.
const NUMBERS: &str = include_str!("syscall_numbers.tsv");

/// The names of one machine's system calls.
#[derive(Debug, Default)]
pub struct CallNames {
    by_number: Vec<&'static str>,
}

impl CallNames {
    /// For the machine that the file names; empty for one whose numbers are not known here. The calls of 32-bit programs
    /// on a 64-bit machine have numbers of their own, and nothing in their samples tells them apart.
    pub fn of(container: &Container<'_>) -> CallNames {
        match container.string(Feature::ARCH).as_deref() {
            Some("x86_64") => CallNames::column(1),
            Some("aarch64" | "arm64") => CallNames::column(2),
            _ => CallNames::default(),
        }
    }

    #[cfg(test)]
    pub fn x86_64() -> CallNames {
        CallNames::column(1)
    }

    fn column(column: usize) -> CallNames {
        let mut names = CallNames::default();
        for line in NUMBERS.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split('\t');
            let Some(name) = words.next() else { continue };
            let Some(number) = words.nth(column - 1).and_then(|number| number.parse::<usize>().ok()) else { continue };
            if names.by_number.len() <= number {
                names.by_number.resize(number + 1, "");
            }
            if let Some(slot) = names.by_number.get_mut(number) {
                *slot = name;
            }
        }
        names
    }

    pub fn get(&self, number: i64) -> Option<&'static str> {
        let name = self.by_number.get(usize::try_from(number).ok()?)?;
        (!name.is_empty()).then_some(name)
    }
}

/// What a call is called by those who call it, where the tracepoint has the name of the function that serves it.
pub fn plain_name(tracepoint: &str) -> &str {
    match tracepoint {
        "newstat" => "stat",
        "newlstat" => "lstat",
        "newfstat" => "fstat",
        "newuname" => "uname",
        "sendfile64" => "sendfile",
        "umount" => "umount2",
        name => name,
    }
}

/// Return value and error of what a call gave back: -1 and the error's name where it failed, as the program sees it; no
/// value where the kernel starts the call again.
pub fn outcome(returned: i64) -> (Option<i64>, Option<String>) {
    if !(-4095..0).contains(&returned) {
        return (Some(returned), None);
    }
    let restart = match returned {
        -512 => "ERESTARTSYS",
        -513 => "ERESTARTNOINTR",
        -514 => "ERESTARTNOHAND",
        -516 => "ERESTART_RESTARTBLOCK",
        _ => return (Some(-1), Some(error_name(returned))),
    };
    (None, Some(restart.to_owned()))
}

/// The name of a negative error number.
pub fn error_name(error: i64) -> String {
    let name = error.checked_neg().and_then(|number| usize::try_from(number).ok()).and_then(|number| ERRORS.get(number.checked_sub(1)?));
    name.filter(|name| !name.is_empty()).map_or_else(|| format!("errno {}", error.unsigned_abs()), |name| (*name).to_owned())
}

/// From 1; asm-generic/errno-base.h and errno.h, which x86 and arm64 share.
const ERRORS: [&str; 133] = [
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// FUTEX_* from 0; linux/futex.h.
const FUTEX: [&str; 14] = [
    "WAIT",
    "WAKE",
    "FD",
    "REQUEUE",
    "CMP_REQUEUE",
    "WAKE_OP",
    "LOCK_PI",
    "UNLOCK_PI",
    "TRYLOCK_PI",
    "WAIT_BITSET",
    "WAKE_BITSET",
    "WAIT_REQUEUE_PI",
    "CMP_REQUEUE_PI",
    "LOCK_PI2",
];

/// Flags of mmap that are the same on every machine we know the calls of; linux/mman.h, asm-generic/mman.h.
const MMAP: [(i64, &str); 8] = [
    (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"),
    (0x2000, "MAP_LOCKED"),
    (0x4000, "MAP_NORESERVE"),
    (0x8000, "MAP_POPULATE"),
    (0x2_0000, "MAP_STACK"),
    (0x4_0000, "MAP_HUGETLB"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];

/// The operation of a call as strace writes it; `None` where its numbers are not known here.
pub fn operation(call: &str, value: i64) -> Option<String> {
    match call {
        "futex" => {
            let name = FUTEX.get(usize::try_from(value & 0x7f).ok()?)?;
            let private = if value & 0x80 != 0 { "_PRIVATE" } else { "" };
            let clock = if value & 0x100 != 0 { "|FUTEX_CLOCK_REALTIME" } else { "" };
            Some(format!("FUTEX_{name}{private}{clock}"))
        }
        "mmap" => {
            let kind = match value & 0xf {
                1 => "MAP_SHARED",
                2 => "MAP_PRIVATE",
                3 => "MAP_SHARED_VALIDATE",
                _ => return None,
            };
            let flags = MMAP.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name);
            Some(std::iter::once(kind).chain(flags).collect::<Vec<_>>().join("|"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // syscalls(2) tables of x86-64 and arm64.
    #[test]
    fn numbers_mean_different_calls_on_different_machines() {
        let (x86, arm) = (CallNames::column(1), CallNames::column(2));
        assert_eq!((x86.get(0), x86.get(1), x86.get(231), x86.get(435)), (Some("read"), Some("write"), Some("exit_group"), Some("clone3")));
        assert_eq!(
            (arm.get(63), arm.get(64), arm.get(94), arm.get(435)),
            (Some("read"), Some("write"), Some("exit_group"), Some("clone3"))
        );
        assert_eq!((x86.get(-1), x86.get(i64::MAX), arm.get(300)), (None, None, None));
    }

    // errno(3), futex(2), mmap(2).
    #[test]
    fn errors_and_operations_have_names() {
        assert_eq!(outcome(-2), (Some(-1), Some("ENOENT".into())));
        assert_eq!(outcome(-133), (Some(-1), Some("EHWPOISON".into())));
        assert_eq!(outcome(-41), (Some(-1), Some("errno 41".into())));
        assert_eq!(outcome(-512), (None, Some("ERESTARTSYS".into())));
        assert_eq!(outcome(-4096), (Some(-4096), None));
        assert_eq!(outcome(i64::MIN), (Some(i64::MIN), None));
        assert_eq!(operation("futex", 0x80).as_deref(), Some("FUTEX_WAIT_PRIVATE"));
        assert_eq!(operation("futex", 0x189).as_deref(), Some("FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME"));
        assert_eq!(operation("mmap", 0x22).as_deref(), Some("MAP_PRIVATE|MAP_ANONYMOUS"));
        assert_eq!((operation("mmap", 0), operation("futex", 127), operation("read", 1)), (None, None, None));
    }
}
