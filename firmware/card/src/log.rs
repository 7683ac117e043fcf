//! The log: a ring of bytes that the host reads. What is written is there at once, so that the last words before an end are.

use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU8, Ordering};

use crate::info;

/// Bytes of the ring.
pub const BYTES: usize = 2048;

#[repr(C, align(4))]
struct Ring([AtomicU8; BYTES]);

static RING: Ring = Ring([const { AtomicU8::new(0) }; BYTES]);
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// Where the ring is.
pub fn at() -> u32 {
    &raw const RING as u32
}

struct Writer;

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut written = WRITTEN.load(Ordering::Relaxed);
        for &byte in text.as_bytes() {
            RING.0[written as usize % BYTES].store(byte, Ordering::Relaxed);
            written = written.wrapping_add(1);
        }
        WRITTEN.store(written, Ordering::Relaxed);
        info::set_logged(written);
        Ok(())
    }
}

/// Writes a line.
pub fn line(words: fmt::Arguments<'_>) {
    let _ = fmt::Write::write_fmt(&mut Writer, format_args!("{words}\n"));
}

/// Writes a line to the log.
#[macro_export]
macro_rules! log {
    ($($words:tt)*) => {
        $crate::log::line(format_args!($($words)*))
    };
}
