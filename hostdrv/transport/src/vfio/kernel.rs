//! What stands around the crate `vfio-ioctls` (0.10): calls that it has not, of which it does not tell the outcome, or that panic.
//!
//! Each goes when the crate has this:
//!
//! * `VfioDevice::reset` answers the outcome of VFIO_DEVICE_RESET, and there is a hot reset with the functions that it hits:
//!   [`can_reset`], [`reset`], [`affected`], [`hot_reset`].
//! * `VfioContainer` and `VfioIommufd` tell which IOVAs may be mapped, and in which page sizes: [`container_window`], [`ioas_window`].
//! * `VfioError` answers the system's error number: [`system_error`], [`reason`].
//! * Dropping a `VfioDevice` whose function was removed does not panic: [`close`].

use std::fmt;
use std::io;
use std::mem::{offset_of, size_of};
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{catch_unwind, AssertUnwindSafe};

use iommufd_ioctls::IommufdError;
use vfio_bindings::bindings::vfio::{
    vfio_device_info, vfio_info_cap_header, vfio_iommu_type1_info,
    vfio_iommu_type1_info_cap_iova_range, vfio_iova_range, VFIO_BASE, VFIO_DEVICE_FLAGS_RESET,
    VFIO_IOMMU_INFO_CAPS, VFIO_IOMMU_INFO_PGSIZES, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, VFIO_TYPE,
};
use vfio_ioctls::{VfioDevice, VfioError};
use vmm_sys_util::ioctl::{ioctl, ioctl_with_mut_ptr, ioctl_with_mut_ref};

use iommufd_bindings::iommufd::{
    iommu_ioas_iova_ranges, iommu_iova_range, IOMMUFD_CMD_IOAS_IOVA_RANGES, IOMMUFD_TYPE,
};

vmm_sys_util::ioctl_io_nr!(VFIO_IOMMU_GET_INFO, VFIO_TYPE.into(), VFIO_BASE + 12);
vmm_sys_util::ioctl_io_nr!(VFIO_DEVICE_GET_INFO, VFIO_TYPE.into(), VFIO_BASE + 7);
vmm_sys_util::ioctl_io_nr!(VFIO_DEVICE_RESET, VFIO_TYPE.into(), VFIO_BASE + 11);
vmm_sys_util::ioctl_io_nr!(
    VFIO_DEVICE_GET_PCI_HOT_RESET_INFO,
    VFIO_TYPE.into(),
    VFIO_BASE + 12
);
vmm_sys_util::ioctl_io_nr!(VFIO_DEVICE_PCI_HOT_RESET, VFIO_TYPE.into(), VFIO_BASE + 13);
vmm_sys_util::ioctl_io_nr!(
    IOMMU_IOAS_IOVA_RANGES,
    IOMMUFD_TYPE as u32,
    IOMMUFD_CMD_IOAS_IOVA_RANGES
);

/// Where memory may be mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// The ranges; `None`: the kernel does not say (before Linux 5.4).
    pub ranges: Option<Vec<RangeInclusive<u64>>>,
    /// Mask of page sizes; 0: unknown.
    pub page_sizes: u64,
}

/// Can the function be reset at all?
pub(super) fn can_reset(device: &impl AsRawFd) -> io::Result<bool> {
    let mut info = vfio_device_info {
        argsz: size_of::<vfio_device_info>() as u32,
        ..Default::default()
    };
    // SAFETY: `device` is a VFIO device; the kernel writes at most `argsz` bytes of `info`.
    let answer = unsafe { ioctl_with_mut_ref(device, VFIO_DEVICE_GET_INFO(), &mut info) };
    check(answer)?;
    Ok(info.flags & VFIO_DEVICE_FLAGS_RESET != 0)
}

/// Resets the function.
pub(super) fn reset(device: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: `device` is a VFIO device; the call takes no argument.
    check(unsafe { ioctl(device, VFIO_DEVICE_RESET()) })
}

/// A function that a reset of the bus hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Affected {
    pub segment: u16,
    pub bus: u8,
    pub devfn: u8,
}

impl Affected {
    /// Its address as sysfs writes it.
    pub(super) fn address(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Affected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slot, function) = (self.devfn >> 3, self.devfn & 7);
        write!(
            f,
            "{:04x}:{:02x}:{slot:02x}.{function}",
            self.segment, self.bus
        )
    }
}

/// Words of `vfio_pci_hot_reset_info` and of `vfio_pci_hot_reset` before their arrays: argsz, flags, count.
const HOT_RESET_HEAD: usize = 3;

