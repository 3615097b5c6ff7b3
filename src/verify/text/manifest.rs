//! What a manifest.json says about an artifact: wall time and command.

use serde_json::Value as Json;

use crate::verify::number::{of_json, scaled};

/// The entry of an artifact in the manifest at `place`; paths in it are relative to its folder, and the recorder may have
/// compressed the file afterwards.
pub fn entry<'a>(manifest: &'a Json, place: &str, artifact: &str) -> Option<&'a Json> {
    let folder = place.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let plain = |path: &str| path.strip_suffix(".zst").or_else(|| path.strip_suffix(".gz")).unwrap_or(path).to_owned();
    let full = |entry: &Json| Some(format!("{folder}{}", entry.get("path")?.as_str()?.trim_start_matches("./")));
    let entries = manifest.get("artifacts")?.as_array()?;
    let exact = entries.iter().find(|entry| full(entry).is_some_and(|path| path == artifact));
    exact.or_else(|| entries.iter().find(|entry| full(entry).is_some_and(|path| plain(&path) == plain(artifact))))
}

/// How long the tool ran, in nanoseconds.
pub fn wall_ns(entry: &Json) -> Option<i64> {
    scaled(of_json(entry.get("wall_s")?)?, 1_000_000_000)
}

/// How long an off-CPU tool watched, by the whole seconds in its command, at most as long as it ran: the numbers that
/// may be it.
pub fn windows(entry: &Json) -> Vec<i64> {
    let Some(command) = entry.get("command").and_then(Json::as_str) else { return Vec::new() };
    let wall = wall_ns(entry).unwrap_or(i64::MAX);
    let words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '$' && c != '-' && c != '.');
    let seconds = words.filter_map(|word| word.parse::<i64>().ok()).filter(|seconds| *seconds > 0);
    seconds.filter_map(|seconds| seconds.checked_mul(1_000_000_000)).map(|window| window.min(wall)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_beside_the_manifest() {
        let manifest: Json = serde_json::from_str(
            r#"{"artifacts": [{"path": "./a.txt", "wall_s": 2.5, "command": "offcputime -p $pid 3 > a.txt"}, {"path": "b.data", "wall_s": 10}]}"#,
        )
        .unwrap();
        assert_eq!(entry(&manifest, "sub/manifest.json", "sub/a.txt").and_then(wall_ns), Some(2_500_000_000));
        assert_eq!(entry(&manifest, "manifest.json", "b.data.zst").and_then(wall_ns), Some(10_000_000_000));
        assert_eq!(entry(&manifest, "manifest.json", "sub/a.txt"), None);
        assert_eq!(windows(entry(&manifest, "manifest.json", "a.txt").unwrap()), [2_500_000_000]);
    }
}
