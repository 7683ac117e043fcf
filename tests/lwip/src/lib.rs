//! lwIP for a peer in process: frames in, frames out, its time told by whoever runs it.
//!
//! It is Debian's library (`liblwip0`), loaded at run time. Its thread is not started: all calls come from the one thread that has the
//! [`Stack`], and its timers go on by [`Stack::tick`]. A stack is a copy of the library of its own, so that one knows nothing of another
//! and what happens depends on nothing but what it is given.

mod ffi;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::io::{self, Write};
use std::path::PathBuf;
use std::ptr;
use std::rc::Rc;

use ffi::{Api, Err, Ip4, IpAddr, Netif, Pbuf, Pcb};

/// What a tick is for lwIP, in milliseconds.
pub const TICK_MS: u64 = 250;
/// Ticks between two of ARP's.
const ARP_TICKS: u64 = 4;

/// Why lwIP gave a connection up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// By RST.
    Reset,
    /// Nobody answered, or this side aborted.
    Aborted,
    /// Another, as lwIP numbers them.
    Other(i8),
}

/// Says on standard error, past the test's capture, that a test was skipped.
fn skipped(why: &str) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("test");
    let _ = writeln!(io::stderr(), "\n*** {name}: skipped: {why} ***");
}

/// What `layout` compares the bindings with: records of other versions differ.
const VERSION: (&str, &str) = ("2", "1");

/// Where the library lies; else why it cannot be used.
fn library() -> Result<PathBuf, String> {
    let header = std::fs::read_to_string("/usr/include/lwip/lwip/init.h");
    let header = header.map_err(|_| "needs lwIP: apt-get install liblwip-dev")?;
    let number = |name: &str| {
        let mut words = header.split_ascii_whitespace();
        words.find(|word| *word == name)?;
        words.next()
    };
    let (major, minor) = (number("LWIP_VERSION_MAJOR"), number("LWIP_VERSION_MINOR"));
    if (major, minor) != (Some(VERSION.0), Some(VERSION.1)) {
        return Err(format!(
            "needs lwIP {}.{}, and {major:?}, {minor:?} is installed",
            VERSION.0, VERSION.1
        ));
    }
    let folders = std::fs::read_dir("/usr/lib").map_err(|e| format!("/usr/lib: {e}"))?;
    let mut files = folders
        .flatten()
        .map(|entry| entry.path().join("liblwip.so.0"));
    files
        .find(|file| file.exists())
        .ok_or("there are lwIP's headers, and no library".into())
}

/// The interface, and what goes out of it. lwIP has pointers to it as long as it is loaded.
struct Port {
    api: Api,
    /// Of a `Box`; lwIP reads and writes it whenever it is called.
    netif: *mut Netif,
    sent: RefCell<Vec<Vec<u8>>>,
    mac: [u8; 6],
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: of `Box::into_raw`, and lwIP is called no more: who can call it holds this.
        drop(unsafe { Box::from_raw(self.netif) });
    }
}

/// `netif_init_fn`. `netif.state` is a `Port`.
unsafe extern "C" fn init(netif: *mut Netif) -> Err {
    // SAFETY: lwIP passes on what `Stack::new` gave it: both live.
    let (netif, port) = unsafe { (&mut *netif, &*(*netif).state.cast::<Port>()) };
    netif.output = Some(port.api.etharp_output);
    netif.linkoutput = Some(link_output);
    netif.mtu = 1500;
    netif.hwaddr = port.mac;
    netif.hwaddr_len = 6;
    netif.flags = ffi::NETIF_FLAGS;
    ffi::OK
}

/// What is in a packet's buffers.
///
/// # Safety
/// lwIP's, and live.
unsafe fn octets(api: &Api, packet: *const Pbuf) -> Vec<u8> {
    // SAFETY: by the caller; as many octets as the buffers have, and the vector.
    unsafe {
        let length = (*packet).tot_len;
        let mut octets = vec![0u8; usize::from(length)];
        let copied = (api.pbuf_copy_partial)(packet, octets.as_mut_ptr().cast(), length, 0);
        octets.truncate(copied.into());
        octets
    }
}

/// `netif_linkoutput_fn`: a frame goes out.
unsafe extern "C" fn link_output(netif: *mut Netif, frame: *mut Pbuf) -> Err {
    // SAFETY: as `init`; the frame is lwIP's, and live during the call.
    unsafe {
        let port = &*(*netif).state.cast::<Port>();
        port.sent.borrow_mut().push(octets(&port.api, frame));
    }
    ffi::OK
}

/// A station that runs lwIP.
pub struct Stack {
    port: Rc<Port>,
    ticks: u64,
}