/// The functions that a reset of the device's bus hits, itself among them.
pub(super) fn affected(device: &impl AsRawFd) -> io::Result<Vec<Affected>> {
    let mut room = 16;
    for _ in 0..4 {
        // A function is two words: group or device id; then segment, bus, devfn.
        let mut buffer = vec![0u32; HOT_RESET_HEAD + 2 * room];
        buffer[0] = (4 * buffer.len()) as u32;
        // SAFETY: `device` is a VFIO device; the kernel writes at most `argsz` bytes, which the buffer has.
        let answer = unsafe {
            ioctl_with_mut_ptr(
                device,
                VFIO_DEVICE_GET_PCI_HOT_RESET_INFO(),
                buffer.as_mut_ptr(),
            )
        };
        match check(answer) {
            Ok(()) => return Ok(dependent(&buffer)),
            Err(error) if error.raw_os_error() == Some(libc::ENOSPC) => {
                room = (buffer[2] as usize).max(2 * room).min(1 << 16);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("the list of functions keeps growing"))
}

/// Reads a `vfio_pci_hot_reset_info`.
fn dependent(words: &[u32]) -> Vec<Affected> {
    let count = words.get(2).copied().unwrap_or(0) as usize;
    let all = words.get(HOT_RESET_HEAD..).unwrap_or(&[]);
    let each = all.chunks_exact(2).take(count).map(|pair| {
        let [s0, s1, bus, devfn] = pair[1].to_ne_bytes();
        Affected {
            segment: u16::from_ne_bytes([s0, s1]),
            bus,
            devfn,
        }
    });
    each.collect()
}

/// Resets the bus of the device. Legacy: the descriptors of all groups on it; iommufd: none.
pub(super) fn hot_reset(device: &impl AsRawFd, groups: &[RawFd]) -> io::Result<()> {
    let mut words = vec![0u32; HOT_RESET_HEAD];
    words[2] = groups.len() as u32;
    words.extend(groups.iter().map(|fd| *fd as u32));
    words[0] = (4 * words.len()) as u32;
    // SAFETY: `device` is a VFIO device; the kernel reads `argsz` bytes, which the buffer has.
    check(unsafe { ioctl_with_mut_ptr(device, VFIO_DEVICE_PCI_HOT_RESET(), words.as_mut_ptr()) })
}

/// What a legacy container says of its IOMMU.
pub(super) fn container_window(container: &impl AsRawFd) -> io::Result<Window> {
    let mut argsz = size_of::<vfio_iommu_type1_info>();
    // The kernel says how much room it wants; ranges may come and go between two calls.
    for _ in 0..4 {
        let mut buffer = vec![0u32; argsz.div_ceil(4)];
        buffer[offset_of!(vfio_iommu_type1_info, argsz) / 4] = argsz as u32;
        // SAFETY: `container` is a VFIO container with an IOMMU; the kernel writes at most `argsz` bytes, which the buffer has.
        let answer =
            unsafe { ioctl_with_mut_ptr(container, VFIO_IOMMU_GET_INFO(), buffer.as_mut_ptr()) };
        check(answer)?;
        let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let wanted = word(&bytes, offset_of!(vfio_iommu_type1_info, argsz)).unwrap_or(0) as usize;
        if wanted <= argsz {
            return Ok(window(&bytes));
        }
        argsz = wanted;
    }
    Err(io::Error::other("the list of IOVA ranges keeps growing"))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*word))
}

fn double(bytes: &[u8], at: usize) -> Option<u64> {
    let double = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*double))
}

/// Reads a `vfio_iommu_type1_info` with its chain of capabilities.
fn window(bytes: &[u8]) -> Window {
    let flags = word(bytes, offset_of!(vfio_iommu_type1_info, flags)).unwrap_or(0);
    let mut window = Window {
        ranges: None,
        page_sizes: 0,
    };
    if flags & VFIO_IOMMU_INFO_PGSIZES != 0 {
        let at = offset_of!(vfio_iommu_type1_info, iova_pgsizes);
        window.page_sizes = double(bytes, at).unwrap_or(0);
    }
    if flags & VFIO_IOMMU_INFO_CAPS == 0 {
        return window;
    }
    let mut at = word(bytes, offset_of!(vfio_iommu_type1_info, cap_offset)).unwrap_or(0) as usize;
    // Offsets in the chain only grow.
    while at >= size_of::<vfio_iommu_type1_info>() {
        let Some(head) = word(bytes, at) else { break };
        // id and version, 16 bits each.
        let id = u16::from_ne_bytes([head.to_ne_bytes()[0], head.to_ne_bytes()[1]]);
        if u32::from(id) == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE {
            let number = at + offset_of!(vfio_iommu_type1_info_cap_iova_range, nr_iovas);
            let first = at + offset_of!(vfio_iommu_type1_info_cap_iova_range, iova_ranges);
            let ranges = (0..word(bytes, number).unwrap_or(0) as usize).map_while(|n| {
                let range = first + n * size_of::<vfio_iova_range>();
                Some(double(bytes, range)?..=double(bytes, range + 8)?)
            });
            window.ranges = Some(ranges.collect());
        }
        let next = word(bytes, at + offset_of!(vfio_info_cap_header, next)).unwrap_or(0) as usize;
        if next <= at {
            break;
        }
        at = next;
    }
    window
}

