//! A descriptor that is hard to let go of.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A descriptor whose last close waits: data that nobody takes, and an hour to linger over them. Who has the other end can end that.
///
/// # Panics
/// If the system has no sockets.
#[must_use]
pub fn lingering() -> (OwnedFd, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = listener.local_addr().expect("an address");
    let socket = TcpStream::connect(to).expect("it listens");
    let (other, _) = listener.accept().expect("it came");
    rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::from_secs(3600)))
        .expect("possible");
    socket.set_nonblocking(true).expect("possible");
    let bytes = [0; 65536];
    while (&socket).write(&bytes).is_ok() {}
    (socket.into(), other)
}
