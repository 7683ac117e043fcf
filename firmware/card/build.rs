//! Gives the linker its script, and the firmware the hash of what it is built from.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// All files below `folder`, in the order of their names.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files(&path, found)?,
            false => found.push(path),
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed={}", here.display());
    println!(
        "cargo:rerun-if-changed={}",
        here.join("../layout/src").display()
    );
    let mut sources = vec![here.join("card.ld")];
    files(&here.join("src"), &mut sources)?;
    files(&here.join("../layout/src"), &mut sources)?;
    if env::var_os("CARGO_FEATURE_ENGINE").is_some() {
        for part in ["engine", "queues", "tcp", "wire"] {
            let folder = here.join("..").join(part).join("src");
            println!("cargo:rerun-if-changed={}", folder.display());
            files(&folder, &mut sources)?;
        }
    }
    // FNV-1a: it tells builds apart, and protects from nothing.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in sources {
        for byte in fs::read(path)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=CARD_FIRMWARE_BUILD={hash:016x}");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        println!(
            "cargo:rustc-link-arg-bins=-T{}",
            here.join("card.ld").display()
        );
        // Memory and stack: docs/processor.md has what of it is used.
        let (memory, stack) = match env::var_os("CARGO_FEATURE_ENGINE") {
            Some(_) => (1 << 20, 28 << 10),
            None => (1 << 16, 1 << 13),
        };
        println!("cargo:rustc-link-arg-bins=--defsym=memory_bytes={memory}");
        println!("cargo:rustc-link-arg-bins=--defsym=stack_bytes={stack}");
    }
    Ok(())
}
