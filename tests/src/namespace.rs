//! Network namespaces: stacks of this machine's kernel that know nothing of each other, for tests that join them
//! through simulated cards.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

/// A network namespace; it goes when this and everything in it is gone.
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new one, with nothing in it. `None`, and a line on standard error past the test's capture, if this process
    /// may not make one, or a tool is missing.
    pub fn new() -> Option<Self> {
        match Self::make() {
            Ok(namespace) => Some(namespace),
            Err(why) => {
                skipped(&format!("needs root, /dev/net/tun, ip and ping: {why}"));
                None
            }
        }
    }

    fn make() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("this is not root".into());
        }
        if !Path::new("/dev/net/tun").exists() {
            return Err("there is no /dev/net/tun".into());
        }
        for (tool, argument) in [("ip", "-V"), ("ping", "-V"), ("unshare", "-V")] {
            let run = Command::new(tool).arg(argument).output();
            run.map_err(|e| format!("{tool}: {e}"))?;
        }
        // A process that does nothing but live there until the namespace's file is open.
        let mut holder = Command::new("unshare")
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| format!("unshare: {e}"))?;
        let path = format!("/proc/{}/ns/net", holder.id());
        let link = |path: &str| std::fs::read_link(path).map_err(|e| format!("{path}: {e}"));
        let (own, start) = (link("/proc/self/ns/net")?, Instant::now());
        while link(&path)? == own {
            if start.elapsed() > Duration::from_secs(5)
                || holder.try_wait().is_ok_and(|s| s.is_some())
            {
                let _ = holder.kill();
                let _ = holder.wait();
                return Err("unshare --net makes no namespace".into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        let file = File::open(&path).map_err(|e| format!("{path}: {e}"));
        drop(holder.stdin.take());
        let _ = holder.wait();
        let namespace = Self { file: file? };
        namespace.ip("link set lo up");
        Ok(namespace)
    }

    /// Runs something in a thread of its own that lives in the namespace: sockets and TAPs that it opens belong to it,
    /// and so do the processes that it starts.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let file = self.file.try_clone().expect("a file more");
        thread::spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                .expect("root may enter a namespace");
            work()
        })
    }

    /// The same, and waits for its end.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self.spawn(work).join() {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs `ip` with these arguments; what it printed.
    ///
    /// # Panics
    /// If it fails.
    pub fn ip(&self, arguments: &str) -> String {
        let arguments = arguments.to_owned();
        self.run(move || {
            let output = Command::new("ip")
                .args(arguments.split_whitespace())
                .output();
            let output = output.unwrap_or_else(|e| panic!("ip {arguments}: {e}"));
            let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "ip {arguments}: {err}");
            String::from_utf8_lossy(out).into_owned()
        })
    }
}

/// Two namespaces, and what joins them as long as it is made to.
pub trait Joined {
    /// The namespaces.
    fn spaces(&self) -> &[Namespace; 2];

    /// Frames pass until something is there.
    ///
    /// # Panics
    /// With `what` if that takes too long.
    fn until<T>(&mut self, what: &str, found: impl FnMut() -> Option<T>) -> T;

    /// A connection to this address of space 1: the end in space 0, and that in space 1. Neither blocks.
    ///
    /// # Panics
    /// If there is none.
    fn connect(&mut self, to: SocketAddr) -> [TcpStream; 2] {
        let listener = self.spaces()[1].run(move || TcpListener::bind(to).expect("bind"));
        let client = self.spaces()[0].spawn(move || TcpStream::connect(to).expect("connect"));
        self.until("the connection", || client.is_finished().then_some(()));
        // The handshake's last segment may still be on its way.
        listener.set_nonblocking(true).expect("set");
        let (server, _) = self.until("the connection", || listener.accept().ok());
        let client = client.join().expect("the client");
        for stream in [&client, &server] {
            stream.set_nonblocking(true).expect("set");
        }
        [client, server]
    }

    /// Reads so many bytes of a stream that does not block, while frames pass.
    ///
    /// # Panics
    /// If the stream ends with an error.
    fn read(&mut self, stream: &mut TcpStream, length: usize) -> Vec<u8> {
        let mut all = Vec::new();
        self.until("bytes", || {
            let mut buffer = [0; 4096];
            let most = buffer.len().min(length - all.len());
            match stream.read(&mut buffer[..most]) {
                Ok(count) => all.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("after {} bytes: {error}", all.len()),
            }
            (all.len() == length).then_some(())
        });
        all
    }
}

/// Says on standard error, past the test's capture, that a test was skipped.
pub fn skipped(why: &str) {
    let name = thread::current().name().unwrap_or("test").to_owned();
    let _ = writeln!(io::stderr(), "\n*** {name}: skipped: {why} ***");
}
