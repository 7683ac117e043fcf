//! Tests the kernel VFIO transport on a device that is not Weft's: QEMU's educational PCI device (`-device edu`).
//!
//! `edu SPEC...` runs every check on each device named (`vfio:0000:00:03.0`, `vfio:0000:00:03.0?legacy`), prints a line for each,
//! and ends with status 0 if none failed, else 1.
//!
//! `edu --sleep SPEC` starts DMA without end and waits to be killed; `edu SPEC` afterwards shows whether the kernel
//! cleaned up.

use std::io::Write as _;
use std::process::ExitCode;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use weft_card_transport::dma::{observe, publish, DmaBuffer, Pages, PAGE_SIZE};
use weft_card_transport::{Bar, Transport};

type Error = Box<dyn std::error::Error>;

/// Vendor and device id, as configuration space begins.
const EDU: u32 = 0x11e8_1234;

/// Registers (docs/specs/edu.rst of QEMU).
const ID: u32 = 0x00;
const LIVENESS: u32 = 0x04;
const FACTORIAL: u32 = 0x08;
const STATUS: u32 = 0x20;
const INTERRUPT_STATUS: u32 = 0x24;
const INTERRUPT_RAISE: u32 = 0x60;
const INTERRUPT_ACK: u32 = 0x64;
const DMA_SOURCE: u32 = 0x80;
const DMA_TARGET: u32 = 0x88;
const DMA_COUNT: u32 = 0x90;
const DMA_COMMAND: u32 = 0x98;

const STATUS_COMPUTING: u32 = 1;
const STATUS_INTERRUPT: u32 = 0x80;
const FACTORIAL_DONE: u32 = 1;
const DMA_DONE: u32 = 0x100;
const DMA_START: u32 = 1;
const DMA_FROM_DEVICE: u32 = 2;
const DMA_INTERRUPT: u32 = 4;
/// Its buffer in its own address space.
const DEVICE_BUFFER: u64 = 0x40000;
/// Address bits it drives.
const ADDRESS_BITS: u32 = 28;

struct Edu {
    transport: Arc<dyn Transport>,
}

/// What a check says when it passes.
type Outcome = Result<String, Error>;

impl Edu {
    fn read(&self, offset: u32) -> Result<u32, Error> {
        Ok(self.transport.read32(Bar::Registers, offset)?)
    }

    fn write(&self, offset: u32, value: u32) -> Result<(), Error> {
        Ok(self.transport.write32(Bar::Registers, offset, value)?)
    }

    fn deadline(&self, limit: Duration) -> Option<u64> {
        Some(self.transport.now() + limit.as_nanos() as u64)
    }

    /// Waits for an interrupt with this cause and acknowledges it.
    fn interrupt(&self, cause: u32) -> Result<u64, Error> {
        let start = self.transport.now();
        let limit = self.deadline(Duration::from_secs(10));
        // The interrupt first: the register alone would do without one.
        loop {
            if !self.transport.wait(0, limit)? {
                let status = self.read(INTERRUPT_STATUS)?;
                let text = format!("no interrupt {cause:#x} within 10 s, status {status:#x}");
                return Err(text.into());
            }
            if self.read(INTERRUPT_STATUS)? & cause != 0 {
                break;
            }
        }
        let took = self.transport.now() - start;
        self.write(INTERRUPT_ACK, cause)?;
        Ok(took)
    }

    /// Forgets interrupts of earlier checks.
    fn settle(&self) -> Result<(), Error> {
        let left = self.read(INTERRUPT_STATUS)?;
        self.write(INTERRUPT_ACK, left)?;
        while self.transport.wait(0, Some(0))? {}
        Ok(())
    }

    fn dma(&self, source: u64, target: u64, count: usize, flags: u32) -> Result<u64, Error> {
        publish();
        for (register, value) in [
            (DMA_SOURCE, source),
            (DMA_TARGET, target),
            (DMA_COUNT, count as u64),
        ] {
            self.write(register, u32::try_from(value)?)?;
        }
        self.write(DMA_COMMAND, DMA_START | DMA_INTERRUPT | flags)?;
        let took = self.interrupt(DMA_DONE)?;
        observe();
        Ok(took)
    }

    fn fetch(&self, iova: u64, count: usize) -> Result<u64, Error> {
        self.dma(iova, DEVICE_BUFFER, count, 0)
    }

    fn write_back(&self, iova: u64, count: usize) -> Result<u64, Error> {
        self.dma(DEVICE_BUFFER, iova, count, DMA_FROM_DEVICE)
    }
}

fn pattern(len: usize, salt: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(37).wrapping_add((i >> 8) as u8) ^ salt)
        .collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {found:x?}, expected {expected:x?}").into())
}

