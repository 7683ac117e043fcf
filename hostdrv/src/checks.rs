//! What a card says of itself through its registers, whoever has its rings. Each answer is looked at: a device that is gone answers all ones.

use std::fmt::Debug;

use weft_layout::{reg, registers, Counter, ReadWrite, Register, INTERFACE_VERSION, NUM_COUNTERS};

use crate::error::DeviceError;
use crate::mmio::{Mmio, ALL_ONES};
use crate::stats::CardCounters;

/// Fails if the card does not answer: all ones in `register` may be a value, all ones in ID are not.
pub fn check_presence(mmio: &Mmio, register: &'static str) -> Result<(), DeviceError> {
    if mmio.read(registers::ID)? == ALL_ONES {
        return Err(DeviceError::Gone {
            device: mmio.transport.name(),
            register,
        });
    }
    Ok(())
}

/// Why the card is out of reach, if that is known.
pub(crate) fn lost(mmio: &Mmio) -> Option<DeviceError> {
    let why = mmio.transport.lost()?;
    Some(DeviceError::Lost {
        device: mmio.transport.name(),
        why,
    })
}

/// Fails if the card is known to be gone, or does not answer.
pub(crate) fn check_answers(mmio: &Mmio) -> Result<(), DeviceError> {
    lost(mmio).map_or(Ok(()), Err)?;
    check_presence(mmio, "ID")
        // What became known meanwhile says more.
        .map_err(|error| lost(mmio).unwrap_or(error))
}

/// The value of this counter.
pub fn counter(mmio: &Mmio, counter: Counter) -> Result<u32, DeviceError> {
    let value = mmio.read(registers::COUNTERS.word(counter as u32))?;
    if value == ALL_ONES {
        check_presence(mmio, "COUNTERS")?;
    }
    Ok(value)
}

pub(crate) fn counters(mmio: &Mmio) -> Result<CardCounters, DeviceError> {
    let mut values = [0; NUM_COUNTERS];
    for (value, each) in values.iter_mut().zip(Counter::ALL) {
        *value = counter(mmio, each)?;
    }
    Ok(CardCounters(values))
}

/// Is it there, is it a Weft card, does it speak this version?
pub fn check_identity(mmio: &Mmio, name: &str) -> Result<(), DeviceError> {
    let id = mmio.read(registers::ID)?;
    if id == ALL_ONES {
        return Err(DeviceError::NoAnswer {
            device: name.to_owned(),
        });
    }
    if id != reg::ID_RESET {
        return Err(DeviceError::NotWeft {
            device: name.to_owned(),
            found: id,
            expected: reg::ID_RESET,
        });
    }
    let version = mmio.read(registers::VERSION)?;
    if version != INTERFACE_VERSION {
        return Err(DeviceError::WrongVersion {
            device: name.to_owned(),
            found: version,
            expected: INTERFACE_VERSION,
        });
    }
    Ok(())
}

/// Entries of the trace ring. A card without one has no capture ring either.
pub fn trace_ring_size(mmio: &Mmio) -> Result<u32, DeviceError> {
    match mmio.read(registers::TRACE_SIZE)? {
        0 => Err(DeviceError::NotObserved {
            device: mmio.transport.name(),
        }),
        size => Ok(size),
    }
}

/// Writes a register and reads it back.
pub fn write_checked<V: Copy + Debug + From<u32> + Into<u32>>(
    mmio: &Mmio,
    register: Register<ReadWrite, V>,
    wrote: V,
) -> Result<(), DeviceError> {
    mmio.write(register, wrote)?;
    let (wrote, read) = (wrote.into(), mmio.read(register)?.into());
    if read != wrote {
        return Err(DeviceError::Register {
            register: register.name(),
            wrote,
            read,
        });
    }
    Ok(())
}
