//! A device that is served by vfio-user, by the `vfio_user` crate's server: some registers, DMA from here to there,
//! two interrupt vectors.

use std::any::Any;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::copy_nonoverlapping;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use memmap2::{MmapOptions, MmapRaw};
use vfio_bindings::bindings::vfio::{
    vfio_region_info, VFIO_IRQ_INFO_EVENTFD, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX,
    VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ,
    VFIO_REGION_INFO_FLAG_WRITE,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion};
use weft_watchdog::Watchdog;

/// Registers of BAR0.
pub const SCRATCH: u32 = 0x04;
/// Low and high words of source and target, then the count, which starts it.
pub const SOURCE: u32 = 0x10;
pub const TARGET: u32 = 0x18;
pub const COUNT: u32 = 0x20;
/// 1: the last DMA failed.
pub const FAULT: u32 = 0x24;
/// Raises the vector written.
pub const RAISE: u32 = 0x28;
/// The server dies in the middle of the write.
pub const DIE: u32 = 0x30;
/// The server refuses the write.
pub const REFUSE: u32 = 0x38;
/// Counts resets.
pub const RESETS: u32 = 0x34;
const AS_WAS_ASKED: &str = "as was asked";
/// Vectors.
pub const VECTORS: u32 = 20;

/// What a test may look at.
#[derive(Default)]
pub struct Seen {
    /// IOVA and length of all mappings.
    pub mappings: BTreeMap<u64, usize>,
    /// The PCI command register.
    pub command: u16,
    /// Vectors that have an eventfd.
    pub vectors: usize,
    /// Writes, by region and offset.
    pub writes: Vec<(u32, u64, u32)>,
}

/// A running server.
pub struct Toy {
    pub socket: PathBuf,
    pub seen: Arc<Mutex<Seen>>,
    server: Option<JoinHandle<Result<(), vfio_user::Error>>>,
    _folder: tempfile::TempDir,
    _limit: Option<Watchdog>,
}

impl Toy {
    /// Starts it; it serves one client.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let socket = folder.path().join("toy.sock");
        let seen = Arc::new(Mutex::new(Seen::default()));
        let server = server(&socket);
        let mut backend = Backend::new(Arc::clone(&seen));
        let server = std::thread::spawn(move || server.run(&mut backend));
        Self {
            socket,
            seen,
            server: Some(server),
            _folder: folder,
            _limit: Watchdog::usual("no seed"),
        }
    }

    /// The same for any number of clients, one after the other.
    pub fn start_for_all() -> Self {
        let mut toy = Self::start();
        let socket = toy.socket.with_file_name("all.sock");
        let (server, seen) = (server(&socket), Arc::clone(&toy.seen));
        std::thread::spawn(
            move || while server.run(&mut Backend::new(Arc::clone(&seen))).is_ok() {},
        );
        toy.socket = socket;
        toy
    }

    pub fn spec(&self) -> String {
        format!("vfio-user:{}", self.socket.display())
    }

    /// Waits until the client has left.
    pub fn end(&mut self) {
        if let Some(server) = self.server.take() {
            let ended = server.join();
            let as_asked = |panic: &Box<dyn Any + Send>| panic.is::<&str>();
            assert!(ended.as_ref().err().is_none_or(as_asked), "{ended:?}");
        }
    }
}

fn server(socket: &Path) -> Server {
    let regions = (0..VFIO_PCI_NUM_REGIONS).map(|index| {
        let size = match index {
            0 | 2 => 0x1_0000,
            VFIO_PCI_CONFIG_REGION_INDEX => 256,
            _ => 0,
        };
        let region_info = vfio_region_info {
            argsz: size_of::<vfio_region_info>() as u32,
            flags: VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE,
            index,
            size,
            ..Default::default()
        };
        ServerRegion {
            region_info,
            sparse_areas: Vec::new(),
            mmap_fd: None,
        }
    });
    let irqs = (0..VFIO_PCI_NUM_IRQS).map(|index| IrqInfo {
        index,
        flags: VFIO_IRQ_INFO_EVENTFD,
        count: if index == VFIO_PCI_MSIX_IRQ_INDEX {
            VECTORS
        } else {
            0
        },
    });
    Server::new(socket, true, irqs.collect(), regions.collect()).expect("a socket")
}

