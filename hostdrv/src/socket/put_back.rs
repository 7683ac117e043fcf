//! A state made a socket.

use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{bind, connect, send, socket, sockopt, AddressFamily, SendFlags, SocketType};
use weft_engine::StreamHandover;

use super::options::{
    set, set_tcp, HandshakeOption, Window, OFF_IN_SILENCE, ON, RECEIVE_QUEUE, SEND_QUEUE,
};
use super::state::address;
use super::{ConnectionState, Refusal};

/// Kinds of TCP's options (RFC 9293 §3.2, RFC 7323, RFC 2018).
const MSS: u32 = 2;
const SCALE: u32 = 3;
const SACK_PERMITTED: u32 = 4;
const TIMESTAMPS: u32 = 8;
/// Bytes that are put into a queue in one call.
const PIECE: usize = 32 << 10;

/// A socket of a connection that was taken out of this stack, or handed over by an engine. The local address has to be one of this
/// namespace. What was under way is sent again as far as the peer does not acknowledge it.
pub fn put_back(state: &ConnectionState) -> Result<TcpStream, Refusal> {
    let state = state.engine();
    let tcp = &state.tcp;
    tcp.check().map_err(Refusal::impossible)?;
    if tcp.peer_closed {
        return Err(Refusal::PeerClosed);
    }
    if tcp.ecn {
        return Err(Refusal::Ecn);
    }
    let made = socket(AddressFamily::INET, SocketType::STREAM, None);
    let made: OwnedFd = made.map_err(|e| Refusal::kernel("a socket")(e.into()))?;
    let fd = made.as_fd();
    set_tcp(fd, libc::TCP_REPAIR, ON).map_err(Refusal::kernel("TCP_REPAIR"))?;
    let room = |bytes: usize| i32::try_from(bytes.max(PIECE) * 2).unwrap_or(i32::MAX);
    for (name, bytes) in [
        (libc::SO_SNDBUFFORCE, tcp.unacknowledged.len()),
        (libc::SO_RCVBUFFORCE, tcp.unread.len()),
    ] {
        // The queues are made as large as what has to lie in them; smaller ones are the kernel's to choose.
        if bytes > PIECE {
            let set = set(fd, libc::SOL_SOCKET, name, &[room(bytes)]);
            set.map_err(Refusal::kernel("the room of a queue"))?;
        }
    }
    for (queue, number) in [
        (SEND_QUEUE, tcp.snd_una),
        (
            RECEIVE_QUEUE,
            tcp.rcv_nxt.wrapping_sub(tcp.unread.len() as u32),
        ),
    ] {
        set_tcp(fd, libc::TCP_REPAIR_QUEUE, queue).map_err(Refusal::kernel("TCP_REPAIR_QUEUE"))?;
        set_tcp(fd, libc::TCP_QUEUE_SEQ, number).map_err(Refusal::kernel("TCP_QUEUE_SEQ"))?;
    }
    let reuse = sockopt::set_socket_reuseaddr(fd, true);
    reuse.map_err(|e| Refusal::kernel("SO_REUSEADDR")(e.into()))?;
    bind(fd, &address(state.local)).map_err(|e| Refusal::kernel("the local address")(e.into()))?;
    // In repair mode it stands at once, and nothing is sent.
    connect(fd, &address(state.remote)).map_err(|e| Refusal::kernel("the peer")(e.into()))?;
    agree(fd, state)?;
    let (sent, unsent) = tcp.unacknowledged.split_at(tcp.flight() as usize);
    fill(fd, RECEIVE_QUEUE, &tcp.unread)?;
    fill(fd, SEND_QUEUE, sent)?;
    let window = Window {
        snd_wl1: tcp.snd_wl1,
        snd_wnd: tcp.snd_wnd,
        max_window: tcp.snd_wnd_max.max(tcp.snd_wnd),
        rcv_wnd: tcp.rcv_edge.wrapping_sub(tcp.rcv_nxt),
        rcv_wup: tcp.rcv_nxt,
    };
    set_tcp(fd, libc::TCP_REPAIR_WINDOW, window).map_err(Refusal::kernel("TCP_REPAIR_WINDOW"))?;
    // What was never sent is a write like any other.
    set_tcp(fd, libc::TCP_REPAIR_QUEUE, 0_i32).map_err(Refusal::kernel("TCP_REPAIR_QUEUE"))?;
    set_tcp(fd, libc::TCP_REPAIR, OFF_IN_SILENCE).map_err(Refusal::kernel("TCP_REPAIR"))?;
    write(fd, unsent)?;
    Ok(made.into())
}

/// What the handshake agreed on.
fn agree(fd: BorrowedFd<'_>, state: &StreamHandover) -> Result<(), Refusal> {
    let tcp = &state.tcp;
    let stamped = if tcp.timestamps.is_some() { 12 } else { 0 };
    let option = |kind, value| HandshakeOption { kind, value };
    let mut options = vec![option(MSS, (tcp.mss + stamped).min(u32::from(u16::MAX)))];
    if let Some((peer, own)) = tcp.scales {
        options.push(option(SCALE, u32::from(peer) | u32::from(own) << 16));
    }
    if tcp.sack {
        options.push(option(SACK_PERMITTED, 0));
    }
    if tcp.timestamps.is_some() {
        options.push(option(TIMESTAMPS, 0));
    }
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_REPAIR_OPTIONS);
    set(fd, level, name, &options).map_err(Refusal::kernel("TCP_REPAIR_OPTIONS"))?;
    if let Some(clock) = tcp.timestamps {
        let set = set_tcp(fd, libc::TCP_TIMESTAMP, clock.now);
        set.map_err(Refusal::kernel("TCP_TIMESTAMP"))?;
    }
    Ok(())
}

fn fill(fd: BorrowedFd<'_>, queue: i32, bytes: &[u8]) -> Result<(), Refusal> {
    set_tcp(fd, libc::TCP_REPAIR_QUEUE, queue).map_err(Refusal::kernel("TCP_REPAIR_QUEUE"))?;
    write(fd, bytes)
}

fn write(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Refusal> {
    while !bytes.is_empty() {
        let piece = &bytes[..bytes.len().min(PIECE)];
        let sent = send(fd, piece, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        let sent = sent.map_err(|e| Refusal::kernel("a queue's bytes")(e.into()))?;
        bytes = &bytes[sent..];
    }
    Ok(())
}
