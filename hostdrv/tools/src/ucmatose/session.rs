//! One connection of either side.

use std::sync::Arc;

use super::super::peer_error::{terminate_of, PeerError};
use super::super::Latency;
use super::report::{Failed, UcmatoseReport};
use super::shared::Shared;
use super::Load;
use weft_hostdrv::cm::{CmEvent, CmEventType, CmId};
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{
    Access, Cq, Mr, Qp, QpCap, QpInit, RecvWr, SendWr, Wc, WcOpcode, WcStatus,
};

/// Failures kept in the report.
const FAILURES_KEPT: usize = 16;

/// Who sends and disconnects first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Connecting,
    Moving,
    Closing,
    Over,
}

pub(super) struct Session {
    device: Device,
    role: Role,
    pub(super) id: CmId,
    // The queue pair goes before its region.
    qp: Qp,
    cq: Cq,
    /// Room for the messages received, then those to send.
    memory: Mr,
    /// Where messages are received instead.
    shared: Option<Arc<Shared>>,
    messages: usize,
    size: usize,
    step: Step,
    posted: bool,
    sent: usize,
    received: usize,
    started: u64,
    moved: u64,
    connect_ns: Option<u64>,
    pub(super) number: usize,
}

impl Session {
    /// Makes everything and posts the receives. Then connect or accept.
    pub(super) fn new(
        device: &Device,
        role: Role,
        id: CmId,
        load: &Load,
        number: usize,
        shared: Option<&Arc<Shared>>,
    ) -> Result<Self, PeerError> {
        let (messages, size) = (load.messages(), load.size);
        let pd = match shared {
            Some(shared) => shared.pd.clone(),
            None => device.alloc_pd()?,
        };
        // Each receive of a shared queue may complete here.
        let receives = match shared {
            Some(_) => load.shared_receives(),
            None => messages.max(1),
        };
        let cq = device.create_cq(messages.max(1) + receives, None)?;
        let memory = pd.alloc_mr((2 * messages * size).max(1), Access::LOCAL_WRITE)?;
        let depth = messages.max(1) as u32;
        let init = QpInit {
            cap: QpCap {
                max_send_wr: depth,
                max_recv_wr: depth,
                ..QpCap::default()
            },
            sq_sig_all: true,
            shareable: false,
            ..QpInit::new(&cq)
        };
        let init = match shared {
            Some(shared) => shared.of(init),
            None => init,
        };
        let qp = id.create_qp(&pd, &init)?;
        let now = device.now();
        let session = Self {
            device: device.clone(),
            role,
            id,
            qp,
            cq,
            memory,
            shared: shared.cloned(),
            messages,
            size,
            step: Step::Connecting,
            posted: false,
            sent: 0,
            received: 0,
            started: now,
            moved: now,
            connect_ns: None,
            number,
        };
        for message in 0..messages {
            if session.shared.is_none() {
                let room = session.memory.sge((message * size) as u64, size as u32);
                session
                    .qp
                    .post_recv(RecvWr::new(message as u64).sge(room))?;
            }
            let at = (messages + message) * size;
            session.memory.write(at, &load.message(message))?;
        }
        Ok(session)
    }

