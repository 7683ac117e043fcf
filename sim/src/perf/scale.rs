//! Many connections: how fast they are made, and how fairly those that move data share the line.

use std::io::{self, Write};
use std::net::SocketAddrV4;

use serde::Serialize;
use weft_hostdrv::cm::{CmEventType, CmId, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpCap, QpInit, SendWr, WcStatus};
use weft_hostdrv::Congestion;

use crate::fabric::{Fabric, FabricConfig};
use crate::kind::CardKind;
use crate::link::{Faults, LinkConfig};
use crate::pair::{PairError, LIMIT};
use crate::perf::loss::CONTROLLERS;
use crate::transport::lock;

/// Connections that move data.
pub const ACTIVE: usize = 64;
/// Bytes of a Write, and how many a connection has under way.
const BYTES: usize = 1 << 14;
const DEPTH: usize = 8;
/// Connections that are asked for at once: the listener's backlog.
const BURST: usize = 64;
const PORT: u16 = 4000;

/// [`ACTIVE`] connections that move data at once, as much as they can.
#[derive(Clone, Debug, Serialize)]
pub struct Sharing {
    /// The controller.
    pub congestion: &'static str,
    /// Connections beside them that stand and move nothing.
    pub idle: usize,
    /// Frames of a million that are lost.
    pub loss: u32,
    /// Gb/s of all Writes together.
    pub gbps: f64,
    /// Jain's index of the connections' bytes: 1 if all have the same, 1/n if one has all.
    pub jain: f64,
    /// Gb/s of the slowest connection.
    pub min_gbps: f64,
    /// Gb/s of the fastest.
    pub max_gbps: f64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct ScaleTable {
    /// The seed.
    pub seed: u64,
    /// The kind of card.
    pub card: String,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Simulated time of each run.
    pub milliseconds: u64,
    /// Connections, one for each flow of a card.
    pub connections: usize,
    /// Simulated time until all were established.
    pub connect_ns: u64,
    /// Connections of a second, by that.
    pub connections_per_second: f64,
    /// The runs.
    pub sharing: Vec<Sharing>,
}

/// Connections of each run: all, of the default controller; then those that move data alone.
fn runs(all: usize) -> Vec<(Congestion, usize, u32)> {
    let mut runs = vec![(Congestion::default(), all - ACTIVE, 0)];
    for congestion in CONTROLLERS {
        runs.extend([0, 1_000].map(|loss| (congestion, 0, loss)));
    }
    runs
}

/// Measures it. `progress` hears how many connections more there are.
pub fn run(
    kind: CardKind,
    seed: u64,
    mtu: u16,
    milliseconds: u64,
    mut progress: impl FnMut(),
) -> Result<ScaleTable, PairError> {
    let all = kind.sizes().flows;
    let mut connect_ns = 0;
    let mut sharing = Vec::new();
    for (congestion, idle, loss) in runs(all) {
        let link = LinkConfig {
            gbps: kind.gbps(),
            ..LinkConfig::default()
        };
        let fabric = Fabric::new(&FabricConfig {
            seed,
            cards: vec![kind; 2],
            link,
            mtu,
            congestion,
            ..FabricConfig::default()
        })?;
        let start = fabric.now();
        let crowd = Crowd::connect(&fabric, ACTIVE + idle, &mut progress)?;
        if idle > 0 {
            connect_ns = fabric.now() - start;
        }
        let faults = Faults {
            loss,
            ..Faults::default()
        };
        lock(fabric.world())
            .link(0)
            .set_config(LinkConfig { faults, ..link });
        sharing.push(share(&fabric, &crowd, milliseconds * 1_000_000)?.of(congestion, idle, loss));
    }
    Ok(ScaleTable {
        seed,
        card: kind.to_string(),
        mtu,
        milliseconds,
        connections: all,
        connect_ns,
        connections_per_second: all as f64 * 1e9 / connect_ns.max(1) as f64,
        sharing,
    })
}

/// How many connections all runs make.
pub fn connections(kind: CardKind) -> u64 {
    let all = kind.sizes().flows;
    let runs = runs(all);
    runs.iter().map(|(_, idle, _)| (ACTIVE + idle) as u64).sum()
}

/// Connections from the first device to the second.
pub(crate) struct Crowd {
    _clients: Vec<CmId>,
    qps: Vec<Qp>,
    cq: Cq,
    source: Mr,
    target: Mr,
    // In the order in which they may go.
    _servers: Vec<CmId>,
    _listener: CmId,
    _channels: [EventChannel; 2],
    _pds: [Pd; 2],
}

impl Crowd {
    /// So many, up to [`BURST`] asked for at once.
    pub(crate) fn connect(
        fabric: &Fabric,
        count: usize,
        mut progress: impl FnMut(),
    ) -> Result<Self, PairError> {
        let devices = [0, 1].map(|n| fabric.device(n));
        let pds = [devices[0].alloc_pd()?, devices[1].alloc_pd()?];
        let cqs = [
            devices[0].create_cq(count * DEPTH, None)?,
            devices[1].create_cq(count * DEPTH, None)?,
        ];
        let source = pds[0].alloc_mr(BYTES, Access::NONE)?;
        let target = pds[1].alloc_mr(ACTIVE * BYTES, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?;
        let channels = devices.map(|device| device.create_event_channel());
        let address = SocketAddrV4::new(devices[1].ip(), PORT);
        let listener = channels[1].create_id();
        listener.bind_addr(address)?;
        listener.listen(BURST)?;
        let init = |cq: &Cq| QpInit {
            cap: QpCap {
                max_send_wr: DEPTH as u32,
                max_recv_wr: 1,
                max_send_sge: 1,
                max_recv_sge: 1,
                max_inline_data: 0,
            },
            ..QpInit::new(cq)
        };
        let (mut clients, mut qps) = (Vec::new(), Vec::new());
        let (mut servers, mut established) = (Vec::new(), 0);
        while established < count {
            while clients.len() < count.min(established + BURST) {
                let id = channels[0].create_id();
                id.resolve_addr(address)?;
                id.resolve_route()?;
                qps.push(id.create_qp(&pds[0], &init(&cqs[0]))?);
                id.connect(&ConnParam::default())?;
                clients.push(id);
            }
            let (end, came) = fabric.run_until("connections", LIMIT, || {
                let next = |end: usize| Some((end, channels[end].try_get_event().transpose()?));
                [0, 1].into_iter().find_map(next)
            })?;
            let came = came?;
            match came.event {
                CmEventType::ConnectRequest => {
                    came.id.create_qp(&pds[1], &init(&cqs[1]))?;
                    came.id.accept(&ConnParam::default())?;
                    servers.push(came.id);
                }
                CmEventType::Established if end == 0 => {
                    established += 1;
                    progress();
                }
                CmEventType::Established
                | CmEventType::AddrResolved
                | CmEventType::RouteResolved => {}
                other => {
                    return Err(PairError::Event {
                        waiting_for: CmEventType::Established.name(),
                        came: other.name(),
                        status: came.status,
                    })
                }
            }
        }
        let [cq, _] = cqs;
        Ok(Self {
            _clients: clients,
            qps,
            cq,
            source,
            target,
            _servers: servers,
            _listener: listener,
            _channels: channels,
            _pds: pds,
        })
    }

    /// Posts a Write of connection `n`.
    fn post(&self, n: usize) -> Result<(), PairError> {
        let to = self.target.remote().offset((n * BYTES) as u64);
        let wr = SendWr::write(n as u64, to).sge(self.source.sge(0, BYTES as u32));
        Ok(self.qps[n].post_send(wr.signaled())?)
    }
}

/// What the connections moved, and in what time.
struct Moved {
    writes: Vec<u64>,
    time: u64,
}

/// Lets the first [`ACTIVE`] connections write for so long.
fn share(fabric: &Fabric, crowd: &Crowd, time: u64) -> Result<Moved, PairError> {
    let start = fabric.now();
    let mut writes = vec![0; ACTIVE];
    for n in (0..DEPTH).flat_map(|_| 0..ACTIVE) {
        crowd.post(n)?;
    }
    while fabric.now() < start + time {
        let wc = fabric.run_until("a Write's completion", LIMIT, || {
            crowd.cq.poll_one().transpose()
        })??;
        if wc.status != WcStatus::Success {
            return Err(PairError::Completion {
                operation: "Write",
                len: BYTES,
                status: wc.status,
            });
        }
        writes[wc.wr_id as usize] += 1;
        crowd.post(wc.wr_id as usize)?;
    }
    Ok(Moved {
        writes,
        time: fabric.now() - start,
    })
}

/// Jain's fairness index: the square of the sum over n times the sum of the squares.
fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|x| *x as f64).sum();
    let squares: f64 = shares.iter().map(|x| (*x as f64).powi(2)).sum();
    sum * sum / (shares.len() as f64 * squares).max(f64::MIN_POSITIVE)
}

