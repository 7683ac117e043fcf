//! The reader's shell: one for a page, so that what it exports and starts is there for the commands that follow.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{kill_process_group, Pid, Signal};

/// After this a command hangs: the slowest one builds a project.
const PATIENCE: Duration = Duration::from_secs(1800);
const END: &str = "the command has ended with status ";

pub struct Shell {
    bash: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Shell {
    pub fn start(folder: &Path) -> Self {
        let weft = PathBuf::from(env!("CARGO_BIN_EXE_weft"));
        let programs = weft.parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("WEFT_")
                || ["RUST_LOG", "RUST_BACKTRACE", "RUSTFLAGS"].contains(&&*name)
            {
                command.env_remove(&*name);
            }
        }
        let mut bash = command
            .args(["--noprofile", "--norc"])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", programs.display()))
            // What is built for one page need not be built from nothing.
            .env("CARGO_TARGET_DIR", programs.parent().expect("a folder"))
            .env("CARGO_TERM_COLOR", "never")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let mut input = bash.stdin.take().expect("piped");
        writeln!(input, "exec 2>&1").expect("it listens");
        let output = BufReader::new(bash.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { bash, input, lines }
    }

    /// What the command says, and its status. One that goes on beside the shell (`&`) is waited for until it has said what is `enough`.
    pub fn run(&mut self, command: &str, enough: impl Fn(&str) -> bool) -> (String, i32) {
        let beside = command.ends_with('&');
        let input = format!("{command}\nprintf '{END}%s\\n' \"$?\"\n");
        self.input
            .write_all(input.as_bytes())
            .expect("bash listens");
        let (mut said, mut status) = (String::new(), None);
        let patience = if beside {
            Duration::from_secs(20)
        } else {
            PATIENCE
        };
        while status.is_none() || (beside && !enough(&said)) {
            let line = match self.lines.recv_timeout(patience) {
                Ok(line) => line,
                // The page shows what it does not say: the difference is told.
                Err(RecvTimeoutError::Timeout) if beside => break,
                Err(error) => panic!("`{command}`: {error}; it said\n{said}"),
            };
            if let Some(at) = line.find(END) {
                said += &line[..at];
                status = line[at + END.len()..].parse().ok();
            } else if !progress(&line) {
                said += &format!("{line}\n");
            }
        }
        if !said.is_empty() && !said.ends_with('\n') {
            said.push('\n');
        }
        (said, status.unwrap_or(-1))
    }
}

/// `weft: 1 of 12: ..`: how far it is, which a terminal shows as a bar.
fn progress(line: &str) -> bool {
    let words: Vec<_> = line.split(' ').take(4).collect();
    matches!(words[..], ["weft:", _, "of", count] if count.ends_with(':'))
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Its own group: with it go the cards that it serves.
        let _ = kill_process_group(Pid::from_child(&self.bash), Signal::KILL);
        let _ = self.bash.wait();
    }
}
