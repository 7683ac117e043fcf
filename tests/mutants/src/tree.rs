//! The copy of the sources with all faults in it. Files that did not change are left alone, so that a second build is a short one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::list::Fault;
use crate::plant;

/// Where the models' own C++ is.
const RUNTIME: &str = "sim/rtl-sim/src/build/runtime.cpp";

/// Makes `to` the sources of `from` with the faults planted. The manifests of the crates that have faults in them.
pub fn make(from: &Path, to: &Path, faults: &[Fault]) -> Result<BTreeSet<PathBuf>, String> {
    let mut by_file: BTreeMap<&str, Vec<(u32, &Fault)>> = BTreeMap::new();
    for (number, fault) in (1..).zip(faults) {
        by_file
            .entry(&fault.file)
            .or_default()
            .push((number, fault));
    }
    let crates = crates(from, faults)?;
    let sources = sources(from)?;
    for path in &sources {
        let source = from.join(path);
        if source.is_symlink() {
            link(&to.join(path), &source)?;
            continue;
        }
        let bytes = fs::read(&source).map_err(|error| format!("{}: {error}", source.display()))?;
        let name = path.to_string_lossy();
        let bytes = if let Some(faults) = by_file.remove(&*name) {
            let text = String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
            plant::plant(&text, &faults)?.into_bytes()
        } else if crates.contains(path) {
            let text = String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))?;
            with_choice(&text, path)?.into_bytes()
        } else if name == RUNTIME {
            [&bytes, plant::CPP.as_bytes()].concat()
        } else {
            bytes
        };
        write(&to.join(path), &bytes, &source)?;
    }
    if let Some((file, faults)) = by_file.first_key_value() {
        return Err(format!("{}: there is no {file}", faults[0].1.name));
    }
    for path in self::sources(to)? {
        if !sources.contains(&path) {
            fs::remove_file(to.join(&path)).map_err(|error| error.to_string())?;
        }
    }
    Ok(crates)
}

/// The manifests of the crates that have faults in them, which ask for the choice.
fn crates(root: &Path, faults: &[Fault]) -> Result<BTreeSet<PathBuf>, String> {
    let files = faults.iter().map(|fault| &fault.file);
    let manifest = |file: &String| {
        Path::new(file)
            .ancestors()
            .skip(1)
            .map(|folder| folder.join("Cargo.toml"))
            .find(|manifest| root.join(manifest).exists())
            .ok_or(format!("{file} belongs to no crate"))
    };
    files
        .filter(|file| file.ends_with(".rs"))
        .map(manifest)
        .collect()
}

/// A manifest with the crate that knows which fault is to show.
fn with_choice(manifest: &str, path: &Path) -> Result<String, String> {
    let up = "../".repeat(path.components().count() - 1);
    let header = "[dependencies]\n";
    if !manifest.contains(header) {
        return Err(format!("{} has no [dependencies]", path.display()));
    }
    let line = format!("{header}weft-planted = {{ path = \"{up}tests/mutants/planted\" }}\n");
    Ok(manifest.replacen(header, &line, 1))
}

/// All files and links below a folder but what was built, relative to it.
fn sources(root: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(|error| error.to_string())?;
            if kind.is_dir() {
                let name = entry.file_name();
                if name != "target" && name != ".git" {
                    folders.push(path);
                }
            } else if kind.is_file() || kind.is_symlink() {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

fn write(path: &Path, bytes: &[u8], like: &Path) -> Result<(), String> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, bytes).map_err(failed)?;
    let permissions = fs::metadata(like).map_err(failed)?.permissions();
    fs::set_permissions(path, permissions).map_err(failed)
}

/// The link `like` at another place.
fn link(path: &Path, like: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let target = fs::read_link(like).map_err(failed)?;
    if fs::read_link(path).is_ok_and(|there| there == target) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    std::os::unix::fs::symlink(target, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that is found but leaves a bracket open is told here, in seconds, and not after the long build.
    #[test]
    fn each_fault_has_its_place_in_the_sources() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.ancestors().nth(2).unwrap();
        let faults = crate::list::read(&here.join("faults")).unwrap();
        let mut by_file: BTreeMap<&str, Vec<(u32, &Fault)>> = BTreeMap::new();
        for fault in &faults {
            by_file.entry(&fault.file).or_default().push((1, fault));
        }
        let mut lost = Vec::new();
        for (file, faults) in by_file {
            let Ok(text) = fs::read_to_string(root.join(file)) else {
                lost.push(format!("there is no {file}"));
                continue;
            };
            lost.extend(plant::plant(&text, &faults).err());
            let expressions = faults.iter().filter(|(_, fault)| !fault.statement);
            for (_, fault) in expressions.filter(|_| file.ends_with(".sv")) {
                if let Some((before, after)) = text.split_once(&fault.find) {
                    let whole = crate::brackets::may_stand_around(before, &fault.find, after);
                    let part = format!("{} in {file} is a part of an operand", fault.name);
                    lost.extend((!whole).then_some(part));
                }
            }
            for fault in faults.iter().filter(|_| file.ends_with(".rs")) {
                let wrong = plant::plant(&text, &[*fault])
                    .ok()
                    .and_then(|planted| syn::parse_file(&planted).err());
                lost.extend(wrong.map(|error| format!("{} in {file}: {error}", fault.1.name)));
            }
        }
        assert!(lost.is_empty(), "{lost:#?}");
    }

    #[test]
    fn the_rtl_with_all_faults_in_it_is_systemverilog() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.ancestors().nth(2).unwrap();
        let faults = crate::list::read(&here.join("faults")).unwrap();
        let tree = tempfile::tempdir().unwrap();
        make(root, tree.path(), &faults).unwrap();
        crate::lint::rtl(&tree.path().join("rtl")).unwrap();
        // By which the simulator's sources find the RTL and what was recorded of it.
        assert!(tree.path().join("sim/rtl/syn/area.json").is_file());
    }
}
