//! Paths of another machine, looked up below a directory of this one.
//!
//! The path comes from a file and is not trusted: it never leads out of the directory, neither by `..` nor by a link.
//! A link inside is followed as the other machine would: an absolute one begins at the directory again.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const LINKS_MAX: usize = 40;
/// PATH_MAX allows no more parts.
const PARTS_MAX: usize = 4096;

/// Where `path` lies below `root`; `None` where nothing is there.
pub fn resolve(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut wanted: VecDeque<Part> = parts(path);
    let mut at: Vec<OsString> = Vec::new();
    let mut links = 0;
    while let Some(part) = wanted.pop_front() {
        let name = match part {
            Part::Up => {
                // At the top `..` stays there, as it does in a root directory.
                at.pop();
                continue;
            }
            Part::Name(name) => name,
        };
        let here = joined(root, &at).join(&name);
        let kind = std::fs::symlink_metadata(&here).ok()?.file_type();
        if !kind.is_symlink() {
            at.push(name);
            continue;
        }
        links += 1;
        let target = std::fs::read_link(&here).ok()?;
        if links > LINKS_MAX {
            return None;
        }
        if target.is_absolute() {
            at.clear();
        }
        for part in parts(&target).into_iter().rev() {
            wanted.push_front(part);
        }
        if wanted.len() > PARTS_MAX {
            return None;
        }
    }
    Some(joined(root, &at))
}

enum Part {
    Name(OsString),
    Up,
}

fn parts(path: &Path) -> VecDeque<Part> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::ParentDir => Some(Part::Up),
        _ => None,
    };
    path.components().filter_map(part).collect()
}

fn joined(root: &Path, parts: &[OsString]) -> PathBuf {
    let mut path = root.to_path_buf();
    path.extend(parts);
    path
}

/// The rest of a path below a prefix; parts are compared whole.
pub fn rest<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let prefix = prefix.trim_end_matches('/');
    let rest = path.strip_prefix(prefix)?;
    (rest.starts_with('/') || rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// By hand: what `chroot ROOT readlink -f PATH` prints.
    #[test]
    fn paths_stay_below_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("usr/lib")).unwrap();
        std::fs::write(dir.path().join("outside"), "x").unwrap();
        std::fs::write(root.join("usr/lib/libc.so.6"), "x").unwrap();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("/usr/lib", root.join("lib64")).unwrap();
        symlink("../../../../outside", root.join("usr/lib/escape")).unwrap();
        symlink(dir.path().join("outside"), root.join("usr/lib/absolute")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/lib/../lib/libc.so.6", root.join("usr/chain")).unwrap();
        let libc = Some(root.join("usr/lib/libc.so.6"));
        for path in ["/usr/lib/libc.so.6", "/lib/libc.so.6", "/lib64/libc.so.6", "/../../lib/./libc.so.6", "usr/chain"] {
            assert_eq!(resolve(&root, Path::new(path)), libc, "{path}");
        }
        for path in ["/../outside", "/usr/lib/escape", "/usr/lib/absolute", "/loop", "/usr/none"] {
            assert_eq!(resolve(&root, Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn prefixes_end_at_a_slash() {
        assert_eq!(rest("/app/bin/x", "/app"), Some("/bin/x"));
        assert_eq!(rest("/app/bin/x", "/app/"), Some("/bin/x"));
        assert_eq!(rest("/application/x", "/app"), None);
        assert_eq!(rest("/bin/x", "/"), Some("/bin/x"));
    }
}
