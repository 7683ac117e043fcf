//! Scenes of calls: of the connection manager and of memory, and the device's turns beside them.

use std::collections::VecDeque;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, PoisonError};

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Pd, Qp, QpCap, QpInit};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::host::Done;
use weft_sim::idle_polls::IdlePolls;
use weft_sim::transport::lock;

use crate::scenes::counted_step;

type Failed = Box<dyn std::error::Error>;

/// What is counted: a call, or the turns of an end's device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Listen,
    Connect,
    Accept,
    Disconnect,
    Drop,
    Register,
    Deregister,
    Turn(usize),
}

/// Connections one after the other, or regions.
pub struct Calls {
    /// The step that it is about.
    pub step: &'static str,
    pub call: Call,
}

/// One for each step that is a call, or that calls bring about.
pub const CALLS: [Calls; 9] = [
    of("listener made", Call::Listen),
    of("connection asked for", Call::Connect),
    of("connection accepted", Call::Accept),
    of("connection closed", Call::Disconnect),
    of("queue pair and identifier given back", Call::Drop),
    of("memory registered or given back", Call::Register),
    of("row of a table", Call::Deregister),
    of("stream asked for, begin and end", Call::Turn(0)),
    of("stream accepted, begin and end", Call::Turn(1)),
];

const fn of(step: &'static str, call: Call) -> Calls {
    Calls { step, call }
}

const ROUNDS: u16 = 40;
const PORT: u16 = 4900;

/// Runs it twice, so that turns that find nothing are known and not counted.
pub fn run(calls: &Calls) -> Result<Done, Failed> {
    let looks = IdlePolls::noted();
    with_looks(calls.call, &looks)?;
    with_looks(calls.call, &looks.again())
}

fn with_looks(call: Call, looks: &IdlePolls) -> Result<Done, Failed> {
    let fabric = Fabric::new(&FabricConfig::default())?;
    let sides = [Side::new(&fabric, 0)?, Side::new(&fabric, 1)?];
    let mut scene = Scene {
        fabric: &fabric,
        looks,
        call,
        done: Done::default(),
        is_warm: false,
    };
    let to = SocketAddrV4::new(fabric.device(1).ip(), PORT);
    let _listener = scene.listen(&sides[1], to)?;
    for round in 0..ROUNDS {
        scene.is_warm = round >= ROUNDS / 5;
        match call {
            Call::Listen => drop(scene.listen(&sides[1], SocketAddrV4::new(*to.ip(), PORT + 1))?),
            Call::Register | Call::Deregister => scene.memory(&sides[0])?,
            _ => scene.connection(&sides, to)?,
        }
    }
    Ok(scene.done)
}

/// An end.
struct Side {
    pd: Pd,
    cq: Cq,
    channel: EventChannel,
    /// What it was told, by turns of its device.
    events: Arc<Mutex<VecDeque<CmEvent>>>,
}

impl Side {
    fn new(fabric: &Fabric, number: usize) -> Result<Self, Failed> {
        let device = fabric.device(number);
        let events: Arc<Mutex<VecDeque<CmEvent>>> = Arc::default();
        let told = Arc::clone(&events);
        let tell = move |event| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.push_back(event);
        };
        Ok(Self {
            pd: device.alloc_pd()?,
            cq: device.create_cq(256, None)?,
            channel: device.create_callback_channel(tell),
            events,
        })
    }

    fn event(&self) -> Option<CmEvent> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.pop_front()
    }

    fn qp(&self, id: &CmId) -> Result<Qp, Failed> {
        let cap = QpCap {
            max_send_wr: 2,
            max_recv_wr: 1,
            ..QpCap::default()
        };
        let init = QpInit {
            cap,
            ..QpInit::new(&self.cq)
        };
        Ok(id.create_qp(&self.pd, &init)?)
    }
}

struct Scene<'a> {
    fabric: &'a Fabric,
    looks: &'a IdlePolls,
    call: Call,
    done: Done,
    is_warm: bool,
}

