//! vfio-user: a card in another process, reached by a socket.
//!
//! The protocol is the `vfio_user` crate's client, with a [`guard`] between it and the server. Memory for DMA
//! is in memfds, which the server maps; for the bytes of pages that stay in use it asks ([`lent`]). A server that dies, hangs or refuses ends each call with an error that says so.

mod guard;
mod lent;
mod message;
pub mod wire;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use memmap2::MmapRaw;
use vfio_bindings::bindings::vfio::{
    VFIO_DEVICE_FLAGS_RESET, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX,
};
use vfio_user::Client;

use self::guard::{guard, system, Watch};
use super::iova::IovaAllocator;
use super::open_error::OpenError;
use super::vectors::Vectors;
use super::{exchange, monotonic};
use super::{Bar, Transport, TransportError};
use crate::dma::{page_size, DmaBuffer, SharedMemory};
use crate::monotonic::wait_readable;

/// Longest time for an answer: a simulated card on a busy machine is slow, and not that slow.
const PATIENCE: Duration = Duration::from_secs(60);
/// Addresses for DMA: above 2^40, so that one cut to 32 bits hits nothing.
const ADDRESSES: std::ops::RangeInclusive<u64> = 1 << 40..=(1 << 47) - 1;
/// Interrupts set up by one message: a message takes 16 descriptors at most.
const VECTORS_AT_ONCE: usize = 8;
/// The PCI command register.
const CONFIG_COMMAND: u64 = 4;
const COMMAND_MEMORY: u16 = 1 << 1;
const COMMAND_MASTER: u16 = 1 << 2;

/// A card behind a vfio-user server.
pub struct VfioUserTransport {
    connection: Arc<Connection>,
    vectors: Vectors,
}

/// The connection while anything of it is in use.
struct Connection {
    name: String,
    client: Mutex<Client>,
    watch: Arc<Watch>,
    guard: Option<JoinHandle<io::Result<()>>>,
    /// Bytes of configuration space, BAR0 and BAR2.
    sizes: BTreeMap<u32, u64>,
    addresses: Mutex<IovaAllocator>,
    /// Foreign memory by IOVA, with its address.
    foreign: Mutex<BTreeMap<u64, Foreign>>,
}

/// Memory of the caller's.
struct Foreign {
    ptr: NonNull<u8>,
    len: usize,
    /// Its pages were exchanged for it.
    exchanged: bool,
}

// SAFETY: an address; what may be done with it is in the contract of `Transport::map`.
unsafe impl Send for Foreign {}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VfioUserTransport {
    /// Connects to the server at this socket, sets interrupts up and turns bus mastering on.
    pub fn connect(socket: &Path) -> Result<Self, OpenError> {
        Self::connect_patiently(socket, PATIENCE)
    }

    /// The same, with another time after which a server that does not answer is given up.
    pub fn connect_patiently(socket: &Path, patience: Duration) -> Result<Self, OpenError> {
        let connection = Connection::open(socket, patience)?;
        let bad = |reason: String| OpenError::BadServer {
            socket: socket.to_owned(),
            reason,
        };
        let irq = connection.call(|client| client.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX));
        let irq = irq.map_err(bad)?;
        if irq.count == 0 || irq.count > 2048 {
            return Err(OpenError::NoInterrupts {
                device: connection.name.clone(),
                why: format!("the server offers {} MSI-X vectors", irq.count),
            });
        }
        let vectors = Vectors::new(irq.count as usize).map_err(|error| OpenError::Kernel {
            device: connection.name.clone(),
            what: "making eventfds",
            reason: error.to_string(),
        })?;
        connection.enable(&vectors).map_err(bad)?;
        let id = connection.config(0).map_err(bad)?;
        if id == u32::MAX {
            return Err(OpenError::AllOnes {
                device: connection.name.clone(),
            });
        }
        let command = COMMAND_MEMORY | COMMAND_MASTER;
        connection.set_command(command, true).map_err(bad)?;
        tracing::info!(device = %connection.name, vectors = irq.count, "opened");
        Ok(Self {
            connection: Arc::new(connection),
            vectors,
        })
    }
}

