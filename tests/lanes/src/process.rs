//! Our own processes on the host: `weft serve` and the like, with their logs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A program of this workspace was not built.
#[derive(Debug, thiserror::Error)]
#[error("{name} is not in {folder}: cargo build -p weft-lanes -p weft-sim")]
pub struct NotBuilt {
    name: String,
    folder: PathBuf,
}

/// A program of this workspace, beside the one that runs.
pub fn built(name: &str) -> Result<PathBuf, NotBuilt> {
    let own = std::env::current_exe().unwrap_or_default();
    let mut folder = own.parent().unwrap_or(Path::new(".")).to_owned();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let path = folder.join(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(NotBuilt {
            name: name.to_owned(),
            folder,
        }),
    }
}

/// A process of ours. Dropped, it is killed.
pub struct HostProcess {
    child: Child,
    log: PathBuf,
}

impl HostProcess {
    /// Starts a command; all that it writes goes to the log.
    pub fn start(command: &mut Command, log: &Path) -> io::Result<Self> {
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let out = std::fs::File::create(log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()?;
        Ok(Self {
            child,
            log: log.to_owned(),
        })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has written until now.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Its log.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for its end; `None` when the limit passed first (it goes on running).
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        self.wait_until(limit, |process| process.ended())
    }

    /// Waits until it has written this text; `false` when it ended or the limit passed first.
    pub fn wait_for_output(&mut self, text: &str, limit: Duration) -> bool {
        self.wait_until(limit, |process| {
            // In this order: the text may be the last that it writes.
            let over = process.ended().is_some();
            let found = process.output().contains(text);
            (over || found).then_some(found)
        })
        .unwrap_or(false)
    }

    /// Waits until a file (a socket, say) is there; `false` when it ended or the limit passed first.
    pub fn wait_for_file(&mut self, path: &Path, limit: Duration) -> bool {
        self.wait_until(limit, |process| {
            let over = process.ended().is_some();
            let found = path.exists();
            (over || found).then_some(found)
        })
        .unwrap_or(false)
    }

    /// Asks it to end (SIGTERM), kills it if it does not within the limit, and returns how it ended.
    pub fn stop(&mut self, limit: Duration) -> Option<ExitStatus> {
        if self.ended().is_none() {
            // An error says that it has just ended.
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_child(&self.child),
                rustix::process::Signal::TERM,
            );
        }
        self.wait(limit).or_else(|| {
            self.kill();
            self.ended()
        })
    }

    /// Kills it.
    pub fn kill(&mut self) {
        // An error says that it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait_until<T>(
        &mut self,
        limit: Duration,
        mut done: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + limit;
        loop {
            if let Some(found) = done(self) {
                return Some(found);
            }
            if Instant::now() > until {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for HostProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