    pub(super) fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    fn waiting_for(&self) -> &'static str {
        match self.step {
            Step::Connecting => "waiting for the connection",
            Step::Moving if self.received < self.messages => "waiting for messages",
            Step::Moving if self.sent < self.messages => "waiting for messages to be acknowledged",
            _ => "waiting for the connection to close",
        }
    }

    fn post_sends(&mut self) -> Result<(), PeerError> {
        self.posted = true;
        for message in 0..self.messages {
            let at = (self.messages + message) * self.size;
            let bytes = self.memory.sge(at as u64, self.size as u32);
            self.qp.post_send(SendWr::send(message as u64).sge(bytes))?;
        }
        Ok(())
    }

    /// What can be done after something was moved.
    fn next(&mut self) -> Result<(), PeerError> {
        if self.step != Step::Moving {
            return Ok(());
        }
        let my_turn = self.role == Role::Server || self.received == self.messages;
        if !self.posted && my_turn {
            self.post_sends()?;
        }
        if self.sent == self.messages && self.received == self.messages {
            self.step = Step::Closing;
            if self.role == Role::Server {
                self.id.disconnect()?;
            }
        }
        Ok(())
    }

    pub(super) fn on_event(
        &mut self,
        event: &CmEvent,
        report: &mut UcmatoseReport,
    ) -> Result<(), PeerError> {
        self.moved = self.device.now();
        match event.event {
            CmEventType::AddrResolved | CmEventType::RouteResolved => Ok(()),
            CmEventType::Established => {
                if report.negotiated.is_none() {
                    report.negotiated = event.agreed.map(Into::into);
                }
                self.connect_ns = Some(self.device.now() - self.started);
                self.step = Step::Moving;
                self.next()
            }
            CmEventType::Disconnected if self.step == Step::Closing && event.status == 0 => {
                self.step = Step::Over;
                Ok(())
            }
            CmEventType::Disconnected => Err(PeerError::ended(event, self.waiting_for())),
            _ => Err(PeerError::not_connected(event)),
        }
    }

    fn on_completion(
        &mut self,
        wc: Wc,
        load: &Load,
        report: &mut UcmatoseReport,
    ) -> Result<(), PeerError> {
        let receive = wc.opcode == WcOpcode::Recv;
        match wc.status {
            WcStatus::Success => {}
            // The DISCONNECTED says more.
            WcStatus::WrFlushError => return Ok(()),
            status => {
                return Err(PeerError::Completion {
                    work: if receive { "receive" } else { "Send" },
                    status,
                    terminate: terminate_of(&self.device, self.qp.qp_num()),
                })
            }
        }
        if !receive {
            self.sent += 1;
            return Ok(());
        }
        if wc.byte_len as usize != self.size {
            return Err(PeerError::MessageSize {
                got: wc.byte_len,
                expected: self.size as u32,
            });
        }
        // A connection's messages come in order, whatever receives they have taken.
        let number = self.received;
        self.received += 1;
        report.messages += 1;
        report.bytes += self.size as u64;
        if load.verify {
            let got = match &self.shared {
                Some(shared) => shared.message(wc.wr_id)?,
                None => self.memory.to_vec(number * self.size, self.size)?,
            };
            let expected = load.message(number);
            if let Some(error) = PeerError::mismatch("message", number as u64, &expected, &got) {
                return Err(error);
            }
            report.bytes_verified += self.size as u64;
        }
        match &self.shared {
            Some(shared) => shared.post(wc.wr_id),
            None => Ok(()),
        }
    }

    /// Its completions; false: there were none.
    pub(super) fn advance(
        &mut self,
        load: &Load,
        report: &mut UcmatoseReport,
    ) -> Result<bool, PeerError> {
        let mut moved = false;
        while let Some(wc) = self.cq.poll_one()? {
            moved = true;
            self.moved = self.device.now();
            self.on_completion(wc, load, report)?;
        }
        if moved {
            self.next()?;
        }
        Ok(moved)
    }

    pub(super) fn check_patience(&self, load: &Load) -> Result<(), PeerError> {
        let waited = self.device.now().saturating_sub(self.moved);
        if load.patience_ns.is_some_and(|limit| waited >= limit) {
            return Err(PeerError::Silence {
                waited_ms: waited / 1_000_000,
                waiting_for: self.waiting_for(),
            });
        }
        Ok(())
    }

    pub(super) fn deadline(&self, load: &Load) -> Option<u64> {
        load.patience_ns
            .map(|limit| self.moved.saturating_add(limit))
    }
}

/// The connections under way, and what is said of those that were.
#[derive(Default)]
pub(super) struct Sessions {
    /// Their receives, if they have them together.
    pub(super) shared: Option<Arc<Shared>>,
    pub(super) list: Vec<Session>,
    pub(super) report: UcmatoseReport,
    pub(super) connects: Vec<u64>,
    /// For the failures' sake.
    pub(super) round: u64,
}

impl Sessions {
    pub(super) fn new(device: &Device, load: &Load) -> Result<Self, PeerError> {
        load.check()?;
        let shared = load.srq.then(|| Shared::new(device, load));
        Ok(Self {
            shared: shared.transpose()?.map(Arc::new),
            ..Self::default()
        })
    }

    pub(super) fn fail(&mut self, connection: usize, error: PeerError) {
        self.report.failures += 1;
        if self.report.failed.len() < FAILURES_KEPT {
            self.report.failed.push(Failed {
                round: self.round,
                connection,
                error,
            });
        }
    }

    /// Handles all completions, and the event if it belongs to one of them. Answers whether anything moved.
    pub(super) fn advance(&mut self, load: &Load, event: Option<&CmEvent>) -> bool {
        let mut moved = false;
        let Self { list, report, .. } = self;
        let mut failed = Vec::new();
        for session in list.iter_mut() {
            let mine = event.filter(|event| session.id.is(&event.id));
            // What arrived before the connection ended counts.
            let result = session.advance(load, report).and_then(|did| {
                moved |= did;
                mine.map_or(Ok(()), |event| session.on_event(event, report))?;
                session.check_patience(load)
            });
            if let Err(error) = result {
                session.step = Step::Over;
                failed.push((session.number, error));
            }
        }
        let broken: Vec<usize> = failed.iter().map(|(number, _)| *number).collect();
        for (number, error) in failed {
            self.fail(number, error);
        }
        for session in self.list.iter().filter(|session| session.is_over()) {
            if !broken.contains(&session.number) {
                self.report.connections += 1;
                self.connects.extend(session.connect_ns);
            }
        }
        // Dropping what failed aborts it.
        self.list.retain(|session| !session.is_over());
        moved
    }

    pub(super) fn finish(&mut self, elapsed_ns: u64) -> UcmatoseReport {
        self.list.clear();
        self.report.elapsed_ns = elapsed_ns;
        self.report.connect = Latency::of(&mut self.connects);
        std::mem::take(&mut self.report)
    }
}
