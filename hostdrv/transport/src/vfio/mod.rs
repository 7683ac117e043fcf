//! The kernel's VFIO: a PCI function given to this process, behind an IOMMU.
//!
//! The unusual is in files of its own: what the host looks like ([`Host`]), whether a function can be opened
//! ([`Ready`]), the two kernel interfaces (`domain`), what `vfio-ioctls` lacks (`kernel`), BARs (`region`),
//! interrupts, DMA memory.
//!
//! If the process dies, with DMA under way or not, the kernel does what is left: it resets the function,
//! takes its bus mastering and its interrupts, unmaps and unpins all memory, in this order; the pages are freed
//! only when the card cannot reach them any more.

mod domain;
mod host;
#[cfg(test)]
mod host_tests;
mod interrupts;
mod kernel;
mod list;
mod memlock;
mod memory;
mod numa;
mod ready;
mod region;
mod reset;

use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use vfio_bindings::bindings::vfio::VFIO_PCI_CONFIG_REGION_INDEX;

use self::domain::Domain;
use self::interrupts::Interrupts;
use self::memory::Memory;
use self::numa::Node;
use self::region::Region;
use super::address::PciAddress;
use super::interface::Interface;
use super::iova::IovaAllocator;
use super::monotonic;
use super::open_error::OpenError;
use super::spec::VfioOptions;
use super::{Bar, Transport, TransportError};
use crate::dma::{page_size, DmaBuffer};

pub use host::{Function, Host};
pub use list::{list, Found};
pub use ready::Ready;

/// Vendor and device id.
const CONFIG_ID: u64 = 0;
/// The PCI command register.
const CONFIG_COMMAND: u64 = 4;
/// It lets the function answer to its BARs.
const COMMAND_MEMORY: u16 = 1 << 1;
/// It lets the function reach memory.
const COMMAND_MASTER: u16 = 1 << 2;

/// A PCI function reached by the kernel's VFIO.
pub struct VfioTransport {
    device: Arc<Opened>,
}

/// The device while anything of it is in use: DMA memory keeps it open, so that nothing is freed under a mapping.
struct Opened {
    name: String,
    interface: Interface,
    address: PciAddress,
    /// The group's node, where it was opened by that.
    group_node: Option<PathBuf>,
    can_reset: bool,
    /// Where its memory lies best.
    node: Option<Node>,
    // In this order: a mapped BAR keeps the device's file open, and the group cannot be left before it is closed.
    registers: Region,
    doorbells: Region,
    config: Region,
    interrupts: Interrupts,
    domain: Domain,
    addresses: Mutex<IovaAllocator>,
}

