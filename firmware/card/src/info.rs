//! What the firmware says of itself, at address 0x100.

use core::sync::atomic::{AtomicU32, Ordering};

use weft_layout::{reg, ProcInfo};

use crate::{commands, debug, log};

/// As in Cargo.toml.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Hash of the sources.
pub const BUILD: &str = env!("CARD_FIRMWARE_BUILD");

const WORDS: usize = ProcInfo::SIZE / 4;

/// The words of the record: some of them are counts.
#[repr(C, align(4))]
struct Info([AtomicU32; WORDS]);

#[used]
#[link_section = ".info"]
static INFO: Info = Info(first());

/// Up to 16 bytes of `text`, with zeros behind.
const fn field(text: &str) -> [u8; 16] {
    let mut field = [0; 16];
    let mut at = 0;
    while at < text.len() && at < field.len() {
        field[at] = text.as_bytes()[at];
        at += 1;
    }
    field
}

/// The word at byte `at`.
const fn word(text: &[u8; 16], at: usize) -> u32 {
    u32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]])
}

/// What is known before it runs.
const fn first() -> [AtomicU32; WORDS] {
    let mut words = [const { AtomicU32::new(0) }; WORDS];
    words[ProcInfo::MAGIC_AT / 4] = AtomicU32::new(reg::PROC_ID_RESET);
    words[ProcInfo::LAYOUT_AT / 4] = AtomicU32::new(1);
    words[ProcInfo::LOG_BYTES_AT / 4] = AtomicU32::new(log::BYTES as u32);
    let (version, build) = (field(VERSION), field(BUILD));
    let mut at = 0;
    while at < 16 {
        words[(ProcInfo::VERSION_AT + at) / 4] = AtomicU32::new(word(&version, at));
        words[(ProcInfo::BUILD_AT + at) / 4] = AtomicU32::new(word(&build, at));
        at += 4;
    }
    words
}

/// Sets a word of the record: `at` is one of [`ProcInfo`].
pub fn set(at: usize, value: u32) {
    INFO.0[at / 4].store(value, Ordering::Relaxed);
}

/// Says where things are.
pub fn set_places(stack_low: u32, stack_high: u32, dump_at: u32) {
    set(ProcInfo::STACK_LOW_AT, stack_low);
    set(ProcInfo::STACK_HIGH_AT, stack_high);
    set(ProcInfo::DUMP_AT_AT, dump_at);
    set(ProcInfo::LOG_AT_AT, log::at());
    set(ProcInfo::COPY_AT_AT, commands::copy_at());
    set(ProcInfo::DEBUG_AT_AT, debug::at());
    #[cfg(feature = "engine")]
    set(ProcInfo::ENGINE_AT_AT, crate::engine::settings_at());
    #[cfg(feature = "engine")]
    set(ProcInfo::QUEUES_AT_AT, crate::engine::queues_at());
}

/// Sets the count of the log's bytes.
pub fn set_logged(bytes: u32) {
    set(ProcInfo::LOGGED_AT, bytes);
}

/// Counts: `at` is a count of [`ProcInfo`].
pub fn count(at: usize) {
    let word = &INFO.0[at / 4];
    word.store(
        word.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
}

/// The most of something.
#[cfg(feature = "engine")]
pub fn at_least(at: usize, value: u32) {
    let word = &INFO.0[at / 4];
    word.store(word.load(Ordering::Relaxed).max(value), Ordering::Relaxed);
}

static LAST_COMMAND: AtomicU32 = AtomicU32::new(0);

/// The command taken last.
pub fn last_command() -> u32 {
    LAST_COMMAND.load(Ordering::Relaxed)
}

/// Notes the command that is taken.
pub fn set_last_command(command: u32) {
    LAST_COMMAND.store(command, Ordering::Relaxed);
}
