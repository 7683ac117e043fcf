//! Hello by RDMA. The server says where the client may write; the client writes there, and a Send tells that it is done.
//!
//! ```sh
//! weft serve --socket a.sock --socket b.sock --port card:1 --port card:0     # no card? two simulated ones
//! cargo run -p weft-hostdrv --example hello -- vfio-user:a.sock 10.0.0.1             # the server
//! cargo run -p weft-hostdrv --example hello -- vfio-user:b.sock 10.0.0.2 10.0.0.1    # the client
//! ```

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use weft_hostdrv::cm::{CmEvent, CmEventType, ConnParam, EventChannel};
use weft_hostdrv::verbs::{Access, Cq, QpInit, RecvWr, RemoteRegion, SendWr, WcStatus};
use weft_hostdrv::{transport, Device, DeviceConfig};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PORT: u16 = 7471;
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

fn event(channel: &EventChannel, wanted: CmEventType) -> Result<CmEvent> {
    match channel.get_event(PATIENCE)? {
        Some(event) if event.event == wanted => Ok(event),
        other => Err(format!("{wanted} was to come, and there came {other:?}").into()),
    }
}

fn done(cq: &Cq) -> Result<()> {
    match cq.wait_one(PATIENCE)? {
        Some(wc) if wc.status == WcStatus::Success => Ok(()),
        other => Err(format!("work was to be done, and there came {other:?}").into()),
    }
}

/// Waits for a client, gives it memory, and returns what it wrote there.
pub fn serve(device: &Device) -> Result<String> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
    let memory = pd.alloc_mr(64, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?;
    let channel = device.create_event_channel();
    let listener = channel.create_id();
    listener.bind_addr(SocketAddrV4::new(device.ip(), PORT))?;
    listener.listen(1)?;
    let client = event(&channel, CmEventType::ConnectRequest)?.id;
    // The receive has to be there before the client may send.
    client
        .create_qp(&pd, &QpInit::new(&cq))?
        .post_recv(RecvWr::new(0))?;
    client.accept(&ConnParam {
        private_data: memory.remote().to_bytes().to_vec(),
        ..ConnParam::default()
    })?;
    event(&channel, CmEventType::Established)?;
    done(&cq)?;
    // Who sends last waits for the other to leave, or its last acknowledgment would not go out.
    event(&channel, CmEventType::Disconnected)?;
    let text = memory.to_vec(0, memory.len())?;
    Ok(String::from_utf8_lossy(&text)
        .trim_end_matches('\0')
        .to_owned())
}

/// Writes `text` into the server's memory.
pub fn greet(device: &Device, server: Ipv4Addr, text: &str) -> Result<()> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
    let memory = pd.alloc_mr(64, Access::LOCAL_WRITE)?;
    memory.write(0, text.as_bytes())?;
    let channel = device.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(server, PORT))?;
    event(&channel, CmEventType::AddrResolved)?;
    id.resolve_route()?;
    event(&channel, CmEventType::RouteResolved)?;
    let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
    id.connect(&ConnParam::default())?;
    let established = event(&channel, CmEventType::Established)?;
    let target = established
        .private_data
        .first_chunk()
        .ok_or("the server gave no memory")?;
    let target = RemoteRegion::from_bytes(target);
    // What is sent on a connection arrives in order: the Send does not pass the Write.
    qp.post_send(SendWr::write(1, target).sge(memory.sge(0, text.len() as u32)))?;
    qp.post_send(SendWr::send(2).signaled())?;
    done(&cq)?;
    id.disconnect()?;
    event(&channel, CmEventType::Disconnected)?;
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (spec, ip, server) = match arguments.as_slice() {
        [spec, ip] => (spec, ip.parse::<Ipv4Addr>()?, None),
        [spec, ip, server] => (spec, ip.parse()?, Some(server.parse()?)),
        _ => return Err("hello DEVICE OWN-ADDRESS [SERVER]".into()),
    };
    let [a, b, c, d] = ip.octets();
    let device = Device::open(
        transport::open(spec)?,
        DeviceConfig::new([2, 0x57, a, b, c, d], ip),
    )?;
    match server {
        None => println!("{}", serve(&device)?),
        Some(server) => greet(&device, server, "hello, RDMA")?,
    }
    Ok(())
}
