//! What connections share while they work, in parts: each of them is handed to who needs it.

use crate::card::card_times::CardTimes;
use crate::card::flow_table::FlowTable;
use crate::card::port::Port;
use crate::connection::admission::Admission;
use crate::connection::buffers::Buffers;
use crate::connection::conn::{Conn, Role};
use crate::connection::outbox::Outbox;
use crate::handover::lent_slots::LentSlots;
use crate::interface::cm::{ConnId, Endpoint};
use crate::interface::config::EngineConfig;
use crate::interface::random::{Random, Secrets};
use crate::interface::stats::EngineStats;
use crate::memory::region::Regions;
use crate::queues::shared_queues::SharedQueues;
use crate::tcp::arp::Neighbours;
use crate::tcp::limits::Limit;
use weft_tcp::seq;

/// What connections share while they work: all of it is used through a [`Link`](crate::connection::link::Link). What only the engine uses is the engine's.
#[derive(Debug)]
pub struct Shared {
    /// Settings.
    pub config: EngineConfig,
    /// Counts.
    pub stats: EngineStats,
    /// Regions.
    pub regions: Regions,
    /// Shared receive queues, XRC domains, completions.
    pub queues: SharedQueues,
    /// Neighbours.
    pub neighbours: Neighbours,
    /// The card's flows.
    pub flows: FlowTable,
    /// When the card saw and sent what.
    pub times: CardTimes,
    /// Raw slots on their way back.
    pub slots: LentSlots,
    /// Events out.
    pub outbox: Outbox,
    /// Memory that is lent.
    pub buffers: Buffers,
    /// Requests that wait for a backlog.
    pub admission: Admission,
    /// IPv4 identification of frames made here.
    pub identification: u16,
    /// Keys of what nobody is to foresee.
    pub secrets: Secrets,
    resets: Limit,
}

impl Shared {
    /// Fresh.
    pub fn new(config: EngineConfig, random: &mut Random) -> Self {
        Shared {
            stats: EngineStats::default(),
            // Each takes of the generator what is its own, in this order.
            secrets: Secrets::new(random),
            regions: Regions::new(config.num_stags, config.split, random),
            resets: Limit::default(),
            queues: SharedQueues::new(&config),
            neighbours: Neighbours::new(),
            flows: FlowTable::new(&config),
            times: CardTimes::default(),
            slots: LentSlots::default(),
            outbox: Outbox::new(&config),
            buffers: Buffers::new(&config),
            admission: Admission::default(),
            identification: 0,
            config,
        }
    }

    /// Where a controller goes by delay: what is acknowledged up to there left the card no earlier, whenever it was posted. 0: nothing is known.
    #[inline]
    pub fn departed(&self, conn: &Conn, ack: u32) -> u64 {
        match conn.sender.goes_by_delay() {
            true => self.departed_of(conn, ack),
            false => 0,
        }
    }

    fn departed_of(&self, conn: &Conn, ack: u32) -> u64 {
        if !seq::lt(conn.sender.una, ack) {
            return 0;
        }
        let newest = conn
            .in_flight
            .partition_point(|segment| seq::lt(segment.end, ack));
        let segment = conn.in_flight.get(newest);
        segment.map_or(0, |segment| self.times.before(segment.first_job))
    }

    /// A new connection, which knows the next station on its way, where there is a way.
    pub fn new_conn(
        &self,
        id: ConnId,
        role: Role,
        (local, remote): (Endpoint, Endpoint),
        now: u64,
    ) -> Conn {
        let hop = self.next_hop(remote.ip).unwrap_or(remote.ip);
        Conn::new(
            id,
            role,
            local,
            remote,
            now,
            (&self.config, &self.secrets, hop),
        )
    }

    /// Next station on the way to an address; `None`: there is no way.
    pub fn next_hop(&self, remote: [u8; 4]) -> Option<[u8; 4]> {
        let config = &self.config;
        let local = (0..4).all(|i| (remote[i] ^ config.ip[i]) & config.netmask[i] == 0);
        if local {
            Some(remote)
        } else {
            config.gateway
        }
    }

    /// Sends an ARP request, unless one went just now.
    pub fn ask_for_station<P: Port>(&mut self, now: u64, hop: [u8; 4], port: &mut P) {
        if !self.neighbours.may_ask(now, hop) {
            return;
        }
        let frame = Neighbours::request(self.config.ip, self.config.mac, hop);
        if port.send_frame(&frame).is_ok() {
            self.stats.frames_sent += 1;
            self.neighbours.asked(now, hop);
        }
    }

    /// One more RST to somebody unknown? Then it counts as sent.
    pub fn may_reset(&mut self, now: u64) -> bool {
        let allowed = self.resets.allow(now, self.config.resets);
        self.stats.resets_sent += u64::from(allowed);
        self.stats.resets_withheld += u64::from(!allowed);
        allowed
    }
}
