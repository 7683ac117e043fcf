//! BAR0 and BAR2.

use weft_layout::{
    doorbell,
    reg::{self, MacHi},
    NUM_COUNTERS,
};

use super::{Context, Failure};
use weft_card_transport::Bar;

fn read(c: &Context, offset: u32) -> Result<u32, Failure> {
    Ok(c.transport.read32(Bar::Registers, offset)?)
}

fn write(c: &Context, offset: u32, value: u32) -> Result<(), Failure> {
    Ok(c.transport.write32(Bar::Registers, offset, value)?)
}

pub(super) fn scratch(c: &mut Context) -> Result<(), Failure> {
    c.transport.reset()?;
    let walking = (0..32).flat_map(|bit| [1u32 << bit, !(1u32 << bit)]);
    let fixed = [0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa];
    let random: Vec<u32> = (0..64).map(|_| c.random.next() as u32).collect();
    for value in fixed.into_iter().chain(walking).chain(random) {
        write(c, reg::SCRATCH, value)?;
        let got = read(c, reg::SCRATCH)?;
        c.equal(value, got, || {
            format!(
                "SCRATCH was written {value:#010x} and read back; bits {:#010x} differ",
                value ^ got
            )
        })?;
    }
    Ok(())
}

/// Registers that hold what they are given and do nothing while the card is off, with the bits that they have.
fn holders() -> Vec<(String, u32, u32)> {
    let mut list: Vec<(String, u32, u32)> = [
        ("SCRATCH", reg::SCRATCH, u32::MAX),
        ("MAC_LO", reg::MAC_LO, u32::MAX),
        ("MAC_HI", reg::MAC_HI, MacHi::MAC_MASK | MacHi::PROMISCUOUS),
        ("JOB_BASE_LO", reg::JOB_BASE_LO, !127),
        ("JOB_BASE_HI", reg::JOB_BASE_HI, u32::MAX),
        ("REPORT_BASE_LO", reg::REPORT_BASE_LO, !63),
        ("REPORT_BASE_HI", reg::REPORT_BASE_HI, u32::MAX),
        ("RAW_BASE_LO", reg::RAW_BASE_LO, !16383),
        ("RAW_BASE_HI", reg::RAW_BASE_HI, u32::MAX),
    ]
    .map(|(name, offset, bits)| (name.to_owned(), offset, bits))
    .into();
    let data = (0..reg::TABLE_DATA_COUNT).map(|word| {
        let offset = reg::TABLE_DATA + 4 * word;
        (format!("TABLE_DATA[{word}]"), offset, u32::MAX)
    });
    list.extend(data);
    let secret = (0..reg::HASH_SECRET_COUNT).map(|word| {
        let offset = reg::HASH_SECRET + 4 * word;
        (format!("HASH_SECRET[{word}]"), offset, u32::MAX)
    });
    list.extend(secret);
    list
}

pub(super) fn independence(c: &mut Context) -> Result<(), Failure> {
    c.transport.reset()?;
    let holders = holders();
    for round in 0..4 {
        let values: Vec<u32> = holders
            .iter()
            .map(|(_, offset, bits)| match round {
                0 => (0x0101_0101u32.wrapping_mul(*offset) ^ offset) & bits,
                1 => !(0x0101_0101u32.wrapping_mul(*offset) ^ offset) & bits,
                _ => c.random.next() as u32 & bits,
            })
            .collect();
        let pairs = || holders.iter().zip(&values);
        // Up in one round and down in the other: the last of two that share an address wins.
        for n in 0..holders.len() {
            let n = if round % 2 == 0 {
                n
            } else {
                holders.len() - 1 - n
            };
            write(c, holders[n].1, values[n])?;
        }
        for ((name, offset, bits), value) in pairs() {
            let got = read(c, *offset)? & bits;
            c.equal(*value, got, || {
                format!(
                    "{name} ({offset:#06x}) after {} registers were written",
                    holders.len()
                )
            })?;
        }
    }
    Ok(())
}

