//! A driver of a few lines: enough to let a served card read a frame out of memory, send it to itself or to its port,
//! write what it receives into memory, and ask for an interrupt.

#![allow(dead_code, missing_docs)]

pub mod raw;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use weft_layout::{doorbell, job_kind, reg, report_kind, FrameReport, Job};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{private, start, CardConfig, PrivateSpec, ServeConfig, Served, Stats};

pub const REGISTERS: u32 = 0;
pub const DOORBELLS: u32 = 2;
pub const MSIX: u32 = 4;
pub const CONFIG: u32 = 7;
pub const MSIX_IRQ: u32 = 2;
pub const STATION: [u8; 6] = [0x02, 0, 0, 0, 0, 1];

/// Where things are in the driver's memory, and its size.
const JOBS: u64 = 0;
const REPORTS: u64 = 0x1000;
const RAW: u64 = 0x4000;
const FRAME: u64 = 0xc000;
pub const MEMORY: u64 = 0x1_0000;
const REPORT_LOG2: u32 = 4;
const RAW_SLOT_LOG2: u32 = 11;
// A slot for each frame that a port may play before the driver looks.
const RAW_LOG2: u32 = 4;

/// How a test reaches a card.
pub trait Reach {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]);
    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]);
}

impl Reach for vfio_user::Client {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) {
        vfio_user::Client::region_read(self, region, offset, data).unwrap();
    }
    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) {
        vfio_user::Client::region_write(self, region, offset, data).unwrap();
    }
}

pub fn read32(card: &mut impl Reach, region: u32, offset: u32) -> u32 {
    let mut word = [0; 4];
    card.region_read(region, offset.into(), &mut word);
    u32::from_le_bytes(word)
}

pub fn write32(card: &mut impl Reach, region: u32, offset: u32, value: u32) {
    card.region_write(region, offset.into(), &value.to_le_bytes());
}

/// Sets memory space and bus master enable.
pub fn be_master(card: &mut impl Reach) {
    card.region_write(CONFIG, 4, &[6, 0]);
}

/// The driver's memory, wherever it is.
pub trait Memory {
    fn write(&mut self, offset: u64, bytes: &[u8]);
    fn read(&mut self, offset: u64, bytes: &mut [u8]);
}

/// Memory with a descriptor.
pub struct Shared(pub OwnedFd);

impl Shared {
    pub fn new(len: u64) -> Self {
        let fd = memfd_create("driver", MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&fd, len).unwrap();
        Self(fd)
    }
}

impl Memory for Shared {
    fn write(&mut self, offset: u64, bytes: &[u8]) {
        assert_eq!(
            rustix::io::pwrite(&self.0, bytes, offset).unwrap(),
            bytes.len()
        );
    }
    fn read(&mut self, offset: u64, bytes: &mut [u8]) {
        assert_eq!(
            rustix::io::pread(&self.0, &mut *bytes, offset).unwrap(),
            bytes.len()
        );
    }
}

/// The driver.
pub struct Driver {
    iova: u64,
    jobs: u32,
    reports: u32,
}

impl Driver {
    /// Sets up rings at an IOVA. `loopback`: what the card sends it receives.
    pub fn new(card: &mut impl Reach, iova: u64, loopback: bool) -> Self {
        for (low, at) in [
            (reg::JOB_BASE_LO, JOBS),
            (reg::REPORT_BASE_LO, REPORTS),
            (reg::RAW_BASE_LO, RAW),
        ] {
            write32(card, REGISTERS, low, (iova + at) as u32);
            write32(card, REGISTERS, low + 4, ((iova + at) >> 32) as u32);
        }
        write32(card, REGISTERS, reg::JOB_LOG2, 1);
        write32(card, REGISTERS, reg::REPORT_LOG2, REPORT_LOG2);
        write32(
            card,
            REGISTERS,
            reg::RAW_LOG2,
            RAW_LOG2 << 8 | RAW_SLOT_LOG2,
        );
        let mac = STATION;
        let low = u32::from_le_bytes([mac[0], mac[1], mac[2], mac[3]]);
        write32(card, REGISTERS, reg::MAC_LO, low);
        write32(
            card,
            REGISTERS,
            reg::MAC_HI,
            u32::from(mac[4]) | u32::from(mac[5]) << 8,
        );
        write32(card, REGISTERS, reg::CTRL, 3 | u32::from(loopback) << 2);
        Self {
            iova,
            jobs: 0,
            reports: 0,
        }
    }

