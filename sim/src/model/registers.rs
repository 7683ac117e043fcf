//! Registers and doorbells.

use weft_layout::{doorbell, reg, Counter, TableOperation, INTERFACE_VERSION, NUM_COUNTERS};

use super::islands::ISLANDS;
use super::transmit::PUSH_SLOTS;
use super::{ModelCard, BEAT, FENCE_DELAY, PUSHED_DELAY, TRANSMIT_DELAY};
use crate::card::CYCLE_NS;

/// Behind the doorbells of REPORT_ARM_AFTER.
const ARM_AFTER_END: u32 = doorbell::REPORT_ARM_AFTER + 4 * 64;
/// The words of HASH_SECRET.
const HASH_SECRET: u32 = reg::HASH_SECRET;
const HASH_SECRET_END: u32 = HASH_SECRET + 16;

/// The lowest bit of the secret that is in a word.
fn secret_bit(address: u32) -> u32 {
    8 * (address - HASH_SECRET)
}

/// The clock.
const CLOCK_KHZ: u32 = (1_000_000 / CYCLE_NS) as u32;

impl ModelCard {
    pub(super) fn register(&mut self, address: u32) -> u32 {
        let quiescent = self.quiescent();
        let s = &mut self.state;
        let (flows, stags) = (self.sizes.flows.ilog2(), self.sizes.stags.ilog2());
        match address {
            reg::ID => reg::ID_RESET,
            reg::VERSION => INTERFACE_VERSION,
            reg::CAPS => {
                reg::Caps::default()
                    .with_data_bytes(BEAT as u8)
                    .with_flows_log2(flows as u8)
                    .with_stags_log2(stags as u8)
                    .with_vectors(1)
                    .0
            }
            reg::SCRATCH => s.scratch,
            reg::CTRL => s.ctrl,
            reg::STATUS => {
                u32::from(quiescent) | s.errors << 1 | u32::from(s.reports.broken()) << 4
            }
            reg::MTU => s.config.mtu,
            reg::MAC_LO => s.mac[0],
            reg::MAC_HI => s.mac[1],
            HASH_SECRET..HASH_SECRET_END => (s.tables.hash_secret >> secret_bit(address)) as u32,
            reg::JOB_BASE_LO => s.transmit.base as u32,
            reg::JOB_BASE_HI => (s.transmit.base >> 32) as u32,
            reg::JOB_LOG2 => s.transmit.log2().into(),
            reg::JOB_DONE => s.transmit.done(),
            reg::JOB_PUSH => PUSH_SLOTS,
            reg::JOB_REPLAY => s.transmit.max_replay,
            reg::REPORT_BASE_LO => s.reports.base as u32,
            reg::REPORT_BASE_HI => (s.reports.base >> 32) as u32,
            reg::REPORT_LOG2 => s.reports.log2().into(),
            reg::REPORT_TAIL => s.reports.tail(),
            reg::REPORT_GAP => s.reports.gap().into(),
            reg::RAW_BASE_LO => s.raw.base as u32,
            reg::RAW_BASE_HI => (s.raw.base >> 32) as u32,
            reg::RAW_LOG2 => s.raw.log2(),
            reg::RAW_TAIL => s.raw.tail(),
            reg::RAW_RESERVE => s.raw.reserve,
            reg::MSIX_COUNT => s.msix_count,
            reg::FENCE => s.fence,
            reg::FENCE_DONE => s.fence_done,
            reg::CLOCK_KHZ => CLOCK_KHZ,
            reg::PORTS => 1,
            reg::ISLANDS => ISLANDS as u32,
            reg::COUNTER_HI => s.counter_high,
            reg::TABLE_CMD => s.table_refused.into(),
            _ if (reg::TABLE_DATA..reg::TABLE_DATA + 64).contains(&address) => {
                s.table_data[(address - reg::TABLE_DATA) as usize / 4]
            }
            _ if address == reg::COUNTERS + 4 * Counter::Resets as u32 => {
                s.counter_high = 0;
                self.resets
            }
            _ if (reg::COUNTERS..reg::COUNTERS + 4 * NUM_COUNTERS as u32).contains(&address) => {
                let index = (address - reg::COUNTERS) as usize / 4;
                s.counter_high = s.counters.high(index);
                s.counters.word(index)
            }
            _ => match s.capture.read(address) {
                Some(value) => value,
                None => s.trace.read(address),
            },
        }
    }

