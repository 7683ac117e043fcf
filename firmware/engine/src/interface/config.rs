//! Settings of an engine.

use weft_tcp::control::Congestion;

use crate::interface::cm::MAX_READS;
use crate::interface::random::{HashSecret, Seed};
use crate::interface::resource_split::ResourceSplit;
use crate::interface::rung::Rung;

/// When a connection has explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// Never.
    Never,
    /// If the peer asks for it; and if congestion control is DCTCP, which needs it, this side asks.
    #[default]
    WhenAsked,
    /// This side asks, and agrees when asked.
    Ask,
}

/// What there is of memory for each connection, beside what all share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes in order that a stream may hold whatever others do: the longest FPDU that is received for certain.
    pub reserve: u32,
    /// The longest FPDU that can be received by hand, markers included.
    pub longest: u32,
    /// Segments in flight, of a job each.
    pub in_flight: u16,
    /// Pieces of what is in flight that are told apart.
    pub runs: u16,
    /// Pieces beyond gaps of what is received.
    pub gaps: u16,
    /// IRD and ORD at most.
    pub reads: u16,
    /// Work requests of all send queues together; `None`: as `max_work` says.
    pub sends: Option<u32>,
    /// Words of what all send queues have of their work, 8 bytes each; `None`: as many as they need.
    pub words: Option<u32>,
    /// Queue pairs, shared receive queues, domains of each kind, listeners: of each so many at most.
    pub each: u16,
    /// It is counted: what there may ever be of it is asked for when the engine is made, or in one piece.
    pub counted: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            // 65535 octets of ULPDU, with markers.
            reserve: 68_000,
            longest: 67_000,
            in_flight: 256,
            runs: weft_tcp::scoreboard::CAPACITY,
            gaps: 128,
            reads: MAX_READS,
            sends: None,
            words: None,
            each: u16::MAX,
            counted: false,
        }
    }
}

