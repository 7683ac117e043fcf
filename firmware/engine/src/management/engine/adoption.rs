//! A stream taken over from another stack, and handed to one.

use alloc::boxed::Box;
use alloc::vec;

use weft_tcp::handover::{Handover, Timestamps};
use weft_tcp::sender::Sender;

use super::Engine;
use crate::card::port::Port;
use crate::connection::conn::{sender_settings, Phase, Role, TcpState, NEVER};
use crate::interface::cm::{ConnId, StreamHandover};
use crate::interface::error::Error;
use crate::interface::verbs::{QpId, Sge};

impl Engine {
    /// Takes a stream apart that stands and that this side has not closed. Nothing is sent: for the peer nothing has happened. The
    /// connection is gone without an event, and its queue pair is free for another one; its ring may be given back when the jobs posted so
    /// far are done. From now on until the stream is somewhere else, segments of it must not reach an engine that would answer by RST.
    pub fn hand_over<P: Port>(
        &mut self,
        now: u64,
        conn: ConnId,
        port: &mut P,
    ) -> Result<StreamHandover, Error> {
        let slot = self.slot_of(conn)?;
        let found = self.standing(slot)?;
        let becomes_mpa = found
            .byte_stream
            .as_ref()
            .is_some_and(|b| b.stream_to_mpa.is_some());
        if found.phase != Phase::Established || found.tcp != TcpState::Open || becomes_mpa {
            return Err(Error::WrongConnectionState);
        }
        let mut state = StreamHandover {
            local: found.local,
            remote: found.remote,
            tcp: Handover::default(),
        };
        let mut read = Ok(());
        self.with(now, slot, port, |link| {
            let conn = &*link.conn;
            let tcp = &mut state.tcp;
            conn.sender.hand_over(tcp);
            tcp.rcv_nxt = conn.rcv_nxt();
            tcp.rcv_edge = conn.right_edge();
            tcp.scales = (conn.peer_scale != u8::MAX).then_some((conn.peer_scale, conn.scale));
            tcp.timestamps = conn.timestamps.then(|| Timestamps {
                now: link.ts_val(),
                recent: conn.ts_is_valid(now).then_some(conn.ts_recent),
            });
            tcp.ecn = conn.ecn.agreed;
            tcp.peer_closed = conn.peer_fin_done;
            tcp.unread = vec![0; conn.reassembly.available()];
            conn.reassembly.copy_front(&mut tcp.unread);
            let Some(bytes) = conn.byte_stream.as_ref() else {
                return;
            };
            // Some of what is kept may be acknowledged.
            let (skip, length) = bytes.from(tcp.snd_una);
            tcp.unacknowledged = vec![0; length as usize];
            let mut rest = tcp.unacknowledged.as_mut_slice();
            for piece in bytes.pieces(skip, length) {
                let (now, later) = rest.split_at_mut(piece.length as usize);
                if !now.is_empty() {
                    read = read.and(link.port.copy_out(piece.iova, now));
                }
                rest = later;
            }
            if read.is_ok() {
                link.let_go();
            }
        });
        read.map_err(|_| Error::InvalidRegion)?;
        self.forget(slot);
        Ok(state)
    }

    /// Makes a stream of a state handed over, on a queue pair with a ring, as [`accept_stream`](Self::accept_stream) does. The local address
    /// is this engine's. Ends in `StreamEstablished`, or in `ConnectError` if the next station on the way does not answer. What was in flight
    /// is sent again as far as the peer does not acknowledge it.
    pub fn adopt<P: Port>(
        &mut self,
        now: u64,
        qp: QpId,
        ring: &Sge,
        state: &StreamHandover,
        port: &mut P,
    ) -> Result<ConnId, Error> {
        let memory = self.ring(qp, ring)?;
        let (local, remote, tcp) = (state.local, state.remote, &state.tcp);
        tcp.check().map_err(Error::InvalidHandover)?;
        let reachable = self.may_be_peer(remote.ip) && remote.port != 0;
        if local.ip != self.shared.config.ip || local.port == 0 || !reachable {
            return Err(Error::InvalidAddress);
        }
        if self.find_connection(local, remote).is_some() {
            return Err(Error::PortInUse(local.port));
        }
        let kept = tcp.unacknowledged.len() as u32;
        if kept > memory.length {
            return Err(Error::NoMemory);
        }
        if kept > 0 {
            let written = port.copy_in(memory.iova, &tcp.unacknowledged);
            written.map_err(|_| Error::InvalidRegion)?;
        }
        let slot = self
            .new_connection(now, Role::Initiator, (local, remote), port)
            .ok_or(Error::NoConnections)?;
        let Some(conn) = self.conns.get_mut(slot) else {
            return Err(Error::NoConnections);
        };
        let config = &self.shared.config;
        let segments = u32::from(config.initial_window_segments);
        let options = if tcp.timestamps.is_some() { 12 } else { 0 };
        let most = u32::from(config.mtu.saturating_sub(40 + options));
        conn.sender = Sender::take_over(tcp, most, segments, &sender_settings(config));
        conn.sack = tcp.sack;
        (conn.peer_scale, conn.scale) = tcp.scales.unwrap_or((u8::MAX, 0));
        conn.ecn = config.ecn_state(tcp.ecn);
        conn.timestamps = tcp.timestamps.is_some();
        if let Some(timestamps) = tcp.timestamps {
            conn.ts_offset = timestamps.now.wrapping_sub((now / 1_000_000) as u32);
            if let Some(recent) = timestamps.recent {
                (conn.ts_recent, conn.ts_recent_at) = (recent, now);
            } else {
                conn.ts_recent_at = NEVER;
            }
        }
        let next = tcp.rcv_nxt.wrapping_sub(u32::from(tcp.peer_closed));
        let first = next.wrapping_sub(tcp.unread.len() as u32);
        let pool = &mut self.shared.buffers.pool;
        conn.reassembly.restart(first, pool);
        let taken = conn.reassembly.insert(first, &tcp.unread, pool);
        let whole = taken && conn.reassembly.next() == next;
        conn.edge = tcp.rcv_edge;
        conn.peer_fin = tcp.peer_closed.then_some(next);
        conn.peer_fin_done = tcp.peer_closed;
        let id = conn.id;
        let mut bytes = Box::<crate::streaming::ring::ByteStream>::default();
        bytes.resume(tcp.snd_una, kept, tcp.flight());
        conn.byte_stream = Some(bytes);
        if !whole {
            self.forget(slot);
            return Err(Error::NoMemory);
        }
        self.take_queue_pair(slot, qp, memory, ring.stag);
        self.run(now, slot, port, |link| link.start());
        Ok(id)
    }
}
