//! Where memory of the card's lies, and that it is there before anybody touches it.

use std::io;

use memmap2::MmapMut;

/// Nodes that a mask has room for: more than Linux is built for.
const NODES: usize = 1024;
const WORD: usize = usize::BITS as usize;

/// A NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(pub(super) u32);

impl Node {
    /// Pages that nobody has touched yet come from here, while there are some.
    pub(super) fn prefer(self, pages: &MmapMut) -> io::Result<()> {
        let mut mask = [0usize; NODES / WORD];
        let at = self.0 as usize;
        let word = mask.get_mut(at / WORD).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (at % WORD);
        let (start, len) = (pages.as_ptr(), pages.len());
        // The kernel takes one off.
        let (policy, size) = (libc::MPOL_PREFERRED, NODES as libc::c_ulong + 1);
        // SAFETY: whole pages of this mapping, and a mask of so many bits; nothing in memory changes.
        match unsafe {
            libc::syscall(
                libc::SYS_mbind,
                start,
                len,
                policy,
                &raw const mask,
                size,
                0,
            )
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Has the kernel find all pages now. Where there are none this is an error, and a first touch would be SIGBUS.
pub(super) fn find_pages(pages: &MmapMut) -> io::Result<()> {
    let (start, len) = (pages.as_ptr().cast_mut(), pages.len());
    // SAFETY: pages of this mapping, whose content does not change.
    match unsafe { libc::madvise(start.cast(), len, libc::MADV_POPULATE_WRITE) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            // Linux before 5.14 cannot say.
            unknown if unknown.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            error => Err(error),
        },
    }
}

/// Policy and nodes of the page at this address.
#[cfg(test)]
pub(super) fn policy_of(at: *const u8) -> (i32, usize) {
    let (mut policy, mut mask) = (-1, [0usize; NODES / WORD]);
    let (size, by_address) = (NODES as libc::c_ulong, 2);
    let (to, nodes) = (&raw mut policy, &raw mut mask);
    // SAFETY: both have room for what the kernel writes.
    let asked = unsafe { libc::syscall(libc::SYS_get_mempolicy, to, nodes, size, at, by_address) };
    assert_eq!(asked, 0, "{}", io::Error::last_os_error());
    (policy, mask[0])
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use memmap2::MmapOptions;
    use rustix::fs::{ftruncate, memfd_create, MemfdFlags};

    use super::*;

    #[test]
    fn pages_of_a_node() {
        let pages = MmapOptions::new().len(8192).map_anon().expect("memory");
        let before = policy_of(pages.as_ptr());
        Node(0).prefer(&pages).expect("every machine has it");
        assert_eq!(policy_of(pages.as_ptr()), (libc::MPOL_PREFERRED, 1));
        assert_ne!(before.0, libc::MPOL_PREFERRED);
        assert!(Node(NODES as u32).prefer(&pages).is_err());
        assert!(Node(NODES as u32 - 1).prefer(&pages).is_err(), "not there");
    }

    #[test]
    fn pages_that_are_not_there_are_an_error() {
        let file = File::from(memfd_create("weft-test", MemfdFlags::CLOEXEC).expect("a file"));
        ftruncate(&file, 8192).expect("of two pages");
        // SAFETY: nobody touches what is missing.
        let pages = unsafe { MmapOptions::new().len(8192).map_mut(&file) }.expect("mapped");
        find_pages(&pages).expect("both are there");
        ftruncate(&file, 4096).expect("shorter");
        let error = find_pages(&pages).expect_err("one is missing");
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
    }
}