    /// Asks for an interrupt with the next report.
    pub fn arm(&self, card: &mut impl Reach) {
        write32(card, DOORBELLS, doorbell::REPORT_ARM, self.reports);
    }

    /// Lets the card send a frame.
    pub fn send(&mut self, card: &mut impl Reach, memory: &mut impl Memory, frame: &[u8]) {
        memory.write(FRAME, frame);
        let job = Job {
            kind: job_kind::RAW_FRAME,
            sge_count: 1,
            length: frame.len() as u32,
            sge0_iova: self.iova + FRAME,
            sge0_length: frame.len() as u32,
            ..Job::default()
        };
        let slot = u64::from(self.jobs % 2) * Job::SIZE as u64;
        memory.write(JOBS + slot, &job.to_bytes());
        self.jobs += 1;
        write32(card, DOORBELLS, doorbell::JOB_TAIL, self.jobs);
    }

    /// The next frame that the card received, if its report is there.
    pub fn try_receive(
        &mut self,
        card: &mut impl Reach,
        memory: &mut impl Memory,
    ) -> Option<Vec<u8>> {
        let mut report = [0; FrameReport::SIZE];
        let slot = self.reports % (1 << REPORT_LOG2);
        memory.read(REPORTS + u64::from(slot) * 64, &mut report);
        let phase = !(self.reports >> REPORT_LOG2) as u8 & 1;
        let report = FrameReport::from_bytes(&report);
        if report.phase & FrameReport::PHASE != phase {
            return None;
        }
        assert_eq!(report.kind, report_kind::FRAME, "no report of a frame");
        let mut frame = vec![0; usize::from(report.raw_len)];
        memory.read(
            RAW + (u64::from(report.raw_slot) << RAW_SLOT_LOG2),
            &mut frame,
        );
        self.reports += 1;
        write32(card, DOORBELLS, doorbell::REPORT_HEAD, self.reports);
        write32(card, DOORBELLS, doorbell::RAW_HEAD, self.reports);
        Some(frame)
    }

    /// Waits for the next frame.
    pub fn receive(&mut self, card: &mut impl Reach, memory: &mut impl Memory) -> Vec<u8> {
        eventually("a frame", || self.try_receive(card, memory))
    }
}

/// A frame to the card itself.
pub fn frame(len: usize, fill: u8) -> Vec<u8> {
    let mut frame = vec![fill; len];
    frame[..6].copy_from_slice(&STATION);
    frame[6..12].copy_from_slice(&[0x02, 0, 0, 0, 0, 9]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// Asks again and again, for a time that no test should need.
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a descriptor can be read.
pub fn readable(fd: &OwnedFd, limit: Duration) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::try_from(limit).unwrap())).unwrap() == 1
}

pub fn serve() -> Served {
    private(&PrivateSpec {
        card: CardKind::Model,
        ..PrivateSpec::default()
    })
    .unwrap()
}

/// Two cards, joined to each other.
pub fn serve_two() -> Served {
    serve_ports(&[PortSpec::Card(1), PortSpec::Card(0)])
}

/// A card for each port. The folder of the sockets is left behind, empty.
pub fn serve_ports(ports: &[PortSpec]) -> Served {
    let folder = tempfile::tempdir().unwrap().keep();
    let cards = ports.iter().enumerate().map(|(n, port)| CardConfig {
        kind: CardKind::Model,
        port: port.clone(),
        socket: folder.join(format!("card{n}")),
        // A link between two cards has one, the first card's.
        capture: match port {
            PortSpec::None => None,
            PortSpec::Card(other) if *other < n => None,
            _ => Some(folder.join(format!("port{n}.pcapng"))),
        },
    });
    start(&ServeConfig {
        cards: cards.collect(),
        seed: 1,
        link: LinkConfig::default(),
    })
    .unwrap()
}

/// Waits until the numbers are as a test wants them.
pub fn stats_when(served: &Served, what: &str, wanted: impl Fn(&Stats) -> bool) -> Stats {
    eventually(what, || Some(served.stats()).filter(|s| wanted(s)))
}
