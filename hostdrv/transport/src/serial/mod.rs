//! A card at a serial line: a board without a bus that a host can reach (docs/boards.md, "A small one: ECP5").
//!
//! Register accesses, host memory and interrupts are frames in a byte stream. A thread reads it: it does what the card asks of host memory, in
//! its order, and wakes those who wait. There is no IOMMU in between, so every address of the card is looked up among the mappings, and refused if
//! it is not all in one of them. A stream that loses a byte is given up, by whichever side notices: then the device is lost.

mod frame;
mod line;
mod memory;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vmm_sys_util::eventfd::{EventFd, EFD_CLOEXEC, EFD_NONBLOCK};
use weft_layout::reg::Ctrl;
use weft_layout::{pci, registers};

use self::frame::{
    encode, sync_answer, Decoder, FromCard, ToCard, MAX_PAYLOAD, SYNC_ANSWER, VERSION,
};
use self::memory::Memory;
use super::monotonic::{self, wait_readable};
use super::open_error::OpenError;
use super::vectors::Vectors;
use super::{Bar, RegisterAccess, Transport, TransportError};
use crate::dma::{page_size, DmaBuffer, Pages, SharedMemory};

/// The speed of the bitstream, if nothing else is said.
pub const BAUD: u32 = 3_000_000;
/// Interrupt vectors that a frame can name.
const VECTORS: usize = 32;
/// Longest time for the value of a register. The line is slow, and what the card has to say first may be a burst or two.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest time for the answer to a SYNC, and how often one is sent.
const SYNC_PATIENCE: Duration = Duration::from_millis(700);
const SYNC_TRIES: usize = 4;
/// Longest time for a reset: the card waits for what it asked of host memory.
const RESET_PATIENCE: Duration = Duration::from_secs(2);
/// The doorbells are in the upper half of the card's addresses.
const DOORBELLS: u32 = 1 << 16;

/// A card behind a byte stream.
pub struct SerialTransport {
    line: Arc<Line>,
    /// One register access at a time.
    access: Mutex<()>,
    reader: Option<JoinHandle<()>>,
}

/// What the thread that reads shares with those who call.
struct Line {
    path: PathBuf,
    file: File,
    /// The next frame's number.
    sequence: Mutex<u8>,
    value: Mutex<Option<u32>>,
    came: Condvar,
    memory: Mutex<Memory>,
    vectors: Vectors,
    lost: OnceLock<String>,
    /// Readable from when it is lost.
    ended: EventFd,
    /// Ends the thread.
    stop: EventFd,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open eventfd, as long as it is borrowed.
fn fd(event: &EventFd) -> BorrowedFd<'_> {
    // SAFETY: the eventfd is open as long as `event` is borrowed.
    unsafe { BorrowedFd::borrow_raw(event.as_raw_fd()) }
}

impl SerialTransport {
    /// Opens the line, and asks the card at its end to begin anew.
    pub fn open(path: &Path, baud: u32) -> Result<Self, OpenError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => OpenError::NoPermission {
                path: path.to_owned(),
            },
            io::ErrorKind::ResourceBusy => OpenError::Busy {
                path: path.to_owned(),
                holders: Vec::new(),
            },
            _ => OpenError::Serial {
                path: path.to_owned(),
                reason: format!("{error}; is it a tty, as /dev/ttyUSB1?"),
            },
        };
        let file = line::open(path, baud).map_err(failed)?;
        let event = || EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC);
        let decoder = synchronise(&file, path, baud)?;
        let line = Arc::new(Line {
            path: path.to_owned(),
            file,
            sequence: Mutex::new(1),
            value: Mutex::default(),
            came: Condvar::new(),
            memory: Mutex::new(Memory::new()),
            vectors: Vectors::new(VECTORS).map_err(failed)?,
            lost: OnceLock::new(),
            ended: event().map_err(failed)?,
            stop: event().map_err(failed)?,
        });
        let reader = {
            let line = Arc::clone(&line);
            std::thread::Builder::new()
                .name("serial".to_owned())
                .spawn(move || line.serve(decoder))
                .map_err(failed)?
        };
        tracing::info!(device = %path.display(), baud, "opened");
        Ok(Self {
            line,
            access: Mutex::default(),
            reader: Some(reader),
        })
    }
}

