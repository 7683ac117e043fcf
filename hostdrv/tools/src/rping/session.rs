//! One connection of rping's server.

use super::super::connection::ConnectionTerms;
use super::super::peer_error::{terminate_of, PeerError};
use super::super::Latency;
use super::pattern::{expected, MAX_SIZE};
use super::report::{Role, RpingNote, RpingObserver, SessionReport};
use super::{work, Info};
use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, MpaStart};
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{Access, Cq, Mr, Qp, QpInit, RecvWr, SendWr, Wc, WcStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Waits for the advertisement of a source (or for the connection).
    Source,
    Reading,
    /// Waits for the advertisement of a sink.
    Sink,
    Writing,
    Over,
}

impl Step {
    fn waiting_for(self) -> &'static str {
        match self {
            Step::Source => "waiting for a ping",
            Step::Reading => "reading the ping",
            Step::Sink => "waiting for the client's sink",
            Step::Writing => "writing the ping back",
            Step::Over => "closing",
        }
    }
}

/// One connection of a server.
pub(super) struct Session {
    device: Device,
    // The queue pair goes before its regions.
    pub(super) id: CmId,
    qp: Qp,
    cq: Cq,
    data: Mr,
    message: Mr,
    step: Step,
    /// Bytes of the ping that is being moved.
    length: u32,
    started: u64,
    ping_started: u64,
    pub(super) moved: u64,
    durations: Vec<u64>,
    report: SessionReport,
}

impl Session {
    /// Makes everything and posts the receive: the client's first message may come as soon as it is accepted.
    pub(super) fn new(device: &Device, id: CmId) -> Result<Self, PeerError> {
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(64, None)?;
        let data = pd.alloc_mr(MAX_SIZE, Access::READ_SINK | Access::LOCAL_WRITE)?;
        let message = pd.alloc_mr(Info::SIZE, Access::LOCAL_WRITE)?;
        let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
        let now = device.now();
        let session = Self {
            device: device.clone(),
            report: SessionReport {
                role: Role::Server,
                peer: None,
                negotiated: None,
                peer_private_data: String::new(),
                iterations: 0,
                bytes_verified: 0,
                elapsed_ns: 0,
                connect_ns: None,
                latency: None,
                error: None,
            },
            id,
            qp,
            cq,
            data,
            message,
            step: Step::Source,
            length: 0,
            started: now,
            ping_started: now,
            moved: now,
            durations: Vec::new(),
        };
        session.post_recv()?;
        Ok(session)
    }

    pub(super) fn accept(
        &mut self,
        request: &CmEvent,
        terms: &ConnectionTerms,
    ) -> Result<(), PeerError> {
        self.report.peer = self.id.peer_addr();
        self.report.peer_private_data = request.private_data.escape_ascii().to_string();
        Ok(self.id.accept(&terms.accept(request))?)
    }

    fn post_recv(&self) -> Result<(), PeerError> {
        let room = self.message.sge(0, Info::SIZE as u32);
        Ok(self.qp.post_recv(RecvWr::new(work::RECV).sge(room))?)
    }

    fn go_ahead(&self) -> Result<(), PeerError> {
        let info = Info::default();
        Ok(self
            .qp
            .post_send(SendWr::send(work::SEND).inline(&info.to_bytes()).signaled())?)
    }

    fn on_message(&mut self) -> Result<(), PeerError> {
        let mut bytes = [0; Info::SIZE];
        self.message.read(0, &mut bytes)?;
        self.post_recv()?;
        let info = Info::from_bytes(&bytes);
        match self.step {
            Step::Source => {
                if info.size == 0 || info.size as usize > MAX_SIZE {
                    return Err(PeerError::Advertised {
                        got: info.size,
                        allowed: format!("1 to {MAX_SIZE}"),
                    });
                }
                self.length = info.size;
                self.ping_started = self.device.now();
                // What is left from the ping before must not pass for this one.
                self.data.fill(0, info.size as usize, 0xff)?;
                let read = SendWr::read(work::READ, info.region());
                self.qp
                    .post_send(read.sge(self.data.sge(0, info.size)).signaled())?;
                self.step = Step::Reading;
                Ok(())
            }
            Step::Sink => {
                // As rping has it: the text and its final zero.
                let bytes = self.data.to_vec(0, self.length as usize)?;
                let text = bytes.iter().position(|byte| *byte == 0);
                let length = text.map_or(bytes.len(), |at| at + 1) as u32;
                if info.size < length {
                    return Err(PeerError::Advertised {
                        got: info.size,
                        allowed: format!("at least {length}"),
                    });
                }
                let write = SendWr::write(work::WRITE, info.region());
                self.qp
                    .post_send(write.sge(self.data.sge(0, length)).signaled())?;
                self.step = Step::Writing;
                Ok(())
            }
            Step::Reading | Step::Writing | Step::Over => Err(PeerError::Ended {
                when: self.step.waiting_for(),
                why: "the client sent a message out of turn".into(),
            }),
        }
    }

