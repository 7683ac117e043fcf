//! A card without an engine: its rings, for a program that posts jobs and takes reports by itself, as a test of the card does.

use std::fmt;
use std::sync::Arc;

use weft_engine::{HashSecret, Port, RawRing};
use weft_layout::{AttachRow, Job};

use crate::card::{Card, Health, RingSizes};
use crate::error::DeviceError;
use crate::mmio::Mmio;
use weft_card_transport::Transport;

/// The station that a card without an engine is.
#[derive(Clone, Copy, Debug)]
pub struct BareStation {
    /// Its MAC address.
    pub mac: [u8; 6],
    /// The longest IP packet.
    pub mtu: u16,
    /// What the card's flow lookup is keyed with.
    pub secret: [u32; 4],
}

/// A card that was reset and has rings in host memory. It is reset when this is dropped.
#[must_use = "the card is reset when this is dropped"]
pub struct BareCard(Card);

impl BareCard {
    /// Resets the card and sets its rings up. Nothing is turned on yet (`CTRL`).
    pub fn bring_up(
        transport: Arc<dyn Transport>,
        station: BareStation,
        rings: RingSizes,
    ) -> Result<Self, DeviceError> {
        let BareStation { mac, mtu, secret } = station;
        Card::bring_up(Mmio::new(transport), mac, mtu, HashSecret(secret), rings).map(Self)
    }

    /// Puts a job into the ring and answers its number, counted from 0 modulo 2^32. `None`: the ring is full. The card hears of it by
    /// [`ring_doorbells`](Self::ring_doorbells).
    pub fn post_job(&mut self, job: &[u8; Job::SIZE]) -> Result<Option<u32>, DeviceError> {
        let posted = self.0.post_job(job);
        self.0.urgent();
        self.fault()?;
        Ok(posted.ok())
    }

    /// Rings the doorbells of what was posted.
    pub fn ring_doorbells(&mut self) -> Result<(), DeviceError> {
        self.0.ring_doorbells()
    }

    /// Jobs posted, modulo 2^32.
    pub fn jobs_posted(&self) -> u32 {
        self.0.jobs_posted()
    }

    /// Writes a row of a table (`weft_layout::table`).
    pub fn write_table(
        &mut self,
        table: u8,
        index: u32,
        row: &[u8; 64],
    ) -> Result<(), DeviceError> {
        self.0.write_table(table, index, row);
        self.fault()
    }

    /// Raw slots whose reports were taken, modulo 2^32.
    pub fn raw_seen(&self) -> u32 {
        self.0.raw_seen()
    }

    /// Writes a flow's ATTACH row. False: the card did not apply it, or could not be reached, which the next call says.
    pub fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        self.0.attach(flow, row)
    }

    /// The next report, if it is there; its raw frame is copied into `frame`. True: it has one.
    pub fn take_report(
        &mut self,
        frame: &mut Vec<u8>,
    ) -> Result<Option<([u8; 64], bool)>, DeviceError> {
        let now = self.0.now();
        let Some((report, _, slot)) = self.0.take_report(now)? else {
            return Ok(None);
        };
        if let Some(slot) = slot {
            self.0.copy_frame(slot, frame)?;
        }
        Ok(Some((report, slot.is_some())))
    }

    /// Asks for an interrupt when there are so many reports.
    pub fn arm(&self, reports: u32) -> Result<(), DeviceError> {
        self.0.arm(reports)
    }

    /// What the card says of itself.
    pub fn health(&self) -> Result<Health, DeviceError> {
        self.0.health()
    }

    fn fault(&mut self) -> Result<(), DeviceError> {
        self.0.take_fault().map_or(Ok(()), Err)
    }
}

impl fmt::Debug for BareCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BareCard").finish_non_exhaustive()
    }
}
