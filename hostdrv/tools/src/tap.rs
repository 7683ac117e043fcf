//! A TAP: a network interface of Linux whose wire is this process.
//!
//! What the kernel sends on the interface is read here, what is written here the kernel receives. It
//! takes `/dev/net/tun` and the right to make interfaces (root, or `CAP_NET_ADMIN`).

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

use thiserror::Error;
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// The longest frame that a TAP can pass on.
const MAX_FRAME: usize = 1 << 16;
/// Bytes of an interface's name at most (`IFNAMSIZ` less its zero).
const MAX_NAME: usize = 15;
/// `EIO`: the interface is down.
const EIO: i32 = 5;
/// `EBADFD`: the interface is gone, the file is still open.
const EBADFD: i32 = 77;

/// What went wrong with a TAP.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TapError {
    /// No interface can have this name.
    #[error("an interface cannot be called {0:?}: 1 to {MAX_NAME} bytes, no blank, no slash")]
    Name(String),
    /// It could not be made or set up.
    #[error("cannot open the TAP {name}: {source}; {}", open_advice(source))]
    Open {
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The interface was removed.
    #[error("the TAP {0} is gone: somebody removed the interface")]
    Gone(String),
    /// The kernel refused a frame, or to give one.
    #[error("cannot {action} the TAP {name}: {source}")]
    Frame {
        /// "read from" or "write to".
        action: &'static str,
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
}

fn open_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run as root or with CAP_NET_ADMIN",
        io::ErrorKind::NotFound => "is there /dev/net/tun (modprobe tun)?",
        io::ErrorKind::ResourceBusy => "another process has it open, or it is no TAP",
        io::ErrorKind::InvalidInput => {
            "an interface of this name exists and is no TAP, or a setting is out of range"
        }
        _ => "look at `ip link show`",
    }
}

/// How an interface is to be set up; what is `None` stays as the kernel has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TapConfig {
    /// The interface's own station address.
    pub mac: Option<[u8; 6]>,
    /// Largest IP packet.
    pub mtu: Option<u16>,
    /// IPv4 address and length of its prefix.
    pub ip: Option<(Ipv4Addr, u8)>,
}

/// What became of a frame that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The kernel has it.
    Taken,
    /// The interface is down: the frame is lost.
    Down,
    /// The kernel has no room now: the frame is lost unless it is written again.
    Full,
}

/// An open TAP. Without a process that holds it open the interface goes away, unless it was made
/// beforehand and persists (`ip tuntap add`).
pub struct Tap {
    device: SyncDevice,
    name: String,
}

impl Tap {
    /// Opens the TAP of this name, which is made if there is none, sets it up and turns it on. Frames
    /// have no header before them (`IFF_NO_PI`); calls do not block.
    pub fn open(name: &str, config: &TapConfig) -> Result<Self, TapError> {
        let odd = |c: char| c.is_whitespace() || c == '/' || c == ':' || c == '\0';
        if name.is_empty() || name.len() > MAX_NAME || name.contains(odd) || name.contains('%') {
            return Err(TapError::Name(name.to_owned()));
        }
        let failed = |source| TapError::Open {
            name: name.to_owned(),
            source,
        };
        let mut builder = DeviceBuilder::new()
            .name(name)
            .layer(Layer::L2)
            .packet_information(false)
            .enable(true);
        if let Some(mac) = config.mac {
            builder = builder.mac_addr(mac);
        }
        if let Some(mtu) = config.mtu {
            builder = builder.mtu(mtu);
        }
        if let Some((address, prefix)) = config.ip {
            builder = builder.ipv4(address, prefix, None);
        }
        let device = builder.build_sync().map_err(failed)?;
        device.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            device,
            name: name.to_owned(),
        })
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The interface's station address.
    pub fn mac(&self) -> Result<[u8; 6], TapError> {
        self.device.mac_address().map_err(|e| self.error("ask", e))
    }

    /// The next frame that the kernel sends, without FCS; `None`: there is none now.
    pub fn read_frame(&self) -> Result<Option<Vec<u8>>, TapError> {
        let mut buffer = [0; MAX_FRAME];
        loop {
            match self.device.recv(&mut buffer) {
                Ok(length) => return Ok(Some(buffer[..length].to_vec())),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error("read from", e)),
            }
        }
    }

    /// Gives the kernel a frame, without FCS, as received.
    pub fn write_frame(&self, frame: &[u8]) -> Result<Written, TapError> {
        loop {
            match self.device.send(frame) {
                Ok(_) => return Ok(Written::Taken),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(Written::Full),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.raw_os_error() == Some(EIO) => return Ok(Written::Down),
                Err(e) => return Err(self.error("write to", e)),
            }
        }
    }

    fn error(&self, action: &'static str, source: io::Error) -> TapError {
        let name = self.name.clone();
        match source.raw_os_error() {
            Some(EBADFD) => TapError::Gone(name),
            _ => TapError::Frame {
                action,
                name,
                source,
            },
        }
    }
}

impl AsFd for Tap {
    /// Readable when there is a frame; in error when the interface is gone.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").field("name", &self.name).finish()
    }
}