struct Backend {
    config: [u8; 256],
    registers: BTreeMap<u64, u32>,
    mappings: BTreeMap<u64, MmapRaw>,
    interrupts: BTreeMap<u32, File>,
    resets: u32,
    seen: Arc<Mutex<Seen>>,
}

impl Backend {
    fn new(seen: Arc<Mutex<Seen>>) -> Self {
        let mut config = [0; 256];
        config[..4].copy_from_slice(&[0xfe, 0xff, 0x46, 0x57]);
        Self {
            config,
            registers: BTreeMap::new(),
            mappings: BTreeMap::new(),
            interrupts: BTreeMap::new(),
            resets: 0,
            seen,
        }
    }

    fn register(&self, at: u32) -> u64 {
        let word = |at: u32| u64::from(self.registers.get(&at.into()).copied().unwrap_or(0));
        word(at) | word(at + 4) << 32
    }

    /// Where an address of the client's is here.
    fn find(&self, iova: u64, len: usize) -> Option<*mut u8> {
        let (start, memory) = self.mappings.range(..=iova).next_back()?;
        let offset = usize::try_from(iova - start).ok()?;
        let fits = offset.checked_add(len)? <= memory.len();
        // SAFETY: inside the mapping.
        fits.then(|| unsafe { memory.as_mut_ptr().add(offset) })
    }

    fn dma(&mut self, count: usize) {
        let (source, target) = (self.register(SOURCE), self.register(TARGET));
        let found = self.find(source, count).zip(self.find(target, count));
        if let Some((from, to)) = found {
            // SAFETY: both are inside mappings; tests let them not overlap.
            unsafe { copy_nonoverlapping(from, to, count) };
        }
        self.registers.insert(FAULT.into(), found.is_none().into());
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if region == VFIO_PCI_CONFIG_REGION_INDEX {
            let at = offset as usize;
            data.copy_from_slice(&self.config[at..at + data.len()]);
            return Ok(());
        }
        let value = match (region, offset as u32) {
            (0, RESETS) => self.resets,
            (0, _) => self.registers.get(&offset).copied().unwrap_or(0),
            _ => 0,
        };
        data.copy_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut seen = self.seen.lock().expect("no panic");
        if region == VFIO_PCI_CONFIG_REGION_INDEX {
            let at = offset as usize;
            self.config[at..at + data.len()].copy_from_slice(data);
            seen.command = u16::from_le_bytes([self.config[4], self.config[5]]);
            return Ok(());
        }
        let value = u32::from_le_bytes(data.try_into().expect("words"));
        seen.writes.push((region, offset, value));
        drop(seen);
        if region != 0 {
            return Ok(());
        }
        self.registers.insert(offset, value);
        match offset as u32 {
            COUNT => self.dma(value as usize),
            RAISE => {
                use io::Write as _;
                if let Some(mut eventfd) = self.interrupts.get(&value) {
                    eventfd.write_all(&1u64.to_ne_bytes())?;
                }
            }
            DIE => std::panic::resume_unwind(Box::new(AS_WAS_ASKED)),
            REFUSE => return Err(io::Error::other(AS_WAS_ASKED)),
            _ => {}
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        _flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        let fd = fd.ok_or(io::ErrorKind::Unsupported)?;
        let memory = MmapOptions::new()
            .offset(offset)
            .len(size as usize)
            .map_raw(&fd)?;
        self.mappings.insert(address, memory);
        let mut seen = self.seen.lock().expect("no panic");
        seen.mappings.insert(address, size as usize);
        Ok(())
    }

    fn dma_unmap(&mut self, _flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let unmapped = self.mappings.remove(&address);
        let mut seen = self.seen.lock().expect("no panic");
        assert_eq!(seen.mappings.remove(&address), Some(size as usize));
        unmapped.map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.registers.clear();
        self.resets += 1;
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        _flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        assert_eq!(index, VFIO_PCI_MSIX_IRQ_INDEX);
        assert_eq!(count as usize, fds.len());
        if count == 0 {
            self.interrupts.clear();
        }
        self.interrupts.extend((start..).zip(fds));
        self.seen.lock().expect("no panic").vectors = self.interrupts.len();
        Ok(())
    }
}
