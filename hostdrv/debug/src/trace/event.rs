//! Events of the trace ring, typed, and what they say.

use std::fmt;

use weft_layout::{
    doorbell, trace_drop, trace_kind, trace_verdict, JobStatus, TraceDmaError, TraceEntry,
    TraceFrameIn, TraceFrameOut, TraceTable,
};

use super::names::{doorbell_name, register_name};

/// What an entry has for "no flow".
const NO_FLOW: u16 = u16::MAX;

/// Something that the card did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// Its place in the ring, counted since the ring was emptied.
    pub number: u32,
    /// When, in cycles of the card.
    pub time: u64,
    /// What.
    pub kind: TraceKind,
}

/// What the card did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceKind {
    /// A frame was received whole and kept.
    FrameIn {
        /// Its bytes.
        length: u16,
        /// Its sequence number, if it is TCP.
        seq: Option<u32>,
    },
    /// A frame was dropped.
    FrameDropped {
        /// Why.
        reason: DropReason,
        /// Its bytes.
        length: u16,
        /// Its flow, if that was known by then.
        flow: Option<u16>,
    },
    /// What became of a kept frame.
    Verdict {
        /// What.
        verdict: Verdict,
        /// Its flow.
        flow: Option<u16>,
        /// Its sequence number, if it is TCP.
        seq: u32,
        /// Its bytes.
        length: u16,
    },
    /// A report went to the report ring.
    Report {
        /// Its kind.
        kind: ReportKind,
        /// Its flow.
        flow: Option<u16>,
        /// Its number since the ring was set up.
        number: u32,
    },
    /// A job was fetched, and its turn has come.
    JobBegin {
        /// Its kind (`weft_layout::JobKind`); 0 if its slot could not be read.
        kind: u8,
        /// Its flow.
        flow: Option<u16>,
        /// Its number since the ring was set up.
        number: u32,
        /// Its payload bytes, 65535 if there are more.
        length: u16,
    },
    /// A job is done.
    JobDone {
        /// How it ended.
        end: JobEnd,
        /// Its flow.
        flow: Option<u16>,
        /// Its number since the ring was set up.
        number: u32,
    },
    /// A frame left.
    FrameOut {
        /// Its bytes.
        length: u16,
        /// Its sequence number, if the card made its headers.
        seq: Option<u32>,
        /// It carries an FPDU.
        fpdu: bool,
        /// It went into MAC loopback.
        looped: bool,
    },
    /// An interrupt was asked for.
    Interrupt {
        /// Its vector.
        vector: u8,
        /// REPORT_TAIL at that time.
        reports: u32,
    },
    /// The host rang a doorbell.
    Doorbell {
        /// Its offset (`weft_layout::doorbell`).
        offset: u16,
        /// What was written.
        value: u32,
        /// The flow whose doorbell it is.
        flow: Option<u16>,
    },
    /// A table access is done.
    Table {
        /// Its number (`weft_layout::table`).
        table: u8,
        /// The row.
        index: u32,
        /// A write, not a read.
        write: bool,
        /// Refused, or an ATTACH that was not applied.
        refused: bool,
    },
    /// The host wrote a register.
    Register {
        /// Its offset (`weft_layout::reg`).
        offset: u16,
        /// What was written.
        value: u32,
    },
    /// Host memory answered with an error.
    DmaError {
        /// To a read of this AXI ID: 0 payload, 1 jobs, 2 receive elements.
        read: Option<u16>,
        /// To a write.
        write: bool,
    },
    /// Events before this one were lost.
    Lost {
        /// How many since the ring was emptied.
        total: u32,
    },
    /// A kind that this driver does not know.
    Unknown(TraceEntry),
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobEnd {
    /// All of it was sent.
    Done,
    /// It was malformed, and nothing of it was sent.
    Malformed,
    /// A DMA read failed.
    ReadError,
    /// Another status.
    Other(u8),
}

impl JobEnd {
    fn of(status: u8) -> Self {
        match JobStatus::from_raw(status) {
            Some(JobStatus::Done) => JobEnd::Done,
            Some(JobStatus::Malformed) => JobEnd::Malformed,
            Some(JobStatus::ReadError) => JobEnd::ReadError,
            None => JobEnd::Other(status),
        }
    }
}

impl fmt::Display for JobEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobEnd::Done => f.write_str("done"),
            JobEnd::Malformed => f.write_str("malformed"),
            JobEnd::ReadError => f.write_str("ended by a DMA read error"),
            JobEnd::Other(status) => write!(f, "ended with status {status}"),
        }
    }
}

/// Which report was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportKind {
    /// Of a segment.
    Segment,
    /// Of an FPDU, with the Terminate code that an error calls for, or 0.
    Fpdu(u16),
    /// Of a frame of no flow.
    Frame,
    /// Of a segment and its one FPDU, which was placed.
    Placed,
    /// Of a job.
    Job(JobEnd),
    /// Of a replay.
    Replay,
    /// Another kind.
    Other(u8),
}

