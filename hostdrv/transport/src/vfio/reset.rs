//! Resets of a function through the kernel: its own (FLR, or what else the kernel knows), then that of its bus ("hot reset"),
//! which is done only if it hits nothing but this function.

use std::io;
use std::os::fd::RawFd;

use super::kernel::{self, Affected};
use super::Opened;
use crate::address::PciAddress;

/// The calls, so that tests can make kernels with every usual trouble.
pub(super) trait Kernel {
    /// Does the kernel know a way to reset the function alone?
    fn can_reset(&self) -> bool;
    /// VFIO_DEVICE_RESET.
    fn device_reset(&self) -> io::Result<()>;
    /// VFIO_DEVICE_GET_PCI_HOT_RESET_INFO.
    fn affected(&self) -> io::Result<Vec<Affected>>;
    /// VFIO_DEVICE_PCI_HOT_RESET.
    fn hot_reset(&self) -> io::Result<()>;
}

/// What did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Function,
    Bus,
}

/// Resets the function one way or the other; the error says what was tried and what became of each.
pub(super) fn reset(kernel: &impl Kernel, address: PciAddress) -> Result<Way, String> {
    let alone = if kernel.can_reset() {
        match kernel.device_reset() {
            Ok(()) => return Ok(Way::Function),
            Err(error) => format!("VFIO_DEVICE_RESET: {error}"),
        }
    } else {
        format!(
            "the kernel knows no way to reset {address} alone: it has no FLR (/sys/bus/pci/devices/{address}/reset_method is empty \
             or missing)"
        )
    };
    let bus = match kernel.affected() {
        Err(error) => format!("VFIO_DEVICE_GET_PCI_HOT_RESET_INFO: {error}"),
        Ok(all) => {
            let others: Vec<_> = all
                .iter()
                .filter(|one| one.address() != address.to_string())
                .map(Affected::address)
                .collect();
            if others.is_empty() {
                match kernel.hot_reset() {
                    Ok(()) => return Ok(Way::Bus),
                    Err(error) => format!("VFIO_DEVICE_PCI_HOT_RESET: {error}"),
                }
            } else {
                format!("a reset of its bus would hit {}", others.join(", "))
            }
        }
    };
    Err(format!("{address}: {alone}; {bus}"))
}

impl Kernel for Opened {
    fn can_reset(&self) -> bool {
        self.can_reset
    }

    fn device_reset(&self) -> io::Result<()> {
        kernel::reset(self.domain.device())
    }

    fn affected(&self) -> io::Result<Vec<Affected>> {
        kernel::affected(self.domain.device())
    }

    fn hot_reset(&self) -> io::Result<()> {
        // The legacy interface wants to see that the group is ours, the other one knows.
        let group: Vec<RawFd> = match &self.group_node {
            Some(node) => vec![own_descriptor(node)?],
            None => Vec::new(),
        };
        kernel::hot_reset(self.domain.device(), &group)
    }
}

/// The descriptor with which this process holds a node: `vfio-ioctls` keeps it, and a second one cannot be had.
fn own_descriptor(node: &std::path::Path) -> io::Result<RawFd> {
    let entries = std::fs::read_dir("/proc/self/fd")?.flatten();
    let mut ours = entries.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to == node));
    ours.find_map(|fd| fd.file_name().to_str()?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("{} is not open", node.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A kernel that does as it is told, and what it was asked.
    struct Fake {
        alone: Option<i32>,
        can_reset: bool,
        affected: Result<Vec<Affected>, i32>,
        hot: Option<i32>,
        asked: RefCell<Vec<&'static str>>,
    }

    impl Fake {
        fn new(can_reset: bool, alone: Option<i32>) -> Self {
            Self {
                alone,
                can_reset,
                affected: Ok(vec![CARD]),
                hot: None,
                asked: RefCell::default(),
            }
        }

        fn ask(&self, what: &'static str, errno: Option<i32>) -> io::Result<()> {
            self.asked.borrow_mut().push(what);
            errno.map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)))
        }

        fn reset(&self) -> (Result<Way, String>, Vec<&'static str>) {
            let address = CARD.address().parse().expect("an address");
            (reset(self, address), self.asked.borrow().clone())
        }
    }

    impl Kernel for Fake {
        fn can_reset(&self) -> bool {
            self.can_reset
        }
        fn device_reset(&self) -> io::Result<()> {
            self.ask("function", self.alone)
        }
        fn affected(&self) -> io::Result<Vec<Affected>> {
            let found = self.affected.clone();
            found.map_err(io::Error::from_raw_os_error)
        }
        fn hot_reset(&self) -> io::Result<()> {
            self.ask("bus", self.hot)
        }
    }

    const CARD: Affected = Affected {
        segment: 0,
        bus: 0x3b,
        devfn: 0,
    };

    #[test]
    fn the_function_alone_when_the_kernel_can() {
        let (done, asked) = Fake::new(true, None).reset();
        assert_eq!((done, asked), (Ok(Way::Function), vec!["function"]));
    }

    #[test]
    fn the_bus_when_the_function_cannot_be_reset_or_does_not_answer() {
        let (done, asked) = Fake::new(false, None).reset();
        assert_eq!((done, asked), (Ok(Way::Bus), vec!["bus"]));
        let (done, asked) = Fake::new(true, Some(libc::ENOTTY)).reset();
        assert_eq!((done, asked), (Ok(Way::Bus), vec!["function", "bus"]));
    }

    #[test]
    fn never_a_bus_with_somebody_else_on_it() {
        let mut fake = Fake::new(false, None);
        fake.affected = Ok(vec![
            CARD,
            Affected {
                devfn: 0x0a,
                ..CARD
            },
        ]);
        let (done, asked) = fake.reset();
        let text = done.expect_err("refused");
        assert!(asked.is_empty(), "{asked:?}");
        assert!(
            text.contains("would hit 0000:3b:01.2") && text.contains("no FLR"),
            "{text}"
        );
    }

    #[test]
    fn an_error_says_all_that_was_tried() {
        let mut fake = Fake::new(true, Some(libc::EIO));
        fake.hot = Some(libc::EPERM);
        let (done, asked) = fake.reset();
        let text = done.expect_err("refused");
        assert_eq!(asked, ["function", "bus"]);
        for part in [
            "0000:3b:00.0",
            "VFIO_DEVICE_RESET",
            "Input/output",
            "HOT_RESET",
            "not permitted",
        ] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
        let mut fake = Fake::new(false, None);
        fake.affected = Err(libc::ENODEV);
        let text = fake.reset().0.expect_err("refused");
        assert!(text.contains("GET_PCI_HOT_RESET_INFO"), "{text}");
    }
}