impl Moved {
    fn of(&self, congestion: Congestion, idle: usize, loss: u32) -> Sharing {
        let gbps = |writes: u64| (writes as usize * BYTES) as f64 * 8.0 / self.time.max(1) as f64;
        let ends = |best: fn(_) -> Option<u64>| best(self.writes.iter().copied()).unwrap_or(0);
        Sharing {
            congestion: congestion.name(),
            idle,
            loss,
            gbps: gbps(self.writes.iter().sum()),
            jain: jain(&self.writes),
            min_gbps: gbps(ends(Iterator::min)),
            max_gbps: gbps(ends(Iterator::max)),
        }
    }
}

/// Prints it for people.
pub fn print(table: &ScaleTable, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Card {}, seed {}, MTU {}: {} connections established in {:.2} ms, {:.0} a second, {BURST} at a time.",
        table.card,
        table.seed,
        table.mtu,
        table.connections,
        table.connect_ns as f64 / 1e6,
        table.connections_per_second
    )?;
    writeln!(
        out,
        "{ACTIVE} of them write {} KiB, {DEPTH} in flight each, for {} ms; Gb/s:\n",
        BYTES >> 10,
        table.milliseconds
    )?;
    writeln!(
        out,
        "  {:<12} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "idle", "loss", "all", "min", "max", "Jain"
    )?;
    for run in &table.sharing {
        let loss = format!("{} %", f64::from(run.loss) / 10_000.0);
        writeln!(
            out,
            "  {:<12} {:>6} {loss:>8} {:>8.1} {:>8.2} {:>8.2} {:>8.3}",
            run.congestion, run.idle, run.gbps, run.min_gbps, run.max_gbps, run.jain
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jain_is_one_for_equals_and_less_for_others() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[8, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[1, 3]), 0.8);
    }
}
