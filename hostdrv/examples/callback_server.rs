//! A server that is told everything by a function, DAT's way: who may ask, the host's policy says; what is asked for, the function answers. Each
//! client is sent what it has sent.
//!
//! ```console
//! $ cargo run -p weft-hostdrv --example callback_server                                  # by the loop: tries itself
//! # callback_server vfio-user:b.sock 10.0.0.2 policy.toml                                # on a card, with a policy, until it is ended
//! ```
//!
//! Without arguments it says:
//!
//! ```console
//! RDMA_CM_EVENT_CONNECT_REQUEST from 10.9.0.2 by loop
//! RDMA_CM_EVENT_ESTABLISHED
//! the client has back: who is there?
//! RDMA_CM_EVENT_DISCONNECTED: the peer closed it
//! mallory was told: not you
//! ```

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{transport, Device, DeviceConfig};

type Error = Box<dyn std::error::Error>;

const PORT: u16 = 7471;
const TIMEOUT: Option<Duration> = Some(Duration::from_secs(10));
const SIZE: u32 = 4096;

/// What the server has of its clients, by queue pair number.
#[derive(Default)]
struct Clients(Mutex<BTreeMap<u32, (CmId, Mr)>>);

struct Server {
    pd: Pd,
    cq: Cq,
    clients: Clients,
}

impl Server {
    /// The function.
    fn hear(&self, event: CmEvent) -> Result<(), Error> {
        let why = event.why().map(|why| format!(": {why}"));
        let from = match (event.event, event.id.peer_addr()) {
            (CmEventType::ConnectRequest, Some(peer)) => {
                format!(" from {} by {}", peer.ip(), event.id.transport())
            }
            _ => String::new(),
        };
        if event.event != CmEventType::TimewaitExit {
            println!("{}{from}{}", event.event, why.unwrap_or_default());
        }
        let mut clients = self
            .clients
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match event.event {
            CmEventType::ConnectRequest => {
                let qp = event.id.create_qp(&self.pd, &QpInit::new(&self.cq))?;
                let mr = self.pd.alloc_mr(SIZE as usize, Access::LOCAL_WRITE)?;
                qp.post_recv(RecvWr::new(qp.qp_num().into()).sge(mr.sge(0, SIZE)))?;
                event.id.accept(&ConnParam::default())?;
                clients.insert(qp.qp_num(), (event.id, mr));
            }
            CmEventType::Disconnected | CmEventType::DeviceRemoval => {
                if let Some(qp) = event.id.qp() {
                    clients.remove(&qp.qp_num());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends back what came. The poll lets the device work, and so calls the function.
    fn echo(&self) -> Result<(), Error> {
        while let Some(wc) = self.cq.poll_one()? {
            let clients = self
                .clients
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let (WcOpcode::Recv, WcStatus::Success) = (wc.opcode, wc.status) else {
                continue;
            };
            if let Some((id, mr)) = clients.get(&wc.qp_num) {
                let qp = id.qp().ok_or("an accepted client has one")?;
                qp.post_send(SendWr::send(0).sge(mr.sge(0, wc.byte_len)))?;
                qp.post_recv(RecvWr::new(wc.wr_id).sge(mr.sge(0, SIZE)))?;
            }
        }
        Ok(())
    }
}

/// Listens on a device; the events go to the server from then on, as long as channel and listener are kept.
fn serve(device: &Device) -> Result<(Arc<Server>, EventChannel, CmId), Error> {
    let server = Arc::new(Server {
        pd: device.alloc_pd()?,
        cq: device.create_cq(256, None)?,
        clients: Clients::default(),
    });
    let told = Arc::downgrade(&server);
    let channel = device.create_callback_channel(move |event| {
        if let Some(server) = told.upgrade() {
            if let Err(error) = server.hear(event) {
                eprintln!("{error}");
            }
        }
    });
    let listener = channel.create_id();
    listener.set_option(CmOption::AnswerBusy(true))?;
    listener.bind_addr(SocketAddrV4::new(device.ip(), PORT))?;
    listener.listen(16)?;
    Ok((server, channel, listener))
}

fn by_arguments() -> Result<(), Error> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [device, ip, policy] = &arguments[..] else {
        return try_it();
    };
    let device = Device::open(transport::open(device)?, DeviceConfig::at(ip.parse()?))?;
    device.set_host_policy(Some(HostPolicy::from_file(Path::new(policy))?));
    let (server, _channel, _listener) = serve(&device)?;
    loop {
        let handled = device.progress()?;
        server.echo()?;
        if handled == 0 {
            device.wait(None)?;
        }
    }
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Server and client in one program, without a card.
fn try_it() -> Result<(), Error> {
    let host = LoopbackHost::new();
    let ips = [1, 2].map(|n| Ipv4Addr::new(10, 9, 0, n));
    let [b, a] = ips.map(|ip| Device::without_card(DeviceConfig::at(ip)));
    let (a, b) = (a?, b?);
    host.join(&a)?;
    host.join(&b)?;
    let policy = "[[rule]]\naction = \"reject\"\nidentity = \"mallory\"\nreason = \"not you\"\n";
    b.set_host_policy(Some(HostPolicy::new(Policy::parse(policy)?)));
    let (server, _channel, _listener) = serve(&b)?;

    let (pd, cq) = (a.alloc_pd()?, a.create_cq(16, None)?);
    let mr = pd.alloc_mr(SIZE as usize, Access::LOCAL_WRITE)?;
    mr.write(0, b"who is there?")?;
    let connect = |name: &str| -> Result<(EventChannel, CmId, CmEvent), Error> {
        let events = a.create_event_channel();
        let id = events.create_id();
        id.resolve_addr(SocketAddrV4::new(b.ip(), PORT))?;
        id.resolve_route()?;
        events.expect_event(CmEventType::AddrResolved, TIMEOUT)?;
        events.expect_event(CmEventType::RouteResolved, TIMEOUT)?;
        id.create_qp(&pd, &QpInit::new(&cq))?;
        id.connect(&ConnParam::with_private_data(name))?;
        b.progress()?;
        let answer = events.get_event(TIMEOUT)?.ok_or("no answer")?;
        Ok((events, id, answer))
    };
    let (events, id, _) = connect("alice")?;
    let qp = id.qp().ok_or("it was made")?;
    qp.post_recv(RecvWr::new(1).sge(mr.sge(100, 100)))?;
    qp.post_send(SendWr::send(2).sge(mr.sge(0, 13)))?;
    server.echo()?;
    let wc = cq.wait_one(TIMEOUT)?.ok_or("no answer")?;
    let back = mr.to_vec(100, wc.byte_len as usize)?;
    println!("the client has back: {}", String::from_utf8_lossy(&back));
    id.disconnect()?;
    events.expect_event(CmEventType::Disconnected, TIMEOUT)?;
    server.echo()?;
    let (_, _, answer) = connect("mallory")?;
    let told = String::from_utf8_lossy(&answer.private_data).into_owned();
    println!("mallory was told: {told}");
    Ok(())
}
