//! A TCP connection that the kernel's stack makes on the card's own interface, for who takes it over into the card: as a program does that
//! speaks bytes at first.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::peer_error::PeerError;
use crate::interface::NetInterface;
use weft_hostdrv::device::Device;

/// How long the kernel tries to connect.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the loop sleeps before it looks whether it is to stop.
const LOOK_NS: u64 = 10_000_000;

/// The kernel on a card, as long as this lives. Drop it when the connection is taken over: until then the kernel answers ARP.
pub struct ByKernel {
    interface: NetInterface,
}

fn failed(doing: &str, why: impl std::fmt::Display) -> PeerError {
    PeerError::Kernel(format!("{doing}: {why}"))
}

impl ByKernel {
    /// Makes the interface `name` with the card's addresses. It takes root.
    pub fn open(device: &Device, name: &str, prefix: u8) -> Result<Self, PeerError> {
        let interface = NetInterface::open(device, name, Some(prefix));
        let interface = interface.map_err(|error| failed("no interface", error))?;
        Ok(Self { interface })
    }

    /// The kernel listens.
    pub fn listen(&self, port: u16) -> Result<TcpListener, PeerError> {
        let own = self.interface.port().device().ip();
        let listen = || {
            let listener = TcpListener::bind((own, port))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        listen().map_err(|error: io::Error| failed("it does not listen", error))
    }

    /// The first client.
    pub fn accept(
        &mut self,
        listener: &TcpListener,
        stop: &AtomicBool,
    ) -> Result<TcpStream, PeerError> {
        self.until(stop, || match listener.accept() {
            Ok((stream, _)) => Some(Ok(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => Some(Err(failed("it does not accept", error))),
        })?
    }

    /// The kernel connects.
    pub fn connect(&mut self, to: SocketAddrV4, stop: &AtomicBool) -> Result<TcpStream, PeerError> {
        let thread =
            thread::spawn(move || TcpStream::connect_timeout(&SocketAddr::V4(to), PATIENCE));
        self.until(stop, || thread.is_finished().then_some(()))?;
        let stream = thread
            .join()
            .map_err(|_| failed("it does not connect", "its thread has failed"))?;
        stream.map_err(|error| failed("it does not connect", error))
    }

    /// Serves kernel and card until something is there.
    fn until<T>(
        &mut self,
        stop: &AtomicBool,
        mut found: impl FnMut() -> Option<T>,
    ) -> Result<T, PeerError> {
        loop {
            let interface = &mut self.interface;
            let moved = interface.progress();
            let moved = moved.map_err(|error| failed("its interface", error))?;
            if let Some(found) = found() {
                return Ok(found);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(failed("waiting for it", "stopped"));
            }
            if moved == 0 {
                let look = interface.port().device().now().saturating_add(LOOK_NS);
                let waited = interface.wait(Some(look));
                waited.map_err(|error| failed("its interface", error))?;
            }
        }
    }
}
