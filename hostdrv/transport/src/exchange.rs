//! Memory of the program's that another process can map: its pages are exchanged for those of a file, with the same bytes.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

use memmap2::{MmapOptions, MmapRaw};
use procfs::process::{MMPermissions, MMapPath, MemoryMaps, Process};
use rustix::mm::{mmap, mremap_fixed, MapFlags, MremapFlags, ProtFlags};

use crate::queue_memory::sealed_file;

/// A new file of `len` zeroed bytes.
fn memfd(len: usize) -> io::Result<File> {
    sealed_file("weft-dma", len as u64)
}

/// Zeroed memory with the file that others map.
pub(super) fn shared(len: usize) -> io::Result<(MmapRaw, File)> {
    let file = memfd(len)?;
    let memory = MmapOptions::new().len(len).map_raw(&file)?;
    Ok((memory, file))
}

/// Puts a memfd in the place of private memory: the same bytes at the same address, now shareable.
///
/// Only private anonymous memory (the heap, allocations) is moved: another mapping's meaning would change.
///
/// # Safety
/// `ptr..ptr + len` are whole pages, valid for reads and writes; nobody accesses them during the call, and nobody
/// unmaps them before [`make_private`].
pub(super) unsafe fn make_shared(ptr: NonNull<u8>, len: usize) -> io::Result<File> {
    let wrong = "the memory is not private and anonymous, so that its pages cannot be moved into a file for the card's server; \
                 take memory from dma_alloc";
    if !is_private(&maps()?, ptr, len, |path| *path == Backing::Nothing) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, wrong));
    }
    let file = memfd(len)?;
    // SAFETY: the same contract.
    unsafe { make_part_of(ptr, len, file.as_fd(), 0) }?;
    Ok(file)
}

/// Fails for memory whose pages are not the program's alone, and for the stack of who asks. Private pages of a file, as a program's variables are, have no
/// meaning beyond their bytes.
///
/// Exchanged pages are shared, and a child made by fork begins with its parent's: it gets its copies as soon as it runs. On a stack both would run meanwhile.
pub(super) fn check_exchangeable(ptr: NonNull<u8>, len: usize) -> io::Result<()> {
    let unsupported = |why| Err(io::Error::new(io::ErrorKind::Unsupported, why));
    let start = ptr.as_ptr() as usize;
    let end = start.saturating_add(len);
    let stack = own_stack()?;
    if stack.start < end && start < stack.end {
        let why = "it is the stack of who asks, on which a child made by fork would run with its parent if a broker had the pages; \
                   take memory of the heap, or the program's variables";
        return unsupported(why);
    }
    let why = "the memory is shared with other processes, read-only or a stack, and its pages cannot be exchanged for a broker's; \
                 take memory of the heap, or the program's variables";
    match is_private(&maps()?, ptr, len, |_| true) {
        true => Ok(()),
        false => unsupported(why),
    }
}

/// The stack of the thread that asks. The system's table of mappings may have it and its neighbours as one.
fn own_stack() -> io::Result<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the thread that runs, and a place for its attributes.
    let error = unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let (mut first, mut len) = (ptr::null_mut(), 0);
    // SAFETY: they were written above, and are destroyed once.
    let error = unsafe {
        let error = libc::pthread_attr_getstack(attributes.as_ptr(), &mut first, &mut len);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        error
    };
    match error {
        0 => Ok(first as usize..(first as usize).saturating_add(len)),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// The same with a part of a file that is there already, and nobody's yet.
///
/// # Safety
/// As for [`make_shared`]; the memory was checked.
pub(super) unsafe fn make_part_of(
    ptr: NonNull<u8>,
    len: usize,
    file: BorrowedFd<'_>,
    offset: u64,
) -> io::Result<()> {
    let raw = file.as_raw_fd();
    let copy = MmapOptions::new().len(len).offset(offset).map_raw(raw)?;
    // SAFETY: both are valid for `len` bytes, and do not overlap; nobody changes the one, nobody knows the other.
    unsafe { ptr::copy_nonoverlapping(ptr.as_ptr(), copy.as_mut_ptr(), len) };
    drop(copy);
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    // SAFETY: it replaces whole pages of the caller's, which he vouches for, by pages with the same bytes.
    unsafe { mmap(ptr.as_ptr().cast(), len, access, flags, file, offset) }?;
    Ok(())
}

fn maps() -> io::Result<MemoryMaps> {
    let maps = Process::myself().and_then(|process| process.maps());
    maps.map_err(io::Error::other)
}

/// Undoes [`make_shared`], with the bytes as they are now.
///
/// # Safety
/// As there; nobody else writes to the file meanwhile.
pub(super) unsafe fn make_private(ptr: NonNull<u8>, len: usize) -> io::Result<()> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping wherever the kernel likes.
    let copy =
        unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) }?;
    // SAFETY: both are valid for `len` bytes, and do not overlap.
    unsafe { ptr::copy_nonoverlapping(ptr.as_ptr(), copy.cast::<u8>(), len) };
    // SAFETY: moves the new mapping over the caller's pages: the same bytes at the same address.
    let moved = unsafe { mremap_fixed(copy, len, len, MremapFlags::MAYMOVE, ptr.as_ptr().cast()) };
    if let Err(error) = moved {
        // SAFETY: it is still where it was made, and nobody knows it.
        let _ = unsafe { rustix::mm::munmap(copy, len) };
        return Err(error.into());
    }
    Ok(())
}

/// What pages were read from at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backing {
    Nothing,
    File,
}

