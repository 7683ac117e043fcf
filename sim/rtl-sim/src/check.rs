//! What the protocol checkers have in common: rules, violations, and the handshake.

use std::fmt;

/// The rules that the checkers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Valid is low during reset (AXI4 A3.1.2, AXI4-Stream 2.7.2).
    ValidInReset,
    /// Valid stays until ready (AXI4 A3.2.1, AXI4-Stream 2.2).
    ValidDropped,
    /// What goes with valid does not change before ready (AXI4 A3.2.1, AXI4-Stream 2.2).
    PayloadChanged,
    /// Ready comes within the checker's limit.
    Stalled,
    /// As long as something is outstanding, some handshake happens within the limit.
    NoProgress,
    /// The bytes of a packed stream have no holes.
    KeepHole,
    /// Only the last beat of a packed stream's packet is not full.
    PartialBeat,
    /// A packed stream has no beats without bytes.
    EmptyBeat,
    /// A packet ends within the length limit.
    PacketTooLong,
    /// Valid is high in every cycle from a packet's first beat to its last.
    Gap,
    /// A burst stays within 4 KiB (AXI4 A3.4.1).
    Crosses4K,
    /// A beat is not wider than the bus (AXI4 A3.4.1).
    BeatSize,
    /// The burst type is one of the three (AXI4 A3.4.1).
    BurstType,
    /// Wrapping bursts have 2, 4, 8 or 16 beats and an aligned address, fixed ones at most 16 beats (AXI4 A3.4.1).
    BurstLength,
    /// LAST is set in the burst's last beat and in no other (AXI4 A3.4.1).
    LastMisplaced,
    /// Strobes only where the beat has bytes (AXI4 A3.4.3).
    StrobeOutside,
    /// Read data only for a read that was asked for (AXI4 A3.3.1).
    UnaskedData,
    /// A write response only for a write that was asked for, once (AXI4 A3.3.1).
    UnaskedResponse,
    /// A write response only after the last data (AXI4 A3.3.1).
    EarlyResponse,
    /// The response code is allowed here (AXI4 A3.4.4, B1.1.1).
    ResponseCode,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::ValidInReset => "valid during reset",
            Rule::ValidDropped => "valid went away before ready",
            Rule::PayloadChanged => "payload changed before ready",
            Rule::Stalled => "ready does not come",
            Rule::NoProgress => "no progress though something is outstanding",
            Rule::KeepHole => "hole between the bytes of a beat",
            Rule::PartialBeat => "partial beat inside a packet",
            Rule::EmptyBeat => "beat without bytes",
            Rule::PacketTooLong => "packet does not end",
            Rule::Gap => "gap inside a packet",
            Rule::Crosses4K => "burst crosses a 4 KiB boundary",
            Rule::BeatSize => "beats wider than the bus",
            Rule::BurstType => "reserved burst type",
            Rule::BurstLength => "length or alignment not allowed for this burst type",
            Rule::LastMisplaced => "last in the wrong beat",
            Rule::StrobeOutside => "strobes outside of the beat's bytes",
            Rule::UnaskedData => "data that nobody asked for",
            Rule::UnaskedResponse => "response that nobody waits for",
            Rule::EarlyResponse => "response before the last data",
            Rule::ResponseCode => "response code not allowed here",
        })
    }
}

/// A rule was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The bus's name.
    pub bus: String,
    /// Its channel: `AW`, `R`, ...
    pub channel: &'static str,
    /// Which rule.
    pub rule: Rule,
    /// In which cycle.
    pub cycle: u64,
    /// What was seen.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} in cycle {}",
            self.bus, self.channel, self.rule, self.cycle
        )?;
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}

/// The bus, channel and cycle that a violation belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub bus: &'a str,
    pub channel: &'static str,
    pub now: u64,
}

impl Place<'_> {
    #[cold]
    pub fn broken(&self, rule: Rule, detail: String) -> Result<(), Violation> {
        Err(Violation {
            bus: self.bus.to_string(),
            channel: self.channel,
            rule,
            cycle: self.now,
            detail,
        })
    }
}

/// Follows one channel's valid and ready. `P` is the channel's struct.
#[derive(Clone, Debug)]
pub(crate) struct Handshake<P> {
    waiting: Option<P>,
    since: u64,
}

impl<P: Copy + PartialEq + fmt::Debug> Handshake<P> {
    pub fn new() -> Self {
        Handshake {
            waiting: None,
            since: 0,
        }
    }

    /// Whether a payload seen now was already there in the cycle before.
    #[inline]
    pub fn is_old(&self) -> bool {
        self.waiting.is_some()
    }

    #[inline]
    pub fn check(
        &mut self,
        place: Place,
        reset: bool,
        limit: u64,
        valid: bool,
        ready: bool,
        payload: &P,
    ) -> Result<(), Violation> {
        if reset {
            self.waiting = None;
            if valid {
                return place.broken(Rule::ValidInReset, String::new());
            }
            return Ok(());
        }
        match &self.waiting {
            Some(_) if !valid => {
                self.waiting = None;
                return place.broken(
                    Rule::ValidDropped,
                    format!("valid since cycle {}", self.since),
                );
            }
            Some(before) if before != payload => {
                let detail = format!("before {before:x?}, now {payload:x?}");
                self.waiting = None;
                return place.broken(Rule::PayloadChanged, detail);
            }
            Some(_) if ready => self.waiting = None,
            Some(_) if place.now.saturating_sub(self.since) >= limit => {
                let detail = format!("valid since cycle {}", self.since);
                self.since = place.now;
                return place.broken(Rule::Stalled, detail);
            }
            None if valid && !ready => {
                self.since = place.now;
                self.waiting = Some(*payload);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Notices that nothing moves any more.
#[derive(Clone, Debug)]
pub struct Watchdog {
    bus: String,
    limit: u64,
    last: u64,
}

impl Watchdog {
    /// Barks after `limit` cycles without progress.
    pub fn new(name: &str, limit: u64) -> Watchdog {
        Watchdog {
            bus: name.to_string(),
            limit,
            last: 0,
        }
    }

    /// One cycle: whether anything is outstanding, and whether anything moved.
    #[inline]
    pub fn cycle(&mut self, now: u64, outstanding: bool, progress: bool) -> Result<(), Violation> {
        if progress || !outstanding {
            self.last = now;
        } else if now.saturating_sub(self.last) >= self.limit {
            let detail = format!("nothing moved since cycle {}", self.last);
            self.last = now;
            return Place {
                bus: &self.bus,
                channel: "bus",
                now,
            }
            .broken(Rule::NoProgress, detail);
        }
        Ok(())
    }
}
