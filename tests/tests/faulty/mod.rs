//! Broken cards: a card with one fault between it and its host.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};

use weft_hostdrv::dma::PAGE_SIZE;
use weft_hostdrv::transport::Transport;
use weft_layout::{doorbell, reg, table, Job, SegmentReport};
use weft_sim::card::{Card, Event, DOORBELLS};
use weft_sim::iommu::{self, HostMemory};
use weft_sim::kind::CardKind;
use weft_sim::transport::SimTransport;
use weft_sim::world::World;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // Not every test that has this module breaks everything.
pub enum Fault {
    None,
    /// A data line of register writes is stuck at 0.
    WriteBitStuck(u8),
    /// An address line of register accesses is stuck at 0.
    AddressLineStuck(u8),
    /// Reads have this value wherever they go.
    Answers(u32),
    /// This register reads as this.
    Register(u32, u32),
    /// This register can be written although it should not.
    Writable(u32),
    /// Writes to BAR2 arrive at BAR0.
    DoorbellsInRegisters,
    /// This doorbell is lost.
    DoorbellLost(u32),
    /// Rows of tables lose this word.
    TableWordLost(u32),
    /// Row 2n of a table is row 2n + 1.
    TableRowsShared,
    /// The CRC of received FPDUs is not checked.
    CrcNotChecked,
    /// No interrupt arrives.
    InterruptsLost,
    /// An interrupt comes with every report.
    InterruptsUnasked,
    /// These bits of a byte of each job are read as 0.
    JobByte(usize, u8),
    /// Jobs of a kind that does not exist are taken for raw frames.
    JobKindIgnored,
    /// The first byte of what is read at this alignment is wrong.
    ReadAlignment(u64),
    /// What lies behind a page edge is read from the page's beginning.
    ReadPageWrap,
    /// The last byte of what is written at this alignment stays as it was.
    WriteAlignment(u64),
    /// A byte more is written where 63 bytes of the last word are wanted.
    WriteTooLong,
    /// Reads of unmapped memory are answered with zeros.
    UnmappedReadsZero,
}

/// A card with a fault.
pub struct FaultyCard {
    card: Box<dyn Card>,
    fault: Fault,
    /// Of the reads under way: what becomes of their answers.
    answers: VecDeque<Answer>,
    /// What the host wrote to a register that should be read-only.
    held: Option<u32>,
    /// TABLE_DATA word 0 as the host wrote it; and by row of FLOW_RX, if the fault wants it.
    word: u32,
    rows: BTreeMap<u32, u32>,
    row_read: Option<u32>,
}

#[derive(Clone, Copy)]
enum Answer {
    AsItIs,
    This(u32),
}

impl FaultyCard {
    pub fn new(kind: CardKind, seed: u64, fault: Fault) -> Self {
        Self {
            card: kind.build(seed, 0),
            fault,
            answers: VecDeque::new(),
            held: None,
            word: 0,
            rows: BTreeMap::new(),
            row_read: None,
        }
    }

    /// Writes to TABLE_CMD and TABLE_DATA with the faults of tables.
    fn write_table(&mut self, address: u32, value: u32) {
        let (write, number, index) = (
            value >> 28 == 1,
            (value >> 24 & 15) as u8,
            value & 0xff_ffff,
        );
        match self.fault {
            Fault::TableWordLost(word) if address == reg::TABLE_CMD && write => {
                self.card.write(reg::TABLE_DATA + 4 * word, 0);
                self.card.write(address, value);
            }
            Fault::TableRowsShared if address == reg::TABLE_CMD && write => {
                self.card.write(address, value | 1);
            }
            Fault::TableRowsShared if address == reg::TABLE_CMD => {
                self.card.write(address, value | 1)
            }
            Fault::CrcNotChecked if address == reg::TABLE_DATA => {
                self.word = value;
                self.card.write(address, value);
            }
            Fault::CrcNotChecked if address == reg::TABLE_CMD && number == table::FLOW_RX => {
                if write {
                    self.rows.insert(index, self.word);
                    self.card.write(reg::TABLE_DATA, self.word & !2);
                }
                self.row_read = (!write).then(|| self.rows.get(&index).copied()).flatten();
                self.card.write(address, value);
            }
            _ => self.card.write(address, value),
        }
    }
}

struct FaultyMemory<'a> {
    memory: &'a mut dyn HostMemory,
    fault: Fault,
    reports: usize,
}

