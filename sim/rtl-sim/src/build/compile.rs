//! C++ to an archive, keeping the objects of sources that did not change.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// An object that no build has asked for in this time is forgotten.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// One C++ source to compile.
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// On the hot path: -O3, else -O1.
    pub hot: bool,
    /// Folders for `#include`, and all headers in them count as part of the source.
    pub includes: Vec<PathBuf>,
    /// Further arguments.
    pub flags: Vec<String>,
}

/// Where objects are kept: cargo runs a build script into a folder of its own for each set of features, and the models are the same
/// in all of them. So the folder is that of the profile, above them.
pub fn cache(out: &Path) -> PathBuf {
    let build = out.parent().and_then(Path::parent);
    match build
        .filter(|build| build.ends_with("build"))
        .and_then(Path::parent)
    {
        Some(profile) => profile.join("rtl-objects"),
        None => out.join("objects"),
    }
}

/// The C++ compiler.
pub fn compiler() -> cc::Tool {
    cc::Build::new()
        .cpp(true)
        .opt_level(3)
        .debug(false)
        .warnings(false)
        .cargo_metadata(false)
        .get_compiler()
}

/// Compiles the sources that are not in the cache folder yet, `jobs` at a time, and returns all objects.
pub fn compile(sources: &[Source], cache: &Path, jobs: usize) -> Result<Vec<PathBuf>, String> {
    fs::create_dir_all(cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    let compiler = compiler();
    let mut objects = Vec::new();
    let mut work: Vec<(Command, PathBuf)> = Vec::new();
    for source in sources {
        let mut hash = DefaultHasher::new();
        compiler.path().hash(&mut hash);
        (source.hot, &source.flags).hash(&mut hash);
        hash_file(&source.path, &mut hash)?;
        for folder in &source.includes {
            hash_headers(folder, &mut hash)?;
        }
        let stem = source
            .path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let object = cache.join(format!("{stem}-{:016x}.o", hash.finish()));
        // One that is there is young again. Another build script may be at work beside this one.
        let found = fs::File::options().append(true).open(&object);
        if let Ok(file) = &found {
            let _ = file.set_modified(SystemTime::now());
        }
        if found.is_err() && !work.iter().any(|(_, other)| *other == object) {
            let mut command = compiler.to_command();
            command.args([
                "-std=gnu++17",
                "-faligned-new",
                "-w",
                if source.hot { "-O3" } else { "-O1" },
            ]);
            for folder in &source.includes {
                command.arg("-I").arg(folder);
            }
            command
                .args(&source.flags)
                .arg("-c")
                .arg(&source.path)
                .arg("-o")
                .arg(unfinished(&object));
            work.push((command, object.clone()));
        }
        objects.push(object);
    }

    let work: Vec<Mutex<(Command, PathBuf)>> = work.into_iter().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, work.len().max(1)) {
            scope.spawn(|| {
                while let Some(job) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Ok(mut job) = job.lock() else { return };
                    let (command, object) = &mut *job;
                    let result = run(command).and_then(|_| {
                        fs::rename(unfinished(object), &*object).map_err(|error| error.to_string())
                    });
                    if let (Err(error), Ok(mut failure)) = (result, failure.lock()) {
                        failure.get_or_insert(error);
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or(None) {
        return Err(error);
    }
    // Objects of earlier versions would pile up for ever.
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|data| data.modified());
        let age = modified.ok().and_then(|then| then.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(objects)
}

/// The name of an object that this process is making.
fn unfinished(object: &Path) -> PathBuf {
    object.with_extension(format!("{}.tmp", std::process::id()))
}

/// Runs a command; its output is the error when it fails.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| {
        format!(
            "cannot run {}: {error}",
            command.get_program().to_string_lossy()
        )
    })?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if output.status.success() {
        Ok(text)
    } else {
        // Not the whole command: it may carry the environment.
        let arguments: Vec<_> = command
            .get_args()
            .map(|argument| argument.to_string_lossy())
            .collect();
        let program = command.get_program().to_string_lossy();
        Err(format!("{program} {}\n{text}", arguments.join(" ")))
    }
}

fn hash_file(path: &Path, hash: &mut impl Hasher) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    bytes.hash(hash);
    Ok(())
}

fn hash_headers(folder: &Path, hash: &mut impl Hasher) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut headers: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    headers.retain(|path| path.extension().is_some_and(|extension| extension == "h"));
    headers.sort();
    for header in &headers {
        hash_file(header, hash)?;
    }
    Ok(())
}