/// Is all of it private, readable and writable, and no stack, by these mappings of the process, and is each of a backing that is allowed?
fn is_private(
    maps: &MemoryMaps,
    ptr: NonNull<u8>,
    len: usize,
    allowed: impl Fn(&Backing) -> bool,
) -> bool {
    let start = ptr.as_ptr() as u64;
    let Some(end) = start.checked_add(len as u64) else {
        return false;
    };
    let mut next = start;
    for map in maps.iter() {
        let (from, to) = map.address;
        if to <= next || next >= end {
            continue;
        }
        let backing = match &map.pathname {
            _ if map.inode != 0 => Some(Backing::File),
            MMapPath::Anonymous | MMapPath::Heap => Some(Backing::Nothing),
            MMapPath::Other(name) if name.starts_with("anon:") => Some(Backing::Nothing),
            _ => None,
        };
        let wanted = MMPermissions::READ | MMPermissions::WRITE | MMPermissions::PRIVATE;
        let is_allowed = backing.is_some_and(|backing| allowed(&backing));
        if from > next || !map.perms.contains(wanted) || !is_allowed {
            return false;
        }
        next = to;
    }
    next >= end
}

#[cfg(test)]
mod tests {
    use procfs::FromRead;

    use super::*;
    use crate::dma::{Pages, PAGE_SIZE};

    #[test]
    fn only_private_memory_is_moved() {
        let maps = "\
            1000-3000 rw-p 00000000 00:00 0 \n\
            3000-4000 rw-p 00000000 00:00 0 [heap]\n\
            4000-5000 r--p 00000000 00:00 0 \n\
            6000-7000 rw-s 00000000 00:01 77 /memfd:x (deleted)\n\
            8000-9000 rw-p 00000000 00:00 0 [stack]\n\
            a000-b000 rw-p 00000000 08:01 99 /lib/x.so\n\
            d000-e000 rw-p 00000000 00:00 0 [anon:arena]\n";
        let maps = MemoryMaps::from_read(maps.as_bytes()).expect("as the kernel writes them");
        let is = |start: usize, len, allowed: &dyn Fn(&Backing) -> bool| {
            NonNull::new(start as *mut u8)
                .is_some_and(|start| is_private(&maps, start, len, allowed))
        };
        let yes = |start, len| is(start, len, &|backing| *backing == Backing::Nothing);
        assert!(yes(0x1000, 0x2000) && yes(0x2000, 0x2000) && yes(0x3000, 0x1000));
        assert!(yes(0xd000, 0x1000));
        // A program's variables are the program's alone; what is shared is not, nor is a stack.
        let any = |start| is(start, 0x1000, &|_| true);
        assert!(any(0xa000) && any(0x1000));
        assert!(![0x4000, 0x6000, 0x8000, 0xc000].into_iter().any(any));
        for (start, len) in [
            (0x0, 0x1000),
            (0x3000, 0x2000),
            (0x4000, 0x1000),
            (0x5000, 0x1000),
            (0x6000, 0x1000),
            (0x8000, 0x1000),
            (0xa000, 0x1000),
            (0xc000, 0x1000),
            (usize::MAX, 0x1000),
        ] {
            assert!(!yes(start, len), "{start:#x}");
        }
    }

    #[test]
    fn bytes_stay_while_the_pages_change() {
        let pages = Pages::new(3 * PAGE_SIZE).expect("memory");
        let memory = pages.memory();
        let fill = |salt: u8| -> Vec<u8> { (0..3 * PAGE_SIZE).map(|i| i as u8 ^ salt).collect() };
        memory.write(0, &fill(1)).expect("inside");
        let ptr = NonNull::new(memory.as_ptr()).expect("memory").as_ptr();
        // SAFETY: inside the memory.
        let middle = NonNull::new(unsafe { ptr.add(PAGE_SIZE) }).expect("memory");
        // SAFETY: a whole page, which only this test accesses.
        let file = unsafe { make_shared(middle, PAGE_SIZE) }.expect("moved");
        let all = memory.to_vec(0, 3 * PAGE_SIZE).expect("inside");
        assert_eq!(all, fill(1));
        // What another process writes is seen here, and what is written here there.
        let other = MmapOptions::new()
            .len(PAGE_SIZE)
            .map_raw(&file)
            .expect("mapped");
        // SAFETY: inside the mapping.
        unsafe { other.as_mut_ptr().add(5).write_volatile(0xee) };
        assert_eq!(memory.read_u8(PAGE_SIZE + 5), Ok(0xee));
        memory.write(PAGE_SIZE + 6, &[0xdd]).expect("inside");
        // SAFETY: inside the mapping.
        assert_eq!(unsafe { other.as_ptr().add(6).read_volatile() }, 0xdd);
        // SAFETY: as above.
        unsafe { make_private(middle, PAGE_SIZE) }.expect("moved back");
        // SAFETY: inside the mapping.
        unsafe { other.as_mut_ptr().add(5).write_volatile(0) };
        let mut expected = fill(1);
        expected[PAGE_SIZE + 5..PAGE_SIZE + 7].copy_from_slice(&[0xee, 0xdd]);
        let all = memory.to_vec(0, 3 * PAGE_SIZE).expect("inside");
        assert_eq!(all, expected);
    }

    /// A server that has the file cannot take pages away from this process.
    #[test]
    fn a_server_cannot_cut_memory() {
        let (_memory, file) = shared(PAGE_SIZE).expect("a file");
        assert!(file.set_len(0).is_err());
    }

    #[test]
    fn a_shared_mapping_is_refused() {
        let (memory, _file) = shared(PAGE_SIZE).expect("a memfd");
        let ptr = NonNull::new(memory.as_mut_ptr()).expect("mapped");
        // SAFETY: a whole page, which only this test accesses.
        let error = unsafe { make_shared(ptr, PAGE_SIZE) }.expect_err("not private");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
}
