//! The card below the engine: bring-up, rings, tables.
//!
//! Nothing here knows of connections or verbs. Each ring is a file of its own; [`port`] makes the
//! whole the engine's `Port`.

mod clock;
mod control;
mod fence;
mod frame_buffers;
mod given;
mod job_ring;
mod memory_map;
mod port;
mod raw_ring;
mod receive_queues;
mod report_ring;
mod reset;
mod reset_wait;
mod send_buffers;
mod table;
mod watch;

use weft_engine::{Arrived, HashSecret};
use weft_layout::{doorbells, reg, registers};

use crate::checks::{check_identity, check_presence};
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::stats::add;

use clock::Clock;
pub(crate) use control::health;
use control::Control;
pub use control::Health;
pub(crate) use fence::Fence;
use frame_buffers::FrameBuffers;
pub(crate) use given::{Given, GivenFrames, Sharing};
use job_ring::JobRing;
pub(crate) use memory_map::{MappedMemory, MemoryMap};
use raw_ring::RawRing;
use receive_queues::ReceiveQueues;
use report_ring::ReportRing;
use reset_wait::ResetWait;
use send_buffers::SendBuffers;
use watch::Watch;

/// The longest frame the card handles.
pub const MAX_FRAME: u16 = 9216;
/// Ethernet header with one VLAN tag: what MTU has beyond the IP packet.
pub(crate) const ETHERNET_HEADER: u16 = 18;
/// The doorbells of BAR2 leave room for so many flows.
const MAX_FLOWS_LOG2: u8 = 13;
/// The last doorbell of REPORT_ARM_AFTER.
const MOST_AFTER: u32 = 63;

/// Sizes of the rings, as log2 of their slots, and how jobs are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizes {
    /// Jobs, 1 to 16.
    pub jobs_log2: u8,
    /// Reports, 1 to 16.
    pub reports_log2: u8,
    /// Raw frames, 1 to 12.
    pub raw_log2: u8,
    /// Up to so many jobs posted at a time are written into the card, where it has a push window: its sending begins a read of host
    /// memory earlier, for 128 bytes of MMIO each. 0: none.
    pub push: u32,
}

impl Default for RingSizes {
    fn default() -> Self {
        Self {
            jobs_log2: 9,
            reports_log2: 11,
            raw_log2: 10,
            push: 2,
        }
    }
}

/// What a card can do: its CAPS register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Bytes of its data path.
    pub data_bytes: u8,
    /// Flows: NUM_FLOWS.
    pub flows: u32,
    /// STags: NUM_STAGS.
    pub stags: u32,
    /// MSI-X vectors.
    pub vectors: u8,
    /// Payload bytes of a replay job at most; 0: the card has none.
    pub replay: u32,
    /// Ports, 1 or 2.
    pub ports: u32,
}

impl Capabilities {
    /// What CAPS says; `device` names the card in the error. Replays and ports are in other registers: none, and one.
    pub fn decode(device: &str, caps: reg::Caps) -> Result<Self, DeviceError> {
        let (data_bytes, vectors) = (caps.data_bytes(), caps.vectors());
        let (flows_log2, stags_log2) = (caps.flows_log2(), caps.stags_log2());
        let why = if !matches!(data_bytes, 16 | 32 | 64) {
            "the data path is 16, 32 or 64 bytes wide"
        } else if flows_log2 > MAX_FLOWS_LOG2 {
            "more flows than doorbells"
        } else if !(1..=24).contains(&stags_log2) {
            "the number of STags is 2 to 2^24"
        } else if vectors == 0 {
            "no interrupt vector"
        } else {
            return Ok(Self {
                data_bytes,
                flows: 1 << flows_log2,
                stags: 1 << stags_log2,
                vectors,
                replay: 0,
                ports: 1,
            });
        };
        Err(DeviceError::Capabilities {
            device: device.to_owned(),
            caps: caps.0,
            why,
        })
    }
}

/// A report, when that came which it tells, and slot and length of its raw frame.
pub(crate) type TakenReport = ([u8; 64], Arrived, Option<(u16, u16)>);