impl Connection {
    fn open(socket: &Path, patience: Duration) -> Result<Self, OpenError> {
        let bad = |reason: String| OpenError::BadServer {
            socket: socket.to_owned(),
            reason,
        };
        let kernel = |what, error: io::Error| OpenError::Kernel {
            device: format!("vfio-user:{}", socket.display()),
            what,
            reason: error.to_string(),
        };
        let server = UnixStream::connect(socket).map_err(|error| OpenError::NoServer {
            socket: socket.to_owned(),
            reason: unreachable(socket, &error),
        })?;
        let watch = Arc::new(Watch::new(patience).map_err(|e| kernel("making an eventfd", e))?);

        // The client wants a path to connect to. Its connection waits in the listener until the guard takes it.
        let folder = tempfile::tempdir().map_err(|e| kernel("making a directory", e))?;
        let path = folder.path().join("guard");
        let listener = UnixListener::bind(&path).map_err(|e| kernel("making a socket", e))?;
        let thread = {
            let watch = Arc::clone(&watch);
            std::thread::Builder::new()
                .name("vfio-user".to_owned())
                .spawn(move || {
                    // A client that could not be made never comes.
                    let [comes, _] = wait_readable([listener.as_fd(), watch.ended()], None)?;
                    if comes {
                        let (client, _) = listener.accept()?;
                        drop(listener);
                        guard(&client, &server, &watch);
                    }
                    Ok(())
                })
                .map_err(|e| kernel("starting a thread", e))?
        };
        let client = Client::new(&path);
        let client = match client {
            Ok(client) => client,
            Err(error) => {
                let refused = match watch.take_refusal() {
                    Some(libc::EBUSY) => OpenError::Busy {
                        path: socket.to_owned(),
                        holders: Vec::new(),
                    },
                    _ => bad(watch.lost().unwrap_or(error.to_string())),
                };
                // The guard, and with it the server's end, goes before this does.
                watch.lose("no client".to_owned());
                return Err(match thread.join() {
                    Ok(Err(error)) => kernel("accepting the client", error),
                    _ => refused,
                });
            }
        };
        // A region or two that a server refuses to describe is one that the function has not.
        watch.take_refusal();
        let sizes = [
            VFIO_PCI_CONFIG_REGION_INDEX,
            Bar::Registers.index().into(),
            Bar::Doorbells.index().into(),
        ]
        .map(|index| (index, client.region(index).map_or(0, |region| region.size)));
        let connection = Self {
            name: format!("vfio-user:{}", socket.display()),
            client: Mutex::new(client),
            watch,
            guard: Some(thread),
            sizes: sizes.into(),
            addresses: Mutex::new(IovaAllocator::new([ADDRESSES], page_size() as u64, 64)),
            foreign: Mutex::default(),
        };
        if connection.sizes[&VFIO_PCI_CONFIG_REGION_INDEX] < 64 {
            return Err(bad(
                "serves no PCI function: it has no configuration space".into()
            ));
        }
        Ok(connection)
    }

    /// One exchange with the server. The error is what the server did, without a subject.
    fn call<T>(
        &self,
        exchange: impl FnOnce(&mut Client) -> Result<T, vfio_user::Error>,
    ) -> Result<T, String> {
        let mut client = locked(&self.client);
        if let Some(reason) = self.watch.lost() {
            return Err(reason);
        }
        let outcome = exchange(&mut client);
        if let Some(errno) = self.watch.take_refusal() {
            return Err(format!("refused: {}", system(errno)));
        }
        outcome.map_err(|error| match error {
            // A wait that the guard ended; it notes the reason first.
            vfio_user::Error::StreamRead(_)
            | vfio_user::Error::StreamWrite(_)
            | vfio_user::Error::SendWithFd(_) => self.watch.lost().unwrap_or(error.to_string()),
            other => other.to_string(),
        })
    }