/// What an I/O address space of iommufd says, after a device was attached to it.
pub(super) fn ioas_window(iommufd: &impl AsRawFd, ioas_id: u32) -> io::Result<Window> {
    let mut room = 16u32;
    for _ in 0..4 {
        let mut ranges = vec![iommu_iova_range { start: 0, last: 0 }; room as usize];
        let mut query = iommu_ioas_iova_ranges {
            size: size_of::<iommu_ioas_iova_ranges>() as u32,
            ioas_id,
            num_iovas: room,
            __reserved: 0,
            allowed_iovas: ranges.as_mut_ptr() as u64,
            out_iova_alignment: 0,
        };
        // SAFETY: `iommufd` is one; the kernel writes `query` and at most `num_iovas` entries of `ranges`, which outlive the call.
        let answer = unsafe { ioctl_with_mut_ref(iommufd, IOMMU_IOAS_IOVA_RANGES(), &mut query) };
        match check(answer) {
            Ok(()) => {
                let ranges = ranges.iter().take(query.num_iovas as usize);
                return Ok(Window {
                    ranges: Some(ranges.map(|r| r.start..=r.last).collect()),
                    // The smallest alignment, and all larger ones.
                    page_sizes: !(query.out_iova_alignment.max(1) - 1),
                });
            }
            Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => {
                room = query.num_iovas.max(room);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("the list of IOVA ranges keeps growing"))
}

fn check(answer: i32) -> io::Result<()> {
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The system's error in one of the crate's.
pub(super) fn reason(error: VfioError) -> io::Error {
    match system_error(&error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::other(error.to_string()),
    }
}

/// The errno that the crate kept.
pub(super) fn system_error(error: &VfioError) -> Option<i32> {
    match error {
        VfioError::OpenContainer(e) | VfioError::OpenGroup(e, _) | VfioError::OpenDeviceCdev(e) => {
            e.raw_os_error()
        }
        VfioError::ContainerSetIOMMU(e)
        | VfioError::GroupGetDeviceFD(e)
        | VfioError::VfioDeviceGetInfo(e)
        | VfioError::VfioDeviceGetRegionInfo(e)
        | VfioError::IommuDmaMap(e)
        | VfioError::IommuDmaUnmap(e)
        | VfioError::VfioDeviceBindIommufd(e)
        | VfioError::VfioDeviceAttachIommufdPt(e) => Some(e.errno()),
        VfioError::NewVfioIommufd(e) | VfioError::IommufdIoctlError(e) => match e {
            IommufdError::OpenIommufd(e) => e.raw_os_error(),
            IommufdError::IommuIoasAlloc(e)
            | IommufdError::IommuIoasMap(e)
            | IommufdError::IommuIoasUnmap(e) => Some(e.errno()),
            _ => None,
        },
        _ => None,
    }
}

/// Closes the device. The crate looks in sysfs for the group to leave, and panics when the function was removed meanwhile.
pub(super) fn close(device: VfioDevice) {
    if catch_unwind(AssertUnwindSafe(|| drop(device))).is_err() {
        tracing::warn!("the function went away while it was closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(flags: u32, cap: u32, rest: &[u32]) -> Vec<u8> {
        let head = [0, flags, 0xf000, 0xffff_ffff, cap, 0];
        let words = head.iter().chain(rest);
        words.flat_map(|w| w.to_ne_bytes()).collect()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn functions_that_a_reset_hits() {
        let found = dependent(&[28, 0, 2, 26, 0x003b_0000, 26, 0x0a3b_0001, 7, 7]);
        let text: Vec<_> = found.iter().map(Affected::address).collect();
        assert_eq!(text, ["0000:3b:00.0", "0001:3b:01.2"]);
        // A count beyond the buffer, a buffer without a count.
        assert_eq!(dependent(&[20, 0, 9, 26, 0x003b_0000]).len(), 1);
        assert!(dependent(&[0]).is_empty());
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_chain_of_capabilities_is_walked() {
        // A capability of another kind, then two ranges.
        let ranges = [0, 0, 0xfedf_ffff, 0, 0xfef0_0000, 0, 0xffff_ffff, 0xffff];
        let mut rest = vec![0x1_0002, 40, 7, 7];
        rest.extend([0x1_0001, 0, 2, 0]);
        rest.extend(ranges);
        let found = window(&info(3, 24, &rest));
        assert_eq!(found.page_sizes, 0xffff_ffff_0000_f000);
        assert_eq!(
            found.ranges,
            Some(vec![0..=0xfedf_ffff, 0xfef0_0000..=0xffff_ffff_ffff])
        );
        // Cut short, a loop, an offset outside, nothing said.
        let cut = window(&info(3, 24, &rest[..rest.len() - 1]));
        assert_eq!(cut.ranges, Some(vec![0..=0xfedf_ffff]));
        assert_eq!(window(&info(3, 24, &[0x1_0002, 24])).ranges, None);
        assert_eq!(window(&info(3, 4000, &rest)).ranges, None);
        assert_eq!(window(&info(1, 24, &rest)).ranges, None);
        assert_eq!(window(&info(2, 24, &rest)).page_sizes, 0);
        assert_eq!(window(&[]).ranges, None);
    }
}
