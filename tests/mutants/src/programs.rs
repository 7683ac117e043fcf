//! Builds the test programs that are asked for, once, and finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// A test target of a package; "lib" is its unit tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The package.
    pub package: String,
    /// The test target.
    pub name: String,
}

/// A test that catches something.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The program that it is in.
    pub target: Target,
    /// Which of its tests.
    pub filter: Option<String>,
}

impl Catch {
    /// From `package/target:filter`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not package/target:filter");
        let (package, rest) = text.split_once('/').ok_or_else(wrong)?;
        let (name, filter) = match rest.split_once(':') {
            Some((name, filter)) => (name, Some(filter.to_owned())),
            None => (rest, None),
        };
        if package.is_empty() || name.is_empty() {
            return Err(wrong());
        }
        let (package, name) = (package.to_owned(), name.to_owned());
        Ok(Self {
            target: Target { package, name },
            filter,
        })
    }
}

/// A built test program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub path: PathBuf,
    /// Where its package is: tests run there.
    pub folder: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    package_id: Option<String>,
    target: Option<CargoTarget>,
}

#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

fn cargo(tree: &Path, output: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", output)
        // A choice in brackets is not how a person would write it.
        .env("RUSTFLAGS", "-Aunused")
        .stderr(Stdio::inherit());
    cargo
}

/// Checks that these crates compile, without the models of the RTL.
pub fn check(tree: &Path, output: &Path, crates: &BTreeSet<PathBuf>) -> Result<(), String> {
    for manifest in crates {
        let done = cargo(tree, output)
            .args(["check", "-q", "--manifest-path"])
            .arg(manifest)
            .env("WEFT_NO_RTL", "1")
            .status()
            .map_err(|error| format!("cargo: {error}"))?;
        if !done.success() {
            let manifest = manifest.display();
            return Err(format!("with the faults in it {manifest} does not compile"));
        }
    }
    Ok(())
}

/// Builds the targets in the tree.
pub fn build(
    tree: &Path,
    output: &Path,
    targets: &BTreeSet<Target>,
) -> Result<BTreeMap<Target, Program>, String> {
    let mut programs = BTreeMap::new();
    let packages: BTreeSet<_> = targets.iter().map(|target| &target.package).collect();
    for package in packages {
        let mut cargo = cargo(tree, output);
        cargo.args([
            "test",
            "--no-run",
            "--message-format=json-render-diagnostics",
            "-p",
            package,
        ]);
        for target in targets.iter().filter(|target| target.package == **package) {
            match target.name.as_str() {
                "lib" => cargo.arg("--lib"),
                name => cargo.args(["--test", name]),
            };
        }
        let done = cargo.output().map_err(|error| format!("cargo: {error}"))?;
        if !done.status.success() {
            return Err(format!("{package} with the faults in it does not build"));
        }
        for line in String::from_utf8_lossy(&done.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Message>(line) else {
                continue;
            };
            let (Some(path), Some(manifest), Some(target)) =
                (message.executable, message.manifest_path, message.target)
            else {
                continue;
            };
            let of_package = message.package_id.is_some_and(|id| {
                id.contains(&format!("/{package}#")) || id.contains(&format!("#{package}@"))
            }) || manifest_names(&manifest, package);
            if message.reason != "compiler-artifact" || !of_package {
                continue;
            }
            let name = match target.kind.first().map(String::as_str) {
                Some("test") => target.name,
                Some("lib") => "lib".into(),
                _ => continue,
            };
            let folder = manifest.parent().unwrap_or(tree).to_owned();
            let package = package.to_string();
            programs.insert(Target { package, name }, Program { path, folder });
        }
    }
    match targets
        .iter()
        .find(|target| !programs.contains_key(*target))
    {
        Some(target) => Err(format!(
            "{} has no tests called {}",
            target.package, target.name
        )),
        None => Ok(programs),
    }
}

fn manifest_names(manifest: &Path, package: &str) -> bool {
    std::fs::read_to_string(manifest)
        .is_ok_and(|text| text.contains(&format!("name = \"{package}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catches_are_parsed() {
        let catch = Catch::parse("weft-sim/card:bounds").unwrap();
        assert_eq!(
            (&*catch.target.package, &*catch.target.name, catch.filter),
            ("weft-sim", "card", Some("bounds".into()))
        );
        assert!(Catch::parse("weft-sim/lib").unwrap().filter.is_none());
        assert!(Catch::parse("card").is_err());
        assert!(Catch::parse("weft-sim/").is_err());
    }
}