/// A card that was brought up.
pub(crate) struct Card {
    mmio: Mmio,
    name: String,
    caps: Capabilities,
    control: Control,
    jobs: JobRing,
    frames: FrameBuffers,
    reports: ReportRing,
    clock: Clock,
    raw: RawRing,
    queues: ReceiveQueues,
    send_buffers: SendBuffers,
    pub(crate) fence: Fence,
    /// Where two share it the tables are taken in turns.
    pub(crate) sharing: Sharing,
    pub(crate) memory: MemoryMap,
    watch: Watch,
    /// What went wrong where no error could be returned.
    fault: Option<DeviceError>,
}

impl Card {
    /// Resets the card, checks that it is one that this driver knows, gives it its rings and turns it on.
    pub(crate) fn bring_up(
        mmio: Mmio,
        mac: [u8; 6],
        mtu: u16,
        secret: HashSecret,
        rings: RingSizes,
    ) -> Result<Self, DeviceError> {
        let name = mmio.transport.name();
        let _span = tracing::info_span!("bring_up", device = %name).entered();
        check_settings(mtu, rings)?;

        reset::reset(&mmio, &name)?;
        let caps = identify(&mmio, &name)?;
        wait_quiescent(&mmio)?;

        let max_frame = mtu + ETHERNET_HEADER;
        let [m0, m1, m2, m3, m4, m5] = mac;
        mmio.write(registers::MTU, max_frame.into())?;
        mmio.write(registers::MAC_LO, u32::from_le_bytes([m0, m1, m2, m3]))?;
        let high = reg::MacHi::default().with_mac(u16::from_le_bytes([m4, m5]));
        mmio.write(registers::MAC_HI, high)?;
        for (register, word) in registers::HASH_SECRET.words().zip(secret.0) {
            mmio.write(register, word)?;
        }
        let mut card = Self::with_rings(mmio, caps, max_frame, rings, Sharing::Alone)?;
        card.control = Control::start(&card.mmio)?;
        tracing::info!(?caps, max_frame, ?rings, "card is up");
        Ok(card)
    }

    /// Gives a card its rings for the second port, whose first one's owner has brought it up. `fence`: the card's.
    pub(crate) fn join(
        mmio: Mmio,
        caps: Capabilities,
        mtu: u16,
        rings: RingSizes,
        fence: Fence,
        frames: GivenFrames,
    ) -> Result<Self, DeviceError> {
        check_settings(mtu, rings)?;
        let max_frame = mtu + ETHERNET_HEADER;
        let sharing = Sharing::Second(frames);
        let mut card = Self::with_rings(mmio, caps, max_frame, rings, sharing)?;
        card.fence = fence;
        tracing::info!(?rings, "the card's second port is up");
        Ok(card)
    }

    fn with_rings(
        mmio: Mmio,
        caps: Capabilities,
        max_frame: u16,
        rings: RingSizes,
        sharing: Sharing,
    ) -> Result<Self, DeviceError> {
        let is_second = matches!(sharing, Sharing::Second(_));
        let jobs = JobRing::new(&mmio, rings.jobs_log2, rings.push)?;
        let frames = FrameBuffers::new(&mmio, max_frame, rings.jobs_log2)?;
        let reports = ReportRing::new(&mmio, rings.reports_log2)?;
        let raw = RawRing::new(&mmio, rings.raw_log2, max_frame, is_second)?;
        let clock = Clock::new(&mmio)?;
        Ok(Self {
            name: mmio.transport.name(),
            queues: ReceiveQueues::new(caps.flows),
            send_buffers: SendBuffers::new(caps.flows),
            fence: Fence::default(),
            sharing,
            memory: MemoryMap::default(),
            mmio,
            caps,
            control: Control::default(),
            jobs,
            frames,
            reports,
            clock,
            raw,
            watch: Watch::default(),
            fault: None,
        })
    }

    /// The transport's time.
    pub(crate) fn now(&self) -> u64 {
        self.mmio.transport.now()
    }

    pub(crate) fn capabilities(&self) -> Capabilities {
        self.caps
    }

    /// The card's second port will be somebody else's.
    pub(crate) fn share(&mut self) -> Result<(), DeviceError> {
        if self.caps.ports < 2 {
            let why = "the card has one port";
            return Err(DeviceError::SecondPort { why });
        }
        self.sharing = Sharing::First(Given::default());
        Ok(())
    }