impl Stack {
    /// A station with these addresses, in a network of 24 bits. `None`, and a line on standard error past the test's capture, if lwIP
    /// 2.1 and its headers are not installed.
    ///
    /// # Panics
    /// If it is there and cannot be used.
    pub fn new(mac: [u8; 6], ip: [u8; 4]) -> Option<Self> {
        let library = match library() {
            Ok(library) => library,
            Err(why) => {
                skipped(&why);
                return None;
            }
        };
        let copy = tempfile::NamedTempFile::new().expect("a file");
        std::fs::copy(library, copy.path()).expect("a copy of the library");
        // SAFETY: lwIP by its name, and a file that nobody else has.
        let api = unsafe { Api::load(copy.path()) }.expect("lwIP 2.1");
        // SAFETY: a record of numbers, pointers and optional functions, for which all zero is a value.
        let netif = Box::new(unsafe { std::mem::zeroed::<Netif>() });
        let port = Rc::new(Port {
            api,
            netif: Box::into_raw(netif),
            sent: RefCell::default(),
            mac,
        });
        let (api, netif) = (&port.api, port.netif);
        let address = |octets| Ip4(octets, []);
        let (own, mask, gateway) = (address(ip), address([255, 255, 255, 0]), address([0; 4]));
        let state = Rc::as_ptr(&port).cast_mut().cast();
        // SAFETY: `lwip_init` comes first and once; the interface and its state live as long as lwIP may be called.
        unsafe {
            (api.lwip_init)();
            let added = (api.netif_add)(
                netif,
                &own,
                &mask,
                &gateway,
                state,
                init,
                api.ethernet_input,
            );
            assert_eq!(added, netif, "netif_add");
            (api.netif_set_default)(netif);
            (api.netif_set_up)(netif);
            (api.netif_set_link_up)(netif);
        }
        Some(Stack { port, ticks: 0 })
    }

    /// A frame arrives.
    pub fn receive(&mut self, frame: &[u8]) {
        let api = &self.port.api;
        let length = u16::try_from(frame.len()).expect("a frame");
        // SAFETY: a buffer of as many octets, which `ethernet_input` takes over.
        unsafe {
            let packet = (api.pbuf_alloc)(ffi::PBUF_RAW, length, ffi::PBUF_RAM);
            assert!(!packet.is_null(), "lwIP has no memory");
            let taken = (api.pbuf_take)(packet, frame.as_ptr().cast(), length);
            assert_eq!(taken, ffi::OK);
            (api.ethernet_input)(packet, self.port.netif);
        }
    }

    /// Frames that it has sent.
    pub fn sent(&mut self) -> Vec<Vec<u8>> {
        self.port.sent.take()
    }

    /// Another [`TICK_MS`] have passed.
    pub fn tick(&mut self) {
        self.ticks += 1;
        let api = &self.port.api;
        // SAFETY: no conditions; this is not a callback.
        unsafe {
            (api.tcp_tmr)();
            if self.ticks % ARP_TICKS == 0 {
                (api.etharp_tmr)();
            }
        }
    }

    /// No connection is left but in TIME-WAIT.
    pub fn is_idle(&self) -> bool {
        // SAFETY: a variable of the library, which nobody else reads or writes now.
        unsafe { (*self.port.api.tcp_active_pcbs).is_null() }
    }

    /// A control block that is bound to a port.
    fn bound(&self, local: u16) -> *mut Pcb {
        let api = &self.port.api;
        let any = IpAddr::v4([0; 4]);
        // SAFETY: a fresh block.
        unsafe {
            let pcb = (api.tcp_new)();
            assert!(!pcb.is_null(), "lwIP has no memory");
            assert_eq!((api.tcp_bind)(pcb, &any, local), ffi::OK, "port {local}");
            pcb
        }
    }

    /// Begins a connection.
    pub fn connect(&mut self, local: u16, to: ([u8; 4], u16)) -> Socket {
        let pcb = self.bound(local);
        let socket = Socket::new(self.port.clone(), pcb);
        let to_ip = IpAddr::v4(to.0);
        // SAFETY: the block is fresh, and its socket outlives what lwIP knows of it.
        let error = unsafe { (self.port.api.tcp_connect)(pcb, &to_ip, to.1, connected) };
        assert_eq!(error, ffi::OK, "tcp_connect");
        socket
    }

    /// Waits for connections.
    pub fn listen(&mut self, local: u16) -> Listener {
        let api = &self.port.api;
        // SAFETY: `tcp_listen_with_backlog` takes the bound block and gives another.
        let pcb = unsafe { (api.tcp_listen_with_backlog)(self.bound(local), 255) };
        assert!(!pcb.is_null(), "lwIP has no memory");
        let waiting = Rc::new(Waiting {
            port: self.port.clone(),
            accepted: RefCell::default(),
        });
        // SAFETY: the argument lives until `Listener` is dropped, which closes the block.
        unsafe {
            (api.tcp_arg)(pcb, Rc::as_ptr(&waiting).cast_mut().cast());
            (api.tcp_accept)(pcb, accept);
        }
        Listener { waiting, pcb }
    }
}

