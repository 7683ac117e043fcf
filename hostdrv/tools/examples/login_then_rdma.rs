//! A login over plain sockets, then RDMA on the same connection: what the 2005 proposal called *modify QP to RTS with a TCP connection*.
//! Each side connects with the kernel's stack on the card's own interface, speaks bytes, and then takes the connection into the card.
//!
//! As root, two hosts on two simulated cards, each in a network namespace of its own:
//!
//! ```sh
//! weft serve --socket a.sock --card model --port card:1 --socket b.sock --card model --port card:0
//! unshare -n cargo run -p weft-hostdrv --example login_then_rdma -- vfio-user:a.sock 10.0.0.1
//! unshare -n cargo run -p weft-hostdrv --example login_then_rdma -- vfio-user:b.sock 10.0.0.2 10.0.0.1:3260
//! ```

use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, ConnParam, EventChannel, MpaStart};
use weft_hostdrv::verbs::{Access, Cq, Mr, Qp, QpInit, RecvWr, SendWr, Wc};
use weft_hostdrv::{transport, Device, DeviceConfig};
use weft_tools::interface::NetInterface;

type Outcome<T> = Result<T, Box<dyn Error>>;
const LOGIN: &[u8] = b"login: weft\n";
const WELCOME: &[u8] = b"welcome, RDMA follows\n";

/// A host: a card, and the kernel on it. One thread serves both, so that nothing is at work while a connection moves.
struct Host {
    interface: NetInterface,
    channel: EventChannel,
    cq: Cq,
    memory: Mr,
    id: CmId,
    qp: Qp,
}

impl Host {
    fn new(device: &Device) -> Outcome<Self> {
        let interface = NetInterface::open(device, "weft0", Some(24))?;
        let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
        let memory = pd.alloc_mr(64, Access::LOCAL_WRITE)?;
        let channel = device.create_event_channel();
        let id = channel.create_id();
        let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
        Ok(Self {
            interface,
            channel,
            cq,
            memory,
            id,
            qp,
        })
    }

    /// Serves card and kernel until something is there.
    fn until<T>(&mut self, mut found: impl FnMut(&Self) -> Outcome<Option<T>>) -> Outcome<T> {
        loop {
            let moved = self.interface.progress()?;
            if let Some(found) = found(self)? {
                return Ok(found);
            }
            if moved == 0 {
                let now = self.channel.device().now();
                self.interface.wait(Some(now + 1_000_000))?;
            }
        }
    }

    fn event(&mut self, wanted: CmEventType) -> Outcome<CmEvent> {
        let event = self.until(|host| Ok(host.channel.try_get_event()?))?;
        match event.event == wanted {
            true => Ok(event),
            false => Err(format!("{wanted} was to come, and there came {event:?}").into()),
        }
    }

    fn completion(&mut self) -> Outcome<Wc> {
        self.until(|host| Ok(host.cq.poll_one()?))
    }

    /// Reads a line of this length from the kernel's socket.
    fn line(&mut self, stream: &mut TcpStream, length: usize) -> Outcome<Vec<u8>> {
        let mut line = vec![0; length];
        let mut filled = 0;
        self.until(|_| {
            match stream.read(&mut line[filled..]) {
                Ok(0) => return Err("the peer has closed".into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
            Ok((filled == length).then_some(()))
        })?;
        Ok(line)
    }
}

/// A connection by the kernel's stack, which a thread waits for while this one serves the card.
fn by_kernel(
    host: &mut Host,
    make: impl FnOnce() -> io::Result<TcpStream> + Send + 'static,
) -> Outcome<TcpStream> {
    let thread = thread::spawn(make);
    host.until(|_| Ok(thread.is_finished().then_some(())))?;
    let stream = thread.join().map_err(|_| "the thread has failed")??;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn serve(host: &mut Host, own: Ipv4Addr) -> Outcome<()> {
    let listener = TcpListener::bind((own, 3260))?;
    let mut stream = by_kernel(host, move || listener.accept().map(|(stream, _)| stream))?;
    let login = host.line(&mut stream, LOGIN.len())?;
    println!(
        "the client says: {}",
        String::from_utf8_lossy(&login).trim()
    );
    // The last streaming message may still be under way when the connection moves.
    stream.write_all(WELCOME)?;
    host.id.take_over(&stream)?;
    host.event(CmEventType::StreamEstablished)?;
    host.id.start_mpa(&MpaStart::Passive)?;
    let request = host.event(CmEventType::ConnectRequest)?;
    let room = host.memory.sge(0, 64);
    host.qp.post_recv(RecvWr::new(1).sge(room))?;
    request.id.accept(&ConnParam::default())?;
    host.event(CmEventType::Established)?;
    let length = host.completion()?.byte_len as usize;
    let text = host.memory.to_vec(0, length)?;
    println!("by RDMA: {}", String::from_utf8_lossy(&text));
    host.event(CmEventType::Disconnected)?;
    Ok(())
}

fn connect(host: &mut Host, server: SocketAddr) -> Outcome<()> {
    let mut stream = by_kernel(host, move || TcpStream::connect(server))?;
    stream.write_all(LOGIN)?;
    // Here the program might find that the server knows no RDMA, and go on with the socket.
    let answer = host.line(&mut stream, WELCOME.len())?;
    println!(
        "the server says: {}",
        String::from_utf8_lossy(&answer).trim()
    );
    host.id.take_over(&stream)?;
    host.event(CmEventType::StreamEstablished)?;
    host.id
        .start_mpa(&MpaStart::Active(&ConnParam::default()))?;
    host.event(CmEventType::Established)?;
    let text = b"the same connection";
    host.memory.write(0, text)?;
    let text = host.memory.sge(0, text.len() as u32);
    host.qp.post_send(SendWr::send(2).sge(text).signaled())?;
    println!("sent: {:?}", host.completion()?.status);
    host.id.disconnect()?;
    host.event(CmEventType::Disconnected)?;
    Ok(())
}

fn by_arguments() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [spec, ip, server @ ..] = &arguments[..] else {
        return Err("login_then_rdma DEVICE OWN-ADDRESS [SERVER:PORT]".into());
    };
    let own: Ipv4Addr = ip.parse()?;
    let device = Device::open(transport::open(spec)?, DeviceConfig::at(own))?;
    let mut host = Host::new(&device)?;
    match server {
        [] => serve(&mut host, own),
        [server, ..] => connect(&mut host, server.parse()?),
    }
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
