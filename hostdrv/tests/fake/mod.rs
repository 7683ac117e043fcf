//! A transport without a card: registers that a test sets, memory that it looks into.
#![allow(dead_code)] // Not every test uses all of it.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard};

use weft_hostdrv::cm::{CmId, ConnParam};
use weft_hostdrv::dma::{DmaBuffer, Pages, SharedMemory};
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_hostdrv::verbs::{Access, Cq, Mr, Pd, Qp, QpCap, QpInit};
use weft_hostdrv::{Device, DeviceConfig};
use weft_layout::{doorbell, reg, FrameReport, ReportKind, SegmentReport, TableOperation};
use weft_watchdog::Watchdog;

/// What the fake card does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Every register reads as all ones.
    Absent,
    /// A register has this value, whatever is written.
    Register(u32, u32),
    /// STATUS never says quiescent.
    NeverQuiescent,
    /// Its clock is slow: its tables are cleared 3 s after it was made, by the host's clock.
    Slow,
    /// A soft reset does not end.
    SoftResetHangs,
    /// Nor does the transport know a way.
    NoReset,
    /// Reads fail.
    ReadsFail,
    /// No DMA memory.
    NoMemory,
    /// Table accesses are refused.
    TablesRefuse,
}

/// A device with this card, that works when it is told to; a domain and a region of it.
pub fn open(card: &FakeCard) -> (Device, Pd, Mr) {
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(card.clone()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE).expect("a region");
    (device, pd, mr)
}

/// A queue pair whose connection was asked for.
pub fn connecting(device: &Device, pd: &Pd, cq: &Cq, depth: u32) -> (CmId, Qp) {
    let id = device.create_event_channel().create_id();
    id.resolve_addr("10.0.0.2:4791".parse().expect("an address"))
        .expect("possible");
    id.resolve_route().expect("possible");
    let cap = QpCap {
        max_send_wr: depth,
        max_recv_wr: depth,
        ..QpCap::default()
    };
    let init = QpInit {
        cap,
        ..QpInit::new(cq)
    };
    let qp = id.create_qp(pd, &init).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    (id, qp)
}

/// Everything behind the lock.
#[derive(Default)]
pub struct Inner {
    pub registers: BTreeMap<u32, u32>,
    /// Doorbell writes in order.
    pub doorbells: Vec<(u32, u32)>,
    /// Register writes in order.
    pub writes: Vec<(u32, u32)>,
    /// Rows by (table, index).
    pub rows: BTreeMap<(u8, u32), [u8; 64]>,
    pub memory: BTreeMap<u64, Arc<Pages>>,
    pub foreign: BTreeMap<u64, SharedMemory>,
    pub fault: Option<Fault>,
    pub refused: bool,
    pub resets: u32,
    pub soft_resets: u32,
    pub now: u64,
    pub interrupt: bool,
    /// Why it is out of reach.
    pub lost: Option<String>,
    next_iova: u64,
    limit: Option<Watchdog>,
}

/// The fake card.
#[derive(Clone)]
pub struct FakeCard(Arc<Mutex<Inner>>);

impl FakeCard {
    pub fn new() -> Self {
        let mut inner = Inner {
            next_iova: 0x1_0000_1000,
            now: 1_000_000,
            limit: Watchdog::usual("no seed"),
            ..Inner::default()
        };
        inner.power_on();
        Self(Arc::new(Mutex::new(inner)))
    }

    pub fn with(fault: Fault) -> Self {
        let card = Self::new();
        card.lock().fault = Some(fault);
        card
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no test panics with it")
    }

    pub fn register(&self, offset: u32) -> u32 {
        self.lock().registers.get(&offset).copied().unwrap_or(0)
    }

    pub fn set(&self, offset: u32, value: u32) {
        self.lock().registers.insert(offset, value);
    }

    pub fn address(&self, low: u32) -> u64 {
        u64::from(self.register(low)) | u64::from(self.register(low + 4)) << 32
    }

