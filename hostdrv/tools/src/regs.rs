//! Every register and every counter, with its meaning, from a bare transport: the card is not reset, nothing is written.

use serde::Serialize;
use weft_layout::reg::{self, Bits};
use weft_layout::{registers, Counter};

use weft_card_transport::{Bar, RegisterAccess, Transport, TransportError};

/// Registers with more words than this are memory.
const LONGEST: u32 = 16;

/// One register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Its name; with an index if it is one of several words.
    pub name: String,
    /// Byte offset in BAR0.
    pub offset: u32,
    /// What it holds.
    pub value: u32,
    /// What that says, where bits have names.
    pub decoded: Option<String>,
    /// What it is.
    pub meaning: &'static str,
    /// May the host write it?
    pub writable: bool,
}

/// One counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CounterValue {
    /// Its name.
    pub name: &'static str,
    /// What kind it is.
    pub group: &'static str,
    /// How many; 32 bits, wrapping.
    pub value: u32,
    /// What it counts.
    pub meaning: &'static str,
}

/// All of them, read one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Where the card is.
    pub name: String,
    /// When, in the transport's time.
    pub at_ns: u64,
    /// The registers, without COUNTERS and TRACE.
    pub registers: Vec<Register>,
    /// The counters.
    pub counters: Vec<CounterValue>,
}

impl Snapshot {
    /// Reads everything.
    pub fn read(transport: &dyn Transport) -> Result<Self, TransportError> {
        let at_ns = transport.now();
        let mut registers = Vec::new();
        let described = reg::ALL.iter().zip(reg::MEANING).zip(reg::BITS);
        for (((name, offset, words), (meaning, writable)), bits) in described {
            // The counters come below, the trace ring has a tool of its own.
            if *words > LONGEST {
                continue;
            }
            for word in 0..*words {
                let at = offset + 4 * word;
                let value = transport.read32(Bar::Registers, at)?;
                registers.push(Register {
                    name: match words {
                        1 => (*name).to_owned(),
                        _ => format!("{name}[{word}]"),
                    },
                    offset: at,
                    value,
                    decoded: decode(at, value).or_else(|| by_name(bits, value)),
                    meaning,
                    writable: *writable,
                });
            }
        }
        Ok(Self {
            name: transport.name(),
            at_ns,
            registers,
            counters: counters(transport)?,
        })
    }
}

/// Reads the counters.
pub fn counters(transport: &dyn Transport) -> Result<Vec<CounterValue>, TransportError> {
    let each = Counter::ALL.iter().map(|counter| {
        Ok(CounterValue {
            name: counter.name(),
            group: group(counter.name()),
            value: transport.read(registers::COUNTERS.word(*counter as u32))?,
            meaning: counter.doc(),
        })
    });
    each.collect()
}

/// What was counted between two readings.
pub fn difference(before: &[CounterValue], after: &[CounterValue]) -> Vec<CounterValue> {
    let pairs = after.iter().zip(before);
    pairs
        .map(|(after, before)| CounterValue {
            value: after.value.wrapping_sub(before.value),
            ..*after
        })
        .collect()
}

/// The kind of a counter, by its name.
fn group(name: &str) -> &'static str {
    const GROUPS: [(&str, &str); 13] = [
        ("rx_drop_", "dropped on receive"),
        ("rx_error_", "FPDUs with an error"),
        ("rx_stall_", "waits on receive"),
        ("rx_detach_", "flows that left the card"),
        ("rx_attach", "flows that came back"),
        ("rx_segments", "segments received"),
        ("rx_fpdu", "FPDUs received"),
        ("rx_", "receive"),
        ("tx_stall_", "waits on transmit"),
        ("tx_", "transmit"),
        ("dma_", "DMA"),
        ("capture_", "capture"),
        ("trace_", "trace"),
    ];
    GROUPS
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix))
        .map_or("reports and interrupts", |(_, group)| group)
}

/// What a register says that is better said in words than by its bits.
fn decode(offset: u32, value: u32) -> Option<String> {
    let ring = |slots: u8, bytes: u8| {
        let power = |log2: u8| 1u64 << (log2 & 31);
        format!("{} slots of {} bytes", power(slots), power(bytes))
    };
    let [b0, b1, b2, b3] = value.to_le_bytes();
    Some(match offset {
        reg::ID => format!("\"{}\"", value.to_be_bytes().escape_ascii()),
        reg::CAPS => {
            let caps = reg::Caps(value);
            format!(
                "{} bits wide, 2^{} flows, 2^{} STags, {} vectors",
                u32::from(caps.data_bytes()) * 8,
                caps.flows_log2(),
                caps.stags_log2(),
                caps.vectors()
            )
        }
        reg::MTU => format!("{value} bytes"),
        reg::MAC_LO => format!("{b0:02x}:{b1:02x}:{b2:02x}:{b3:02x}, the first four bytes"),
        reg::MAC_HI => {
            let [b4, b5] = reg::MacHi(value).mac().to_le_bytes();
            let promiscuous = match reg::MacHi(value).promiscuous() {
                true => ", promiscuous",
                false => "",
            };
            format!("{b4:02x}:{b5:02x}, the last two bytes{promiscuous}")
        }
        reg::JOB_LOG2 | reg::REPORT_LOG2 if value != 0 => format!("{} slots", 1u64 << (value & 31)),
        reg::RAW_LOG2 if value != 0 => {
            ring(reg::RawLog2(value).count(), reg::RawLog2(value).slot())
        }
        reg::CAPTURE_LOG2 if value != 0 => ring(
            reg::CaptureLog2(value).count(),
            reg::CaptureLog2(value).slot(),
        ),
        _ => return None,
    })
}

/// The bits that are set by their names, those of more than one with their value.
fn by_name(bits: &[Bits], value: u32) -> Option<String> {
    let set: Vec<_> = bits
        .iter()
        .filter(|bits| bits.of(value) != 0)
        .map(|bits| match bits.width {
            1 => bits.name.to_owned(),
            _ => format!("{} {:#x}", bits.name, bits.of(value)),
        })
        .collect();
    match (bits, set.len()) {
        ([], _) => None,
        (_, 0) => Some("nothing set".into()),
        _ => Some(set.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_told_by_name() {
        let bits = |register: &str| {
            let at = reg::ALL.iter().position(|(name, ..)| *name == register);
            reg::BITS[at.expect("a register")]
        };
        let told = |register, value| by_name(bits(register), value);
        assert_eq!(told("CTRL", 0).as_deref(), Some("nothing set"));
        assert_eq!(told("CTRL", 5).as_deref(), Some("JOBS, LOOPBACK"));
        assert_eq!(
            told("CAPTURE_CTRL", 0x0100_0002).as_deref(),
            Some("SENT, SNAP 0x100")
        );
        assert_eq!(told("TABLE_CMD", 1).as_deref(), Some("REFUSED"));
        assert_eq!(told("JOB_DONE", 1), None);
    }

    #[test]
    fn every_counter_has_a_group_and_differences_wrap() {
        assert_eq!(group("rx_drop_fcs"), "dropped on receive");
        assert_eq!(group("rx_frames"), "receive");
        assert_eq!(group("msix_requests"), "reports and interrupts");
        let value = |value| CounterValue {
            name: "a",
            group: "",
            value,
            meaning: "",
        };
        let moved = difference(&[value(u32::MAX)], &[value(4)]);
        assert_eq!(moved[0].value, 5);
    }
}