    /// Region access of a word; the check keeps the server from ending the connection on one outside.
    fn check(&self, region: u32, offset: u64) -> Result<(), String> {
        let size = self.sizes.get(&region).copied().unwrap_or(0);
        if offset % 4 != 0 || offset + 4 > size {
            return Err(format!("the region has {size:#x} bytes, in words of 4"));
        }
        Ok(())
    }

    fn read(&self, region: u32, offset: u64) -> Result<u32, String> {
        self.check(region, offset)?;
        let mut bytes = [0; 4];
        self.call(|client| client.region_read(region, offset, &mut bytes))
            .map_err(|why| server(&why))?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes words of 32 bits one behind the other.
    fn write(&self, region: u32, offset: u64, bytes: &[u8]) -> Result<(), String> {
        self.check(region, offset)?;
        self.call(|client| client.region_write(region, offset, bytes))
            .map_err(|why| server(&why))
    }

    fn config(&self, offset: u64) -> Result<u32, String> {
        self.read(VFIO_PCI_CONFIG_REGION_INDEX, offset)
    }

    fn set_command(&self, bits: u16, on: bool) -> Result<(), String> {
        let command = self.config(CONFIG_COMMAND)? as u16;
        let wanted = if on { command | bits } else { command & !bits };
        let bytes = wanted.to_le_bytes();
        self.call(|client| {
            client.region_write(VFIO_PCI_CONFIG_REGION_INDEX, CONFIG_COMMAND, &bytes)
        })
    }

    fn enable(&self, vectors: &Vectors) -> Result<(), String> {
        let flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
        for (n, events) in vectors.events().chunks(VECTORS_AT_ONCE).enumerate() {
            let fds: Vec<_> = events.iter().map(AsRawFd::as_raw_fd).collect();
            let (start, count) = ((n * VECTORS_AT_ONCE) as u32, fds.len() as u32);
            self.call(|client| {
                client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, flags, start, count, &fds)
            })?;
        }
        Ok(())
    }

    fn disable(&self) -> Result<(), String> {
        let flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
        self.call(|client| client.set_irqs(VFIO_PCI_MSIX_IRQ_INDEX, flags, 0, 0, &[]))
    }

    fn reset(&self) -> Result<(), String> {
        if self.watch.device_flags() & VFIO_DEVICE_FLAGS_RESET == 0 {
            return Err("the server cannot reset its function".to_owned());
        }
        self.call(Client::reset).map_err(|why| server(&why))?;
        // Configuration space is as at power-on.
        self.set_command(COMMAND_MEMORY | COMMAND_MASTER, true)
            .map_err(|why| server(&why))
    }

    /// Tells the server of memory.
    fn map(&self, file: &impl AsRawFd, len: usize) -> Result<u64, TransportError> {
        let iova = self.address(len)?;
        self.map_at(iova, file, len).map(|()| iova)
    }

    fn address(&self, len: usize) -> Result<u64, TransportError> {
        let address = locked(&self.addresses).allocate(len as u64);
        address.ok_or_else(|| TransportError::Map {
            len,
            reason: "the addresses are used up".into(),
        })
    }

    /// The same, at an address that is given back if the server does not want it.
    fn map_at(&self, iova: u64, file: &impl AsRawFd, len: usize) -> Result<(), TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        let mapped = self.call(|client| client.dma_map(0, iova, len as u64, file.as_raw_fd()));
        if let Err(why) = mapped {
            // Whether the server took it is not known when the connection broke; then it is of no use either.
            locked(&self.addresses).release(iova, len as u64);
            return Err(failed(server(&why)));
        }
        Ok(())
    }

    /// Takes memory back from the server. One that is gone has none.
    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        let unmapped = self.call(|client| client.dma_unmap(iova, len as u64));
        if self.watch.lost().is_none() {
            unmapped.map_err(|why| TransportError::Unmap {
                iova,
                len,
                reason: server(&why),
            })?;
        }
        locked(&self.addresses).release(iova, len as u64);
        Ok(())
    }
}

