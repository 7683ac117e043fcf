//! Descriptors that go along with what Unix sockets send.

use std::ffi::c_int;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};

/// Memory of what was sent by this socket and not read, with the descriptors that go along. 0: all was read, or the other end is closed.
pub fn unread(socket: &UnixStream) -> io::Result<usize> {
    let mut bytes: c_int = 0;
    // SAFETY: an open socket, and a number that outlives the call (`SIOCOUTQ`).
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    match done {
        0 => usize::try_from(bytes).map_err(io::Error::other),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whoever connects from now on can send no descriptors: the system refuses them.
///
/// # Errors
/// Linux before 6.16 has no such thing.
pub fn refuse(listener: &UnixListener) -> io::Result<()> {
    const SO_PASSRIGHTS: c_int = 83;
    let (socket, none, bytes) = (listener.as_raw_fd(), 0 as c_int, size_of::<c_int>() as u32);
    // SAFETY: an open socket, and a number that outlives the call.
    let done = unsafe {
        let none = (&raw const none).cast();
        libc::setsockopt(socket, libc::SOL_SOCKET, SO_PASSRIGHTS, none, bytes)
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::Shutdown;

    use super::*;

    #[test]
    fn what_is_sent_lies_there_until_it_is_read_or_nobody_can() {
        let (mut near, mut far) = UnixStream::pair().expect("a pair");
        assert_eq!(unread(&near).ok(), Some(0));
        for _ in 0..2 {
            near.write_all(&[7; 100]).expect("room");
        }
        near.shutdown(Shutdown::Both).expect("possible");
        let both = unread(&near).expect("asked");
        far.read_exact(&mut [0; 100]).expect("sent");
        let one = unread(&near).expect("asked");
        assert!(0 < one && one < both, "{one} of {both}");
        drop(far);
        assert_eq!(unread(&near).ok(), Some(0));
    }
}
