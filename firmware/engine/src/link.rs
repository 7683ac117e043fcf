//! One connection at work: the connection, its queue pair, and everything they share with others.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use weft_layout::{table, AttachRow, FlowRxRow, FlowTxRow};

use crate::arp::Neighbours;
use crate::card_times::CardTimes;
use crate::cm::{ConnId, Event};
use crate::config::EngineConfig;
use crate::conn::Conn;
use crate::flow_key::FlowKeys;
use crate::handover::Patience;
use crate::joined::JoinedNews;
use crate::limits::Limit;
use crate::part::Part;
use crate::port::Port;
use crate::qp::Qp;
use crate::random::{Random, Secrets};
use crate::region::Regions;
use crate::srq::Srqs;
use crate::stats::EngineStats;
use crate::syn_cache::{Cookies, SynCache};
use crate::timers::Timer;
use crate::verbs::Completion;
use crate::xrc::Xrcds;
use weft_tcp::pages::Pool;
use weft_tcp::scoreboard::Run;
use weft_tcp::seq;
use weft_tcp::spare::Spare;

/// How long to wait before trying a full job ring again, or asking for JOB_DONE.
pub const POLL: u64 = 2_000;
/// Connections that may come to rest and wake again without asking for memory.
const SPARE: usize = 32;

/// Events that there are at most, for each connection that there may be: beyond four no connection is begun, and each that there is then adds
/// what becomes of it: that it stands, has moved, ends in error, is over, and is forgotten.
pub const EVENTS: usize = 4 + 6;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// Settings.
    pub config: EngineConfig,
    /// Counts.
    pub stats: EngineStats,
    /// Randomness.
    pub random: Random,
    /// Secrets.
    pub secrets: Secrets,
    /// Regions.
    pub regions: Regions,
    /// Shared receive queues.
    pub srqs: Srqs,
    /// XRC domains.
    pub xrcds: Xrcds,
    /// Neighbours.
    pub neighbours: Neighbours,
    /// The card's flow lookup.
    pub keys: FlowKeys,
    /// Events out.
    pub events: VecDeque<Event>,
    /// Next stations that were found to be others.
    pub address_moves: u64,
    /// What has become of queue pairs that are joined inside the host.
    pub joined: VecDeque<JoinedNews>,
    /// Completions out.
    pub completions: VecDeque<Completion>,
    /// Memory for what lies beyond gaps, and for FPDUs that are not whole.
    pub pool: Pool,
    /// Raw slots that are free again, when the card has done this job.
    pub slots: Vec<(u16, Option<u32>)>,
    /// When to look at JOB_DONE for them.
    pub slots_due: Option<u64>,
    /// Flows that were left with replays to do, and the last job of each.
    pub replaying: Vec<(u16, u32)>,
    /// Memory to keep account of what is under way.
    pub spare_parts: Spare<Part>,
    /// The same, of the sender.
    pub spare_runs: Spare<Run>,
    /// An FPDU as received.
    pub wire: Vec<u8>,
    /// Its ULPDU.
    pub ulpdu: Vec<u8>,
    /// A frame to send.
    pub frame: Vec<u8>,
    /// IPv4 identification of frames made here.
    pub identification: u16,
    /// The host's own stack uses the card as well.
    pub host_stack: bool,
    /// When the card saw and sent what.
    pub times: CardTimes,
    /// Half-open connections.
    pub syn_cache: SynCache,
    /// For those that have no room there.
    pub cookies: Cookies,
    /// Challenge acknowledgments of half-open connections.
    pub challenges: Limit,
    /// Events not taken beyond which no SYN is heeded.
    pub most_events: usize,
    /// Connections whose requests have just become whole.
    pub asking: VecDeque<ConnId>,
    /// Requests in the listeners' lines, some of which may have gone.
    pub in_line: usize,
    /// A request that the program had heard of waits no longer.
    pub answered: bool,
    resets: Limit,
    /// The last epoch of each flow.
    epochs: Vec<u8>,
}

/// The pages of all streams.
fn pool(config: &EngineConfig) -> Pool {
    let reserve = config.memory.reserve as usize;
    let pool = Pool::new(config.reassembly_memory as usize, reserve);
    match config.memory.counted {
        true => pool.with_all(config.slots().into()),
        false => pool,
    }
}