/// Makes the card begin anew: whatever it was in the middle of is ended by bytes 0, of which none begins a frame. Answers with what came behind its answer.
fn synchronise(mut file: &File, path: &Path, baud: u32) -> Result<Decoder, OpenError> {
    let failed = |reason: String| OpenError::Serial {
        path: path.to_owned(),
        reason,
    };
    for _ in 0..SYNC_TRIES {
        let nonce = getrandom::u32().map_err(|error| failed(error.to_string()))?;
        let mut request = vec![0; MAX_PAYLOAD + 8];
        request.extend(encode(ToCard::Sync as u8, 0, &nonce.to_le_bytes()));
        file.write_all(&request)
            .map_err(|e| failed(e.to_string()))?;
        let (began, wanted) = (Instant::now(), sync_answer(nonce));
        let mut bytes = Vec::new();
        while let Some(left) = SYNC_PATIENCE.checked_sub(began.elapsed()) {
            let deadline = monotonic::now() + left.as_nanos() as u64;
            let [ready] =
                wait_readable([file.as_fd()], Some(deadline)).map_err(|e| failed(e.to_string()))?;
            if !ready {
                break;
            }
            let mut part = [0; 4096];
            let count = file.read(&mut part).map_err(|e| failed(e.to_string()))?;
            if count == 0 {
                return Err(failed("it was hung up".into()));
            }
            bytes.extend_from_slice(&part[..count]);
            let Some(at) = bytes.windows(wanted.len()).position(|w| w == wanted) else {
                continue;
            };
            let Some(answer) = bytes.get(at..at + SYNC_ANSWER) else {
                continue;
            };
            let version = u32::from_le_bytes([answer[8], answer[9], answer[10], answer[11]]);
            if answer[12..] != crc32c::crc32c(&answer[..12]).to_le_bytes() {
                break;
            }
            if version != VERSION {
                return Err(failed(format!(
                    "the card's protocol is {version}, this driver's {VERSION}: bitstream and driver of different revisions"
                )));
            }
            return Ok(Decoder::new(&bytes[at + SYNC_ANSWER..]));
        }
    }
    Err(OpenError::SerialSilent {
        path: path.to_owned(),
        baud,
    })
}

impl Line {
    /// The card is out of reach from now on.
    fn lose(&self, why: impl Into<String>) {
        if self.lost.set(why.into()).is_ok() {
            tracing::error!(device = %self.path.display(), why = self.lost.get(), "lost");
        }
        let _ = self.ended.write(1);
        // With the lock: who waits has either looked before, or is waiting.
        let _value = locked(&self.value);
        self.came.notify_all();
    }

    fn why(&self) -> String {
        self.lost.get().cloned().unwrap_or_default()
    }

    fn send(&self, kind: ToCard, payload: &[u8]) -> Result<(), String> {
        let mut sequence = locked(&self.sequence);
        if let Some(why) = self.lost.get() {
            return Err(why.clone());
        }
        let frame = encode(kind as u8, *sequence, payload);
        *sequence = sequence.wrapping_add(1);
        (&self.file).write_all(&frame).map_err(|error| {
            self.lose(format!("the line cannot be written: {error}"));
            self.why()
        })
    }