    /// The last value of a doorbell.
    pub fn doorbell(&self, offset: u32) -> Option<u32> {
        self.lock()
            .doorbells
            .iter()
            .rev()
            .find(|(at, _)| *at == offset)
            .map(|(_, value)| *value)
    }

    /// Writes host memory as the card would.
    pub fn dma_write(&self, iova: u64, bytes: &[u8]) {
        let inner = self.lock();
        let (start, pages) = inner.memory.range(..=iova).next_back().expect("mapped");
        pages
            .memory()
            .write((iova - start) as usize, bytes)
            .expect("mapped");
    }

    pub fn dma_read(&self, iova: u64, count: usize) -> Vec<u8> {
        let inner = self.lock();
        let (start, pages) = inner.memory.range(..=iova).next_back().expect("mapped");
        pages
            .memory()
            .to_vec((iova - start) as usize, count)
            .expect("mapped")
    }

    /// Writes report number `number` with its phase bit.
    pub fn report(&self, number: u32, mut report: [u8; 64]) {
        let log2 = self.register(reg::REPORT_LOG2);
        report[SegmentReport::PHASE_AT] = !(number >> log2) as u8 & SegmentReport::PHASE;
        let slot = u64::from(number & ((1 << log2) - 1));
        self.dma_write(self.address(reg::REPORT_BASE_LO) + 64 * slot, &report);
    }

    /// Writes a frame into raw slot number `number` and its frame report.
    pub fn frame(&self, report_number: u32, raw_number: u32, frame: &[u8]) {
        let shape = reg::RawLog2(self.register(reg::RAW_LOG2));
        let (slot_log2, count_log2) = (shape.slot(), shape.count());
        let slot = raw_number & ((1 << count_log2) - 1);
        let at = self.address(reg::RAW_BASE_LO) + (u64::from(slot) << slot_log2);
        self.dma_write(at, frame);
        let report = FrameReport {
            kind: ReportKind::Frame.raw(),
            raw_slot: slot as u16,
            raw_len: frame.len() as u16,
            job_done: self.register(reg::JOB_DONE),
            ..FrameReport::default()
        };
        self.report(report_number, report.to_bytes());
    }
}

impl Inner {
    fn power_on(&mut self) {
        self.registers = BTreeMap::from([
            (reg::ID, reg::ID_RESET),
            (reg::VERSION, weft_layout::INTERFACE_VERSION),
            // 64 bytes, 16 flows, 256 STags, 2 vectors.
            (reg::CAPS, u32::from_le_bytes([64, 4, 8, 2])),
            (reg::STATUS, reg::Status::QUIESCENT),
        ]);
        self.rows.clear();
    }
}

struct Mapped {
    card: FakeCard,
    iova: u64,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        self.card.lock().memory.remove(&self.iova);
    }
}

