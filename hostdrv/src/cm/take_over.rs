//! A connection of the kernel's goes on in the card (the 2005 proposal: *modify QP to RTS with a TCP connection*).
//!
//! ```text
//!   socket ──take_over──► STREAM_ESTABLISHED: read_stream, write_stream ──start_mpa──► ESTABLISHED: verbs
//! ```

use std::os::fd::AsFd;

use thiserror::Error;
use weft_engine::commands::{self, Refusal as Refused};
use weft_engine::{Sge, StartMpa, StreamState};

use super::id::{connection, expect, CmId, CmState};
use super::param::ConnParam;
use super::{Agreed, CmError};
use crate::error::DeviceError;
use crate::socket::{Frozen, Refusal};
use crate::verbs::{Access, VerbsError};

/// Bytes written and not acknowledged that a stream may have beside those that it came with.
const ROOM: usize = 64 << 10;

/// Why a connection was not taken over. The socket goes on as before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TakeOverError {
    /// The kernel's connection cannot be moved.
    #[error("the socket cannot be taken over: {0}")]
    Socket(#[from] Refusal),
    /// The card does not take it.
    #[error(transparent)]
    Cm(#[from] CmError),
}

/// How RDMA begins behind the last byte.
#[derive(Clone, Debug)]
pub enum MpaStart<'a> {
    /// This side sends the MPA request: ESTABLISHED, REJECTED or CONNECT_ERROR follows.
    Active(&'a ConnParam),
    /// The peer does: CONNECT_REQUEST follows, of this identifier, to be answered by `accept` or `reject`.
    Passive,
    /// The start-up went some other way, this is what was agreed, and no FPDU was sent yet: ESTABLISHED follows.
    Past(Agreed),
}

impl CmId {
    /// Takes a connection out of the kernel, and goes on with it in the card, on this identifier's queue pair: STREAM_ESTABLISHED
    /// follows, or CONNECT_ERROR. The socket's local address is the device's; the card's `NetInterface` (`weft-tools`)
    /// must not be at work meanwhile, so call it where that is served. The peer notices nothing. Whoever still has the socket finds it
    /// aborted.
    #[tracing::instrument(name = "take_over", level = "debug", skip_all, fields(device = self.device().name()))]
    pub fn take_over<S: AsFd>(&self, socket: &S) -> Result<(), TakeOverError> {
        const OPERATION: &str = "take_over";
        let mut data = self.data();
        expect(&data, OPERATION, &[CmState::Idle])?;
        let qp = data.qp.clone().ok_or(CmError::NoQp {
            operation: OPERATION,
        })?;
        let frozen = Frozen::new(socket)?;
        let state = frozen.state().engine();
        let own = self.device().ip();
        if state.local.ip != own.octets() {
            return Err(CmError::NotLocal {
                given: state.local.ip.into(),
                device: own,
            }
            .into());
        }
        let tcp = &state.tcp;
        let bytes = [&tcp.unacknowledged[..], &tcp.unread[..]].concat();
        let length = bytes.len().max(tcp.unacknowledged.len() + ROOM);
        let here = self
            .device()
            .lock()
            .check_here("connection of another stack");
        here.map_err(CmError::from)?;
        let memory = qp.pd().alloc_mr_at(length, 0, Access::NONE);
        let memory = memory.map_err(CmError::from)?;
        memory.write(0, &bytes).map_err(CmError::from)?;
        let ring = Sge {
            stag: memory.lkey(),
            to: 0,
            length: length.try_into().unwrap_or(u32::MAX),
        };
        let device = self.device();
        let mut locked = device.lock();
        locked.check_fault().map_err(CmError::from)?;
        // Segments that came up meanwhile would reach a kernel that knows nothing of them; the peer sends them again.
        locked.drop_raw_segments(state.local, state.remote);
        let (adopt, record) = (
            commands::adopt(qp.id(), &ring, state),
            commands::stream_record(tcp),
        );
        let answer = device.command_in(&mut locked, &adopt, &record);
        let answer = answer.map_err(CmError::from)?;
        let conn = weft_engine::ConnId::from_number(answer.conn)
            .ok_or_else(|| DeviceError::Command(Refused::NoAnswer.to_string()))
            .map_err(CmError::from)?;
        let remote = state.remote;
        if let Err(refusal) = frozen.leave() {
            locked.forget_stream(device.now(), conn);
            return Err(refusal.into());
        }
        locked.event_routing.add_connection(conn, self.owner());
        data.conn = Some(conn);
        data.remote = Some(super::dispatch::address(remote));
        data.local_port = adopt.port;
        data.ring = Some(memory);
        data.state = CmState::Connecting;
        tracing::info!(?conn, ?remote, "taken over");
        Ok(locked.finish_turn().map_err(CmError::from)?)
    }

    /// Takes bytes of the stream, in order; how many.
    pub fn read_stream(&self, out: &mut [u8]) -> Result<usize, CmError> {
        let conn = self.stream("read_stream")?;
        let read = self
            .device()
            .with_engine(|engine, now, card| engine.read_stream(now, conn, out, card))?;
        Ok(read?)
    }

    /// Gives bytes to the stream, as many as there is room for; how many.
    pub fn write_stream(&self, bytes: &[u8]) -> Result<usize, CmError> {
        let conn = self.stream("write_stream")?;
        let written = self
            .device()
            .with_engine(|engine, now, card| engine.write_stream(now, conn, bytes, card))?;
        Ok(written?)
    }

    /// How the stream stands.
    pub fn stream_state(&self) -> Result<StreamState, CmError> {
        let conn = self.stream("stream_state")?;
        let state = self
            .device()
            .with_engine(|engine, _, _| engine.stream_state(conn))?;
        Ok(state?)
    }

    /// Ends the stream's bytes: what was written is the last streaming message (RFC 5044 §7.1.5), and RDMA follows when the peer has
    /// acknowledged it. What was not read belongs to MPA; who begins the start-up has to have read everything.
    #[tracing::instrument(name = "start_mpa", level = "debug", skip_all, fields(device = self.device().name()))]
    pub fn start_mpa(&self, start: &MpaStart<'_>) -> Result<(), CmError> {
        const OPERATION: &str = "start_mpa";
        let mut data = self.data();
        expect(&data, OPERATION, &[CmState::Streaming])?;
        let conn = connection(&data, OPERATION)?;
        let qp = data.qp.clone().ok_or(CmError::NoQp {
            operation: OPERATION,
        })?;
        let how = match start {
            MpaStart::Active(param) => StartMpa::Active(param.start_up()?),
            MpaStart::Passive => StartMpa::Passive,
            MpaStart::Past(agreed) => StartMpa::Past(agreed.for_engine()),
        };
        let private_data = match &how {
            StartMpa::Active(params) => params.private_data,
            _ => &[],
        };
        let device = self.device();
        let mut state = device.lock();
        state.check_fault()?;
        let command = commands::start_mpa(conn, &how);
        device.command_in(&mut state, &command, private_data)?;
        if !matches!(how, StartMpa::Passive) {
            state.bind(qp.id());
        }
        data.state = CmState::Connecting;
        Ok(state.finish_turn()?)
    }

    fn stream(&self, operation: &'static str) -> Result<weft_engine::ConnId, CmError> {
        let data = self.data();
        expect(
            &data,
            operation,
            &[CmState::Streaming, CmState::Disconnecting],
        )?;
        connection(&data, operation)
    }
}

impl From<VerbsError> for TakeOverError {
    fn from(error: VerbsError) -> Self {
        CmError::from(error).into()
    }
}
