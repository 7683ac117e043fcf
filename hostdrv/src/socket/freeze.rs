//! A socket stopped, and its state.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::{getpeername, getsockname, recv, sockopt, RecvFlags, SocketAddrAny};
use weft_engine::{Endpoint, Handover, StreamHandover, Timestamps};

use super::options::{
    count, dissolve, get, set_tcp, tcp, upper_protocol, Info, Window, OFF_IN_SILENCE, ON,
    RECEIVE_QUEUE, SEND_QUEUE,
};
use super::{ConnectionState, Refusal};

/// Linux' numbers of states.
const ESTABLISHED: u8 = 1;
const CLOSE_WAIT: u8 = 8;
/// Bits of `tcpi_options`.
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALE: u8 = 4;
const ECN: u8 = 8;
/// ECN was seen; there were data in the SYN: nothing that goes on.
const PASSING: u8 = 16 | 32;
/// Since Linux 6.7, not yet in the crate: authentication by RFC 5925.
const TCP_AO_INFO: i32 = 40;
/// Bytes that were not sent.
const SIOCOUTQNSD: libc::c_ulong = 0x894b;
/// Times that the state is read before it counts as moving.
const TRIES: usize = 5;

/// A socket that does nothing: it neither sends nor takes calls. Dropping it lets the socket go on.
#[derive(Debug)]
pub struct Frozen<'a> {
    socket: BorrowedFd<'a>,
    state: ConnectionState,
    gone: bool,
}

impl<'a> Frozen<'a> {
    /// Stops a socket and reads its state.
    pub fn new<S: AsFd>(socket: &'a S) -> Result<Self, Refusal> {
        let socket = socket.as_fd();
        check_kind(socket)?;
        let info: Info = tcp(socket, libc::TCP_INFO).map_err(Refusal::kernel("TCP_INFO"))?;
        check_state(&info)?;
        set_tcp(socket, libc::TCP_REPAIR, ON).map_err(Refusal::kernel("TCP_REPAIR"))?;
        // From here on its drop lets the socket go on.
        let mut frozen = Frozen {
            socket,
            state: ConnectionState::default(),
            gone: false,
        };
        for _ in 0..TRIES {
            if let Some(state) = read(socket)? {
                state.tcp.check().map_err(Refusal::impossible)?;
                frozen.state = ConnectionState::of_engine(state);
                return Ok(frozen);
            }
        }
        Err(Refusal::Moving)
    }

    /// Its state.
    pub fn state(&self) -> &ConnectionState {
        &self.state
    }

    /// The connection leaves the kernel. Nothing is sent; whoever has the socket finds it aborted (ECONNABORTED).
    pub fn leave(mut self) -> Result<ConnectionState, Refusal> {
        dissolve(self.socket).map_err(Refusal::kernel("the connection's end"))?;
        self.gone = true;
        Ok(std::mem::take(&mut self.state))
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let queue = set_tcp(self.socket, libc::TCP_REPAIR_QUEUE, 0_i32);
        let off = set_tcp(self.socket, libc::TCP_REPAIR, OFF_IN_SILENCE);
        if let (Err(error), false) = (queue.and(off), self.gone) {
            tracing::error!(%error, "a socket stays frozen");
        }
    }
}

fn check_kind(socket: BorrowedFd<'_>) -> Result<(), Refusal> {
    let option = |name| get::<i32>(socket, libc::SOL_SOCKET, name);
    let is = (
        option(libc::SO_DOMAIN).ok(),
        option(libc::SO_TYPE).ok(),
        option(libc::SO_PROTOCOL).ok(),
    );
    let tcp = (
        Some(libc::AF_INET),
        Some(libc::SOCK_STREAM),
        Some(libc::IPPROTO_TCP),
    );
    match is == tcp {
        true => Ok(()),
        false => Err(Refusal::NotTcp),
    }
}

fn check_state(info: &Info) -> Result<(), Refusal> {
    match info.state {
        ESTABLISHED | CLOSE_WAIT => Ok(()),
        state => Err(Refusal::NotEstablished { state }),
    }
}

/// All that is TCP's alone.
fn check_rest(socket: BorrowedFd<'_>, info: &Info) -> Result<(), Refusal> {
    check_state(info)?;
    let name = upper_protocol(socket).map_err(Refusal::kernel("TCP_ULP"))?;
    if let Some(name) = name {
        return Err(Refusal::UpperProtocol { name });
    }
    let known = TIMESTAMPS | SACK | WINDOW_SCALE | ECN | PASSING;
    if info.options & !known != 0 {
        let bits = info.options & !known;
        return Err(Refusal::UnknownOptions { bits });
    }
    // Kernels without it say that there is no such option, those with it that there is none on this socket.
    if get::<[u8; 32]>(socket, libc::IPPROTO_TCP, TCP_AO_INFO).is_ok() {
        return Err(Refusal::Authenticated);
    }
    match has_urgent_data(socket).map_err(Refusal::kernel("urgent data"))? {
        true => Err(Refusal::UrgentData),
        false => Ok(()),
    }
}