/// Connections that came, and that nobody has taken yet.
struct Waiting {
    port: Rc<Port>,
    accepted: RefCell<VecDeque<Socket>>,
}

/// A port that takes connections. Dropped, it takes none any more.
pub struct Listener {
    waiting: Rc<Waiting>,
    pcb: *mut Pcb,
}

impl Listener {
    /// The next connection that stands.
    pub fn accept(&self) -> Option<Socket> {
        self.waiting.accepted.borrow_mut().pop_front()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // SAFETY: a listening block, which is closed at once; no callback comes after that.
        unsafe { (self.waiting.port.api.tcp_close)(self.pcb) };
    }
}

/// `tcp_accept_fn`. The argument is a `Waiting`.
unsafe extern "C" fn accept(argument: *mut c_void, pcb: *mut Pcb, error: Err) -> Err {
    if pcb.is_null() || error != ffi::OK {
        return ffi::ERR_VAL;
    }
    // SAFETY: as `Stack::listen` set it.
    let waiting = unsafe { &*argument.cast::<Waiting>() };
    let socket = Socket::new(waiting.port.clone(), pcb);
    socket.0.stands.set(true);
    waiting.accepted.borrow_mut().push_back(socket);
    ffi::OK
}

/// A connection: what lwIP's callbacks say of it.
struct Connection {
    port: Rc<Port>,
    /// Null: lwIP does the rest by itself, or has given it up.
    pcb: Cell<*mut Pcb>,
    stands: Cell<bool>,
    received: RefCell<VecDeque<u8>>,
    /// The peer's FIN came.
    at_end: Cell<bool>,
    /// This side's FIN is in the queue.
    closed: Cell<bool>,
    failure: Cell<Option<Failure>>,
    /// Octets in the send buffer.
    kept: Cell<usize>,
    /// Octets read whose room is not given back.
    withheld: Cell<usize>,
}

impl Connection {
    /// lwIP calls it no more.
    fn detach(&self) -> *mut Pcb {
        let pcb = self.pcb.replace(ptr::null_mut());
        if !pcb.is_null() {
            let api = &self.port.api;
            // SAFETY: a block that lwIP has not freed: it would have said so.
            unsafe {
                (api.tcp_arg)(pcb, ptr::null_mut());
                (api.tcp_recv)(pcb, None);
                (api.tcp_sent)(pcb, None);
                (api.tcp_err)(pcb, None);
            }
        }
        pcb
    }

