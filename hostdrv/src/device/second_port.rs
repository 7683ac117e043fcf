//! The card's second port (`docs/card.md`, Ports), whose owner is the engine on the card's processor: another device on the same card, beside the one that
//! has the first port.
//!
//! The first one's has all that there is once: the card's reset, its addresses and the frames of no flow. Of these it gives the second one what is for it.

use std::sync::Arc;

use weft_engine::{ResourceSplit, Rung};
use weft_layout::{registers, table, FlowKeyRow, StagRow, PORT_REGISTERS};

use super::{Capabilities, Device, DeviceConfig};
use crate::card::Given;
use crate::error::DeviceError;
use crate::processor::TakesFrames;
use weft_card_transport::turns::KeepsTurn;
use weft_card_transport::{Bar, ByPort, VECTOR};

/// What a device with the second port has of the first one's. Dropped when its processor was stopped.
pub(crate) struct SecondPort {
    first: Device,
    given: Given,
}

impl SecondPort {
    /// Frames of no flow go there from now on, where they are for it.
    pub(super) fn open(&self, give: TakesFrames) {
        self.given.to(give);
    }

    /// It listens there.
    pub(super) fn listen(&self, port: u16) {
        self.given.listen(port);
    }

    /// And does no more.
    pub(super) fn unlisten(&self, port: u16) {
        self.given.unlisten(port);
    }

    /// What the card can do.
    pub(super) fn capabilities(&self) -> Capabilities {
        self.first.capabilities()
    }

    /// Does the first one listen there?
    pub(super) fn is_taken(&self, port: u16) -> bool {
        let mut state = self.first.lock();
        let here = state.place.here();
        here.is_some_and(|(engine, _)| engine.listens(port))
    }

    /// The fences of the card.
    pub(super) fn fence(&self) -> crate::card::Fence {
        self.first.lock().place.fence().clone()
    }

    /// Rows that a firmware has left which ended by itself: its flows and its regions.
    fn clear_rows(&self) -> Result<(), DeviceError> {
        let caps = self.first.capabilities();
        let mut state = self.first.lock();
        let (_, card) = state.engine_for("second port")?;
        let key = FlowKeyRow::default().to_bytes();
        for bucket in 0..caps.flows {
            card.write_row(table::FLOW_KEY, 2 * bucket + 1, &key)?;
        }
        let stag = StagRow::default().to_bytes();
        for index in ResourceSplit::Second.stags(caps.stags) {
            card.write_row(table::STAG, index, &stag)?;
        }
        Ok(())
    }

    /// Waits until the card does nothing more with memory that was the second port's: what was checked has been written, and jobs that were fetched are done.
    fn drain(&self) -> Result<(), DeviceError> {
        const LOOKS: u32 = 10_000;
        const LOOK_NS: u64 = 2_000;
        let state = self.first.lock();
        let (fence, mmio) = (state.place.fence().clone(), &state.mmio);
        let transport = &mmio.transport;
        let done = || {
            transport.read32(
                Bar::Registers,
                registers::JOB_DONE.offset() + PORT_REGISTERS,
            )
        };
        let (mut number, mut jobs) = (None, None);
        for _ in 0..LOOKS {
            fence.ask(mmio)?;
            if number.is_none() {
                number = fence.begin(mmio)?;
            }
            let now = done()?;
            let stands = jobs.replace(now) == Some(now);
            if stands && number.is_some_and(|number| fence.has_passed(number)) {
                return Ok(());
            }
            // The card's owner is not to begin anew meanwhile.
            let _keeps = KeepsTurn::begin();
            transport.wait(VECTOR, Some(transport.now() + LOOK_NS))?;
        }
        let why = "the card does not come to an end with what it had";
        Err(DeviceError::SecondPort { why })
    }
}

impl Drop for SecondPort {
    fn drop(&mut self) {
        self.given.to_nobody();
        if let Err(error) = self.clear_rows().and_then(|()| self.drain()) {
            tracing::warn!(%error, "a second port was not left as it was found");
        }
    }
}

impl Device {
    /// Another device on this one's card, by the card's second port: the engine on the card's processor, with the address of this one. So queue pairs of rung
    /// `firmware`, which are that one's, and of other rungs, which are this one's, are on one card at the same time. Protection domains, regions and queues are
    /// each one's own. This device has to be looked at ([`progress`](Self::progress)) for connections of the other one to come about: what comes for none comes here.
    ///
    /// # Errors
    /// [`DeviceError::SecondPort`] where there cannot be one, with the reason; and as [`open`](Self::open).
    pub fn second_port(&self, config: DeviceConfig) -> Result<Device, DeviceError> {
        let refuse = |why| Err(DeviceError::SecondPort { why });
        let own = &self.shared.config;
        if config.engine.rung != Rung::Firmware {
            return refuse("it is for rung firmware");
        }
        if own.split != ResourceSplit::First {
            return refuse(
                "the first device was not opened to share its card (DeviceConfig::share_card)",
            );
        }
        if own.mtu > 1500 {
            return refuse(
                "raw slots are as large as the first device's, which are for jumbo frames",
            );
        }
        let given = {
            let mut state = self.lock();
            let (_, card) = state.engine_for("second port")?;
            card.given.clone().unwrap_or_default()
        };
        if given.is_open() {
            return refuse("it is open");
        }
        let mut config = config;
        config.engine = weft_engine::EngineConfig {
            mac: own.mac,
            ip: own.ip,
            netmask: own.netmask,
            gateway: own.gateway,
            mtu: own.mtu,
            split: ResourceSplit::Second,
            ..config.engine
        };
        let second = SecondPort {
            first: self.clone(),
            given,
        };
        let transport = Arc::new(ByPort(self.shared.mmio.transport.clone()));
        Device::open_by(transport, config, Some(second))
    }
}
