//! A Linux guest that runs commands.

use std::collections::HashMap;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::accel::Accel;
use crate::agent::{receive, send, Event, Request, Status};
use crate::console::Console;
use crate::host_disk::{self, HostDiskError, HostFile};
use crate::images::Images;
use crate::process::{built, NotBuilt};
use crate::qemu::{GuestConfig, RunPaths};

/// Boots take 4 s alone on a small machine; this is for one that is shared by many.
const BOOT: Duration = Duration::from_secs(120);
/// How much of the console an error shows.
const TAIL: usize = 25;
const SIGKILL: i32 = 9;

/// A running guest. Dropped, it is killed.
pub struct Guest {
    qemu: Child,
    line: UnixStream,
    commands: Arc<Commands>,
    next_id: u32,
    console: Console,
    boot_time: Duration,
    _folder: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub status: Status,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

/// A command that runs in the guest, started by [`Guest::spawn`].
#[derive(Debug, Clone)]
pub struct Running {
    id: u32,
    command: String,
    since: Instant,
}

/// The guest cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// A file of the host cannot be used.
    #[error("{what}: {error}")]
    Host {
        /// What was done.
        what: String,
        /// Why it failed.
        error: io::Error,
    },
    /// The disk of the host's files.
    #[error(transparent)]
    HostDisk(#[from] HostDiskError),
    /// The agent was not built.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// QEMU ended, or the kernel is broken.
    #[error("the guest died{}: {why}\n--- its console, {path}:\n{tail}", in_the_middle_of(.during))]
    Died {
        /// What was waited for.
        during: String,
        /// What is known.
        why: String,
        /// The console's log.
        path: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// It did not answer in time.
    #[error("the guest was not up after {waited:?}\n--- its console, {path}:\n{tail}")]
    NotUp {
        /// How long.
        waited: Duration,
        /// The console's log.
        path: PathBuf,
        /// Its last lines.
        tail: String,
    },
    /// A command did not end in time; it was killed.
    #[error("`{command}` did not end in {limit:?} and was killed\n{left}")]
    Timeout {
        /// The command.
        command: String,
        /// The limit.
        limit: Duration,
        /// What there is to look at.
        left: Box<Left>,
    },
    /// A command failed that must not.
    #[error("`{command}` failed: {}\n--- stdout:\n{}\n--- stderr:\n{}", .output.status, .output.stdout, .output.stderr)]
    Failed {
        /// The command.
        command: String,
        /// What it did.
        output: Box<Output>,
    },
}

/// What a command that was killed has left to look at.
#[derive(Debug, Clone)]
pub struct Left {
    /// What it wrote to standard output until then.
    pub stdout: String,
    /// What it wrote to standard error until then.
    pub stderr: String,
    /// The console's log.
    pub console: PathBuf,
    /// Its last lines.
    pub tail: String,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "--- stdout:\n{}\n--- stderr:\n{}",
            self.stdout, self.stderr
        )?;
        write!(f, "--- console, {}:\n{}", self.console.display(), self.tail)
    }
}

fn in_the_middle_of(command: &str) -> String {
    if command.is_empty() {
        String::new()
    } else {
        format!(" during `{command}`")
    }
}