    /// The thread: up to the end of the line.
    fn serve(&self, mut decoder: Decoder) {
        let mut bytes = [0; 16384];
        loop {
            match decoder.take() {
                Ok(Some(frame)) => {
                    if let Err(why) = self.handle(frame) {
                        return self.lose(why);
                    }
                    continue;
                }
                Ok(None) => {}
                Err(broken) => {
                    return self.lose(format!("{broken}; the bytes of the line are not all there"))
                }
            }
            match wait_readable([self.file.as_fd(), fd(&self.stop)], None) {
                Ok([_, true]) => return,
                Ok(_) => {}
                Err(error) => return self.lose(format!("the line cannot be watched: {error}")),
            }
            match (&self.file).read(&mut bytes) {
                Ok(0) => return self.lose("the line was hung up: the board was unplugged?"),
                Ok(count) => decoder.push(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.lose(format!("the line cannot be read: {error}")),
            }
        }
    }

    fn handle(&self, frame: FromCard) -> Result<(), String> {
        match frame {
            FromCard::Value(value) => {
                *locked(&self.value) = Some(value);
                self.came.notify_all();
                Ok(())
            }
            FromCard::DmaRead { address, bytes } => {
                let data = locked(&self.memory).read(address, bytes.into());
                match data {
                    Some(data) => self.send(ToCard::Data, &data),
                    None => {
                        tracing::warn!(device = %self.path.display(), address, bytes, "DMA read refused");
                        self.send(ToCard::ReadError, &[])
                    }
                }
            }
            FromCard::DmaWrite { address, data } => {
                if locked(&self.memory).write(address, &data) {
                    return self.send(ToCard::Written, &[]);
                }
                let bytes = data.len();
                tracing::warn!(device = %self.path.display(), address, bytes, "DMA write refused");
                self.send(ToCard::WriteError, &[])
            }
            FromCard::Irq(vector) => {
                if let Some(event) = self.vectors.events().get(usize::from(vector)) {
                    // It is readable at the latest after the first time.
                    let _ = event.write(1);
                }
                Ok(())
            }
            FromCard::Fault(fault) => Err(format!("the card has given up the line: {fault}")),
        }
    }

    fn address(bar: Bar, offset: u32) -> u32 {
        match bar {
            Bar::Registers => offset & (DOORBELLS - 1),
            Bar::Doorbells => DOORBELLS | (offset & (DOORBELLS - 1)),
        }
    }

    fn read(&self, address: u32) -> Result<u32, String> {
        *locked(&self.value) = None;
        self.send(ToCard::Read, &address.to_le_bytes())?;
        let began = Instant::now();
        let mut value = locked(&self.value);
        loop {
            if let Some(value) = value.take() {
                return Ok(value);
            }
            if let Some(why) = self.lost.get() {
                return Err(why.clone());
            }
            let Some(left) = PATIENCE.checked_sub(began.elapsed()) else {
                drop(value);
                self.lose(format!(
                    "the card has not answered for {} s",
                    PATIENCE.as_secs()
                ));
                return Err(self.why());
            };
            value = self
                .came
                .wait_timeout(value, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Transport for SerialTransport {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        let _one = locked(&self.access);
        let failed = |reason| TransportError::Mmio {
            access: "read",
            bar,
            offset,
            reason,
        };
        self.line.read(Line::address(bar, offset)).map_err(failed)
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        let failed = |reason| TransportError::Mmio {
            access: "write",
            bar,
            offset,
            reason,
        };
        let [address, value] = [Line::address(bar, offset), value].map(u32::to_le_bytes);
        self.line
            .send(ToCard::Write, &[address, value].concat())
            .map_err(failed)
    }

    /// There is no configuration space: what it would say, without capabilities.
    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        Ok(match offset & !3 {
            0x00 => u32::from(pci::DEVICE) << 16 | u32::from(pci::VENDOR),
            0x08 => pci::CLASS << 8 | u32::from(pci::REVISION),
            _ => 0,
        })
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let failed = |reason: &str| TransportError::Map {
            len,
            reason: reason.to_owned(),
        };
        let pages = Arc::new(Pages::new(len).ok_or_else(|| failed("no memory"))?);
        let (start, bytes) = (NonNull::new(pages.memory().as_ptr()), pages.memory().len());
        let start = start.ok_or_else(|| failed("no memory"))?;
        let iova = locked(&self.line.memory).map(Arc::clone(&pages));
        let iova = iova.ok_or_else(|| failed("the addresses are used up"))?;
        let mapped = Mapped {
            line: Arc::clone(&self.line),
            iova,
            pages,
        };
        // SAFETY: `mapped` holds the pages, which nothing refers to by reference.
        Ok(unsafe { DmaBuffer::new(start, iova, bytes, Box::new(mapped)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        let page = page_size();
        if len == 0 || len % page != 0 || ptr.as_ptr() as usize % page != 0 {
            return Err(failed(format!("not whole pages of {page} bytes")));
        }
        // SAFETY: the caller vouches for the memory until `unmap`.
        let memory = unsafe { SharedMemory::new(ptr, len) };
        let iova = locked(&self.line.memory).map_foreign(memory);
        iova.ok_or_else(|| failed("the addresses are used up".into()))
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        if locked(&self.line.memory).unmap(iova, len) {
            return Ok(());
        }
        let reason = "no such mapping".to_owned();
        Err(TransportError::Unmap { iova, len, reason })
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let line = &self.line;
        line.vectors
            .wait(vector, deadline, Some(fd(&line.ended)), || line.why())
    }

    fn wake(&self, vector: u16) {
        self.line.vectors.wake(vector);
    }

    fn lost(&self) -> Option<String> {
        self.line.lost.get().cloned()
    }

    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(fd(&self.line.ended))
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.line.vectors.fd(vector)
    }

    /// By the card's own register: nothing else reaches it.
    fn reset(&self) -> Result<(), TransportError> {
        let failed = |error: TransportError| TransportError::Reset(error.to_string());
        let reset = Ctrl::default().with_reset(true);
        self.write(registers::CTRL, reset).map_err(failed)?;
        let began = Instant::now();
        while self.read(registers::STATUS).map_err(failed)?.resetting() {
            if began.elapsed() > RESET_PATIENCE {
                let why = "the card does not end its reset; load the bitstream again";
                return Err(TransportError::Reset(why.into()));
            }
        }
        // An interrupt that was asked for before has nobody to go to.
        for event in self.line.vectors.events() {
            let _ = event.read();
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("serial:{}", self.line.path.display())
    }
}

impl Drop for SerialTransport {
    /// What the card asks for from now on is answered by nobody; the next one who opens the line ends it.
    fn drop(&mut self) {
        let _ = self.line.stop.write(1);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Memory of [`Transport::dma_alloc`]: unmapped, then freed.
struct Mapped {
    line: Arc<Line>,
    iova: u64,
    pages: Arc<Pages>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        locked(&self.line.memory).unmap(self.iova, self.pages.memory().len());
    }
}