    /// What the first port's owner knows of the second one's.
    pub(crate) fn given(&self) -> Option<&Given> {
        match &self.sharing {
            Sharing::First(given) => Some(given),
            Sharing::Alone | Sharing::Second(_) => None,
        }
    }

    /// A frame of no flow that the first port's owner has given this one.
    pub(crate) fn take_given(&self) -> Option<Vec<u8>> {
        match &self.sharing {
            Sharing::Second(frames) => frames.take(),
            Sharing::Alone | Sharing::First(_) => None,
        }
    }

    /// The next report that is there, and the raw frame that belongs to it, if one does: until
    /// [`copy_frame`](weft_engine::RawRing::copy_frame) or [`free_slot`](weft_engine::RawRing::free_slot).
    pub(crate) fn take_report(&mut self, now: u64) -> Result<Option<TakenReport>, DeviceError> {
        let Some(report) = self.reports.take()? else {
            self.clock.found_nothing(now);
            return Ok(None);
        };
        let arrived = match report.arrival() {
            Some(arrival) => self.clock.arrived(&self.mmio, now, arrival)?,
            None => Arrived::Now,
        };
        add(&self.mmio.counts.reports, 1);
        let bad = |why| DeviceError::BadReport {
            number: report.number,
            why,
            report: report.bytes.to_vec(),
        };
        if !self.jobs.learn_done_from_report(report.job_done()) {
            return Err(bad("its JOB_DONE is beyond the jobs posted"));
        }
        let raw = report.raw_frame().map_err(bad)?;
        if let Some((slot, length)) = raw {
            self.raw.take(slot, length).map_err(bad)?;
            add(&self.mmio.counts.frames_received, 1);
        }
        tracing::trace!(number = report.number, kind = report.kind(), raw = ?raw, "report");
        // Room is returned in steps of a quarter ring: one doorbell for many reports.
        self.reports.return_room(&self.mmio)?;
        Ok(Some((report.bytes, arrived, raw)))
    }

    /// Reports that may be there at a time.
    pub(crate) fn report_slots(&self) -> usize {
        self.reports.slots()
    }

    /// Tells the card of what was posted since the last call.
    pub(crate) fn ring_doorbells(&mut self) -> Result<(), DeviceError> {
        self.queues.ring(&self.mmio)?;
        self.jobs.ring(&self.mmio)?;
        Ok(())
    }

    /// What went wrong in a call that could not say so, once.
    pub(crate) fn take_fault(&mut self) -> Option<DeviceError> {
        self.fault.take()
    }

    fn set_fault(&mut self, error: impl Into<DeviceError>) {
        let error = error.into();
        // A transport says itself that the way is lost.
        if self.fault.is_none() && self.mmio.transport.lost().is_none() {
            tracing::error!(%error, "device fault");
        }
        self.fault.get_or_insert(error);
    }

    /// Is there a job that the card has not finished, as far as is known?
    pub(crate) fn jobs_outstanding(&self) -> u32 {
        self.jobs.outstanding()
    }

    /// Jobs posted so far, modulo 2^32.
    pub(crate) fn jobs_posted(&self) -> u32 {
        self.jobs.posted()
    }

    /// Is this job (by the count posted with it) done, as far as is known?
    pub(crate) fn jobs_done_up_to(&self, posted: u32) -> bool {
        self.jobs.done().wrapping_sub(posted) as i32 >= 0
    }

    /// Fails if the host has seen jobs of the card waiting, and none done, for a long time of its looks, and JOB_DONE says the same.
    pub(crate) fn check_moving(&mut self, now: u64) -> Result<(), DeviceError> {
        let (done, outstanding) = (self.jobs.done(), self.jobs.outstanding());
        let Some(waited_ns) = self.watch.look(now, done, outstanding > 0) else {
            return Ok(());
        };
        self.watch.asked();
        if self.ask_jobs_done()? != done {
            return Ok(());
        }
        Err(DeviceError::Stuck {
            waited_ns,
            outstanding,
            done,
            status: self.mmio.read(registers::STATUS)?.0,
        })
    }

