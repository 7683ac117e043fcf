//! Hello by RDMA. The server says where the client may write; the client writes there, and a Send tells that it is done.
//!
//! ```sh
//! weft serve --socket a.sock --socket b.sock --port card:1 --port card:0     # no card? two simulated ones
//! cargo run -p weft-hostdrv --example hello -- vfio-user:a.sock 10.0.0.1
//! cargo run -p weft-hostdrv --example hello -- vfio-user:b.sock 10.0.0.2 10.0.0.1:7471
//! ```

use std::{error::Error, net::SocketAddrV4, time::Duration};

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{Access, QpInit, RecvWr, RemoteRegion, SendWr};
use weft_hostdrv::{transport, Device, DeviceConfig};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// Waits for a client, gives it memory, and returns what it wrote there.
pub fn serve(device: &Device) -> Result<String, Box<dyn Error>> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
    let memory = pd.alloc_mr(64, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?;
    let channel = device.create_event_channel();
    let _listener = channel.listen(7471, 1)?;
    let offer = ConnParam::with_private_data(memory.remote().to_bytes());
    let receives = [RecvWr::new(0)];
    let client = channel.accept(&pd, &QpInit::new(&cq), receives, &offer, PATIENCE)?;
    cq.wait_success(PATIENCE)?;
    client.closed(PATIENCE)?;
    let text = String::from_utf8(memory.to_vec(0, memory.len())?)?;
    Ok(text.trim_end_matches('\0').to_owned())
}

/// Writes `text` into the server's memory.
pub fn greet(device: &Device, server: SocketAddrV4, text: &str) -> Result<(), Box<dyn Error>> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
    let memory = pd.alloc_mr(64, Access::LOCAL_WRITE)?;
    memory.write(0, text.as_bytes())?;
    let (channel, param) = (device.create_event_channel(), ConnParam::default());
    let server = channel.connect(server, &pd, &QpInit::new(&cq), &param, PATIENCE)?;
    let target = server.private_data().first_chunk();
    let target = RemoteRegion::from_bytes(target.ok_or("no memory given")?);
    // What is sent on a connection arrives in order: the Send does not pass the Write.
    let text = memory.sge(0, text.len() as u32);
    server.post_send(SendWr::write(1, target).sge(text))?;
    server.post_send(SendWr::send(2).signaled())?;
    cq.wait_success(PATIENCE)?;
    Ok(server.close(PATIENCE)?)
}

fn by_arguments() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [spec, ip, server @ ..] = &arguments[..] else {
        return Err("hello DEVICE OWN-ADDRESS [SERVER:PORT]".into());
    };
    let device = Device::open(transport::open(spec)?, DeviceConfig::at(ip.parse()?))?;
    match server {
        [] => println!("{}", serve(&device)?),
        [server, ..] => greet(&device, server.parse()?, "hello, RDMA")?,
    }
    Ok(())
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