/// Settings of an engine. `Default` gives all but the addresses; times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Station address; what the card's MAC_LO and MAC_HI hold.
    pub mac: [u8; 6],
    /// IPv4 address.
    pub ip: [u8; 4],
    /// Prefix mask of the local network.
    pub netmask: [u8; 4],
    /// Next hop for everything else.
    pub gateway: Option<[u8; 4]>,
    /// Largest IPv4 packet sent or accepted (1500, 9000), Ethernet header not counted.
    pub mtu: u16,
    /// NUM_FLOWS of the card: also the limit of queue pairs.
    pub num_flows: u16,
    /// NUM_STAGS of the card: limit of regions, plus one.
    pub num_stags: u32,
    /// What of the card is this engine's.
    pub split: ResourceSplit,
    /// Connections that may exist at a time, those without a queue pair and in TIME_WAIT included; `None`: as many as the card has
    /// flows, and half as many more, at least 64.
    pub max_connections: Option<u16>,
    /// Work requests that the queues of all queue pairs may have together, each queue's rounded up to a power of two, and the shared receive queues: what there
    /// is memory for. `None`: any.
    pub max_work: Option<u32>,
    /// Seed of initial sequence numbers, ports, STag keys and cookies: the same seed, the same frames. The default is
    /// nobody's secret; a driver takes it from the operating system.
    pub seed: Seed,
    /// What the card's HASH_SECRET holds. Who brings the card up has it of a seed ([`Seed::hash_secret`]), and who shares it reads the register.
    pub hash_secret: HashSecret,
    /// Receive window of each connection: a power of two, at least 128 KiB, so that the largest FPDU fits with room to spare.
    pub receive_window: u32,
    /// Bytes that all connections together may hold beyond gaps and their reserves. What does not fit is dropped, and comes again.
    pub reassembly_memory: u32,
    /// Memory for each connection.
    pub memory: Memory,
    /// Initial congestion window in segments (RFC 6928).
    pub initial_window_segments: u16,
    /// Congestion control (`docs/tcp.md`).
    pub congestion: Congestion,
    /// New data goes at the pace of the controller, where it has one (`docs/tcp.md`). Off: as acknowledgments come; good for comparing the two.
    pub pacing: bool,
    /// Whether connections have ECN (RFC 3168).
    pub ecn: Ecn,
    /// A peer keeps an acknowledgment back no longer than this: so much longer a lone segment waits for its own before it is sent
    /// again as a probe (RFC 8985 §7.2). Linux waits 40 ms; where all peers are Weft, `delayed_ack` is enough.
    pub peer_ack_delay: u64,
    /// Ask for TCP timestamps (RFC 7323).
    pub timestamps: bool,
    /// The rung of queue pairs that name none.
    pub rung: Rung,
    /// This engine runs on the card's processor: its queue pairs are of the rung `firmware`, and of no other.
    pub on_card: bool,
    /// Send buffer of a queue pair for which software makes the FPDUs, rounded up to a power of two: no more than that is in flight.
    pub send_buffer: u32,
    /// Let the card frame and place. Off: the engine does it all by hand, which is slow, and good for comparing the two.
    pub attach: bool,
    /// Payload bytes of a replay job at most, as the card says (JOB_REPLAY). 0: what comes while a flow is detached is copied.
    pub replay: u16,
    /// A flow whose segments are cut stays the card's: it carries FPDUs over their ends. Off: the engine frames those by hand; good for comparing the two.
    pub carry: bool,
    /// A flow with markers stays the card's where a segment is lost: messages behind it are placed at once, if the card keeps islands. Off: the engine has what
    /// comes beyond gaps; good for comparing the two.
    pub beyond: bool,
    /// FPDUs that wait in the card behind each other share segments (RFC 5044 §5.1). On, it spares octets and frames where small messages come faster than
    /// the line takes them. A peer's card that carries FPDUs over the ends of segments takes such segments one after the other.
    pub pack: bool,
    /// The fast path: reports of a connection that stands, where they fit it, are handled at once. Off: step by step as any other, with the same
    /// frames; good for comparing the two.
    pub fast_path: bool,
    /// Half-open connections that are remembered; what comes beyond them gets a SYN cookie (RFC 4987).
    pub syn_cache: u16,
    /// RSTs for segments of no connection that are sent in a second.
    pub resets: u32,
    /// Answers to unacceptable segments that a connection gives in a second (RFC 5961 §7).
    pub challenge_acks: u32,
    /// An acknowledgment waits no longer than this for company.
    pub delayed_ack: u64,
    /// The end of a Write is acknowledged with the next [`Engine::on_timer`](crate::Engine::on_timer): its sender waits for that, and
    /// nobody here hears of it who would answer. The end of a Send waits for a tenth of `delayed_ack`, so that an answer may carry it.
    /// Off: they wait as any other.
    pub prompt_ack: bool,
    /// Where the peer's window limits it, a long message waits until so many full segments may go at once, or a quarter of what is under
    /// way: one job and one doorbell for all of them. 1: whatever may go, goes.
    pub burst: u8,
    /// The least that the variance counts for in the retransmission timer: it is SRTT plus this at least (G of RFC 6298 §2.3).
    /// RFC 6298 §2.4 wants 1 s in all; as Linux, 200 ms is the default.
    pub rto_min: u64,
    /// The same with two full segments or more in flight, when the peer may not keep its acknowledgment back (RFC 5681 §4.2); for the
    /// first three expiries in a row. What it takes for lost too early is found out and taken back (RFC 5682, RFC 3708).
    pub rto_min_in_flight: u64,
    /// Upper bound of the retransmission timer.
    pub rto_max: u64,
    /// Retransmissions of the same data before the connection is given up.
    pub retries: u8,
    /// SYNs (or SYN-ACKs) sent again before the connection is given up.
    pub syn_retries: u8,
    /// How long a closed connection's addresses stay reserved: 2 MSL (RFC 9293 §3.6.1). That takes 2 minutes for MSL, for
    /// the whole of the old Internet, and says that it may be chosen by experience: in the network of a data centre
    /// nothing is older than half a second, and a new connection's sequence numbers begin above the old one's by the
    /// clock of RFC 6528. Each such connection holds its memory, as long as no new one needs it.
    pub time_wait: u64,
    /// The responder waits so long for the MPA request, the initiator for the reply.
    pub mpa_timeout: u64,
    /// Without RTR the responder waits so long for the initiator's first message.
    pub first_message_timeout: u64,
    /// After `disconnect` what is posted is finished first; if nothing comes of that for so long, it is given up.
    pub drain_timeout: u64,
    /// How long a closing side waits for the peer to close too.
    pub close_timeout: u64,
    /// A connection without traffic is probed after this time, then eight times more at a quarter of it
    /// (75 s at most), then given up; `None`: never.
    pub keepalive: Option<u64>,
}

