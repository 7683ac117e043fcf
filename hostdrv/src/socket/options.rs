//! Socket options of Linux that no crate has: TCP_REPAIR and what belongs to it.

use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Values of TCP_REPAIR_QUEUE.
pub(super) const RECEIVE_QUEUE: i32 = 1;
/// The other one.
pub(super) const SEND_QUEUE: i32 = 2;
/// Values of TCP_REPAIR.
pub(super) const ON: i32 = 1;
/// Off, and no window probe is sent.
pub(super) const OFF_IN_SILENCE: i32 = -1;

/// `struct tcp_repair_window`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub snd_wl1: u32,
    pub snd_wnd: u32,
    pub max_window: u32,
    pub rcv_wnd: u32,
    pub rcv_wup: u32,
}

/// `struct tcp_repair_opt`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct HandshakeOption {
    pub kind: u32,
    pub value: u32,
}

/// The begin of `struct tcp_info`, up to the path's MTU.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    pub state: u8,
    pub ca_state: u8,
    pub retransmits: u8,
    pub probes: u8,
    pub backoff: u8,
    pub options: u8,
    /// Shift of the peer's windows in the low four bits, of ours in the high ones.
    pub scales: u8,
    pub flags: u8,
    pub words: [u32; 13],
    pub pmtu: u32,
}

/// What may be read from an option or written to one: plain numbers without padding.
///
/// # Safety
/// Any bytes are a value, and a value has no bytes that are not set.
pub(super) unsafe trait Plain: Copy {}
// SAFETY: integers, and `repr(C)` structures of them whose fields leave no gaps.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above: five words.
unsafe impl Plain for Window {}
// SAFETY: as above: two words.
unsafe impl Plain for HandshakeOption {}
// SAFETY: as above: eight octets, then words.
unsafe impl Plain for Info {}
// SAFETY: octets.
unsafe impl<const N: usize> Plain for [u8; N] {}

/// Reads an option; how many bytes of the value the kernel has written.
fn read<T: Plain>(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: T,
) -> io::Result<(T, usize)> {
    let mut value = MaybeUninit::new(value);
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes no more than `length` bytes to the value, which is that long, and any bytes are a value.
    let (result, value) = unsafe {
        let to = value.as_mut_ptr().cast();
        let result = libc::getsockopt(socket.as_raw_fd(), level, name, to, &mut length);
        (result, value.assume_init())
    };
    match result {
        0 => Ok((value, length as usize)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// An option that has this value.
pub(super) fn get<T: Plain + Default>(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
) -> io::Result<T> {
    match read(socket, level, name, T::default())? {
        (value, length) if length == size_of::<T>() => Ok(value),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// TCP's option of this name.
pub(super) fn tcp<T: Plain + Default>(socket: BorrowedFd<'_>, name: i32) -> io::Result<T> {
    get(socket, libc::IPPROTO_TCP, name)
}

/// Sets an option.
pub(super) fn set<T: Plain>(
    socket: BorrowedFd<'_>,
    level: i32,
    name: i32,
    value: &[T],
) -> io::Result<()> {
    let length = size_of_val(value) as libc::socklen_t;
    let from = value.as_ptr().cast();
    // SAFETY: the kernel reads `length` bytes, all of which are there and set.
    match unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, from, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets TCP's option of this name.
pub(super) fn set_tcp<T: Plain>(socket: BorrowedFd<'_>, name: i32, value: T) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, name, &[value])
}

/// What is attached to the connection (TCP_ULP): a name, or nothing.
pub(super) fn upper_protocol(socket: BorrowedFd<'_>) -> io::Result<Option<String>> {
    let (name, length) = read(socket, libc::IPPROTO_TCP, libc::TCP_ULP, [0_u8; 16])?;
    let name = name[..length.min(16)].split(|c| *c == 0).next();
    let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
    Ok((!name.is_empty()).then_some(name))
}

/// A count of bytes that an ioctl tells.
pub(super) fn count(socket: BorrowedFd<'_>, request: libc::c_ulong) -> io::Result<u32> {
    let mut value = 0_i32;
    // SAFETY: these requests write one `int`.
    match unsafe { libc::ioctl(socket.as_raw_fd(), request as _, &mut value) } {
        0 => Ok(u32::try_from(value).unwrap_or(0)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The connection is over for all who have the socket; with TCP_REPAIR on nothing is sent.
pub(super) fn dissolve(socket: BorrowedFd<'_>) -> io::Result<()> {
    let address = libc::sockaddr {
        sa_family: libc::AF_UNSPEC as libc::sa_family_t,
        sa_data: [0; 14],
    };
    let length = size_of::<libc::sockaddr>() as libc::socklen_t;
    // SAFETY: an address of `length` bytes.
    match unsafe { libc::connect(socket.as_raw_fd(), &address, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