impl ReportKind {
    fn of(kind: u8, info: u16) -> Self {
        match weft_layout::ReportKind::from_raw(kind) {
            Some(weft_layout::ReportKind::Segment) => ReportKind::Segment,
            Some(weft_layout::ReportKind::Fpdu) => ReportKind::Fpdu(info),
            Some(weft_layout::ReportKind::Frame) => ReportKind::Frame,
            Some(weft_layout::ReportKind::Placed) => ReportKind::Placed,
            Some(weft_layout::ReportKind::Replay) => ReportKind::Replay,
            Some(weft_layout::ReportKind::Job) => ReportKind::Job(JobEnd::of(info as u8)),
            None => ReportKind::Other(kind),
        }
    }
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident, $module:ident { $($variant:ident = $code:ident, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = $text] $variant,)*
            /// A code that this driver does not know.
            Other(u8),
        }

        impl $name {
            fn of(code: u8) -> Self {
                match code {
                    $($module::$code => $name::$variant,)*
                    other => $name::Other(other),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant => f.write_str($text),)*
                    $name::Other(code) => write!(f, "code {code}"),
                }
            }
        }
    };
}

codes! {
    /// Why a frame was dropped.
    DropReason, trace_drop {
        Disabled = DISABLED, "receive is off";
        Fcs = FCS, "bad FCS";
        Runt = RUNT, "too short";
        Oversize = OVERSIZE, "too long";
        Mac = MAC, "not for this station";
        IpHeader = IP_HEADER, "IPv4 header impossible";
        IpChecksum = IP_CHECKSUM, "IPv4 header checksum";
        TcpHeader = TCP_HEADER, "TCP header impossible";
        TcpChecksum = TCP_CHECKSUM, "TCP checksum";
        BufferFull = BUFFER_FULL, "packet buffer full";
        NoRawSlot = NO_RAW_SLOT, "no free raw slot";
    }
}

codes! {
    /// What became of a frame.
    Verdict, trace_verdict {
        NoFlow = NO_FLOW, "of no flow, to the raw ring";
        NoPayload = NO_PAYLOAD, "no payload";
        Placed = PLACED, "placed";
        Engine = ENGINE, "for the engine";
        Duplicate = DUPLICATE, "duplicate";
        Bypassed = BYPASSED, "flow not attached, to the raw ring";
        Gap = GAP, "out of sequence, flow detached";
        Partial = PARTIAL, "ends inside an FPDU, flow detached";
        Error = ERROR, "error in an FPDU, flow detached";
    }
}

impl TraceEvent {
    /// An entry as the card has it. `now`: the card's clock not long after, for the bits that an entry has no room for.
    pub fn decode(number: u32, entry: &TraceEntry, now: u64) -> Self {
        const KEPT: u64 = (1 << 48) - 1;
        let time = u64::from(entry.time_hi) << 32 | u64::from(entry.time_lo);
        // An event read while the clock was read may be a little later than `now`.
        let age = now.wrapping_sub(time) & KEPT;
        let time = if age > KEPT / 2 {
            now.wrapping_add(KEPT + 1 - age)
        } else {
            now.wrapping_sub(age)
        };
        Self {
            number,
            time,
            kind: TraceKind::decode(entry),
        }
    }
}

impl TraceKind {
    fn decode(entry: &TraceEntry) -> Self {
        let TraceEntry {
            kind,
            detail,
            flow,
            value,
            info,
            ..
        } = *entry;
        let flow = (flow != NO_FLOW).then_some(flow);
        match kind {
            trace_kind::FRAME_IN => Self::FrameIn {
                length: info,
                seq: TraceFrameIn(detail).tcp().then_some(value),
            },
            trace_kind::FRAME_DROPPED => Self::FrameDropped {
                reason: DropReason::of(detail),
                length: info,
                flow,
            },
            trace_kind::VERDICT => Self::Verdict {
                verdict: Verdict::of(detail),
                flow,
                seq: value,
                length: info,
            },
            trace_kind::REPORT => Self::Report {
                kind: ReportKind::of(detail, info),
                flow,
                number: value,
            },
            trace_kind::JOB_BEGIN => Self::JobBegin {
                kind: detail,
                flow,
                number: value,
                length: info,
            },
            trace_kind::JOB_DONE => Self::JobDone {
                end: JobEnd::of(detail),
                flow,
                number: value,
            },
            trace_kind::FRAME_OUT => Self::FrameOut {
                length: info,
                seq: TraceFrameOut(detail).headers().then_some(value),
                fpdu: TraceFrameOut(detail).fpdu(),
                looped: TraceFrameOut(detail).loopback(),
            },
            trace_kind::INTERRUPT => Self::Interrupt {
                vector: detail,
                reports: value,
            },
            trace_kind::DOORBELL => Self::Doorbell {
                offset: info,
                value,
                flow,
            },
            trace_kind::TABLE => Self::Table {
                table: TraceTable(detail).table(),
                index: value,
                write: TraceTable(detail).write(),
                refused: TraceTable(detail).refused(),
            },
            trace_kind::REGISTER => Self::Register {
                offset: info,
                value,
            },
            trace_kind::DMA_ERROR => Self::DmaError {
                read: TraceDmaError(detail).read().then_some(info),
                write: TraceDmaError(detail).write(),
            },
            trace_kind::LOST => Self::Lost { total: value },
            _ => Self::Unknown(*entry),
        }
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12}  {}", self.time, self.kind)
    }
}