impl VfioTransport {
    /// Opens a function of `host`, sets its interrupts up and turns bus mastering on.
    pub fn open(host: &Host, address: PciAddress, options: VfioOptions) -> Result<Self, OpenError> {
        let ready = host.check(address, options)?;
        let name = address.to_string();
        let kernel = |what: &'static str| {
            let device = name.clone();
            move |error: io::Error| OpenError::Kernel {
                device,
                what,
                reason: error.to_string(),
            }
        };
        let domain = Domain::open(host, &ready)?;
        let config = Region::new(&domain, VFIO_PCI_CONFIG_REGION_INDEX);
        let id = config
            .read32(domain.fd(), CONFIG_ID)
            .map_err(kernel("reading configuration space"))?;
        if id == u32::MAX {
            return Err(OpenError::AllOnes { device: name });
        }
        let can_reset =
            kernel::can_reset(domain.device()).map_err(kernel("VFIO_DEVICE_GET_INFO"))?;
        let window = domain
            .window()
            .map_err(kernel("asking for the IOVA ranges"))?;
        // Before Linux 5.4 the kernel does not say: below the interrupt window of x86 there is room enough.
        let ranges = window.ranges.unwrap_or_else(|| vec![0..=0xfedf_ffff]);
        let bits = options.iova_bits.unwrap_or(64);
        let addresses = IovaAllocator::new(ranges, window.page_sizes, bits);
        let interrupts = Interrupts::set_up(&domain, &name)?;
        let device = Opened {
            registers: Region::new(&domain, Bar::Registers.index().into()),
            doorbells: Region::new(&domain, Bar::Doorbells.index().into()),
            interface: ready.interface,
            address,
            group_node: (ready.interface == Interface::Legacy).then(|| ready.node.clone()),
            can_reset,
            node: host.function(address).and_then(|it| it.node).map(Node),
            config,
            interrupts,
            domain,
            addresses: Mutex::new(addresses),
            name,
        };
        // From here on dropping it does the orderly end.
        let transport = Self {
            device: Arc::new(device),
        };
        transport
            .device
            .set_command(COMMAND_MEMORY | COMMAND_MASTER, true)
            .map_err(|error| OpenError::Kernel {
                device: address.to_string(),
                what: "turning bus mastering on",
                reason: error.to_string(),
            })?;
        transport.device.report();
        Ok(transport)
    }

    /// The kernel's interface it was opened by.
    pub fn interface(&self) -> Interface {
        self.device.interface
    }

    /// The kind of its interrupts ("MSI-X", "MSI", "INTx") and how many vectors it has.
    pub fn interrupts(&self) -> (&'static str, usize) {
        let interrupts = &self.device.interrupts;
        (interrupts.kind(), interrupts.count())
    }

    /// Does the kernel know a way to reset the function?
    pub fn can_reset(&self) -> bool {
        self.device.can_reset
    }
}

impl Opened {
    fn region(&self, bar: Bar) -> &Region {
        match bar {
            Bar::Registers => &self.registers,
            Bar::Doorbells => &self.doorbells,
        }
    }

    fn report(&self) {
        let addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        tracing::info!(
            device = %self.name,
            interface = %self.interface,
            interrupts = self.interrupts.kind(),
            vectors = self.interrupts.count(),
            bar0 = self.registers.size(),
            bar2 = self.doorbells.size(),
            mapped = self.registers.is_mapped(),
            can_reset = self.can_reset,
            node = self.node.map(|node| node.0),
            iova = ?addresses.ranges(),
            "opened"
        );
    }

    /// Sets or clears bits of the PCI command register.
    fn set_command(&self, bits: u16, on: bool) -> io::Result<()> {
        let fd = self.domain.fd();
        let command = self.config.read32(fd, CONFIG_COMMAND)? as u16;
        let wanted = if on { command | bits } else { command & !bits };
        self.config.write16(fd, CONFIG_COMMAND, wanted)
    }

    /// Maps memory somewhere.
    ///
    /// # Safety
    /// As for [`Transport::map`].
    unsafe fn map(&self, ptr: *mut u8, len: usize) -> Result<u64, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let granule = addresses.granule();
        if len == 0 || len as u64 % granule != 0 || ptr as u64 % granule != 0 {
            return Err(failed(format!("not whole pages of {granule} bytes")));
        }
        let iova = addresses.allocate(len as u64).ok_or_else(|| {
            let ranges = addresses.ranges();
            failed(format!(
                "no room in the IOVA ranges {ranges:x?}; free other memory, or check `iova-bits`"
            ))
        })?;
        // SAFETY: the caller vouches.
        if let Err(error) = unsafe { self.domain.map(iova, ptr, len) } {
            addresses.release(iova, len as u64);
            return Err(failed(memlock::explain_map(&error, len)));
        }
        Ok(iova)
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        let failed = |reason: String| TransportError::Unmap { iova, len, reason };
        let mut addresses = self
            .addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !addresses.is_in_use(iova, len as u64) {
            return Err(failed("no such mapping".into()));
        }
        // An address whose mapping may still be there is not used again.
        self.domain
            .unmap(iova, len)
            .map_err(|error| failed(error.to_string()))?;
        addresses.release(iova, len as u64);
        Ok(())
    }
}