/// Queues for what is under way. Where memory is counted, none are kept beside those in use.
fn spare<T>(config: &EngineConfig, room: u16) -> Spare<T> {
    match config.memory.counted {
        true => Spare::new(0, room.into()),
        false => Spare::new(SPARE, 0),
    }
}

impl Shared {
    /// Fresh.
    pub fn new(config: EngineConfig) -> Self {
        let mut random = Random::new(&config.seed);
        let most_events = 4 * usize::from(config.slots());
        Shared {
            stats: EngineStats::default(),
            secrets: Secrets::new(&mut random),
            regions: Regions::new(config.num_stags, config.share, &mut random),
            cookies: Cookies::new(random.secret()),
            syn_cache: SynCache::new(config.syn_cache),
            challenges: Limit::default(),
            resets: Limit::default(),
            most_events,
            asking: VecDeque::new(),
            in_line: 0,
            answered: false,
            srqs: Srqs::default(),
            xrcds: Xrcds::default(),
            random,
            neighbours: Neighbours::new(),
            keys: FlowKeys::new(config.num_flows, config.share, config.hash_secret),
            events: VecDeque::with_capacity(match config.memory.counted {
                true => usize::from(config.slots()) * EVENTS,
                false => most_events.min(256),
            }),
            address_moves: 0,
            joined: VecDeque::new(),
            completions: VecDeque::with_capacity(config.max_work.unwrap_or(0) as usize),
            pool: pool(&config),
            slots: Vec::new(),
            replaying: Vec::new(),
            slots_due: None,
            spare_parts: spare(&config, config.memory.parts),
            spare_runs: spare(&config, config.memory.runs),
            wire: vec![0; config.memory.longest as usize],
            ulpdu: vec![0; (config.memory.longest as usize).min(1 << 16)],
            frame: vec![0; usize::from(config.mtu.max(576)) + 14],
            identification: 0,
            host_stack: false,
            times: CardTimes::default(),
            epochs: vec![0; usize::from(config.num_flows)],
            config,
        }
    }
}

impl Shared {
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
        let newest = conn.parts.partition_point(|part| seq::lt(part.end, ack));
        let part = conn.parts.get(newest);
        part.map_or(0, |part| self.times.before(part.first_job))
    }

    /// A connection that has something under way has memory to keep account of it.
    pub fn lend(&mut self, conn: &mut Conn) {
        self.spare_parts.lend(&mut conn.parts);
        conn.sender.lend(&mut self.spare_runs);
    }

    /// One that has nothing needs none.
    pub fn take_back(&mut self, conn: &mut Conn) {
        if conn.parts.is_empty() {
            self.spare_parts.take_back(&mut conn.parts);
            conn.sender.give_back(&mut self.spare_runs);
        }
    }

    /// A request has become whole, or one makes room for another in a line.
    pub fn turns_are_due(&mut self) -> bool {
        let answered = core::mem::take(&mut self.answered);
        !self.asking.is_empty() || answered && self.in_line > 0
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

    /// The mark of a flow's next binding. Never 0, which is in the rows of flows never bound.
    fn next_epoch(&mut self, flow: u16) -> u8 {
        let Some(epoch) = self.epochs.get_mut(usize::from(flow)) else {
            return 1;
        };
        *epoch = epoch.wrapping_add(1).max(1);
        *epoch
    }
}

/// A connection, its queue pair, and the rest.
pub struct Link<'a, P: Port> {
    /// Nanoseconds.
    pub now: u64,
    /// The connection.
    pub conn: &'a mut Conn,
    /// Its queue pair.
    pub qp: Option<&'a mut Qp>,
    /// Everything shared.
    pub shared: &'a mut Shared,
    /// The card.
    pub port: &'a mut P,
}