impl HostMemory for FaultyMemory<'_> {
    fn read(&mut self, iova: u64, to: &mut [u8]) -> Result<(), iommu::Fault> {
        let result = self.memory.read(iova, to);
        let page = PAGE_SIZE as u64;
        match self.fault {
            Fault::JobByte(at, bits) if to.len() == Job::SIZE && iova % 128 == 0 => to[at] &= !bits,
            Fault::JobKindIgnored if to.len() == Job::SIZE && to[..2] == [9, 0] => to[0] = 1,
            Fault::ReadAlignment(alignment) if iova % 64 == alignment => to[0] ^= 0x10,
            Fault::ReadPageWrap if iova % page + to.len() as u64 > page => {
                let first = (page - iova % page) as usize;
                let rest = (to.len() - first).min(PAGE_SIZE);
                self.memory
                    .read(iova / page * page, &mut to[first..first + rest])?;
            }
            Fault::UnmappedReadsZero if result.is_err() => {
                to.fill(0);
                return Ok(());
            }
            _ => {}
        }
        result
    }

    fn write(&mut self, iova: u64, from: &[u8]) -> Result<(), iommu::Fault> {
        if from.len() == SegmentReport::SIZE && iova % 64 == 0 {
            self.reports += 1;
        }
        match self.fault {
            Fault::WriteAlignment(alignment) if iova % 64 == alignment => {
                self.memory.write(iova, &from[..from.len() - 1])
            }
            Fault::WriteTooLong if (iova + from.len() as u64) % 64 == 63 => {
                self.memory.write(iova, &[from, &[0]].concat())
            }
            _ => self.memory.write(iova, from),
        }
    }
}

impl Card for FaultyCard {
    fn name(&self) -> String {
        format!("{} with a fault ({:?})", self.card.name(), self.fault)
    }

    fn write(&mut self, address: u32, value: u32) {
        let registers = address < DOORBELLS;
        let (address, value) = match self.fault {
            Fault::AddressLineStuck(bit) if registers => (address & !(1 << bit), value),
            Fault::WriteBitStuck(bit) if registers => (address, value & !(1 << bit)),
            Fault::Writable(register) if address == register => {
                self.held = Some(value);
                return;
            }
            Fault::DoorbellsInRegisters => (address & (DOORBELLS - 1), value),
            Fault::DoorbellLost(doorbell) if address == DOORBELLS + doorbell => return,
            _ => (address, value),
        };
        self.write_table(address, value);
    }

    fn push(&mut self, offset: u32, bytes: &[u8]) {
        if self.fault != Fault::DoorbellLost(doorbell::JOB_PUSH) {
            self.card.push(offset, bytes);
        }
    }

    fn read(&mut self, address: u32) {
        let (address, answer) = match self.fault {
            Fault::AddressLineStuck(bit) if address < DOORBELLS => {
                (address & !(1 << bit), Answer::AsItIs)
            }
            Fault::Answers(value) => (address, Answer::This(value)),
            Fault::Register(register, value) if address == register => {
                (address, Answer::This(value))
            }
            Fault::Writable(register) if address == register => {
                (address, self.held.map_or(Answer::AsItIs, Answer::This))
            }
            Fault::CrcNotChecked if address == reg::TABLE_DATA => {
                let row = self.row_read.take();
                (address, row.map_or(Answer::AsItIs, Answer::This))
            }
            _ => (address, Answer::AsItIs),
        };
        self.answers.push_back(answer);
        self.card.read(address);
    }

    fn receive(&mut self, frame: Vec<u8>, bad: bool) {
        self.card.receive(frame, bad);
    }

    fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
        let mut mine = Vec::new();
        let mut memory = FaultyMemory {
            memory,
            fault: self.fault,
            reports: 0,
        };
        self.card.cycle(now, &mut memory, &mut mine);
        if self.fault == Fault::InterruptsUnasked && memory.reports > 0 {
            events.push(Event::Interrupt(0));
        }
        for event in mine {
            match event {
                Event::Read(value) => {
                    events.push(Event::Read(match self.answers.pop_front() {
                        Some(Answer::This(value)) => value,
                        Some(Answer::AsItIs) | None => value,
                    }));
                }
                Event::Interrupt(_) if self.fault == Fault::InterruptsLost => {}
                event => events.push(event),
            }
        }
    }

    fn idle(&self) -> bool {
        self.card.idle()
    }

    fn reset(&mut self) {
        self.card.reset();
    }

    fn resetting(&self) -> bool {
        self.card.resetting()
    }

    fn record_waves(&mut self, path: &Path, cycles: u64) -> bool {
        self.card.record_waves(path, cycles)
    }

    fn failure(&self) -> Option<String> {
        self.card.failure()
    }
}

/// A transport to a card with this fault.
pub fn transport(kind: CardKind, fault: Fault) -> Arc<dyn Transport> {
    let mut world = World::new(1);
    let card = world.add_card(Box::new(FaultyCard::new(kind, 1, fault)));
    Arc::new(SimTransport::new(&Arc::new(Mutex::new(world)), card))
}
