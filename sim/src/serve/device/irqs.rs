//! `DEVICE_GET_IRQ_INFO` and `DEVICE_SET_IRQS`: MSI-X is the only kind of interrupt.

use std::ops::Range;
use std::os::fd::OwnedFd;

use super::{Device, Failed, Refused};
use crate::serve::message::{Errno, Fields, Payload};

/// Interrupts of a PCI device (`VFIO_PCI_*_IRQ_INDEX`).
pub(super) mod irq {
    pub const MSIX: u32 = 2;
    pub const COUNT: u32 = 5;
    /// It is told by event descriptors, and all vectors are set up at once.
    pub const EVENTFD_NORESIZE: u32 = 1 | 8;

    pub const DATA_NONE: u32 = 1;
    pub const DATA_BOOL: u32 = 2;
    pub const DATA_EVENTFD: u32 = 4;
    pub const ACTION_MASK: u32 = 8;
    pub const ACTION_UNMASK: u32 = 16;
    pub const ACTION_TRIGGER: u32 = 32;
}

impl Device {
    pub(super) fn irq_info(&self, mut fields: Fields<'_>) -> Result<Vec<u8>, Failed> {
        let (_argsz, _flags) = (fields.u32(), fields.u32());
        let index = fields.u32().ok_or_else(Refused::short)?;
        if index >= irq::COUNT {
            return Err(Refused::new(Errno::Invalid, format!("no interrupts {index}")).into());
        }
        let (flags, count) = match index {
            irq::MSIX => (irq::EVENTFD_NORESIZE, self.msix.count() as u32),
            _ => (0, 0),
        };
        Ok(Payload::new()
            .u32(16)
            .u32(flags)
            .u32(index)
            .u32(count)
            .done())
    }

    pub(super) fn set_irqs(
        &mut self,
        mut fields: Fields<'_>,
        fds: Vec<OwnedFd>,
    ) -> Result<Vec<u8>, Failed> {
        let (_argsz, flags) = (fields.u32(), fields.u32());
        let (Some(flags), Some(index), Some(start), Some(count)) =
            (flags, fields.u32(), fields.u32(), fields.u32())
        else {
            return Err(Refused::short().into());
        };
        let invalid = |why: String| Err(Failed::from(Refused::new(Errno::Invalid, why)));
        let data = flags & (irq::DATA_NONE | irq::DATA_BOOL | irq::DATA_EVENTFD);
        let action = flags & !data;
        // "None from 0 on" takes all descriptors of any kind of interrupt away.
        if data == irq::DATA_NONE && action == irq::ACTION_TRIGGER && count == 0 && start == 0 {
            if index >= irq::COUNT {
                return invalid(format!("no interrupts {index}"));
            }
            if index == irq::MSIX {
                self.msix.clear();
            }
            return Ok(Vec::new());
        }
        let end = u64::from(start) + u64::from(count);
        if index != irq::MSIX || end > self.msix.count() as u64 {
            return invalid(format!("{count} interrupts {index} from {start} on"));
        }
        let vectors = start as usize..end as usize;
        let chosen: Vec<bool> = match data {
            irq::DATA_NONE => vec![true; vectors.len()],
            irq::DATA_BOOL if fields.rest().len() >= vectors.len() => fields.rest()
                [..vectors.len()]
                .iter()
                .map(|b| *b != 0)
                .collect(),
            irq::DATA_EVENTFD if action == irq::ACTION_TRIGGER => {
                return self.set_events(vectors, fds);
            }
            _ => return invalid(format!("flags {flags:#x}")),
        };
        for (vector, _) in vectors.zip(chosen).filter(|(_, chosen)| *chosen) {
            match action {
                irq::ACTION_TRIGGER => self.msix.raise(vector),
                irq::ACTION_MASK => self.msix.set_masked(vector, true),
                irq::ACTION_UNMASK => self.msix.set_masked(vector, false),
                _ => return invalid(format!("flags {flags:#x}")),
            }
        }
        Ok(Vec::new())
    }

    /// No descriptors at all: the vectors lose theirs.
    fn set_events(&mut self, vectors: Range<usize>, fds: Vec<OwnedFd>) -> Result<Vec<u8>, Failed> {
        if !fds.is_empty() && fds.len() != vectors.len() {
            let why = format!("{} descriptors for {} vectors", fds.len(), vectors.len());
            return Err(Refused::new(Errno::Invalid, why).into());
        }
        let mut fds = fds.into_iter();
        for vector in vectors {
            self.msix.set_event(vector, fds.next());
        }
        Ok(Vec::new())
    }
}