impl Scene<'_> {
    /// A call, which is counted if the scene is about it.
    fn counted<T>(&mut self, end: usize, call: Call, step: impl FnOnce() -> T) -> T {
        if !self.is_warm || call != self.call {
            return step();
        }
        let (result, done) = counted_step(self.fabric.device(end), self.looks, step);
        self.done = self.done.and(done);
        match call {
            Call::Listen => self.done.listens += 1,
            Call::Connect => self.done.connects += 1,
            Call::Accept => self.done.accepts += 1,
            Call::Disconnect => self.done.disconnects += 1,
            Call::Drop => self.done.given_back += 1,
            Call::Register | Call::Deregister => self.done.registrations += 1,
            Call::Turn(_) => {}
        }
        result
    }

    fn listen(&mut self, side: &Side, at: SocketAddrV4) -> Result<CmId, Failed> {
        self.counted(1, Call::Listen, || {
            let id = side.channel.create_id();
            id.bind_addr(at)?;
            id.listen(16)?;
            Ok(id)
        })
    }

    fn memory(&mut self, side: &Side) -> Result<(), Failed> {
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let region = self.counted(0, Call::Register, || side.pd.alloc_mr(64 << 10, access))?;
        self.counted(0, Call::Deregister, || drop(region));
        Ok(())
    }

    /// It begins, and ends.
    fn connection(&mut self, sides: &[Side; 2], to: SocketAddrV4) -> Result<(), Failed> {
        let client = self.counted(0, Call::Connect, || {
            let id = sides[0].channel.create_id();
            id.resolve_addr(to)?;
            id.resolve_route()?;
            let qp = sides[0].qp(&id)?;
            id.connect(&ConnParam::default())?;
            Ok::<_, Failed>((id, qp))
        })?;
        let request = self.event(sides, 1, CmEventType::ConnectRequest)?;
        let server = self.counted(1, Call::Accept, || {
            let qp = sides[1].qp(&request.id)?;
            request.id.accept(&ConnParam::default())?;
            Ok::<_, Failed>((request.id, qp))
        })?;
        self.event(sides, 0, CmEventType::Established)?;
        self.event(sides, 1, CmEventType::Established)?;
        self.counted(0, Call::Disconnect, || client.0.disconnect())?;
        self.event(sides, 1, CmEventType::Disconnected)?;
        self.event(sides, 0, CmEventType::Disconnected)?;
        self.counted(0, Call::Drop, || drop(client));
        drop(server);
        let is_counted = |end| self.is_warm && self.call == Call::Turn(end);
        let [asked, accepted] = [0, 1].map(is_counted).map(u64::from);
        self.done.streams_asked += asked;
        self.done.streams_accepted += accepted;
        Ok(())
    }

    /// The next event of this kind at an end; others are of a connection's way there.
    fn event(
        &mut self,
        sides: &[Side; 2],
        end: usize,
        kind: CmEventType,
    ) -> Result<CmEvent, Failed> {
        for _ in 0..100_000 {
            while let Some(event) = sides[end].event() {
                if event.event == kind {
                    return Ok(event);
                }
            }
            for end in [0, 1] {
                self.turn(end)?;
            }
            let mut world = lock(self.fabric.world());
            let until = world.now() + 200;
            while world.now() < until {
                world.run(Some(until))?;
            }
        }
        Err(format!("no {}", kind.name()).into())
    }

    fn turn(&mut self, end: usize) -> Result<(), Failed> {
        let (device, looks) = (self.fabric.device(end), self.looks);
        let nothing = |handled: &Result<usize, _>| matches!(handled, Ok(0));
        let found = self.counted(end, Call::Turn(end), || {
            looks.look(|| device.progress(), nothing)
        })?;
        if self.is_warm && self.call == Call::Turn(end) {
            self.done.turns += u64::from(found > 0);
        }
        Ok(())
    }
}
