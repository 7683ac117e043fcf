//! Where a program runs: its hosts, their memory, the connections between them.

use std::net::SocketAddrV4;

use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpCap, QpInit};

use super::arrivals::Arrivals;
use super::rounds::Rounds;
use crate::fabric::Fabric;
use crate::pair::event;
use crate::partitions::workload::Load;
use crate::partitions::PartitionsError;
use crate::seed::{generator, Stream};

/// The first port that is listened on.
const PORT: u16 = 4800;
/// Completions that a host's queue has room for.
const COMPLETIONS: usize = 4096;

/// A host: what all its connections share.
pub(super) struct Host {
    pub(super) pd: Pd,
    pub(super) cq: Cq,
    channel: EventChannel,
}

/// Where a program runs.
pub(super) struct Scene<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) load: &'a Load,
    pub(super) hosts: Vec<Host>,
    seed: u64,
    /// They end with it.
    connections: Vec<CmId>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        load: &'a Load,
        seed: u64,
    ) -> Result<Self, PartitionsError> {
        let host = |device: &weft_hostdrv::Device| {
            Ok::<_, PartitionsError>(Host {
                pd: device.alloc_pd()?,
                cq: device.create_cq(COMPLETIONS, None)?,
                channel: device.create_event_channel(),
            })
        };
        let hosts: Result<_, _> = fabric.devices().iter().map(host).collect();
        Ok(Self {
            fabric,
            load,
            hosts: hosts?,
            seed,
            connections: Vec::new(),
        })
    }

    /// Whence the program draws.
    pub(super) fn rng(&self) -> ChaCha8Rng {
        generator(self.seed, Stream::Application)
    }

    /// Requests of the load from now on, by each connection's lanes.
    pub(super) fn arrivals(&self) -> Arrivals {
        let Load {
            connections,
            depth,
            messages,
            rate,
            think_ns,
            ..
        } = *self.load;
        let rng = generator(self.seed, Stream::Arrivals);
        let now = self.fabric.now();
        Arrivals::new(rng, now, connections * depth, messages, rate, think_ns)
    }

    /// Rounds of the load from now on.
    pub(super) fn rounds(&self) -> Rounds {
        let rng = generator(self.seed, Stream::Arrivals);
        let load = self.load;
        Rounds::new(rng, self.fabric.now(), load.messages, load.think_ns)
    }

    /// Memory of a host with all rights.
    pub(super) fn memory(&self, host: usize, bytes: usize) -> Result<Mr, PartitionsError> {
        let remote = Access::REMOTE_READ | Access::REMOTE_WRITE;
        let access = Access::LOCAL_WRITE | Access::READ_SINK | remote;
        Ok(self.hosts[host].pd.alloc_mr(bytes.max(64), access)?)
    }

    /// A connection of two hosts, for so much work under way at each end; the queue pair of the one that asks first.
    pub(super) fn connect(
        &mut self,
        from: usize,
        to: usize,
        work: usize,
    ) -> Result<[Qp; 2], PartitionsError> {
        let (fabric, [client, server]) = (self.fabric, [&self.hosts[from], &self.hosts[to]]);
        let init = |cq: &Cq| QpInit {
            cap: QpCap {
                max_send_wr: work as u32,
                max_recv_wr: work as u32,
                ..QpCap::default()
            },
            ..QpInit::new(cq)
        };
        let address = SocketAddrV4::new(
            fabric.device(to).ip(),
            PORT + self.connections.len() as u16 / 3,
        );
        let listener = server.channel.create_id();
        listener.bind_addr(address)?;
        listener.listen(1)?;
        let id = client.channel.create_id();
        id.resolve_addr(address)?;
        event(fabric, &client.channel, CmEventType::AddrResolved)?;
        id.resolve_route()?;
        event(fabric, &client.channel, CmEventType::RouteResolved)?;
        let asks = id.create_qp(&client.pd, &init(&client.cq))?;
        id.connect(&ConnParam::default())?;
        let request = event(fabric, &server.channel, CmEventType::ConnectRequest)?;
        let answers = request.create_qp(&server.pd, &init(&server.cq))?;
        request.accept(&ConnParam::default())?;
        event(fabric, &client.channel, CmEventType::Established)?;
        event(fabric, &server.channel, CmEventType::Established)?;
        self.connections.extend([id, request, listener]);
        Ok([asks, answers])
    }

    /// A connection from host 0 to host 1 for each of the load's.
    pub(super) fn connect_all(&mut self) -> Result<Vec<[Qp; 2]>, PartitionsError> {
        let work = 4 * self.load.depth + 8;
        let count = self.load.connections;
        (0..count).map(|_| self.connect(0, 1, work)).collect()
    }
}

/// What is not as the program asked for it.
pub(super) fn wrong(what: String) -> PartitionsError {
    PartitionsError::Answer(what)
}
