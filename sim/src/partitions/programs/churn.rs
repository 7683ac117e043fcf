//! Short connections: each is asked for, moves one request and its answer, and is closed; many at a time.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam};
use weft_hostdrv::verbs::{Qp, SendWr, Wc};

use super::arrivals::Arrivals;
use super::bytes::{belong, make, number};
use super::scene::{wrong, Scene};
use super::short::{Short, MESSAGE};
use super::step::Step;
use super::Program;
use crate::partitions::PartitionsError;

const PORT: u16 = 4700;

/// What a lane has: since when it wants it, the tag of its request, the connection.
struct Lane {
    since: u64,
    tag: u64,
    id: CmId,
    qp: Qp,
}

pub(super) struct Churn {
    arrivals: Arrivals,
    ends: [Short; 2],
    to: SocketAddrV4,
    lanes: Vec<Option<Lane>>,
    /// The server's, by the numbers of their queue pairs.
    served: BTreeMap<u32, (usize, CmId, Qp)>,
    tags: u64,
    _listener: CmId,
}

impl Churn {
    pub(super) fn new(scene: &mut Scene<'_>) -> Result<Self, PartitionsError> {
        let ends = [Short::new(scene, 0)?, Short::new(scene, 1)?];
        let to = SocketAddrV4::new(scene.fabric.device(1).ip(), PORT);
        let listener = ends[1].channel.create_id();
        listener.bind_addr(to)?;
        listener.listen(scene.load.connections)?;
        Ok(Self {
            arrivals: scene.arrivals(),
            to,
            lanes: (0..scene.load.connections).map(|_| None).collect(),
            served: BTreeMap::new(),
            tags: 0,
            _listener: listener,
            ends,
        })
    }

    fn ask(&mut self, lane: usize, since: u64, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        self.tags += 1;
        let id = self.ends[0].channel.create_id();
        id.resolve_addr(self.to)?;
        id.resolve_route()?;
        let qp = self.ends[0].qp(&id, lane, step)?;
        let lane_number = (lane as u64).to_le_bytes();
        id.connect(&ConnParam::with_private_data(lane_number))?;
        step.done.connects += 1;
        let tag = self.tags;
        self.lanes[lane] = Some(Lane { since, tag, id, qp });
        Ok(())
    }

    /// Something happened to a connection of the client.
    fn client(&mut self, event: &CmEvent, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let is = |lane: &Option<Lane>| lane.as_ref().is_some_and(|lane| lane.id.is(&event.id));
        let Some(at) = self.lanes.iter().position(is) else {
            return Ok(());
        };
        match (event.event, &self.lanes[at]) {
            (CmEventType::Established, Some(lane)) => {
                let request = make(lane.tag, MESSAGE);
                step.send(&lane.qp, SendWr::send(0).inline(&request))
            }
            (CmEventType::Disconnected, Some(lane)) => {
                step.ended(lane.since, 2 * MESSAGE);
                self.arrivals.answered(at, step.now());
                self.lanes[at] = None;
                step.done.given_back += 1;
                step.done.streams_asked += 1;
                Ok(())
            }
            (CmEventType::AddrResolved | CmEventType::RouteResolved, _) => Ok(()),
            (other, _) => Err(wrong(format!("a client was told {}", other.name()))),
        }
    }

    /// Something happened to a connection of the server.
    fn server(&mut self, event: CmEvent, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        if event.event == CmEventType::ConnectRequest {
            let lane = number(&event.private_data, 0) as usize % self.lanes.len();
            let qp = self.ends[1].qp(&event.id, lane, step)?;
            event.id.accept(&ConnParam::default())?;
            step.done.accepts += 1;
            self.served.insert(qp.qp_num(), (lane, event.id, qp));
        } else if event.event == CmEventType::Disconnected {
            let ended = event.id.qp().map(|qp| qp.qp_num());
            let served = ended.and_then(|number| self.served.remove(&number));
            step.done.given_back += u64::from(served.is_some());
            step.done.streams_accepted += u64::from(served.is_some());
        }
        Ok(())
    }
}

impl Churn {
    /// A message came: the server answers it; the client closes the connection.
    fn take(&mut self, host: usize, wc: &Wc, step: &mut Step<'_>) -> Result<(), PartitionsError> {
        let message = self.ends[host].message(wc)?;
        let lane = self.lanes.get(wc.wr_id as usize).and_then(Option::as_ref);
        let lane =
            lane.ok_or_else(|| wrong("a message of a lane that has asked nothing".into()))?;
        // An answer has its own bytes.
        let tag = if host == 0 { !lane.tag } else { lane.tag };
        if message.len() != MESSAGE || !belong(&message, tag) {
            return Err(wrong(format!("message {tag} came with other bytes")));
        }
        match (host, self.served.get(&wc.qp_num)) {
            (0, _) => {
                lane.id.disconnect()?;
                step.done.disconnects += 1;
            }
            (_, Some((_, _, qp))) => {
                let answer = make(!tag, MESSAGE);
                step.send(qp, SendWr::send(0).inline(&answer))?;
            }
            _ => return Err(wrong("a request by a connection that is over".into())),
        }
        Ok(())
    }
}

impl Program for Churn {
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError> {
        let arrivals = &mut self.arrivals;
        let request = (host == 0).then(|| arrivals.take(step.now())).flatten();
        if let Some(request) = request {
            self.ask(request.lane, request.since, step)?;
        } else if let Some(event) = self.ends[host].event() {
            match host {
                0 => self.client(&event, step)?,
                _ => self.server(event, step)?,
            }
        } else if let Some(wc) = step.poll(&self.ends[host].cq)? {
            self.take(host, &wc, step)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn due(&self) -> Option<u64> {
        self.arrivals.due()
    }
}
