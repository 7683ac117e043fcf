//! A path for a Unix socket: what a server that ended left there is replaced, and nothing else is.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::Deref;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Bytes that a path may have: it goes into a `sockaddr_un`, with a zero behind it.
const LONGEST: usize = 107;

/// Makes the path free, if it has a socket that nobody listens at.
fn clear(path: &Path, connect: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let bytes = path.as_os_str().len();
    if bytes > LONGEST {
        let reason = format!("a socket's path has at most {LONGEST} bytes, and this one {bytes}");
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if !found.file_type().is_socket() {
        let reason = "it is not a socket; it is left alone, take another path or remove it";
        return Err(io::Error::new(ErrorKind::AlreadyExists, reason));
    }
    match connect() {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error),
        _ => {
            let reason = "a process listens there already; take another path or end that one";
            Err(io::Error::new(ErrorKind::AddrInUse, reason))
        }
    }
}

/// A socket that is bound to a path. When it is dropped the path goes as well, if what is there is still this socket.
#[derive(Debug)]
pub struct Listening<S> {
    socket: S,
    path: PathBuf,
    file: Option<(u64, u64)>,
}

/// What is at a path: its device and inode.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

impl<S> Listening<S> {
    fn at(path: &Path, socket: S) -> Self {
        Self {
            socket,
            path: path.to_owned(),
            file: file_at(path),
        }
    }
}

impl<S> Deref for Listening<S> {
    type Target = S;
    fn deref(&self) -> &S {
        &self.socket
    }
}

impl<S> Drop for Listening<S> {
    fn drop(&mut self) {
        if self.file.is_some() && file_at(&self.path) == self.file {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens for connections, without blocking. Errors: `AddrInUse`, `AlreadyExists` for what is not a socket, and the system's.
pub fn listen(path: &Path) -> io::Result<Listening<UnixListener>> {
    clear(path, || UnixStream::connect(path).map(drop))?;
    let listener = UnixListener::bind(path)?;
    let listening = Listening::at(path, listener);
    listening.set_nonblocking(true)?;
    Ok(listening)
}

/// The same for datagrams.
pub fn bind_datagram(path: &Path) -> io::Result<UnixDatagram> {
    clear(path, || UnixDatagram::unbound()?.connect(path))?;
    let socket = UnixDatagram::bind(path)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_that_nobody_listens_at_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("path");
        let kind = |result: io::Result<Listening<_>>| result.map(drop).map_err(|e| e.kind());
        for _ in 0..2 {
            let listener = listen(&path).expect("free, or left behind");
            let left_behind = folder.path().join("kept");
            fs::rename(&path, &left_behind).expect("there");
            fs::hard_link(&left_behind, &path).expect("there");
            assert_eq!(kind(listen(&path)), Err(ErrorKind::AddrInUse));
            assert!(bind_datagram(&path).is_err());
            drop(listener);
            assert!(!path.exists());
            fs::rename(&left_behind, &path).expect("there");
        }
        drop(bind_datagram(&path).expect("left behind"));
        let socket = bind_datagram(&path).expect("left behind");
        assert!(listen(&path).is_err() && bind_datagram(&path).is_err());
        drop(socket);
        fs::remove_file(&path).expect("there");

        fs::write(&path, "mine").expect("written");
        assert_eq!(kind(listen(&path)), Err(ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&path).expect("there"), b"mine");
        fs::remove_file(&path).expect("there");
        // A name that leads to a socket is no socket.
        let _other = listen(&folder.path().join("other")).expect("free");
        std::os::unix::fs::symlink("other", &path).expect("made");
        assert_eq!(kind(listen(&path)), Err(ErrorKind::AlreadyExists));
        fs::remove_file(&path).expect("there");
        fs::create_dir(&path).expect("made");
        assert_eq!(kind(listen(&path)), Err(ErrorKind::AlreadyExists));
        assert_eq!(kind(listen(&path.join("a/b"))), Err(ErrorKind::NotFound));
    }
}