fn same(what: &str, found: &[u8], expected: &[u8]) -> Result<(), Error> {
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None if found.len() == expected.len() => Ok(()),
        at => Err(format!("{what}: differs at byte {at:?} of {}", expected.len()).into()),
    }
}

fn identity(edu: &Edu) -> Outcome {
    let config = edu.transport.config_read32(0)?;
    expect("vendor and device id", config, EDU)?;
    let command = edu.transport.config_read32(4)? & 0xffff;
    expect("memory and bus mastering", command & 6, 6)?;
    let id = edu.read(ID)?;
    expect("ID register", id & 0xffff, 0x00ed)?;
    Ok(format!("ID {id:#010x}, command {command:#06x}"))
}

fn registers(edu: &Edu) -> Outcome {
    for value in [0, 1, 0x5a5a_a5a5, 0xffff_0000, u32::MAX] {
        edu.write(LIVENESS, value)?;
        expect("liveness", edu.read(LIVENESS)?, !value)?;
    }
    for (what, refused) in [
        (
            "past the end",
            edu.transport.read32(Bar::Registers, 0x10_0000),
        ),
        ("an odd offset", edu.transport.read32(Bar::Registers, 2)),
        (
            "a BAR that is not there",
            edu.transport.read32(Bar::Doorbells, 0),
        ),
    ] {
        if let Ok(value) = refused {
            return Err(format!("{what}: a read answered {value:#x}").into());
        }
    }
    Ok("liveness inverts; three bad accesses refused".into())
}

fn factorial(edu: &Edu) -> Outcome {
    edu.settle()?;
    edu.write(STATUS, STATUS_INTERRUPT)?;
    edu.write(FACTORIAL, 10)?;
    let took = edu.interrupt(FACTORIAL_DONE)?;
    expect("computing", edu.read(STATUS)? & STATUS_COMPUTING, 0)?;
    expect("10!", edu.read(FACTORIAL)?, 3_628_800)?;
    edu.write(STATUS, 0)?;
    Ok(format!("10! by interrupt after {} µs", took / 1000))
}

fn interrupts(edu: &Edu) -> Outcome {
    edu.settle()?;
    expect("a wait until 0", edu.transport.wait(0, Some(0))?, false)?;
    let limit = edu.transport.now() + 20_000_000;
    expect(
        "a wait for nothing",
        edu.transport.wait(0, Some(limit))?,
        false,
    )?;
    if edu.transport.now() < limit {
        return Err("it ended before its deadline".into());
    }
    let mut longest = 0;
    for n in 1..=100 {
        edu.write(INTERRUPT_RAISE, n << 9)?;
        longest = longest.max(edu.interrupt(n << 9)?);
    }
    edu.settle()?;
    if edu.transport.wait(1000, Some(0)).is_ok() {
        return Err("a vector that is not there was waited for".into());
    }
    Ok(format!(
        "100 raised, 100 came, the slowest after {} µs",
        longest / 1000
    ))
}

fn dma_round_trip(edu: &Edu) -> Outcome {
    let buffer = edu.transport.dma_alloc(2 * PAGE_SIZE)?;
    let mut times = Vec::new();
    for (n, (at, count)) in [(0, PAGE_SIZE), (1, 1), (4095, 3), (64, 4000), (4096, 4095)]
        .into_iter()
        .enumerate()
    {
        let bytes = pattern(count, n as u8);
        buffer.fill(0, 2 * PAGE_SIZE, 0xee)?;
        buffer.write(at, &bytes)?;
        times.push(edu.fetch(buffer.iova() + at as u64, count)?);
        buffer.fill(0, 2 * PAGE_SIZE, 0xdd)?;
        times.push(edu.write_back(buffer.iova() + at as u64, count)?);
        let mut expected = vec![0xdd; 2 * PAGE_SIZE];
        expected[at..at + count].copy_from_slice(&bytes);
        let found = buffer.memory().to_vec(0, 2 * PAGE_SIZE)?;
        same("after the round trip", &found, &expected)?;
    }
    times.sort_unstable();
    let median = times[times.len() / 2] / 1_000_000;
    Ok(format!(
        "{} transfers verified, {median} ms each (the device takes 100)",
        times.len()
    ))
}