impl Guest {
    /// Boots a guest and waits until its agent answers.
    pub fn boot(
        images: &Images,
        accel: Accel,
        mut config: GuestConfig,
    ) -> Result<Self, GuestError> {
        let start = Instant::now();
        let host = |what: &str| {
            let what = what.to_owned();
            move |error| GuestError::Host { what, error }
        };
        let folder = tempfile::Builder::new()
            .prefix("weft-guest")
            .tempdir()
            .map_err(host("a temporary folder"))?;
        std::fs::create_dir_all(&config.logs).map_err(host("the folder of the logs"))?;
        config.files.push(HostFile {
            from: built("weft-guest-agent")?,
            to: "weft-guest-agent".to_owned(),
        });
        let run = RunPaths {
            console: config.logs.join(format!("{}.console", config.name)),
            agent: folder.path().join("agent"),
            host_disk: host_disk::make(folder.path(), &config.files)?,
        };
        let console = Console::new(run.console.clone());
        let errors = config.logs.join(format!("{}.qemu", config.name));
        let error_file = std::fs::File::create(&errors).map_err(host("QEMU's log"))?;
        let listener = UnixListener::bind(&run.agent).map_err(host("the agent's socket"))?;
        listener
            .set_nonblocking(true)
            .map_err(host("the agent's socket"))?;
        let mut qemu = Command::new(images.qemu())
            .args(config.arguments(images, accel, &run))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(error_file)
            .spawn()
            .map_err(host("QEMU"))?;
        let line = match accept(&listener, &mut qemu, start) {
            Some(line) => line,
            None => {
                let _ = qemu.kill();
                let _ = qemu.wait();
                let why = std::fs::read_to_string(&errors).unwrap_or_default();
                let (path, tail) = (console.path().to_owned(), console.tail(TAIL));
                return Err(GuestError::Died {
                    during: String::new(),
                    why,
                    path,
                    tail,
                });
            }
        };
        let commands = Arc::new(Commands::default());
        let reader = line.try_clone().map_err(host("the agent's socket"))?;
        let followed = commands.clone();
        std::thread::spawn(move || followed.follow(reader));
        let mut guest = Guest {
            qemu,
            line,
            commands,
            next_id: 0,
            console,
            boot_time: Duration::ZERO,
            _folder: folder,
        };
        guest.wait_up(start, &errors)?;
        guest.boot_time = start.elapsed();
        Ok(guest)
    }

    fn wait_up(&mut self, start: Instant, errors: &Path) -> Result<(), GuestError> {
        loop {
            let state = self.commands.lock();
            if state.up {
                return Ok(());
            }
            let state = self.commands.wait(state);
            let gone = state.gone;
            drop(state);
            if gone {
                let qemu_said = std::fs::read_to_string(errors).unwrap_or_default();
                return Err(self.died("", &qemu_said));
            }
            if start.elapsed() > BOOT {
                let (path, tail) = (self.console.path().to_owned(), self.console.tail(TAIL));
                return Err(GuestError::NotUp {
                    waited: BOOT,
                    path,
                    tail,
                });
            }
        }
    }

    /// How long the boot took, from QEMU's start to the agent's answer.
    pub fn boot_time(&self) -> Duration {
        self.boot_time
    }

    /// It answers, and its kernel has said nothing bad.
    pub fn is_well(&self) -> bool {
        !self.commands.lock().gone && self.console.bad_news().is_none()
    }

    /// The console's log.
    pub fn console(&self) -> &Console {
        &self.console
    }

    /// Runs a command by the guest's shell, to its end. A command that fails is no error here.
    pub fn run(&mut self, command: &str, limit: Duration) -> Result<Output, GuestError> {
        let running = self.spawn(command)?;
        self.wait(&running, limit)
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub fn must(&mut self, command: &str, limit: Duration) -> Result<String, GuestError> {
        let output = self.run(command, limit)?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(GuestError::Failed {
                command: command.to_owned(),
                output: Box::new(output),
            }),
        }
    }

    /// Starts a command and returns at once.
    pub fn spawn(&mut self, command: &str) -> Result<Running, GuestError> {
        self.next_id += 1;
        let id = self.next_id;
        self.commands.lock().table.insert(id, Progress::default());
        let running = Running {
            id,
            command: command.to_owned(),
            since: Instant::now(),
        };
        self.tell(
            &Request::Start {
                id,
                command: command.to_owned(),
            },
            command,
        )?;
        Ok(running)
    }

    /// Waits for the end of a command; when the limit passes it is killed and that is an error.
    pub fn wait(&mut self, running: &Running, limit: Duration) -> Result<Output, GuestError> {
        let until = Instant::now() + limit;
        loop {
            let mut state = self.commands.lock();
            match state.table.get(&running.id) {
                Some(Progress {
                    status: Some(status),
                    ..
                }) => {
                    let status = *status;
                    let (stdout, stderr) = state.take(running.id);
                    return Ok(Output {
                        status,
                        stdout,
                        stderr,
                        took: running.since.elapsed(),
                    });
                }
                _ if state.gone => {
                    drop(state);
                    return Err(self.died(&running.command, ""));
                }
                _ if Instant::now() > until => {
                    let (stdout, stderr) = state.take(running.id);
                    drop(state);
                    self.kill(running, SIGKILL)?;
                    return Err(GuestError::Timeout {
                        command: running.command.clone(),
                        limit,
                        left: Box::new(Left {
                            stdout,
                            stderr,
                            console: self.console.path().to_owned(),
                            tail: self.console.tail(TAIL),
                        }),
                    });
                }
                _ => drop(self.commands.wait(state)),
            }
        }
    }