impl EngineConfig {
    /// Connections that may exist at a time.
    pub(crate) fn slots(&self) -> u16 {
        let by_flows = self.num_flows.saturating_add(self.num_flows / 2).max(64);
        // The last number is nobody's.
        self.max_connections
            .unwrap_or(by_flows)
            .clamp(1, u16::MAX - 1)
    }

    /// Connections that came in, have said something and not all of a request: more than so many make the oldest give way.
    pub(crate) fn silent(&self) -> usize {
        usize::from(self.slots() / 4).max(1)
    }

    /// Requests that may wait in the listeners' lines together.
    pub(crate) fn line(&self) -> usize {
        usize::from(self.slots() / 2)
    }

    /// A SYN asks for ECN.
    pub(crate) fn asks_for_ecn(&self) -> bool {
        self.ecn == Ecn::Ask || self.ecn == Ecn::WhenAsked && self.congestion.has_exact_ecn()
    }

    /// The MSS that is told to peers.
    pub(crate) fn own_mss(&self) -> u16 {
        own_mss(self.mtu)
    }
}

/// The MSS that goes with an MTU.
pub(crate) fn own_mss(mtu: u16) -> u16 {
    mtu.saturating_sub(40).max(536)
}

impl Default for EngineConfig {
    fn default() -> Self {
        const MS: u64 = 1_000_000;
        EngineConfig {
            mac: [0x02, 0, 0, 0, 0, 1],
            ip: [10, 0, 0, 1],
            netmask: [255, 255, 255, 0],
            gateway: None,
            mtu: 1500,
            num_flows: 16,
            num_stags: 256,
            split: ResourceSplit::Whole,
            max_connections: None,
            max_work: None,
            seed: Seed::from(1),
            hash_secret: HashSecret::default(),
            receive_window: 1 << 20,
            reassembly_memory: 1 << 23,
            memory: Memory::default(),
            initial_window_segments: 10,
            congestion: Congestion::default(),
            pacing: true,
            ecn: Ecn::default(),
            peer_ack_delay: 40 * MS,
            timestamps: false,
            rung: Rung::default(),
            on_card: false,
            send_buffer: 1 << 18,
            attach: true,
            replay: 0,
            carry: true,
            beyond: true,
            pack: false,
            fast_path: true,
            challenge_acks: 10,
            syn_cache: 256,
            resets: 200,
            delayed_ack: MS / 50,
            prompt_ack: true,
            burst: 16,
            rto_min: 200 * MS,
            rto_min_in_flight: MS,
            rto_max: 60_000 * MS,
            retries: 12,
            syn_retries: 6,
            time_wait: 1_000 * MS,
            mpa_timeout: 10_000 * MS,
            first_message_timeout: 300_000 * MS,
            drain_timeout: 120_000 * MS,
            close_timeout: 30_000 * MS,
            keepalive: None,
        }
    }
}