fn allocations(edu: &Edu) -> Outcome {
    let mut held: Vec<DmaBuffer> = Vec::new();
    for len in [1, PAGE_SIZE, 5 * PAGE_SIZE, 1 << 20, 2 << 20, 5 << 20] {
        let buffer = edu.transport.dma_alloc(len)?;
        if buffer.len() < len || buffer.iova() % PAGE_SIZE as u64 != 0 {
            return Err(format!("{buffer:?} for {len} bytes").into());
        }
        if (buffer.iova() + buffer.len() as u64) >> ADDRESS_BITS != 0 {
            return Err(format!("{buffer:?} is beyond {ADDRESS_BITS} address bits").into());
        }
        let mut zeroes = vec![1; buffer.len()];
        buffer.read(0, &mut zeroes)?;
        same("new memory", &zeroes, &vec![0; zeroes.len()])?;
        held.push(buffer);
    }
    // The last page of the largest is reachable.
    let last = held.last().ok_or("no buffer")?;
    let at = last.len() - PAGE_SIZE;
    last.write(at, &pattern(PAGE_SIZE, 9))?;
    edu.fetch(last.iova() + at as u64, PAGE_SIZE)?;
    last.fill(at, PAGE_SIZE, 0)?;
    edu.write_back(last.iova() + at as u64, PAGE_SIZE)?;
    same(
        "the last page",
        &last.memory().to_vec(at, PAGE_SIZE)?,
        &pattern(PAGE_SIZE, 9),
    )?;
    let all: usize = held.iter().map(DmaBuffer::len).sum();
    drop(held);
    let again = edu.transport.dma_alloc(1)?;
    Ok(format!(
        "{all} bytes in 6 buffers below 2^{ADDRESS_BITS}, all zero; then IOVA {:#x} again",
        again.iova()
    ))
}

fn too_much(edu: &Edu) -> Outcome {
    match edu.transport.dma_alloc(1 << ADDRESS_BITS) {
        Ok(buffer) => Err(format!("{buffer:?} was given out").into()),
        Err(error) => Ok(format!("256 MiB refused: {error}")),
    }
}

fn foreign_memory(edu: &Edu) -> Outcome {
    let pages = Pages::new(3 * PAGE_SIZE).ok_or("no memory")?;
    let memory = pages.memory();
    memory.write(0, &pattern(3 * PAGE_SIZE, 5))?;
    let start = NonNull::new(memory.as_ptr()).ok_or("no memory")?;
    // SAFETY: the pages live until the end of this function, after `unmap`, and are accessed by `memory` only.
    let iova = unsafe { edu.transport.map(start, 3 * PAGE_SIZE) }?;
    edu.fetch(iova + 4000, 200)?;
    edu.write_back(iova + 8100, 200)?;
    let mut expected = pattern(3 * PAGE_SIZE, 5);
    expected.copy_within(4000..4200, 8100);
    same(
        "foreign memory",
        &memory.to_vec(0, 3 * PAGE_SIZE)?,
        &expected,
    )?;
    if edu.transport.unmap(iova, PAGE_SIZE).is_ok() || edu.transport.unmap(0, PAGE_SIZE).is_ok() {
        return Err("a mapping that is not there was ended".into());
    }
    edu.transport.unmap(iova, 3 * PAGE_SIZE)?;
    if edu.transport.unmap(iova, 3 * PAGE_SIZE).is_ok() {
        return Err("a mapping was ended twice".into());
    }
    Ok("mapped, moved both ways, unmapped once".into())
}

fn after_unmap(edu: &Edu) -> Outcome {
    let pages = Pages::new(PAGE_SIZE).ok_or("no memory")?;
    let memory = pages.memory();
    let start = NonNull::new(memory.as_ptr()).ok_or("no memory")?;
    // SAFETY: as above.
    let iova = unsafe { edu.transport.map(start, PAGE_SIZE) }?;
    memory.write(0, &pattern(PAGE_SIZE, 1))?;
    edu.fetch(iova, PAGE_SIZE)?;
    edu.transport.unmap(iova, PAGE_SIZE)?;
    memory.fill(0, PAGE_SIZE, 0x77)?;
    edu.write_back(iova, PAGE_SIZE)?;
    same(
        "memory after unmap",
        &memory.to_vec(0, PAGE_SIZE)?,
        &[0x77; PAGE_SIZE],
    )?;

    // A dropped buffer, beside one that stays.
    let (kept, dropped) = (
        edu.transport.dma_alloc(PAGE_SIZE)?,
        edu.transport.dma_alloc(PAGE_SIZE)?,
    );
    kept.fill(0, PAGE_SIZE, 0x55)?;
    let gone = dropped.iova();
    drop(dropped);
    edu.write_back(gone, 16)?;
    // The pages around a buffer are nobody's.
    edu.write_back(kept.iova() + PAGE_SIZE as u64, 16)?;
    same(
        "the neighbour",
        &kept.memory().to_vec(0, PAGE_SIZE)?,
        &[0x55; PAGE_SIZE],
    )?;
    // The device lives.
    edu.fetch(kept.iova(), PAGE_SIZE)?;
    edu.write_back(kept.iova(), PAGE_SIZE)?;
    same(
        "a good transfer afterwards",
        &kept.memory().to_vec(0, PAGE_SIZE)?,
        &[0x55; PAGE_SIZE],
    )?;
    Ok("three DMA writes to addresses no longer mapped changed nothing".into())
}

