//! Interrupts of an open device: MSI-X, else MSI, else the INTx pin, each vector an eventfd.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_INTX_IRQ_INDEX,
    VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_MSI_IRQ_INDEX, VFIO_PCI_REQ_IRQ_INDEX,
};

use super::domain::Domain;
use crate::open_error::OpenError;
use crate::vectors::Vectors;
use crate::TransportError;

/// The kinds, the best first.
const KINDS: [(u32, &str); 3] = [
    (VFIO_PCI_MSIX_IRQ_INDEX, "MSI-X"),
    (VFIO_PCI_MSI_IRQ_INDEX, "MSI"),
    (VFIO_PCI_INTX_IRQ_INDEX, "INTx"),
];

/// What VFIO tells besides: the function reported a fatal error; the host wants it back.
const ENDS: [u32; 2] = [VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_REQ_IRQ_INDEX];

/// What it means.
const LOST: &str = "the host wants the card back (it is being unbound or removed), or the card reported a fatal PCI error; close it";

/// The vectors of the best kind that the function has, set up once, all of them.
pub(super) struct Interrupts {
    index: u32,
    kind: &'static str,
    vectors: Vectors,
    /// One, which is never read: what it tells of does not pass.
    end: Vectors,
    /// INTx: the kernel masks the pin at each interrupt.
    masked: AtomicBool,
}

impl Interrupts {
    pub(super) fn set_up(domain: &Domain, device: &str) -> Result<Self, OpenError> {
        let mut refused = Vec::new();
        for (index, kind) in KINDS {
            let usable = domain
                .device()
                .get_irq_info(index)
                .filter(|irq| irq.count > 0 && irq.flags & VFIO_IRQ_INFO_EVENTFD != 0);
            let Some(irq) = usable else { continue };
            // MSI is asked for one vector: a kernel that cannot give a block of several refuses all.
            let count = if index == VFIO_PCI_MSI_IRQ_INDEX {
                1
            } else {
                irq.count
            };
            let set_up = Vectors::new(count as usize).and_then(|vectors| {
                let events = vectors.events().iter().collect();
                domain
                    .device()
                    .enable_irq(index, events)
                    .map_err(|_| std::io::Error::last_os_error())?;
                Ok(vectors)
            });
            match set_up {
                Ok(vectors) => {
                    tracing::debug!(device, kind, count, "interrupts");
                    return Ok(Self {
                        index,
                        kind,
                        vectors,
                        end: watch_end(domain, device)?,
                        masked: AtomicBool::new(false),
                    });
                }
                Err(error) => refused.push(format!("{kind} with {count} vectors: {error}")),
            }
        }
        Err(OpenError::NoInterrupts {
            device: device.to_owned(),
            why: match refused.as_slice() {
                [] => "it has neither MSI-X nor MSI nor an INTx pin".to_owned(),
                refused => refused.join("; "),
            },
        })
    }

    /// "MSI-X", "MSI", "INTx".
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.vectors.events().len()
    }

    pub(super) fn wait(
        &self,
        domain: &Domain,
        vector: u16,
        deadline: Option<u64>,
    ) -> Result<bool, TransportError> {
        self.unmask(domain)
            .map_err(|reason| TransportError::Interrupt { vector, reason })?;
        let lost = || LOST.to_owned();
        let came = self.vectors.wait(vector, deadline, self.end.fd(0), lost)?;
        if came && self.index == VFIO_PCI_INTX_IRQ_INDEX {
            self.masked.store(true, Ordering::Release);
        }
        Ok(came)
    }

    /// Ends a wait for this vector.
    pub(super) fn wake(&self, vector: u16) {
        self.vectors.wake(vector);
    }

    /// Is the card to be given up, and why?
    pub(super) fn lost(&self) -> Option<String> {
        self.end.is_readable(0).then(|| LOST.to_owned())
    }

    /// Readable when it is.
    pub(super) fn end_fd(&self) -> Option<BorrowedFd<'_>> {
        self.end.fd(0)
    }

    /// The eventfd of a vector.
    pub(super) fn fd(&self, domain: &Domain, vector: u16) -> Option<BorrowedFd<'_>> {
        self.unmask(domain).ok()?;
        self.vectors.fd(vector)
    }

    /// INTx: lets the next interrupt through.
    fn unmask(&self, domain: &Domain) -> Result<(), String> {
        let unmasked = lift(&self.masked, || domain.device().unmask_irq(self.index));
        unmasked.map_err(|error| error.to_string())
    }

    /// No more interrupts.
    pub(super) fn take_down(&self, domain: &Domain) {
        if let Err(error) = domain.device().disable_irq(self.index) {
            tracing::warn!(%error, "interrupts could not be taken down");
        }
    }
}

/// Lifts a mask. One that could not be lifted stays, for the next call.
fn lift<E>(masked: &AtomicBool, unmask: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    if !masked.swap(false, Ordering::AcqRel) {
        return Ok(());
    }
    unmask().inspect_err(|_| masked.store(true, Ordering::Release))
}

/// An eventfd that is readable when the card is to be given up.
fn watch_end(domain: &Domain, device: &str) -> Result<Vectors, OpenError> {
    let end = Vectors::new(1).map_err(|error| OpenError::Kernel {
        device: device.to_owned(),
        what: "making an eventfd",
        reason: error.to_string(),
    })?;
    for index in ENDS {
        let there = domain.device().get_irq_info(index);
        if there.is_some_and(|irq| irq.count > 0 && irq.flags & VFIO_IRQ_INFO_EVENTFD != 0) {
            let events = end.events().iter().collect();
            // Without it the card works as well.
            if let Err(error) = domain.device().enable_irq(index, events) {
                tracing::debug!(device, index, %error, "the kernel will not tell of an end");
            }
        }
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else one failure would be the last that is heard of the pin.
    #[test]
    fn a_mask_that_could_not_be_lifted_stays() {
        let masked = AtomicBool::new(true);
        let never = || -> Result<(), ()> { panic!("nothing is masked") };
        assert_eq!(lift(&masked, || Err("busy")), Err("busy"));
        assert_eq!(lift(&masked, || Err("busy")), Err("busy"));
        assert_eq!(lift(&masked, || Ok::<(), ()>(())), Ok(()));
        assert_eq!(lift(&masked, never), Ok(()));
    }
}