impl Transport for VfioTransport {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        let region = self.device.region(bar);
        region
            .read32(self.device.domain.fd(), offset.into())
            .map_err(|error| mmio("read", bar, offset, &error))
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        let region = self.device.region(bar);
        region
            .write32(self.device.domain.fd(), offset.into(), value)
            .map_err(|error| mmio("write", bar, offset, &error))
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        let region = self.device.region(bar);
        region
            .write_block(self.device.domain.fd(), offset.into(), bytes)
            .map_err(|error| mmio("write", bar, offset, &error))
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.device
            .config
            .read32(self.device.domain.fd(), offset.into())
            .map_err(|error| TransportError::Config {
                offset,
                reason: error.to_string(),
            })
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let granule = {
            let addresses = &self.device.addresses;
            addresses
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .granule() as usize
        };
        let memory = Memory::new(len, granule.max(page_size()), self.device.node);
        let memory = memory.map_err(|error| TransportError::Map {
            len,
            reason: error.to_string(),
        })?;
        // SAFETY: the memory is unmapped before it is freed (`Mapped`), and known by its address only.
        let iova = unsafe { self.device.map(memory.ptr(), memory.len()) }?;
        let (start, len) = (memory.start(), memory.len());
        tracing::trace!(len, huge = memory.huge, iova, "DMA memory");
        let mapped = Mapped {
            device: Arc::clone(&self.device),
            iova,
            memory: Some(memory),
        };
        // SAFETY: valid until `mapped` is dropped; nobody has a reference to it.
        Ok(unsafe { DmaBuffer::new(start, iova, len, Box::new(mapped)) })
    }

    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller vouches for the memory until `unmap`.
        unsafe { self.device.map(ptr.as_ptr(), len) }
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        self.device.unmap(iova, len)
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let device = &self.device;
        device.interrupts.wait(&device.domain, vector, deadline)
    }

    fn wake(&self, vector: u16) {
        self.device.interrupts.wake(vector);
    }

    fn lost(&self) -> Option<String> {
        self.device.interrupts.lost()
    }

    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        self.device.interrupts.end_fd()
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        let device = &self.device;
        device.interrupts.fd(&device.domain, vector)
    }

    fn reset(&self) -> Result<(), TransportError> {
        let device = &*self.device;
        let way = reset::reset(device, device.address).map_err(TransportError::Reset)?;
        tracing::debug!(device = %device.name, ?way, "reset");
        device
            .set_command(COMMAND_MEMORY | COMMAND_MASTER, true)
            .map_err(|error| TransportError::Reset(format!("{}: {error}", device.name)))
    }

    fn name(&self) -> String {
        self.device.name.clone()
    }
}

fn mmio(access: &'static str, bar: Bar, offset: u32, error: &io::Error) -> TransportError {
    TransportError::Mmio {
        access,
        bar,
        offset,
        reason: error.to_string(),
    }
}

impl Drop for VfioTransport {
    /// The card stops reaching memory before any memory goes: bus mastering off, reset, interrupts off. Unmapping and
    /// closing follow as the last DMA buffer is dropped.
    fn drop(&mut self) {
        let device = &self.device;
        if let Err(error) = device.set_command(COMMAND_MASTER, false) {
            tracing::warn!(device = %device.name, %error, "bus mastering could not be turned off");
        }
        if let Err(error) = reset::reset(&**device, device.address) {
            tracing::warn!(device = %device.name, %error, "reset failed");
        }
        device.interrupts.take_down(&device.domain);
    }
}

/// Memory that is mapped.
struct Mapped {
    device: Arc<Opened>,
    iova: u64,
    memory: Option<Memory>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else {
            return;
        };
        if let Err(error) = self.device.unmap(self.iova, memory.len()) {
            // The card may still reach it: it is never used for anything else.
            tracing::error!(device = %self.device.name, %error, "DMA memory is kept, as it could not be unmapped");
            std::mem::forget(memory);
        }
    }
}