impl Transport for FakeCard {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        let inner = self.lock();
        match inner.fault {
            Some(Fault::Absent) => return Ok(u32::MAX),
            Some(Fault::ReadsFail) => {
                return Err(TransportError::Mmio {
                    access: "read",
                    bar,
                    offset,
                    reason: "bus error".into(),
                })
            }
            Some(Fault::Register(at, value)) if at == offset => return Ok(value),
            Some(Fault::NeverQuiescent) if offset == reg::STATUS => return Ok(0),
            Some(Fault::Slow) if offset == reg::STATUS && inner.now < 3_000_000_000 => {
                return Ok(0)
            }
            Some(Fault::Slow) if offset == reg::TIME_LO => return Ok((inner.now / 100_000) as u32),
            _ => {}
        }
        if offset == reg::TABLE_CMD {
            return Ok(inner.refused.into());
        }
        Ok(inner.registers.get(&offset).copied().unwrap_or(0))
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        let mut inner = self.lock();
        if bar == Bar::Doorbells {
            inner.doorbells.push((offset, value));
            return Ok(());
        }
        inner.writes.push((offset, value));
        if offset == reg::CTRL && reg::Ctrl(value).reset() {
            inner.soft_resets += 1;
            if matches!(inner.fault, Some(Fault::SoftResetHangs | Fault::NoReset)) {
                inner.registers.insert(reg::STATUS, reg::Status::RESETTING);
            } else {
                inner.power_on();
            }
            return Ok(());
        }
        if ![reg::ID, reg::VERSION, reg::CAPS, reg::STATUS].contains(&offset) {
            inner.registers.insert(offset, value);
        }
        if offset == reg::FENCE {
            inner.registers.insert(reg::FENCE_DONE, value);
        }
        if offset == reg::TABLE_CMD {
            let command = reg::TableCmd(value);
            let key = (command.table(), command.index());
            inner.refused = inner.fault == Some(Fault::TablesRefuse);
            if command.operation() == Ok(TableOperation::Write) && !inner.refused {
                let mut row = [0; 64];
                for (word, bytes) in row.chunks_exact_mut(4).enumerate() {
                    let value = inner
                        .registers
                        .get(&(reg::TABLE_DATA + 4 * word as u32))
                        .copied()
                        .unwrap_or(0);
                    bytes.copy_from_slice(&value.to_le_bytes());
                }
                inner.rows.insert(key, row);
            }
            if command.operation() == Ok(TableOperation::Read) {
                let row = inner.rows.get(&key).copied().unwrap_or([0; 64]);
                for (word, bytes) in row.chunks_exact(4).enumerate() {
                    let value = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
                    inner
                        .registers
                        .insert(reg::TABLE_DATA + 4 * word as u32, value);
                }
            }
        }
        Ok(())
    }

    fn config_read32(&self, _offset: u16) -> Result<u32, TransportError> {
        Err(TransportError::Unsupported("configuration space"))
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let mut inner = self.lock();
        if inner.fault == Some(Fault::NoMemory) {
            return Err(TransportError::Map {
                len,
                reason: "limit reached".into(),
            });
        }
        let pages = Arc::new(Pages::new(len).expect("memory"));
        let (ptr, len) = (pages.memory().as_ptr(), pages.memory().len());
        let iova = inner.next_iova;
        // A gap, so that the next one is never aligned to more than a page by accident.
        inner.next_iova += len as u64 + 0x1000;
        inner.memory.insert(iova, pages);
        let owner = Mapped {
            card: self.clone(),
            iova,
        };
        let ptr = NonNull::new(ptr).expect("not null");
        // SAFETY: the map keeps the pages until `owner` is dropped; nobody refers to them by reference.
        Ok(unsafe { DmaBuffer::new(ptr, iova, len, Box::new(owner)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        let mut inner = self.lock();
        let iova = inner.next_iova;
        inner.next_iova += len as u64 + 0x1000;
        // SAFETY: the caller's contract.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        inner.foreign.insert(iova, memory);
        Ok(iova)
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        match self.lock().foreign.remove(&iova) {
            Some(_) => Ok(()),
            None => Err(TransportError::Unmap {
                iova,
                len,
                reason: "not mapped".into(),
            }),
        }
    }

    fn now(&self) -> u64 {
        self.lock().now
    }

    fn wait(&self, _vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let mut inner = self.lock();
        if std::mem::take(&mut inner.interrupt) {
            return Ok(true);
        }
        let until = deadline.unwrap_or(inner.now + 1_000_000_000);
        inner.now = inner.now.max(until);
        Ok(false)
    }

    /// Its waits are over at once.
    fn wake(&self, _: u16) {}

    fn lost(&self) -> Option<String> {
        self.lock().lost.clone()
    }

    fn reset(&self) -> Result<(), TransportError> {
        let mut inner = self.lock();
        inner.resets += 1;
        if inner.fault == Some(Fault::NoReset) {
            return Err(TransportError::Reset("no FLR".into()));
        }
        inner.power_on();
        Ok(())
    }

    fn name(&self) -> String {
        "fake card".into()
    }
}

/// Counts of the doorbell `offset` being rung.
pub fn rings(card: &FakeCard, offset: u32) -> usize {
    card.lock()
        .doorbells
        .iter()
        .filter(|(at, _)| *at == offset)
        .count()
}

/// The doorbell of the report ring's room.
pub const REPORT_HEAD: u32 = doorbell::REPORT_HEAD;
