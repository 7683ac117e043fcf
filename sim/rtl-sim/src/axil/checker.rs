//! The protocol checker of an AXI4-Lite bus.

use super::{FromMaster, FromSlave};
use crate::axi::resp;
use crate::check::{Handshake, Place};
use crate::{Rule, Violation, Watchdog};

/// Checks an AXI4-Lite bus.
#[derive(Clone, Debug)]
pub struct Checker {
    bus: String,
    limit: u64,
    aw: Handshake<(u64, u8)>,
    w: Handshake<(u64, u8)>,
    b: Handshake<u8>,
    ar: Handshake<(u64, u8)>,
    r: Handshake<(u64, u8)>,
    addresses: u32,
    data: u32,
    reads: u32,
    watchdog: Watchdog,
}

impl Checker {
    /// A checker. Ready and responses have to come within 1 000 cycles.
    pub fn new(name: &str) -> Self {
        Checker {
            bus: name.to_string(),
            limit: 1_000,
            aw: Handshake::new(),
            w: Handshake::new(),
            b: Handshake::new(),
            ar: Handshake::new(),
            r: Handshake::new(),
            addresses: 0,
            data: 0,
            reads: 0,
            watchdog: Watchdog::new(name, 1_000),
        }
    }

    /// Ready and responses have to come within so many cycles.
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self.watchdog = Watchdog::new(&self.bus, cycles);
        self
    }

    /// One cycle.
    #[inline]
    pub fn cycle(
        &mut self,
        now: u64,
        reset: bool,
        master: &FromMaster,
        slave: &FromSlave,
    ) -> Result<(), Violation> {
        let (new_b, new_r) = (!self.b.is_old(), !self.r.is_old());
        let bus = self.bus.as_str();
        let place = |channel| Place { bus, channel, now };
        let limit = self.limit;
        let (aw, w) = (
            (master.aw_addr, master.aw_prot),
            (master.w_data, master.w_strb),
        );
        let (ar, r) = (
            (master.ar_addr, master.ar_prot),
            (slave.r_data, slave.r_resp),
        );
        self.aw.check(
            place("AW"),
            reset,
            limit,
            master.aw_valid,
            slave.aw_ready,
            &aw,
        )?;
        self.w
            .check(place("W"), reset, limit, master.w_valid, slave.w_ready, &w)?;
        self.b.check(
            place("B"),
            reset,
            limit,
            slave.b_valid,
            master.b_ready,
            &slave.b_resp,
        )?;
        self.ar.check(
            place("AR"),
            reset,
            limit,
            master.ar_valid,
            slave.ar_ready,
            &ar,
        )?;
        self.r
            .check(place("R"), reset, limit, slave.r_valid, master.r_ready, &r)?;
        if reset {
            (self.addresses, self.data, self.reads) = (0, 0, 0);
            return Ok(());
        }
        if slave.b_valid && new_b {
            if self.addresses == 0 {
                return place("B").broken(Rule::UnaskedResponse, String::new());
            }
            if self.data == 0 {
                return place("B").broken(Rule::EarlyResponse, String::new());
            }
            if slave.b_resp == resp::EXOKAY {
                return place("B").broken(Rule::ResponseCode, "EXOKAY".into());
            }
        }
        if slave.r_valid && new_r {
            if self.reads == 0 {
                return place("R").broken(Rule::UnaskedData, String::new());
            }
            if slave.r_resp == resp::EXOKAY {
                return place("R").broken(Rule::ResponseCode, "EXOKAY".into());
            }
        }
        let aw_done = master.aw_valid && slave.aw_ready;
        let w_done = master.w_valid && slave.w_ready;
        let ar_done = master.ar_valid && slave.ar_ready;
        let b_done = slave.b_valid && master.b_ready;
        let r_done = slave.r_valid && master.r_ready;
        self.addresses = self
            .addresses
            .saturating_add(aw_done.into())
            .saturating_sub(b_done.into());
        self.data = self
            .data
            .saturating_add(w_done.into())
            .saturating_sub(b_done.into());
        self.reads = self
            .reads
            .saturating_add(ar_done.into())
            .saturating_sub(r_done.into());
        // While a valid waits, that is for the limit of its channel to judge.
        let waits =
            master.aw_valid | master.w_valid | master.ar_valid | slave.b_valid | slave.r_valid;
        let outstanding = !waits && self.addresses + self.data + self.reads > 0;
        self.watchdog.cycle(
            now,
            outstanding,
            aw_done | w_done | ar_done | b_done | r_done,
        )
    }
}
