//! What registering costs while much is registered: the program's memory, a page for each region.
//!
//! `cargo bench -p weft-hostdrv --bench registering` prints the processor's time that 60,000 regions take, and the instructions (by callgrind) of one more
//! beside few and beside many; with `-- --gate` many may cost half as much again as few. There is no card: what it does comes on top.

use std::process::{Command, ExitCode};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

use weft_hostdrv::dma::{page_size, DmaBuffer, Pages};
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_hostdrv::verbs::{Access, Mr, Pd};
use weft_hostdrv::{Device, DeviceConfig};
use weft_layout::reg;

/// Regions that are there.
const FEW: usize = 600;
const MANY: usize = 60_000;
/// Regions that are counted.
const COUNTED: usize = 64;

/// Registers that are done with everything at once: what is counted is the driver's.
struct Quiet {
    registers: Vec<AtomicU32>,
    next_iova: AtomicU64,
}

impl Quiet {
    fn new() -> Self {
        let card = Self {
            registers: (0..1 << 14).map(|_| AtomicU32::new(0)).collect(),
            next_iova: AtomicU64::new(1 << 40),
        };
        for (at, value) in [
            (reg::ID, reg::ID_RESET),
            (reg::VERSION, weft_layout::INTERFACE_VERSION),
            // 64 bytes, 16 flows, 2^17 STags, 2 vectors.
            (reg::CAPS, u32::from_le_bytes([64, 4, 17, 2])),
            (reg::STATUS, reg::Status::QUIESCENT),
        ] {
            card.registers[at as usize / 4].store(value, Ordering::Relaxed);
        }
        card
    }

    fn iova(&self, len: usize) -> u64 {
        self.next_iova
            .fetch_add((len + page_size()) as u64, Ordering::Relaxed)
    }
}

impl Transport for Quiet {
    fn read32(&self, _: Bar, offset: u32) -> Result<u32, TransportError> {
        Ok(self.registers[offset as usize / 4].load(Ordering::Relaxed))
    }
    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        let at = match (bar, offset) {
            (Bar::Registers, reg::FENCE) => reg::FENCE_DONE,
            (Bar::Doorbells, _) | (_, reg::CTRL | reg::TABLE_CMD) => return Ok(()),
            (Bar::Registers, offset) => offset,
        };
        self.registers[at as usize / 4].store(value, Ordering::Relaxed);
        Ok(())
    }
    fn config_read32(&self, _: u16) -> Result<u32, TransportError> {
        Err(TransportError::Unsupported("configuration space"))
    }
    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let pages = Pages::new(len).expect("memory");
        let (len, first) = (pages.memory().len(), pages.memory().as_ptr());
        let first = NonNull::new(first).expect("not null");
        // SAFETY: the buffer keeps the pages; nobody refers to them by reference.
        Ok(unsafe { DmaBuffer::new(first, self.iova(len), len, Box::new(pages)) })
    }
    unsafe fn map(&self, _: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        Ok(self.iova(len))
    }
    fn unmap(&self, _: u64, _: usize) -> Result<(), TransportError> {
        Ok(())
    }
    fn now(&self) -> u64 {
        1_000_000
    }
    fn wait(&self, _: u16, _: Option<u64>) -> Result<bool, TransportError> {
        Ok(false)
    }
    fn wake(&self, _: u16) {}
    fn reset(&self) -> Result<(), TransportError> {
        Ok(())
    }
    fn name(&self) -> String {
        "registers".into()
    }
}

/// A card with room for so many, a device of it, a domain, and memory.
fn scene(regions: usize) -> (Device, Pd, Pages) {
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(Quiet::new()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let pages = Pages::new(regions * page_size()).expect("memory");
    (device, pd, pages)
}

/// Registers 100 bytes inside page `n`.
fn register(pd: &Pd, pages: &Pages, n: usize) -> Mr {
    let first = pages.memory().as_ptr().wrapping_add(n * page_size() + 20);
    let ptr = NonNull::new(first).expect("not null");
    // SAFETY: inside the pages, which outlive the device; nobody accesses them.
    unsafe { pd.reg_raw(ptr, 100, Access::LOCAL_WRITE) }.expect("a region")
}

/// Callgrind counts in here.
#[inline(never)]
fn weft_counted_register(pd: &Pd, pages: &Pages, n: usize) -> Mr {
    register(pd, pages, n)
}

/// And in here.
#[inline(never)]
fn weft_counted_dereg(device: &Device, mr: Mr) {
    drop(mr);
    device.progress().expect("nothing is wrong");
}

/// Under callgrind: so many regions, and some more.
fn run(regions: usize) {
    let (device, pd, pages) = scene(regions + COUNTED);
    let all: Vec<Mr> = (0..regions).map(|n| register(&pd, &pages, n)).collect();
    for n in regions..regions + COUNTED {
        let mr = weft_counted_register(&pd, &pages, n);
        weft_counted_dereg(&device, mr);
    }
    // Not their end: it is not counted, and long under callgrind.
    std::mem::forget((device, pd, all, pages));
}

/// Instructions of one registration, or the end of one, beside so many.
fn count(regions: usize, what: &str) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--collect-atstart=no",
            "--callgrind-out-file=/dev/null",
        ])
        .arg(format!("--toggle-collect=*weft_counted_{what}*"))
        .arg(own)
        .args(["--regions", &regions.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = said
        .split_once("Collected : ")
        .and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
    let number = number.filter(|_| output.status.success()).ok_or(said)?;
    Ok(number.div_ceil(COUNTED as u64))
}

/// Seconds that this process has had of a processor.
fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds that many registrations take, and their end.
fn time() -> (f64, f64) {
    let (device, pd, pages) = scene(MANY);
    let start = seconds();
    let all: Vec<Mr> = (0..MANY).map(|n| register(&pd, &pages, n)).collect();
    let registered = seconds() - start;
    drop(all);
    device.progress().expect("nothing is wrong");
    (registered, seconds() - start - registered)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--regions")
    {
        let Some(regions) = arguments.get(at + 1).and_then(|text| text.parse().ok()) else {
            return ExitCode::FAILURE;
        };
        run(regions);
        return ExitCode::SUCCESS;
    }
    let (registered, gone) = time();
    println!("{MANY} regions: {registered:.3} s of a processor, and {gone:.3} s for their end\n");
    println!("| instructions | beside {FEW} | beside {MANY} |\n|---|---|---|");
    let mut fits = true;
    for (what, title) in [("register", "a registration"), ("dereg", "its end")] {
        match count(FEW, what).and_then(|few| Ok((few, count(MANY, what)?))) {
            Ok((few, many)) => {
                println!("| {title} | {few} | {many} |");
                fits &= 2 * many <= 3 * few;
            }
            Err(error) => {
                eprintln!("{what}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if arguments.iter().any(|argument| argument == "--gate") && !fits {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
