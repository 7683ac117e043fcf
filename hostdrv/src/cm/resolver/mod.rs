//! A resolver service: somebody on this host who knows the cluster, asked over a Unix socket (as librdmacm asks ibacm).
//!
//! Question and answer are records of one message each, behind two bytes of length; both end with a CRC32C. One connection has one question,
//! or one thing that the resolver is told.

mod message;
mod table;

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::addr_info::AddrInfo;
pub use message::{answer_bytes, answer_from_bytes, Question, Station, Told};
pub use message::{read_message, write_message};
pub use table::{Elsewhere, Table, TableError};

// Environment (programs): `WEFT_RESOLVER`: the socket of the resolver that `get_addr_info` asks first, and that is told who listens
// (docs/cm.md#a-resolver), or `off`. Without it: `/run/weft/resolver.sock`.
/// The environment variable that names the resolver's socket, or says `off`.
pub const RESOLVER_VARIABLE: &str = "WEFT_RESOLVER";
/// Where the socket is unless something says otherwise.
pub const RESOLVER_SOCKET: &str = "/run/weft/resolver.sock";

/// A resolver that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(1);

/// A stream until some time: all that is read and written together takes no longer.
pub struct Until<'s> {
    stream: &'s UnixStream,
    until: Instant,
}

impl<'s> Until<'s> {
    /// For so long from now on.
    pub fn after(stream: &'s UnixStream, time: Duration) -> Self {
        let until = Instant::now() + time;
        Self { stream, until }
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The socket to ask at; `None`: nobody is to be asked.
pub(super) fn socket(wanted: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = wanted {
        return Some(path.to_owned());
    }
    match std::env::var_os(RESOLVER_VARIABLE) {
        None => Some(RESOLVER_SOCKET.into()),
        Some(value) if value.is_empty() || value == "off" => None,
        Some(path) => Some(path.into()),
    }
}

/// Asks. `None`: there is no resolver, or what it says is none; an empty answer: it does not know. Then whoever asks finds the way himself.
pub(super) fn ask(socket: &Path, question: &Question) -> Option<Vec<AddrInfo>> {
    let asked = || -> io::Result<Vec<u8>> {
        let message = question.to_bytes().ok_or(io::ErrorKind::InvalidInput)?;
        let stream = connect(socket)?;
        let mut stream = Until::after(&stream, PATIENCE);
        write_message(&mut stream, &message)?;
        read_message(&mut stream)
    };
    let answer = said(socket, asked())?;
    answer_from_bytes(&answer)
        .inspect_err(|error| tracing::warn!(socket = %socket.display(), %error, "the resolver's answer is malformed"))
        .ok()
}

/// Tells it something, if it is there, without waiting for it.
pub(super) fn tell(socket: &Path, what: Told) {
    let told = || {
        write_message(
            &mut Until::after(&connect(socket)?, PATIENCE),
            &what.to_bytes(),
        )
    };
    said(socket, told());
}

/// The same, and waits until it has heard: then it closes.
pub(super) fn tell_whole(socket: &Path, what: Told) {
    let told = || {
        let stream = connect(socket)?;
        let mut stream = Until::after(&stream, PATIENCE);
        write_message(&mut stream, &what.to_bytes())?;
        stream.read(&mut [0])
    };
    said(socket, told());
}

/// To a resolver that takes its askers: where too many wait already it is none.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    net::connect(&fd, &SocketAddrUnix::new(socket)?)?;
    let stream = UnixStream::from(fd);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// What became of that, an error in the log.
fn said<T>(socket: &Path, result: io::Result<T>) -> Option<T> {
    let socket = socket.display();
    let log = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            tracing::debug!(%socket, %error, "no resolver");
        }
        _ => tracing::warn!(%socket, %error, "the resolver does not answer"),
    };
    result.inspect_err(log).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One who sends a byte now and then is heard no longer than one who sends nothing.
    #[test]
    fn a_trickle_has_an_end() {
        let (here, there) = UnixStream::pair().expect("a pair");
        let trickle = std::thread::spawn(move || {
            // A message of 512 bytes, which never comes to its end.
            let bytes = [2].into_iter().chain([0].into_iter().cycle());
            for byte in bytes {
                if (&there).write(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let mut until = Until::after(&here, Duration::from_millis(50));
        let heard = read_message(&mut until).expect_err("too slow");
        let kinds = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        assert!(kinds.contains(&heard.kind()), "{heard}");
        drop(here);
        trickle.join().expect("it ends");
    }
}
