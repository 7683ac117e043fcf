//! The command under test.
#![allow(dead_code, reason = "each test program has its own use of it")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};

/// It, with these arguments, and nothing that the environment says of cards.
pub fn weft(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .env_remove("WEFT_DEVICE")
        .env_remove("WEFT_RUNG");
    command
}

/// What it says, and how it ends.
pub fn run(arguments: &[&str]) -> Output {
    let child = weft(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("weft starts");
    ends(child, &format!("{arguments:?}"))
}

/// Whatever is wrong with it, it ends.
pub fn ends(child: Child, what: &str) -> Output {
    let pid = Pid::from_child(&child);
    let (ended, ends) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        let late = ends.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout);
        late && kill_process(pid, Signal::KILL).is_ok()
    });
    let output = child.wait_with_output().expect("weft ends");
    drop(ended);
    let killed = watch.join().expect("the watch ends");
    assert!(!killed, "{what} does not end");
    output
}

/// A command that runs, when it has said this on standard error.
pub fn running(arguments: &[&str], says: &str) -> (Child, String) {
    let mut child = weft(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("weft starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let mut said = String::new();
    for line in lines.by_ref().map_while(Result::ok) {
        said += &line;
        if line.contains(says) {
            break;
        }
    }
    assert!(said.contains(says), "{said}");
    thread::spawn(move || lines.for_each(drop));
    (child, said)
}

/// Of an output.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder of one test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Functional models that `weft serve` serves, for as long as this lives.
pub struct Served {
    child: Child,
    sockets: Vec<PathBuf>,
}

impl Served {
    /// One, without a network.
    pub fn start(folder: &Path) -> Self {
        Self::with(&[folder.join("card")], &[])
    }

    /// Two, with a link between them.
    pub fn pair(folder: &Path) -> Self {
        let sockets = ["a", "b"].map(|name| folder.join(name));
        Self::with(&sockets, &["--port", "card:1", "--port", "card:0"])
    }

    fn with(sockets: &[PathBuf], more: &[&str]) -> Self {
        let mut command = weft(&["serve", "--quiet", "--card", "model"]);
        for socket in sockets {
            command.arg("--socket").arg(socket);
        }
        let mut child = command
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .expect("weft starts");
        // It listens at all of them when the last one is there.
        let last = sockets.last().expect("a socket");
        while !last.exists() {
            let ended = child.try_wait().expect("asked");
            assert!(ended.is_none(), "no card is served: {ended:?}");
            thread::sleep(Duration::from_millis(5));
        }
        Self {
            child,
            sockets: sockets.to_vec(),
        }
    }

    /// The name of the first.
    pub fn device(&self) -> String {
        self.devices().remove(0)
    }

    /// Their names.
    pub fn devices(&self) -> Vec<String> {
        let name = |socket: &PathBuf| format!("vfio-user:{}", socket.display());
        self.sockets.iter().map(name).collect()
    }

    /// It is gone at once, as by a crash.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}