    /// Whether a command has ended.
    pub fn ended(&self, running: &Running) -> bool {
        self.commands
            .lock()
            .table
            .get(&running.id)
            .is_none_or(|progress| progress.status.is_some())
    }

    /// What a command has written to standard output until now.
    pub fn output_so_far(&self, running: &Running) -> String {
        let state = self.commands.lock();
        let bytes = state
            .table
            .get(&running.id)
            .map_or(&[][..], |progress| &progress.stdout);
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// Waits until a command has written `text` to standard output; `false` if it ended or the limit passed first.
    pub fn wait_for_output(&self, running: &Running, text: &str, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            if self.output_so_far(running).contains(text) {
                return true;
            }
            let state = self.commands.lock();
            if state.gone || Instant::now() > until || self.commands.has_ended(&state, running.id) {
                drop(state);
                return self.output_so_far(running).contains(text);
            }
            drop(self.commands.wait(state));
        }
    }

    /// Sends a signal to everything that a command started.
    pub fn kill(&mut self, running: &Running, signal: i32) -> Result<(), GuestError> {
        self.tell(
            &Request::Signal {
                id: running.id,
                signal,
            },
            &running.command,
        )
    }

    /// Kills the guest, as pulling its plug.
    pub fn kill_guest(&mut self) {
        // An error says that it has ended by itself.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }

    fn tell(&mut self, request: &Request, command: &str) -> Result<(), GuestError> {
        send(&mut self.line, request).map_err(|_| self.died(command, ""))
    }

    fn died(&self, command: &str, qemu_said: &str) -> GuestError {
        // The console's last lines are written when QEMU ends.
        std::thread::sleep(Duration::from_millis(200));
        let why = match (self.console.bad_news(), qemu_said.trim()) {
            (Some(news), _) => news,
            (None, "") => "QEMU ended".to_owned(),
            (None, said) => said.to_owned(),
        };
        let (path, tail) = (self.console.path().to_owned(), self.console.tail(TAIL));
        GuestError::Died {
            during: command.to_owned(),
            why,
            path,
            tail,
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill_guest();
    }
}

/// Waits for QEMU to connect; `None` when it ended instead.
fn accept(listener: &UnixListener, qemu: &mut Child, start: Instant) -> Option<UnixStream> {
    loop {
        if let Ok((line, _)) = listener.accept() {
            return line.set_nonblocking(false).is_ok().then_some(line);
        }
        let ended = !matches!(qemu.try_wait(), Ok(None));
        if ended || start.elapsed() > BOOT {
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the agent has told, shared with the thread that listens to it.
#[derive(Default)]
struct Commands {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    up: bool,
    gone: bool,
    table: HashMap<u32, Progress>,
}

#[derive(Default)]
struct Progress {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: Option<Status>,
}

impl State {
    fn take(&mut self, id: u32) -> (String, String) {
        let progress = self.table.remove(&id).unwrap_or_default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&progress.stdout), text(&progress.stderr))
    }
}

impl Commands {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until something changed, but not for long: limits are looked at in between.
    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn has_ended(&self, state: &State, id: u32) -> bool {
        state
            .table
            .get(&id)
            .is_none_or(|progress| progress.status.is_some())
    }

    fn follow(&self, mut line: UnixStream) {
        while let Ok(event) = receive(&mut line) {
            let mut state = self.lock();
            match event {
                Event::Hello => state.up = true,
                Event::Output { id, stderr, bytes } => {
                    // Nobody waits any more for a command that is not in the table.
                    if let Some(progress) = state.table.get_mut(&id) {
                        if stderr {
                            &mut progress.stderr
                        } else {
                            &mut progress.stdout
                        }
                        .extend(bytes);
                    }
                }
                Event::Exit { id, status } => {
                    if let Some(progress) = state.table.get_mut(&id) {
                        progress.status = Some(status);
                    }
                }
            }
            self.changed.notify_all();
        }
        self.lock().gone = true;
        self.changed.notify_all();
    }
}