fn check_pages(ptr: NonNull<u8>, len: usize) -> Result<(), TransportError> {
    let page = page_size();
    let whole = len > 0 && len % page == 0 && ptr.as_ptr() as usize % page == 0;
    whole.then_some(()).ok_or_else(|| TransportError::Map {
        len,
        reason: format!("not whole pages of {page} bytes"),
    })
}

/// Why nobody is reached at a socket, and what to do.
fn unreachable(socket: &Path, error: &io::Error) -> String {
    let is_socket = std::fs::metadata(socket).is_ok_and(|found| found.file_type().is_socket());
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused if !is_socket => {
            "it is no socket: take the path that `weft serve` was given"
        }
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            "start the card first (`weft serve`), and look whether the path is the same"
        }
        io::ErrorKind::PermissionDenied => {
            "who may write to the socket may have the card: run as its owner, or give your group permission (chmod g+w)"
        }
        io::ErrorKind::InvalidInput => "a socket's path has at most 107 bytes",
        _ => "is it the socket of a card?",
    };
    format!("{error}; {hint}")
}

fn server(why: &str) -> String {
    format!("the card's server {why}")
}

impl Transport for VfioUserTransport {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        let read = self.connection.read(bar.index().into(), offset.into());
        read.map_err(|reason| TransportError::Mmio {
            access: "read",
            bar,
            offset,
            reason,
        })
    }

    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.write_block(bar, offset, &value.to_le_bytes())
    }

    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        let region = bar.index().into();
        let written = self.connection.write(region, offset.into(), bytes);
        written.map_err(|reason| TransportError::Mmio {
            access: "write",
            bar,
            offset,
            reason,
        })
    }

    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        let read = self.connection.config(offset.into());
        read.map_err(|reason| TransportError::Config { offset, reason })
    }

    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        let whole = len
            .max(1)
            .checked_next_multiple_of(page_size())
            .ok_or_else(|| failed("too long".into()))?;
        let (memory, file) = exchange::shared(whole).map_err(|error| failed(error.to_string()))?;
        let start = NonNull::new(memory.as_mut_ptr()).ok_or_else(|| failed("no memory".into()))?;
        let iova = self.connection.map(&file, whole)?;
        let mapped = Mapped {
            connection: Arc::clone(&self.connection),
            iova,
            memory: Some(memory),
        };
        // SAFETY: valid until `mapped` is dropped; nobody has a reference to it.
        Ok(unsafe { DmaBuffer::new(start, iova, whole, Box::new(mapped)) })
    }

    /// Moves the pages into a memfd in place: the same bytes at the same addresses, so that the server can map them.
    /// Memory that is not private and anonymous cannot be moved and is refused.
    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        let failed = |reason: String| TransportError::Map { len, reason };
        check_pages(ptr, len)?;
        // SAFETY: the caller vouches: whole pages, valid until `unmap`, and left alone during this call.
        let file = unsafe { exchange::make_shared(ptr, len) };
        let file = file.map_err(|error| failed(error.to_string()))?;
        match self.connection.map(&file, len) {
            Ok(iova) => {
                locked(&self.connection.foreign).insert(
                    iova,
                    Foreign {
                        ptr,
                        len,
                        exchanged: true,
                    },
                );
                Ok(iova)
            }
            Err(error) => {
                // SAFETY: as above; the server has not got it.
                if let Err(error) = unsafe { exchange::make_private(ptr, len) } {
                    tracing::warn!(%error, "memory stays shared");
                }
                Err(error)
            }
        }
    }

    /// The server maps the file, as it is.
    unsafe fn map_file(
        &self,
        ptr: NonNull<u8>,
        len: usize,
        file: BorrowedFd<'_>,
    ) -> Result<u64, TransportError> {
        check_pages(ptr, len)?;
        let iova = self.connection.map(&file, len)?;
        let exchanged = false;
        let mapped = Foreign {
            ptr,
            len,
            exchanged,
        };
        locked(&self.connection.foreign).insert(iova, mapped);
        Ok(iova)
    }

    /// The server gets no file: it asks for each access by message.
    unsafe fn lend(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        check_pages(ptr, len)?;
        let connection = &self.connection;
        let iova = connection.address(len)?;
        // Before the server hears of it: the guard looks here whether it is to get a file.
        let lent = &connection.watch.lent;
        // SAFETY: the caller vouches for it until `unmap`, and it is whole pages.
        lent.insert(iova, unsafe { SharedMemory::new(ptr, len) });
        let mapped = connection.map_at(iova, &connection.watch.ended(), len);
        if mapped.is_err() {
            lent.remove(iova);
        }
        mapped.map(|()| iova)
    }

    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        if self.connection.watch.lent.is_lent(iova, len) {
            self.connection.unmap(iova, len)?;
            self.connection.watch.lent.remove(iova);
            return Ok(());
        }
        let mut foreign = locked(&self.connection.foreign);
        if foreign.get(&iova).is_none_or(|f| f.len != len) {
            return Err(TransportError::Unmap {
                iova,
                len,
                reason: "no such mapping".into(),
            });
        }
        self.connection.unmap(iova, len)?;
        let Some(Foreign {
            ptr,
            len,
            exchanged: true,
        }) = foreign.remove(&iova)
        else {
            return Ok(());
        };
        // SAFETY: the caller of `map` vouched for the memory until now, and leaves it alone during this call.
        unsafe { exchange::make_private(ptr, len) }.map_err(|error| TransportError::Unmap {
            iova,
            len,
            reason: format!("the card's server has let go of it, but it stays shared: {error}"),
        })
    }

    fn now(&self) -> u64 {
        monotonic::now()
    }

    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        let watch = &self.connection.watch;
        let lost = || server(&watch.lost().unwrap_or_default());
        self.vectors
            .wait(vector, deadline, Some(watch.ended()), lost)
    }

    fn wake(&self, vector: u16) {
        self.vectors.wake(vector);
    }

    fn lost(&self) -> Option<String> {
        self.connection.watch.lost().map(|why| server(&why))
    }

    fn lost_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.connection.watch.ended())
    }

    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.vectors.fd(vector)
    }

    fn reset(&self) -> Result<(), TransportError> {
        self.connection.reset().map_err(TransportError::Reset)
    }

    fn name(&self) -> String {
        self.connection.name.clone()
    }
}