    fn on_completion(
        &mut self,
        wc: Wc,
        observer: &mut Option<RpingObserver>,
    ) -> Result<(), PeerError> {
        match wc.status {
            WcStatus::Success => {}
            // The receive that nothing is left for; else the DISCONNECTED says more.
            WcStatus::WrFlushError => return Ok(()),
            status => {
                return Err(PeerError::Completion {
                    work: work::name(wc.wr_id),
                    status,
                    terminate: terminate_of(&self.device, self.qp.qp_num()),
                })
            }
        }
        match wc.wr_id {
            work::RECV if wc.byte_len != Info::SIZE as u32 => Err(PeerError::MessageSize {
                got: wc.byte_len,
                expected: Info::SIZE as u32,
            }),
            work::RECV => self.on_message(),
            work::READ => {
                let ping = self.data.to_vec(0, self.length as usize)?;
                if let Some(observer) = observer {
                    observer(RpingNote::Ping(&ping));
                }
                let number = self.report.iterations;
                let right = expected(number, ping.len());
                if let Some(mismatch) = PeerError::mismatch("ping", number, &right, &ping) {
                    return Err(mismatch);
                }
                self.step = Step::Sink;
                self.go_ahead()
            }
            work::WRITE => {
                self.report.iterations += 1;
                self.report.bytes_verified += u64::from(self.length);
                self.durations.push(self.device.now() - self.ping_started);
                self.step = Step::Source;
                self.go_ahead()
            }
            _ => Ok(()),
        }
    }

    pub(super) fn on_event(&mut self, event: &CmEvent) -> Result<(), PeerError> {
        match event.event {
            CmEventType::StreamEstablished => Ok(self.id.start_mpa(&MpaStart::Passive)?),
            CmEventType::Established => {
                self.report.negotiated = event.agreed.map(Into::into);
                self.report.connect_ns = Some(self.device.now() - self.started);
                Ok(())
            }
            // Between two pings the client may go, in order.
            CmEventType::Disconnected if self.step == Step::Source && event.status == 0 => {
                self.step = Step::Over;
                Ok(())
            }
            CmEventType::Disconnected => Err(PeerError::ended(event, self.step.waiting_for())),
            _ => Err(PeerError::not_connected(event)),
        }
    }

    /// Its completions; false: there were none.
    pub(super) fn advance(
        &mut self,
        observer: &mut Option<RpingObserver>,
    ) -> Result<bool, PeerError> {
        let mut moved = false;
        while let Some(wc) = self.cq.poll_one()? {
            moved = true;
            self.moved = self.device.now();
            if let Some(observer) = observer {
                observer(RpingNote::Step(format!(
                    "{} completed: {:?}",
                    work::name(wc.wr_id),
                    wc.status
                )));
            }
            self.on_completion(wc, observer)?;
        }
        Ok(moved)
    }

    pub(super) fn check_patience(&self, patience_ns: Option<u64>) -> Result<(), PeerError> {
        let waited = self.device.now().saturating_sub(self.moved);
        if self.step != Step::Over && patience_ns.is_some_and(|limit| waited >= limit) {
            return Err(PeerError::Silence {
                waited_ms: waited / 1_000_000,
                waiting_for: self.step.waiting_for(),
            });
        }
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    /// What it waits for, for messages.
    pub(super) fn waiting_for(&self) -> &'static str {
        self.step.waiting_for()
    }

    pub(super) fn fail(&mut self, error: PeerError) {
        self.report.error.get_or_insert(error);
        self.step = Step::Over;
    }

    pub(super) fn finish(mut self) -> SessionReport {
        self.report.elapsed_ns = self.device.now() - self.started;
        self.report.latency = Latency::of(&mut self.durations);
        self.report
    }
}