fn reset(edu: &Edu) -> Outcome {
    let buffer = edu.transport.dma_alloc(PAGE_SIZE)?;
    let done = match edu.transport.reset() {
        Ok(()) => "done".to_owned(),
        // A device without FLR on a shared bus: the transport has to say so.
        Err(error) => format!("refused: {error}"),
    };
    identity(edu)?;
    factorial(edu)?;
    buffer.write(0, &pattern(PAGE_SIZE, 3))?;
    edu.fetch(buffer.iova(), PAGE_SIZE)?;
    buffer.fill(0, PAGE_SIZE, 0)?;
    edu.write_back(buffer.iova(), PAGE_SIZE)?;
    same(
        "DMA afterwards",
        &buffer.memory().to_vec(0, PAGE_SIZE)?,
        &pattern(PAGE_SIZE, 3),
    )?;
    Ok(format!(
        "{done}; registers, interrupts and DMA work afterwards"
    ))
}

type Check = fn(&Edu) -> Outcome;

const CHECKS: [(&str, Check); 10] = [
    ("identity", identity),
    ("registers", registers),
    ("factorial by interrupt", factorial),
    ("interrupts", interrupts),
    ("DMA both ways", dma_round_trip),
    ("allocations", allocations),
    ("address space full", too_much),
    ("foreign memory", foreign_memory),
    ("DMA after unmap", after_unmap),
    ("reset", reset),
];

/// Opens a device, with the address bits that it drives unless the specification says so.
fn open(spec: &str) -> Result<Edu, Error> {
    let separator = match spec {
        _ if spec.contains("iova-bits") => None,
        _ if spec.contains('?') => Some('&'),
        _ => Some('?'),
    };
    let bits = separator.map(|separator| format!("{separator}iova-bits={ADDRESS_BITS}"));
    let transport = weft_card_transport::open(&format!("{spec}{}", bits.unwrap_or_default()))?;
    Ok(Edu { transport })
}

/// Runs the checks on one device; answers how many failed.
fn run(spec: &str) -> Result<usize, Error> {
    let edu = open(spec)?;
    println!("{}: open", edu.transport.name());
    // Somebody else cannot have it now.
    match weft_card_transport::open(spec) {
        Ok(_) => return Err("it was opened twice".into()),
        Err(error) => println!("PASS a second open: {error}"),
    }
    let mut failed = 0;
    for (name, check) in CHECKS {
        match check(&edu) {
            Ok(what) => println!("PASS {name}: {what}"),
            Err(error) => {
                println!("FAIL {name}: {error}");
                failed += 1;
            }
        }
    }
    // A buffer may outlive its transport; then the device opens anew.
    let buffer = edu.transport.dma_alloc(PAGE_SIZE)?;
    drop(edu);
    buffer.fill(0, PAGE_SIZE, 1)?;
    drop(buffer);
    let edu = open(spec)?;
    match identity(&edu) {
        Ok(what) => println!("PASS reopened: {what}"),
        Err(error) => {
            println!("FAIL reopened: {error}");
            failed += 1;
        }
    }
    Ok(failed)
}

/// DMA without end, to be killed in the middle of it.
fn sleep(spec: &str) -> Result<(), Error> {
    let edu = open(spec)?;
    let buffer = edu.transport.dma_alloc(PAGE_SIZE)?;
    println!("DMA to {buffer:?} begins; kill this process");
    std::io::stdout().flush()?;
    loop {
        edu.write_back(buffer.iova(), PAGE_SIZE)?;
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let specs: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let failed = match specs.as_slice() {
        [] => {
            eprintln!("usage: edu [--sleep] vfio:0000:00:03.0 ...");
            return ExitCode::from(2);
        }
        ["--sleep", spec] => {
            let error = sleep(spec).err().unwrap_or_else(|| "it ended".into());
            println!("FAIL {error}");
            1
        }
        specs => {
            let mut failed = 0;
            for spec in specs {
                match run(spec) {
                    Ok(n) => failed += n,
                    Err(error) => {
                        println!("FAIL {spec}: {error}");
                        failed += 1;
                    }
                }
            }
            failed
        }
    };
    if failed == 0 {
        println!("all passed");
        return ExitCode::SUCCESS;
    }
    println!("{failed} failed");
    ExitCode::FAILURE
}