impl Drop for VfioUserTransport {
    /// As with the kernel's: bus mastering off, reset, interrupts off; memory and the connection go with the last buffer.
    fn drop(&mut self) {
        let connection = &self.connection;
        if connection.watch.lost().is_some() {
            return;
        }
        let quiet = connection
            .reset()
            .and_then(|()| connection.set_command(COMMAND_MASTER, false))
            .and_then(|()| connection.disable());
        if let Err(reason) = quiet {
            tracing::warn!(device = %connection.name, reason, "the card was not put to rest");
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The guard sees the end of the client's connection and ends the server's.
        let _ = locked(&self.client).shutdown();
        if let Some(guard) = self.guard.take() {
            let _ = guard.join();
        }
    }
}

/// Memory that the server has mapped.
struct Mapped {
    connection: Arc<Connection>,
    iova: u64,
    memory: Option<MmapRaw>,
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else {
            return;
        };
        if let Err(error) = self.connection.unmap(self.iova, memory.len()) {
            // That the server is gone was said once; the memory is not its any more.
            if self.connection.watch.lost().is_some() {
                std::mem::forget(memory);
                return;
            }
            tracing::error!(device = %self.connection.name, %error, "DMA memory is kept, as it could not be unmapped");
            std::mem::forget(memory);
        }
    }
}