    pub(super) fn write_register(&mut self, address: u32, value: u32) {
        let s = &mut self.state;
        s.trace.register(address, value);
        let low = |base: u64| base & !0xffff_ffff | u64::from(value);
        let high = |base: u64| base & 0xffff_ffff | u64::from(value) << 32;
        match address {
            reg::SCRATCH => s.scratch = value,
            reg::CTRL if reg::Ctrl(value).reset() => self.core_reset(),
            reg::CTRL => {
                s.ctrl = value & (reg::Ctrl::JOBS | reg::Ctrl::RECEIVE | reg::Ctrl::LOOPBACK);
                s.errors = 0;
                s.config.enable = reg::Ctrl(value).receive();
            }
            reg::MTU => s.config.mtu = value.clamp(14, 9216),
            reg::MAC_LO => {
                s.mac[0] = value;
                s.config.mac[..4].copy_from_slice(&value.to_le_bytes());
            }
            reg::MAC_HI => {
                s.mac[1] = value;
                s.config.mac[4..].copy_from_slice(&value.to_le_bytes()[..2]);
                s.config.promiscuous = reg::MacHi(value).promiscuous();
            }
            HASH_SECRET..HASH_SECRET_END => {
                let bit = secret_bit(address);
                let secret = &mut s.tables.hash_secret;
                *secret = *secret & !(0xffff_ffff << bit) | u128::from(value) << bit;
            }
            reg::JOB_BASE_LO => s.transmit.base = low(s.transmit.base),
            reg::JOB_BASE_HI => s.transmit.base = high(s.transmit.base),
            reg::JOB_LOG2 => s.transmit.set_log2(value as u8),
            reg::REPORT_BASE_LO => s.reports.base = low(s.reports.base),
            reg::REPORT_BASE_HI => s.reports.base = high(s.reports.base),
            reg::REPORT_LOG2 => s.reports.set_log2(value as u8),
            reg::REPORT_GAP => s.reports.set_gap(value as u16),
            reg::RAW_BASE_LO => s.raw.base = low(s.raw.base),
            reg::RAW_BASE_HI => s.raw.base = high(s.raw.base),
            reg::RAW_LOG2 => s.raw.set_log2(value),
            reg::RAW_RESERVE => s.raw.reserve = value,
            reg::TRACE_CTRL => s.trace.set_control(value),
            reg::FENCE => {
                s.fence = value;
                s.fence_at.get_or_insert(s.now + FENCE_DELAY);
            }
            reg::TABLE_CMD => self.table_command(value),
            _ if (reg::TABLE_DATA..reg::TABLE_DATA + 64).contains(&address) => {
                s.table_data[(address - reg::TABLE_DATA) as usize / 4] = value;
            }
            _ => s.capture.write_register(address, value),
        }
    }

    fn table_command(&mut self, value: u32) {
        let s = &mut self.state;
        let command = reg::TableCmd(value);
        let (number, index) = (command.table(), command.index() as usize);
        s.table_refused = match command.operation() {
            Ok(TableOperation::Write) => {
                let mut row = [0; 64];
                for (bytes, word) in row.chunks_exact_mut(4).zip(s.table_data) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                !s.tables
                    .write(number, index, &row, s.raw.tail(), &mut s.counters)
            }
            Ok(TableOperation::Read) => match s.tables.read(number, index) {
                Some(row) => {
                    for (word, bytes) in s.table_data.iter_mut().zip(row.chunks_exact(4)) {
                        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    }
                    false
                }
                None => true,
            },
            Err(_) => true,
        };
        if command.operation().is_ok() {
            s.trace.table(value, s.table_refused);
        }
    }

    pub(super) fn write_push_window(&mut self, offset: u32, bytes: &[u8]) {
        let s = &mut self.state;
        let had_work = s.transmit.has_work();
        s.transmit.push(offset, bytes);
        if !had_work && s.transmit.has_work() {
            s.jobs_at = s.jobs_at.max(s.now + PUSHED_DELAY);
        }
    }

    pub(super) fn write_doorbell(&mut self, offset: u32, value: u32) {
        let s = &mut self.state;
        s.trace.doorbell(offset, value);
        match offset {
            doorbell::JOB_TAIL => {
                if !s.transmit.has_work() {
                    s.jobs_at = s.jobs_at.max(s.now + TRANSMIT_DELAY);
                }
                s.transmit.set_tail(value);
            }
            doorbell::REPORT_HEAD => s.reports.set_head(value),
            doorbell::RAW_HEAD => s.raw.set_head(value),
            doorbell::REPORT_ARM => s.reports.arm(value, 1, s.now),
            doorbell::REPORT_ARM_AFTER..ARM_AFTER_END => {
                let more = (offset - doorbell::REPORT_ARM_AFTER) / 4 + 1;
                s.reports.arm(value, more, s.now);
            }
            doorbell::CAPTURE_HEAD => s.capture.set_head(value),
            _ if offset >= doorbell::RQ_TAIL => {
                if let Some(tail) = s
                    .tables
                    .rq_tail
                    .get_mut((offset - doorbell::RQ_TAIL) as usize / 4)
                {
                    *tail = value;
                }
            }
            _ => {}
        }
    }
}