pub(super) fn read_only(c: &mut Context) -> Result<(), Failure> {
    c.transport.reset()?;
    let described = reg::ALL.iter().zip(reg::MEANING);
    let fixed = described
        .filter(|((name, offset, words), (_, writable))| {
            !writable && *words == 1 && *offset != reg::STATUS && !moves(name)
        })
        .map(|((name, offset, _), _)| ((*name).to_owned(), *offset));
    let counters =
        (0..NUM_COUNTERS as u32).map(|n| (format!("counter {n}"), reg::COUNTERS + 4 * n));
    for (name, offset) in fixed.chain(counters).collect::<Vec<_>>() {
        let before = read(c, offset)?;
        for value in [!before, 0] {
            write(c, offset, value)?;
            let after = read(c, offset)?;
            c.equal(before, after, || {
                format!("{name} ({offset:#06x}) is read-only and was written {value:#010x}")
            })?;
        }
    }
    // Writing CTRL would clear STATUS' sticky bits; nothing else may touch it.
    let before = read(c, reg::STATUS)?;
    write(c, reg::STATUS, u32::MAX)?;
    let after = read(c, reg::STATUS)?;
    c.equal(before, after, || {
        "STATUS is read-only and was written".into()
    })?;
    let known = |offset: u32| {
        let holds = |(_, at, words): &(&str, u32, u32)| (*at..at + 4 * words).contains(&offset);
        reg::ALL.iter().any(holds)
    };
    for offset in (0x10..0x1000)
        .step_by(4)
        .chain([0x2000, 0x4000, 0x7ffc, 0xfffc])
    {
        if known(offset) {
            continue;
        }
        write(c, offset, u32::MAX)?;
        let got = read(c, offset)?;
        c.equal(0, got, || {
            format!("address {offset:#06x} is reserved and was written")
        })?;
    }
    Ok(())
}

pub(super) fn doorbells(c: &mut Context) -> Result<(), Failure> {
    c.transport.reset()?;
    let holders = holders();
    let mut values = Vec::new();
    for (_, offset, bits) in &holders {
        let value = c.random.next() as u32 & bits;
        write(c, *offset, value)?;
        values.push(value);
    }
    // The offsets of the registers, and the first and last flows' doorbells; the card is off, they have no effect.
    let flows = [0, 1, c.caps.flows / 2, c.caps.flows - 1];
    let rung = holders
        .iter()
        .map(|(_, offset, _)| *offset)
        .filter(|offset| *offset > doorbell::REPORT_ARM)
        .chain(flows.map(|flow| doorbell::RQ_TAIL + 4 * flow));
    for offset in rung.collect::<Vec<_>>() {
        let value = c.random.next() as u32;
        c.transport.write32(Bar::Doorbells, offset, value)?;
        for ((name, at, bits), held) in holders.iter().zip(&values) {
            let got = read(c, *at)? & bits;
            c.equal(*held, got, || {
                format!("{name} after doorbell {offset:#06x} of BAR2 was written {value:#010x}")
            })?;
        }
        let got = read(c, offset & 0xffff)?;
        let expected = holders
            .iter()
            .zip(&values)
            .find(|((_, at, _), _)| *at == offset)
            .map_or(0, |(_, v)| *v);
        c.equal(expected, got & holders.iter().find(|(_, at, _)| *at == offset).map_or(u32::MAX, |h| h.2), || {
            format!("BAR0 at {offset:#06x} after the doorbell at the same offset was written {value:#010x}")
        })?;
    }
    // An unset flow's tail is 0.
    for flow in flows {
        c.transport
            .write32(Bar::Doorbells, doorbell::RQ_TAIL + 4 * flow, 0)?;
    }
    Ok(())
}

/// Registers that move by themselves: the clock, and rings that record register accesses.
fn moves(name: &str) -> bool {
    ["TRACE_", "CAPTURE_", "TIME_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