/// " of flow 3", or nothing.
struct OfFlow(Option<u16>);

impl fmt::Display for OfFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |flow| write!(f, " of flow {flow}"))
    }
}

/// ", sequence number 7", or nothing.
struct Sequence(Option<u32>);

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .map_or(Ok(()), |seq| write!(f, ", sequence number {seq}"))
    }
}

impl fmt::Display for TraceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FrameIn { length, seq } => {
                write!(f, "frame in, {length} bytes{}", Sequence(seq))
            }
            Self::FrameDropped {
                reason,
                length,
                flow,
            } => write!(f, "frame{} dropped, {length} bytes: {reason}", OfFlow(flow)),
            Self::Verdict {
                verdict,
                flow,
                seq,
                length,
            } => match flow {
                Some(flow) => write!(
                    f,
                    "segment of flow {flow}, sequence number {seq}, {length} bytes: {verdict}"
                ),
                None => write!(f, "frame of {length} bytes: {verdict}"),
            },
            Self::Report { kind, flow, number } => {
                let flow = OfFlow(flow);
                match kind {
                    ReportKind::Segment => write!(f, "report {number}: segment{flow}"),
                    ReportKind::Fpdu(0) => write!(f, "report {number}: FPDU{flow}"),
                    ReportKind::Fpdu(code) => {
                        write!(
                            f,
                            "report {number}: FPDU{flow}, error (Terminate {code:#06x})"
                        )
                    }
                    ReportKind::Frame => write!(f, "report {number}: frame"),
                    ReportKind::Placed => {
                        write!(f, "report {number}: segment of one FPDU, placed{flow}")
                    }
                    ReportKind::Job(end) => write!(f, "report {number}: job{flow} {end}"),
                    ReportKind::Replay => write!(f, "report {number}: replay{flow}"),
                    ReportKind::Other(kind) => write!(f, "report {number} of kind {kind}{flow}"),
                }
            }
            Self::JobBegin {
                kind,
                flow,
                number,
                length,
            } => {
                let what = match kind {
                    0 => return write!(f, "job {number}: its slot could not be read"),
                    1 => "raw frame",
                    2 => "segment",
                    3 => "message",
                    _ => "of an unknown kind",
                };
                let more = if length == u16::MAX { " or more" } else { "" };
                write!(
                    f,
                    "job {number} begins: {what}{}, {length}{more} bytes",
                    OfFlow(flow)
                )
            }
            Self::JobDone { end, flow, number } => write!(f, "job {number}{} {end}", OfFlow(flow)),
            Self::FrameOut {
                length,
                seq,
                fpdu,
                looped,
            } => write!(
                f,
                "frame out{}, {length} bytes{}{}",
                if looped { " into MAC loopback" } else { "" },
                if fpdu { ", an FPDU" } else { "" },
                Sequence(seq)
            ),
            Self::Interrupt { vector, reports } => {
                write!(f, "interrupt {vector} with {reports} reports written")
            }
            Self::Doorbell {
                offset,
                value,
                flow,
            } => {
                let name = doorbell_name(offset.into());
                match flow {
                    Some(flow) if u32::from(offset) >= doorbell::RQ_TAIL => {
                        write!(f, "doorbell {name} of flow {flow}: {value}")
                    }
                    _ => write!(f, "doorbell {name}: {value}"),
                }
            }
            Self::Table {
                table,
                index,
                write,
                refused,
            } => write!(
                f,
                "{} row {index} {}{}",
                table_name(table),
                if write { "written" } else { "read" },
                if refused { ": refused" } else { "" }
            ),
            Self::Register { offset, value } => {
                write!(
                    f,
                    "register {} written: {value:#x}",
                    register_name(offset.into())
                )
            }
            Self::DmaError { read, write } => {
                let of = match read {
                    Some(0) => "a DMA read of payload failed",
                    Some(1) => "a DMA read of jobs failed",
                    Some(2) => "a DMA read of a receive element failed",
                    Some(_) => "a DMA read failed",
                    None => return f.write_str("a DMA write failed"),
                };
                write!(f, "{of}{}", if write { ", and a DMA write" } else { "" })
            }
            Self::Lost { total } => write!(f, "events were lost, {total} by now"),
            Self::Unknown(entry) => write!(f, "{entry:?}"),
        }
    }
}

fn table_name(table: u8) -> &'static str {
    match table {
        weft_layout::table::FLOW_KEY => "FLOW_KEY",
        weft_layout::table::FLOW_RX => "FLOW_RX",
        weft_layout::table::ATTACH => "ATTACH",
        weft_layout::table::FLOW_TX => "FLOW_TX",
        weft_layout::table::STAG => "STAG",
        _ => "unknown table",
    }
}
