//! Our own processes on the host: `weft serve` and the like, with their logs.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A program of this workspace was not built.
#[derive(Debug, thiserror::Error)]
pub enum NotBuilt {
    /// It is not where this program is.
    #[error("{name} is not in {folder}: cargo build --features weft-command/sim -p weft-command -p weft-lanes")]
    Missing {
        /// Which.
        name: String,
        /// Where it should be.
        folder: PathBuf,
    },
    /// Cargo could not build it.
    #[error("{target} was not built: {why}")]
    Cargo {
        /// Which.
        target: String,
        /// What cargo says.
        why: String,
    },
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
        false => Err(NotBuilt::Missing {
            name: name.to_owned(),
            folder,
        }),
    }
}

/// Builds a target of this workspace (`cargo test --no-run`, say) and returns the program that came of it.
pub fn build(arguments: &[&str], target: &str) -> Result<PathBuf, NotBuilt> {
    let why = |why: String| NotBuilt::Cargo {
        target: target.to_owned(),
        why,
    };
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .args(["--message-format=json-render-diagnostics", "--quiet"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| why(error.to_string()))?;
    if !output.status.success() {
        return Err(why(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let matches = message["target"]["name"] == target;
        matches
            .then(|| message["executable"].as_str().map(PathBuf::from))
            .flatten()
    });
    programs
        .next()
        .ok_or_else(|| why("cargo names no program".to_owned()))
}

/// A process of ours. Dropped, it is killed.
pub struct HostProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    log: PathBuf,
}

impl HostProcess {
    /// Starts a command; all that it writes goes to the log.
    pub fn start(command: &mut Command, log: &Path) -> io::Result<Self> {
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let out = std::fs::File::create(log)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()?;
        let stdin = child.stdin.take();
        Ok(Self {
            child,
            stdin,
            log: log.to_owned(),
        })
    }

    /// Gives it a line on standard input.
    pub fn tell(&mut self, line: &str) -> io::Result<()> {
        match &mut self.stdin {
            Some(stdin) => writeln!(stdin, "{line}"),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Gives it a line, and waits for a whole line of output behind what it has written until now; that is returned.
    pub fn ask(&mut self, line: &str, limit: Duration) -> io::Result<String> {
        let before = self.output().len();
        self.tell(line)?;
        let answer = self.wait_until(limit, |process| {
            let output = process.output();
            let new = output.get(before..).unwrap_or_default();
            new.ends_with('\n').then(|| new.to_owned())
        });
        answer.ok_or_else(|| io::Error::other(format!("no answer to `{line}` within {limit:?}")))
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
