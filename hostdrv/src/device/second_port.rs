//! The card's second port (`docs/card.md`, Ports), whose owner is the engine on the card's processor, or another one of this process: another device on the
//! same card, beside the one that has the first port.
//!
//! The first one's has all that there is once: the card's reset, its addresses and the frames of no flow. Of these it gives the second one what is for it.

use std::sync::Arc;

use weft_engine::commands::{Command, Refusal};
use weft_engine::{Error, ResourceSplit, Rung};
use weft_layout::{registers, table, CommandOpcode, FlowKeyRow, StagRow, PORT_REGISTERS};

use super::place::{Here, Place};
use super::{Capabilities, Device, DeviceConfig};
use crate::card::{Card, Given, GivenFrames, RingSizes};
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::processor::TakesFrames;
use weft_card_transport::turns::KeepsTurn;
use weft_card_transport::{Bar, ByPort, VECTOR};

/// What a device with the second port has of the first one's. Dropped when its engine does nothing more.
pub(crate) struct SecondPort {
    first: Device,
    given: Given,
    /// Those that wait for an engine of this process.
    frames: GivenFrames,
    /// What of the card is the second one's.
    split: ResourceSplit,
}

impl SecondPort {
    /// Frames of no flow go there from now on, where they are for it.
    pub(super) fn open(&self, give: TakesFrames) {
        self.given.to(give);
    }

    /// The card's second port with rings of this process.
    pub(super) fn join(
        &self,
        mmio: &Mmio,
        mtu: u16,
        rings: RingSizes,
    ) -> Result<Card, DeviceError> {
        let (caps, frames) = (self.capabilities(), self.frames.clone());
        Card::join(mmio.clone(), caps, mtu, rings, self.fence(), frames)
    }

    /// Before a command of the second one's: what comes for its port is its own from the first frame on.
    pub(super) fn before(&self, command: &Command) -> Result<(), Refusal> {
        let (opcode, port) = (command.opcode(), command.port);
        if opcode == Ok(CommandOpcode::Listen) && port != 0 && self.is_taken(port) {
            return Err(Error::PortInUse(port).into());
        }
        if let (Ok(CommandOpcode::Listen | CommandOpcode::Connect), 1..) = (opcode, port) {
            self.given.listen(port);
        }
        Ok(())
    }

    /// And behind it.
    pub(super) fn after(&self, command: &Command) {
        if command.opcode() == Ok(CommandOpcode::Unlisten) {
            self.given.unlisten(command.port);
        }
    }

    /// What the card can do.
    pub(super) fn capabilities(&self) -> Capabilities {
        self.first.capabilities()
    }

    /// Does the first one listen there?
    fn is_taken(&self, port: u16) -> bool {
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
        for index in self.split.stags(caps.stags) {
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
        self.given.to(Box::new(|_| ()));
        if let Err(error) = self.clear_rows().and_then(|()| self.drain()) {
            tracing::warn!(%error, "a second port was not left as it was found");
        }
        // The next one finds nothing of this one's.
        self.given.to_nobody();
    }
}

impl Here {
    /// Works on frames of no flow that the first port's owner has given, some at a time. How many.
    pub(super) fn take_given(&mut self, now: u64) -> usize {
        const MOST: usize = 16;
        let mut taken = 0;
        while taken < MOST {
            let Some(frame) = self.card.take_given() else {
                break;
            };
            self.engine.on_given_frame(now, &frame, &mut self.card);
            taken += 1;
        }
        taken
    }
}

impl Device {
    /// Where it has the second port: frames of no flow that are for it come from now on, and wake who sleeps.
    pub(super) fn open_given(&self) {
        let state = self.lock();
        let Place::Here(here) = &state.place else {
            return;
        };
        if let Some(second) = &here.second {
            let (frames, sleepers) = (second.frames.clone(), self.shared.sleepers.clone());
            second.open(Box::new(move |frame| {
                if frames.put(frame) {
                    sleepers.announce();
                } else {
                    tracing::debug!(len = frame.len(), "no room for a frame of the second port");
                }
            }));
        }
    }

    /// Another device on this one's card, by the card's second port, with the address of this one: rings, interrupts and an engine of its own.
    ///
    /// * Of rung `Firmware`: the engine is on the card's processor. So queue pairs of that rung and of others are on one card at the same time.
    /// * Of any other: the engine is in this process. So two threads serve one card, each the flows of its device.
    ///
    /// Protection domains, regions and queues are each one's own. This device has to be looked at ([`progress`](Self::progress)) for connections of the other
    /// one to come about: what comes for none comes here.
    ///
    /// # Errors
    /// [`DeviceError::SecondPort`] where there cannot be one, with the reason; and as [`open`](Self::open).
    pub fn second_port(&self, config: DeviceConfig) -> Result<Device, DeviceError> {
        let refuse = |why| Err(DeviceError::SecondPort { why });
        let own = &self.shared.config;
        let on_card = config.engine.rung == Rung::Firmware;
        let split = match own.split {
            ResourceSplit::First => ResourceSplit::Second,
            ResourceSplit::FirstHalf if !on_card => ResourceSplit::SecondHalf,
            ResourceSplit::FirstHalf => {
                return refuse(
                    "a firmware has 32 flows: open the first device with DeviceConfig::share_card",
                );
            }
            _ => {
                return refuse(
                    "the first device was not opened to share its card (DeviceConfig::share_card)",
                );
            }
        };
        if on_card && own.mtu > 1500 {
            return refuse(
                "raw slots are as large as the first device's, which are for jumbo frames",
            );
        }
        let given = {
            let mut state = self.lock();
            let (_, card) = state.engine_for("second port")?;
            card.given().cloned().unwrap_or_default()
        };
        if !given.claim() {
            return refuse("it is open");
        }
        let mut config = config;
        config.engine = weft_engine::EngineConfig {
            mac: own.mac,
            ip: own.ip,
            netmask: own.netmask,
            gateway: own.gateway,
            mtu: own.mtu,
            hash_secret: own.hash_secret,
            split,
            ..config.engine
        };
        // The push window is the first one's.
        config.rings.push = 0;
        let second = SecondPort {
            first: self.clone(),
            given,
            frames: GivenFrames::default(),
            split,
        };
        let transport = Arc::new(ByPort(self.shared.mmio.transport.clone()));
        Device::open_by(transport, config, Some(second))
    }
}
