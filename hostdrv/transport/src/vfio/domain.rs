//! The device's way into the kernel and its I/O address space, by either interface.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use iommufd_ioctls::IommuFd;
use vfio_ioctls::{VfioContainer, VfioDevice, VfioError, VfioIommufd, VfioOps};

use super::host::Host;
use super::kernel::{close, container_window, ioas_window, reason, system_error, Window};
use super::ready::Ready;
use crate::interface::Interface;
use crate::open_error::OpenError;

enum Space {
    Legacy(Arc<VfioContainer>),
    Iommufd(Arc<VfioIommufd>),
}

/// An open device with its I/O address space.
pub(super) struct Domain {
    device: Option<VfioDevice>,
    space: Space,
}

impl Domain {
    /// Opens the device: it has then no bus mastering, no interrupt, and nothing mapped.
    pub(super) fn open(host: &Host, ready: &Ready) -> Result<Self, OpenError> {
        let explain = |error| explain(host, ready, error);
        let sysfs = host.function_path(ready.function.address);
        let (space, ops): (Space, Arc<dyn VfioOps>) = match ready.interface {
            Interface::Legacy => {
                let container = Arc::new(VfioContainer::new(None).map_err(explain)?);
                (Space::Legacy(container.clone()), container)
            }
            Interface::Iommufd => {
                let iommufd = IommuFd::new().map_err(|e| explain(VfioError::NewVfioIommufd(e)))?;
                let space = VfioIommufd::new(Arc::new(iommufd), None, None).map_err(explain)?;
                let space = Arc::new(space);
                (Space::Iommufd(space.clone()), space)
            }
        };
        let device = VfioDevice::new(&sysfs, ops, true).map_err(explain)?;
        Ok(Self {
            device: Some(device),
            space,
        })
    }

    /// The device, as `vfio-ioctls` has it.
    pub(super) fn device(&self) -> &VfioDevice {
        // `None` only while `drop` runs.
        #[allow(clippy::expect_used)]
        self.device.as_ref().expect("open until dropped")
    }

    /// The device's file.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the device stays open as long as `self` is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.device().as_raw_fd()) }
    }

    /// Where memory may be mapped.
    pub(super) fn window(&self) -> io::Result<Window> {
        match &self.space {
            Space::Legacy(container) => container_window(&**container),
            Space::Iommufd(space) => ioas_window(&**space.iommufd(), space.ioas().id()),
        }
    }

    /// Maps memory for the device to read and write, and pins it.
    ///
    /// # Safety
    /// The memory stays valid until it is unmapped, and is accessed only through raw pointers.
    pub(super) unsafe fn map(&self, iova: u64, ptr: *mut u8, len: usize) -> io::Result<()> {
        match &self.space {
            // SAFETY: the caller vouches.
            Space::Legacy(container) => unsafe { container.vfio_dma_map(iova, len, ptr) },
            // SAFETY: the caller vouches.
            Space::Iommufd(space) => unsafe { space.vfio_dma_map(iova, len, ptr) },
        }
        .map_err(reason)
    }

    /// Ends a mapping: when this returns, the IOMMU lets nothing through there.
    pub(super) fn unmap(&self, iova: u64, len: usize) -> io::Result<()> {
        match &self.space {
            Space::Legacy(container) => container.vfio_dma_unmap(iova, len),
            Space::Iommufd(space) => space.vfio_dma_unmap(iova, len),
        }
        .map_err(reason)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // The container is closed right after, which leaves the group as well.
        if let Some(device) = self.device.take() {
            close(device);
        }
    }
}

/// What a failure to open means to the one who must mend it.
pub(super) fn explain(host: &Host, ready: &Ready, error: VfioError) -> OpenError {
    let address = ready.function.address;
    let container = Path::new("/dev/vfio/vfio");
    let node = match &error {
        VfioError::OpenContainer(_) => container,
        VfioError::NewVfioIommufd(_) => Path::new("/dev/iommu"),
        _ => &ready.node,
    };
    let kernel = |what| OpenError::Kernel {
        device: address.to_string(),
        what,
        reason: error.to_string(),
    };
    match (&error, system_error(&error)) {
        (VfioError::GroupViable, _) => OpenError::GroupNotViable {
            address,
            group: ready.group,
            others: host.in_the_way(ready.group, address),
        },
        (VfioError::ContainerSetIOMMU(_), Some(libc::EPERM)) => {
            OpenError::UnsafeInterrupts { address }
        }
        (VfioError::VfioDeviceAttachIommufdPt(_), Some(libc::EPERM)) => {
            OpenError::UnsafeInterrupts { address }
        }
        (_, Some(libc::EBUSY)) => OpenError::Busy {
            path: node.to_owned(),
            holders: host.holders(node),
        },
        // What the kernel says of a device that is bound to somebody else's iommufd.
        (VfioError::VfioDeviceBindIommufd(_), Some(libc::EINVAL))
            if !host.holders(node).is_empty() =>
        {
            OpenError::Busy {
                path: node.to_owned(),
                holders: host.holders(node),
            }
        }
        (
            VfioError::OpenContainer(_)
            | VfioError::OpenGroup(..)
            | VfioError::OpenDeviceCdev(_)
            | VfioError::NewVfioIommufd(_),
            Some(code),
        ) => match code {
            libc::EACCES | libc::EPERM => OpenError::NoPermission {
                path: node.to_owned(),
            },
            libc::ENOENT | libc::ENODEV | libc::ENXIO => OpenError::NoVfio {
                path: node.to_owned(),
                hint: "",
            },
            _ => kernel("opening the device"),
        },
        (VfioError::VfioType1V2 | VfioError::VfioExtension, _) => OpenError::NoVfio {
            path: node.to_owned(),
            hint: "and `modprobe vfio_iommu_type1`",
        },
        _ => kernel("opening the device"),
    }
}
