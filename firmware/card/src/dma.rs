//! Copies between this memory and the host's.

use core::sync::atomic::{compiler_fence, Ordering};

use weft_layout::proc_port;

use crate::ports;

/// Host memory answered in error.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

/// Bytes that go by way of the buffer at a time.
const STEP: usize = 512;

/// For what is not aligned as the other side is: a word more than a step.
#[repr(C, align(4))]
struct Buffer([u8; STEP + 8]);

/// One copy, of `bytes` bytes from or to the byte at `iova`, whose aligned word is the one at `local`; to its end.
pub fn run(port: u8, iova: u64, local: u32, bytes: u32) -> Result<(), Failed> {
    compiler_fence(Ordering::SeqCst);
    ports::write(proc_port::DMA_HOST_LO, iova as u32);
    ports::write(proc_port::DMA_HOST_HI, (iova >> 32) as u32);
    ports::write(proc_port::DMA_LOCAL, local);
    ports::write(port, bytes);
    let failed = loop {
        let state = ports::read(proc_port::DMA_READ);
        if state & 1 == 0 {
            break state & 2 != 0;
        }
    };
    compiler_fence(Ordering::SeqCst);
    match failed {
        true => Err(Failed),
        false => Ok(()),
    }
}

/// Bytes that lie as the bus wants them.
#[repr(C, align(8))]
pub struct Aligned<const N: usize>(pub [u8; N]);

/// Reads host memory.
pub fn read(iova: u64, bytes: &mut [u8]) -> Result<(), Failed> {
    let aligned = bytes.as_ptr() as usize % 4 == 0 && iova % 4 == 0;
    // Whole words of `bytes` are written where they belong.
    let (words, rest) = bytes.split_at_mut(if aligned { bytes.len() & !3 } else { 0 });
    if !words.is_empty() {
        let local = words.as_mut_ptr() as u32;
        run(proc_port::DMA_READ, iova, local, words.len() as u32)?;
    }
    if rest.is_empty() {
        return Ok(());
    }
    let mut buffer = Buffer([0; STEP + 8]);
    let mut from = iova + words.len() as u64;
    for part in rest.chunks_mut(STEP) {
        let local = buffer.0.as_mut_ptr() as u32;
        run(proc_port::DMA_READ, from, local, part.len() as u32)?;
        let skip = (from % 4) as usize;
        part.copy_from_slice(&buffer.0[skip..skip + part.len()]);
        from += part.len() as u64;
    }
    Ok(())
}

/// Writes host memory, and no byte beside `bytes`.
pub fn write(iova: u64, bytes: &[u8]) -> Result<(), Failed> {
    let place = bytes.as_ptr() as usize;
    if place as u64 % 4 == iova % 4 {
        let local = (place & !3) as u32;
        return run(proc_port::DMA_WRITE, iova, local, bytes.len() as u32);
    }
    let mut buffer = Buffer([0; STEP + 8]);
    let mut to = iova;
    for part in bytes.chunks(STEP) {
        let skip = (to % 4) as usize;
        buffer.0[skip..skip + part.len()].copy_from_slice(part);
        let local = buffer.0.as_ptr() as u32;
        run(proc_port::DMA_WRITE, to, local, part.len() as u32)?;
        to += part.len() as u64;
    }
    Ok(())
}
