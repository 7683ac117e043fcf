//! Models compiled for the branches that they take: first one that counts them, then one for the counts.

use super::compile::compiler;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

// Environment (building): `RTL_SIM_PROFILE`: `count`: models count their branches; an absolute path: models are made for the counts there; `make
// fast` does both. Without it: none.
/// `count`, or the file with the counts.
pub const VARIABLE: &str = "RTL_SIM_PROFILE";

/// What is done about branches.
pub enum Profile {
    /// Nothing.
    None,
    /// They are counted, into the file that `LLVM_PROFILE_FILE` names when the program ends.
    Count,
    /// The model is made for these counts. The number is of the file's contents: others make other objects.
    Use(PathBuf, u64),
}

impl Profile {
    /// As the environment asks.
    pub fn find() -> Result<Profile, String> {
        let asked = std::env::var(VARIABLE).unwrap_or_default();
        if asked.is_empty() {
            return Ok(Profile::None);
        }
        let compiler = compiler();
        if !compiler.is_like_clang() {
            let path = compiler.path().display();
            return Err(format!(
                "{VARIABLE} wants clang, and the C++ compiler is {path}: set CXX, to clang++-19 for example"
            ));
        }
        if asked == "count" {
            return Ok(Profile::Count);
        }
        let file = Path::new(&asked);
        if !file.is_absolute() {
            return Err(format!(
                "{VARIABLE}={asked}: neither `count` nor an absolute path"
            ));
        }
        let counts = fs::read(file).map_err(|error| format!("{VARIABLE}: {asked}: {error}"))?;
        let mut hash = DefaultHasher::new();
        counts.hash(&mut hash);
        Ok(Profile::Use(file.into(), hash.finish()))
    }

    /// For the compiler.
    pub fn flags(&self) -> Vec<String> {
        match self {
            Profile::None => vec![],
            Profile::Count => vec!["-fprofile-generate".into()],
            Profile::Use(file, number) => vec![
                format!("-fprofile-use={}", file.display()),
                format!("-DRTL_SIM_PROFILE={number:#x}"),
            ],
        }
    }

    /// What counts is a library of the compiler, which a Rust program does not link by itself.
    pub fn tell_cargo(&self) -> Result<(), String> {
        match self {
            Profile::None => {}
            Profile::Use(file, _) => println!("cargo:rerun-if-changed={}", file.display()),
            Profile::Count => {
                let architecture = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
                let name = format!("clang_rt.profile-{architecture}");
                let answer = compiler()
                    .to_command()
                    .arg(format!("--print-file-name=lib{name}.a"))
                    .output()
                    .map_err(|error| error.to_string())?;
                let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
                let folder = path.parent().filter(|_| path.is_absolute());
                let folder = folder.ok_or(format!(
                    "the compiler has no lib{name}.a: on Debian it is in the package libclang-rt-19-dev"
                ))?;
                println!("cargo:rustc-link-search=native={}", folder.display());
                println!("cargo:rustc-link-lib=static:+whole-archive={name}");
            }
        }
        Ok(())
    }
}
