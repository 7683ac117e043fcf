//! Runs in the guest: takes commands from the host over a serial line, runs them side by side, sends back what they
//! write and how they end.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{kill_process_group, Pid, Signal};
use rustix::termios::{tcgetattr, tcsetattr, OptionalActions};
use weft_lanes::agent::{receive, send, Event, Request, Status};

/// How long the output of an ended command is waited for: something that it left in the background may hold it open.
const DRAIN: Duration = Duration::from_millis(300);

type Line = Arc<Mutex<File>>;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("weft-guest-agent: which serial line?");
        return ExitCode::FAILURE;
    };
    match File::options()
        .read(true)
        .write(true)
        .open(&path)
        .and_then(serve)
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft-guest-agent: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn serve(mut line: File) -> io::Result<()> {
    let mut settings = tcgetattr(&line)?;
    settings.make_raw();
    tcsetattr(&line, OptionalActions::Flush, &settings)?;
    let answers: Line = Arc::new(Mutex::new(line.try_clone()?));
    tell(&answers, &Event::Hello);
    let groups = Arc::new(Mutex::new(HashMap::new()));
    loop {
        match receive(&mut line)? {
            Request::Start { id, command } => start(id, &command, &answers, &groups),
            Request::Signal { id, signal } => {
                let group = groups
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get(&id)
                    .copied();
                if let (Some(group), Some(signal)) = (group, Signal::from_named_raw(signal)) {
                    // Nobody is left to hear it when the group is empty by now.
                    let _ = kill_process_group(group, signal);
                }
            }
        }
    }
}

fn start(id: u32, command: &str, answers: &Line, groups: &Arc<Mutex<HashMap<u32, Pid>>>) {
    let child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            let bytes = format!("weft-guest-agent: /bin/sh: {error}\n").into_bytes();
            tell(
                answers,
                &Event::Output {
                    id,
                    stderr: true,
                    bytes,
                },
            );
            tell(
                answers,
                &Event::Exit {
                    id,
                    status: Status::Code(127),
                },
            );
            return;
        }
    };
    groups
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id, Pid::from_child(&child));
    let (answers, groups) = (answers.clone(), groups.clone());
    std::thread::spawn(move || {
        follow(id, child, &answers);
        groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
    });
}

fn follow(id: u32, mut child: Child, answers: &Line) {
    let (done, drained) = channel();
    if let Some(stdout) = child.stdout.take() {
        pass_on(id, false, stdout, answers.clone(), done.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        pass_on(id, true, stderr, answers.clone(), done);
    }
    let status = match child.wait() {
        Ok(status) => match status.signal() {
            Some(signal) => Status::Signal(signal),
            None => Status::Code(status.code().unwrap_or(-1)),
        },
        Err(_) => Status::Code(-1),
    };
    // Both outputs; an error means that both have ended.
    let _ = drained
        .recv_timeout(DRAIN)
        .and_then(|()| drained.recv_timeout(DRAIN));
    tell(answers, &Event::Exit { id, status });
}

fn pass_on(
    id: u32,
    stderr: bool,
    mut from: impl Read + Send + 'static,
    answers: Line,
    done: Sender<()>,
) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            tell(
                &answers,
                &Event::Output {
                    id,
                    stderr,
                    bytes: buffer[..length].to_vec(),
                },
            );
        }
        let _ = done.send(());
    });
}

fn tell(answers: &Line, event: &Event) {
    let mut line = answers.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = send(&mut *line, event) {
        eprintln!("weft-guest-agent: the host cannot be told: {error}");
    }
}