    /// Reads JOB_DONE.
    fn ask_jobs_done(&mut self) -> Result<u32, DeviceError> {
        let done = self.mmio.read(registers::JOB_DONE)?;
        if !self.jobs.learn_done(done) {
            self.check_presence("JOB_DONE")?;
            return Err(DeviceError::Register {
                register: "JOB_DONE",
                wrote: self.jobs.posted(),
                read: done,
            });
        }
        Ok(done)
    }

    fn check_presence(&self, register: &'static str) -> Result<(), DeviceError> {
        check_presence(&self.mmio, register)
    }

    /// Asks for an interrupt when there are so many reports not yet taken (at once if there are), or sooner: what does not wait makes
    /// one of its own, and so does the last one for some time.
    pub(crate) fn arm(&self, reports: u32) -> Result<(), DeviceError> {
        let doorbell = match reports {
            0 | 1 => doorbells::REPORT_ARM,
            more => doorbells::REPORT_ARM_AFTER.of((more - 1).min(MOST_AFTER) as u16),
        };
        Ok(self.mmio.ring(doorbell, self.reports.taken())?)
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        // Of the second port nothing is left in the card's tables by now: nothing is written to its rings any more.
        if matches!(self.sharing, Sharing::Second(_)) {
            return;
        }
        // The rings go back to the host only after the card was told to forget them.
        match reset::reset(&self.mmio, &self.name) {
            Ok(()) => tracing::info!(device = %self.name, "card is off"),
            // Its transport has said that it is gone.
            Err(_) if self.mmio.transport.lost().is_some() => {}
            Err(error) => {
                tracing::warn!(device = %self.name, %error, "card could not be turned off")
            }
        }
    }
}

fn check_settings(mtu: u16, rings: RingSizes) -> Result<(), DeviceError> {
    let mtus = 576..=u64::from(MAX_FRAME - ETHERNET_HEADER);
    check_setting("mtu", mtu.into(), mtus, "576 to 9198")?;
    check_setting("jobs_log2", rings.jobs_log2.into(), 1..=16, "1 to 16")?;
    check_setting("reports_log2", rings.reports_log2.into(), 1..=16, "1 to 16")?;
    check_setting("raw_log2", rings.raw_log2.into(), 1..=12, "1 to 12")
}

fn check_setting(
    setting: &'static str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
    allowed: &'static str,
) -> Result<(), DeviceError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(DeviceError::Setting {
        setting,
        value,
        allowed,
    })
}

/// Resets the card, and checks what it is and what it can do.
pub(crate) fn examine(mmio: &Mmio) -> Result<Capabilities, DeviceError> {
    let name = mmio.transport.name();
    reset::reset(mmio, &name)?;
    identify(mmio, &name)
}

/// Checks the identity, that writes arrive, and what it can do.
fn identify(mmio: &Mmio, name: &str) -> Result<Capabilities, DeviceError> {
    check_identity(mmio, name)?;
    for wrote in [0x5a5a_a5a5, 0xa5a5_5a5a, 0] {
        mmio.write(registers::SCRATCH, wrote)?;
        let read = mmio.read(registers::SCRATCH)?;
        if read != wrote {
            return Err(DeviceError::Scratch { wrote, read });
        }
    }
    let mut caps = Capabilities::decode(name, mmio.read(registers::CAPS)?)?;
    caps.replay = mmio.read(registers::JOB_REPLAY)?;
    caps.ports = mmio.read(registers::PORTS)?.max(1);
    tracing::debug!(?caps, "identified");
    Ok(caps)
}

/// A card that was just reset has nothing in flight.
fn wait_quiescent(mmio: &Mmio) -> Result<(), DeviceError> {
    mmio.write(registers::CTRL, reg::Ctrl::default())?;
    let mut wait = ResetWait::begin(mmio)?;
    loop {
        let status = mmio.read(registers::STATUS)?;
        if status.quiescent() {
            return Ok(());
        }
        tracing::debug!(?status, "waiting for the card to come to rest");
        if !wait.goes_on()? {
            return Err(DeviceError::NotQuiescent {
                status: status.0,
                waited_ns: wait.waited_ns(),
            });
        }
    }
}