    /// Both have closed: what is left is lwIP's, which frees the block after TIME-WAIT without a word.
    fn finish(&self) {
        if self.at_end.get() && self.closed.get() {
            let pcb = self.detach();
            if !pcb.is_null() {
                // SAFETY: as in `detach`; its FIN is in the queue already, so that this changes no state and cannot fail.
                unsafe { (self.port.api.tcp_close)(pcb) };
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let pcb = self.detach();
        if !pcb.is_null() {
            // SAFETY: as in `detach`, and not in a callback.
            unsafe { (self.port.api.tcp_abort)(pcb) };
        }
    }
}

/// A connection of lwIP's. When the last of its clones is dropped, what is left of it is aborted.
#[derive(Clone)]
pub struct Socket(Rc<Connection>);

impl Socket {
    fn new(port: Rc<Port>, pcb: *mut Pcb) -> Self {
        let connection = Rc::new(Connection {
            port,
            pcb: Cell::new(pcb),
            stands: Cell::new(false),
            received: RefCell::default(),
            at_end: Cell::new(false),
            closed: Cell::new(false),
            failure: Cell::new(None),
            kept: Cell::new(0),
            withheld: Cell::new(0),
        });
        let api = &connection.port.api;
        // SAFETY: a live block; the connection detaches itself from it when it is dropped.
        unsafe {
            (api.tcp_arg)(pcb, Rc::as_ptr(&connection).cast_mut().cast());
            (api.tcp_recv)(pcb, Some(recv));
            (api.tcp_sent)(pcb, Some(sent));
            (api.tcp_err)(pcb, Some(failed));
        }
        Socket(connection)
    }

    /// The handshake is done, whatever came after.
    pub fn stands(&self) -> bool {
        self.0.stands.get()
    }

    /// The peer has closed; what it sent may not be read yet.
    pub fn at_end(&self) -> bool {
        self.0.at_end.get()
    }

    /// Why lwIP gave it up.
    pub fn failure(&self) -> Option<Failure> {
        self.0.failure.get()
    }

    /// Octets that can be read.
    pub fn readable(&self) -> usize {
        self.0.received.borrow().len()
    }

    /// From now on the window is `room` at most, as soon as the peer has filled what it was promised.
    pub fn narrow(&self, room: usize) {
        self.0.withheld.set(ffi::BUFFER.saturating_sub(room));
    }

    /// Takes up to so many octets; the window opens by them.
    pub fn read(&self, most: usize) -> Vec<u8> {
        let connection = &self.0;
        let count = most.min(self.readable());
        let octets: Vec<u8> = connection.received.borrow_mut().drain(..count).collect();
        let withheld = connection.withheld.get().min(count);
        connection
            .withheld
            .set(connection.withheld.get() - withheld);
        let pcb = connection.pcb.get();
        if !pcb.is_null() {
            // SAFETY: a block that lwIP has not freed; no more octets than came.
            unsafe { (connection.port.api.tcp_recved)(pcb, (count - withheld) as u16) };
        }
        octets
    }

    /// Sends what there is room for; how many octets that is.
    pub fn write(&self, octets: &[u8]) -> usize {
        let connection = &self.0;
        let (api, pcb) = (&connection.port.api, connection.pcb.get());
        let count = octets.len().min(ffi::BUFFER - connection.kept.get());
        if pcb.is_null() || !self.stands() || count == 0 {
            return 0;
        }
        // SAFETY: a block that lwIP has not freed; the octets are copied.
        unsafe {
            let octets = octets.as_ptr().cast();
            let error = (api.tcp_write)(pcb, octets, count as u16, ffi::TCP_WRITE_FLAG_COPY);
            if error == ffi::ERR_MEM {
                return 0;
            }
            assert_eq!(error, ffi::OK, "tcp_write");
            connection.kept.set(connection.kept.get() + count);
            (api.tcp_output)(pcb);
        }
        count
    }

    /// Sends no more; what comes can be read. False: lwIP has no room for the FIN now.
    pub fn close(&self) -> bool {
        let connection = &self.0;
        let pcb = connection.pcb.get();
        if pcb.is_null() || connection.closed.get() {
            return true;
        }
        // SAFETY: a block that lwIP has not freed. Only the direction out is shut, so that it is not freed by this either.
        let error = unsafe { (connection.port.api.tcp_shutdown)(pcb, 0, 1) };
        connection.closed.set(error == ffi::OK);
        connection.finish();
        error == ffi::OK
    }

    /// Ends it by RST.
    pub fn abort(&self) {
        let pcb = self.0.pcb.get();
        if !pcb.is_null() {
            // SAFETY: a block that lwIP has not freed; `failed` is called, and forgets it.
            unsafe { (self.0.port.api.tcp_abort)(pcb) };
        }
    }
}

/// The connection of a callback's argument.
///
/// # Safety
/// lwIP calls with what `Socket::new` set.
unsafe fn connection<'a>(argument: *mut c_void) -> &'a Connection {
    // SAFETY: by the caller; `Connection` takes it back before it goes.
    unsafe { &*argument.cast() }
}

/// `tcp_connected_fn`.
unsafe extern "C" fn connected(argument: *mut c_void, _: *mut Pcb, _: Err) -> Err {
    // SAFETY: a callback of a socket's.
    unsafe { connection(argument) }.stands.set(true);
    ffi::OK
}

/// `tcp_recv_fn`: octets in order, or, without a packet, the peer's FIN.
unsafe extern "C" fn recv(argument: *mut c_void, _: *mut Pcb, packet: *mut Pbuf, _: Err) -> Err {
    // SAFETY: a callback of a socket's; the packet is handed over.
    unsafe {
        let connection = connection(argument);
        if packet.is_null() {
            connection.at_end.set(true);
            connection.finish();
        } else {
            let api = &connection.port.api;
            connection.received.borrow_mut().extend(octets(api, packet));
            (api.pbuf_free)(packet);
        }
    }
    ffi::OK
}

/// `tcp_sent_fn`: so many octets are acknowledged.
unsafe extern "C" fn sent(argument: *mut c_void, _: *mut Pcb, count: u16) -> Err {
    // SAFETY: a callback of a socket's.
    let kept = unsafe { &connection(argument).kept };
    kept.set(kept.get().saturating_sub(count.into()));
    ffi::OK
}

/// `tcp_err_fn`: the block is freed.
unsafe extern "C" fn failed(argument: *mut c_void, error: Err) {
    // SAFETY: a callback of a socket's.
    let connection = unsafe { connection(argument) };
    connection.pcb.set(ptr::null_mut());
    connection.failure.set(Some(match error {
        ffi::ERR_RST => Failure::Reset,
        ffi::ERR_ABRT => Failure::Aborted,
        other => Failure::Other(other),
    }));
}
