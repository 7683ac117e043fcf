//! The command under test.

use std::process::{Command, Output, Stdio};
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
    let pid = Pid::from_child(&child);
    let (ended, ends) = mpsc::channel::<()>();
    // Whatever is wrong with the arguments, it ends.
    let watch = thread::spawn(move || {
        let late = ends.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout);
        late && kill_process(pid, Signal::KILL).is_ok()
    });
    let output = child.wait_with_output().expect("weft ends");
    drop(ended);
    let killed = watch.join().expect("the watch ends");
    assert!(!killed, "{arguments:?} does not end");
    output
}

/// Of an output.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