impl<P: Port> Link<'_, P> {
    /// Writes the flow's rows, or writes them again with what is agreed by now. False if the
    /// flow lookup has no room.
    pub fn bind(&mut self) -> bool {
        let Some(qp) = self.qp.as_ref() else {
            return false;
        };
        let flow = qp.id.flow();
        let (check_only, walks) = (self.card_only_checks(), self.card_walks());
        let conn = &mut *self.conn;
        let bound = conn.handover.is_bound();
        if !bound {
            let epoch = self.shared.next_epoch(flow);
            let patience = match self.shared.config.on_card {
                true => Patience::ON_CARD,
                false => Patience::USUAL,
            };
            conn.handover.bind(epoch, patience);
        }
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let tx = FlowTxRow {
            flags: bit(conn.tx_markers.0.is_some(), FlowTxRow::MARKERS)
                | bit(conn.agreed.crc, FlowTxRow::CRC)
                | FlowTxRow::VALID
                | bit(conn.timestamps, FlowTxRow::TIMESTAMPS),
            ttl: 64,
            tos: conn.tos,
            remote_mac: conn.remote_mac,
            local_mac: self.shared.config.mac,
            local_ip: conn.local.ip,
            remote_ip: conn.remote.ip,
            local_port: conn.local.port.to_be_bytes(),
            remote_port: conn.remote.port.to_be_bytes(),
            marker_base: conn.tx_markers.0.unwrap_or(0),
        };
        self.port
            .write_table(table::FLOW_TX, u32::from(flow), &tx.to_bytes());
        let rx = FlowRxRow {
            flags: bit(conn.rx_markers.0.is_some(), FlowRxRow::MARKERS)
                | bit(conn.agreed.crc, FlowRxRow::CRC)
                | bit(conn.committed && walks, FlowRxRow::VALID)
                | bit(check_only, FlowRxRow::CHECK_ONLY)
                | bit(conn.timestamps, FlowRxRow::TIMESTAMPS)
                | self.shared.config.share.row_flags(),
            epoch: conn.handover.epoch(),
            rq_log2: qp.rq.log2(),
            pd: qp.config.pd.number(),
            marker_base: conn.rx_markers.0.unwrap_or(0),
            rq_base: qp.rq.iova,
        };
        self.port
            .write_table(table::FLOW_RX, u32::from(flow), &rx.to_bytes());
        if bound {
            return true;
        }
        self.port.attach(flow, &AttachRow::default());
        let keys = &mut self.shared.keys;
        let known = keys.insert(flow, conn.remote, conn.local, self.port);
        if !known {
            conn.handover.bind_failed();
        }
        known
    }

    /// The card no longer frames and places anything of this flow.
    pub fn detach(&mut self) {
        let Some(qp) = self.qp.as_ref() else {
            return;
        };
        if self.conn.handover.is_bound() {
            let flow = qp.id.flow();
            self.conn.handover.take_away();
            // Not valid; but its reports go on, and are this binding's.
            let rx = FlowRxRow {
                flags: self.shared.config.share.row_flags(),
                epoch: self.conn.handover.epoch(),
                ..FlowRxRow::default()
            };
            self.port
                .write_table(table::FLOW_RX, u32::from(flow), &rx.to_bytes());
            self.port.attach(flow, &AttachRow::default());
        }
    }

    /// The card no longer knows the flow.
    pub fn unbind(&mut self) {
        self.detach();
        if let (Some(qp), true) = (self.qp.as_ref(), self.conn.handover.is_bound()) {
            let flow = qp.id.flow();
            let job = self.conn.handover.held.last_job();
            if let Some(job) = job.filter(|job| !self.is_done(*job)) {
                self.shared.replaying.push((flow, job));
            }
            self.shared.keys.remove(flow, self.port);
            self.conn.handover.leave(flow);
        }
    }

    /// The card has done this job.
    pub fn is_done(&self, job: u32) -> bool {
        weft_tcp::seq::lt(job, self.port.jobs_done())
    }

    /// The job ring is full.
    pub fn try_later(&mut self) {
        self.shared.stats.jobs_full += 1;
        self.conn
            .timers
            .set(Timer::Retry, Some(self.now.saturating_add(POLL)));
    }

    /// The application hears of it.
    pub fn tell(&mut self, event: Event) {
        if let Event::ConnectError { conn: gone, .. } = &event {
            // A request that was not taken yet: then it has not heard of it, and need not.
            let asks = |event: &Event| match event {
                Event::ConnectRequest { conn, .. } | Event::StreamRequest { conn, .. } => {
                    conn == gone
                }
                _ => false,
            };
            if let Some(at) = self.shared.events.iter().position(asks) {
                self.shared.events.remove(at);
                self.conn.known = false;
                return;
            }
        }
        self.shared.events.push_back(event);
    }
}