/// Did the peer announce urgent data that nobody has read past?
fn has_urgent_data(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let inline = sockopt::socket_oobinline(socket)?;
    let unread = |inline: bool| {
        sockopt::set_socket_oobinline(socket, inline)?;
        count(socket, libc::FIONREAD)
    };
    // Out of line, what can be read ends before the mark.
    let differs = unread(true)? != unread(false)?;
    // Here also a mark whose byte has not come. In repair mode nothing but looking is possible.
    let mut byte = [0; 1];
    let looked = recv(socket, &mut byte, RecvFlags::OOB | RecvFlags::PEEK);
    sockopt::set_socket_oobinline(socket, inline)?;
    let announced = !matches!(looked, Err(rustix::io::Errno::INVAL));
    Ok(differs || announced)
}

/// The numbers that must be the same before and behind the reading of the queues.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Numbers {
    snd_end: u32,
    rcv_nxt: u32,
    unacknowledged: u32,
    /// At most those that were never sent: a timer of the kernel's that fires while the send queue is chosen takes what it would send for
    /// sent (`tcp_write_xmit` in repair mode). Such bytes are sent again as lost ones are.
    unsent: u32,
    unread: u32,
    window: Window,
    state: u8,
}

fn numbers(socket: BorrowedFd<'_>) -> io::Result<Numbers> {
    let sequence = |queue: i32| {
        set_tcp(socket, libc::TCP_REPAIR_QUEUE, queue)?;
        tcp::<u32>(socket, libc::TCP_QUEUE_SEQ)
    };
    Ok(Numbers {
        snd_end: sequence(SEND_QUEUE)?,
        rcv_nxt: sequence(RECEIVE_QUEUE)?,
        unacknowledged: count(socket, libc::TIOCOUTQ)?,
        unsent: count(socket, SIOCOUTQNSD)?,
        unread: count(socket, libc::FIONREAD)?,
        window: tcp(socket, libc::TCP_REPAIR_WINDOW)?,
        state: tcp::<Info>(socket, libc::TCP_INFO)?.state,
    })
}

/// The bytes of a queue. `None`: not as many as there should be.
fn queue(socket: BorrowedFd<'_>, queue: i32, length: u32) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; length as usize];
    if length == 0 {
        return Ok(Some(bytes));
    }
    set_tcp(socket, libc::TCP_REPAIR_QUEUE, queue)?;
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    let found = match recv(socket, &mut bytes[..], flags) {
        Ok((_, found)) => found,
        Err(rustix::io::Errno::AGAIN) => 0,
        Err(error) => return Err(error.into()),
    };
    Ok((found == bytes.len()).then_some(bytes))
}

/// The state of a socket in repair mode. `None`: it has changed meanwhile.
fn read(socket: BorrowedFd<'_>) -> Result<Option<StreamHandover>, Refusal> {
    let info: Info = tcp(socket, libc::TCP_INFO).map_err(Refusal::kernel("TCP_INFO"))?;
    check_rest(socket, &info)?;
    let before = numbers(socket).map_err(Refusal::kernel("the sequence numbers"))?;
    let length = before.unacknowledged;
    let sent = queue(socket, SEND_QUEUE, length).map_err(Refusal::kernel("the send queue"))?;
    let received = queue(socket, RECEIVE_QUEUE, before.unread);
    let received = received.map_err(Refusal::kernel("the receive queue"))?;
    let behind = numbers(socket).map_err(Refusal::kernel("the sequence numbers"))?;
    let (Some(unacknowledged), Some(unread)) = (sent, received) else {
        return Ok(None);
    };
    if before != behind || behind.state != info.state {
        return Ok(None);
    }
    let agreed = |bit| info.options & bit != 0;
    let timestamps = if agreed(TIMESTAMPS) { 12 } else { 0 };
    // In repair mode it is what the peer said, without what the options take.
    let said: u32 = tcp(socket, libc::TCP_MAXSEG).map_err(Refusal::kernel("TCP_MAXSEG"))?;
    let now: u32 = tcp(socket, libc::TCP_TIMESTAMP).map_err(Refusal::kernel("TCP_TIMESTAMP"))?;
    let window = before.window;
    Ok(Some(StreamHandover {
        local: endpoint(getsockname(socket).map(Some))?,
        remote: endpoint(getpeername(socket))?,
        tcp: Handover {
            snd_una: before.snd_end.wrapping_sub(before.unacknowledged),
            snd_nxt: before.snd_end.wrapping_sub(before.unsent),
            snd_wnd: window.snd_wnd,
            snd_wnd_max: window.max_window,
            snd_wl1: window.snd_wl1,
            rcv_nxt: before.rcv_nxt,
            rcv_edge: window.rcv_wup.wrapping_add(window.rcv_wnd),
            mss: said
                .min(info.pmtu.saturating_sub(40))
                .saturating_sub(timestamps),
            scales: agreed(WINDOW_SCALE).then_some((info.scales & 15, info.scales >> 4)),
            sack: agreed(SACK),
            // The kernel does not tell TS.Recent.
            timestamps: agreed(TIMESTAMPS).then_some(Timestamps { now, recent: None }),
            ecn: agreed(ECN),
            peer_closed: info.state == CLOSE_WAIT,
            unacknowledged,
            unread,
        },
    }))
}

fn endpoint(address: rustix::io::Result<Option<SocketAddrAny>>) -> Result<Endpoint, Refusal> {
    let address = address.map_err(|e| Refusal::kernel("the address")(e.into()))?;
    match address.map(SocketAddr::try_from) {
        Some(Ok(SocketAddr::V4(address))) => Ok(Endpoint {
            ip: address.ip().octets(),
            port: address.port(),
        }),
        _ => Err(Refusal::NotTcp),
    }
}
