//! Asks for the way to a server once, keeps it in a file, and connects with what the file says: the next time, or on behalf of another
//! process, no question is on the wire.
//!
//! ```sh
//! weft serve --socket a.sock --socket b.sock --port card:1 --port card:0     # no card? two simulated ones
//! cargo run -p weft-hostdrv --example hello -- vfio-user:a.sock 10.0.0.1
//! cargo run -p weft-hostdrv --example address_info -- vfio-user:b.sock 10.0.0.2 10.0.0.1 7471 way.bin
//! ```

use std::{error::Error, fs, path::Path, time::Duration};

use weft_hostdrv::cm::{AddrHints, AddrInfo, ConnParam};
use weft_hostdrv::verbs::{Access, QpInit, RemoteRegion, SendWr};
use weft_hostdrv::{transport, Device, DeviceConfig};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// The way to a server: from the file, or found and written there.
pub fn way(
    device: &Device,
    node: &str,
    service: &str,
    file: &Path,
) -> Result<AddrInfo, Box<dyn Error>> {
    if let Ok(bytes) = fs::read(file) {
        // Of another version, or damaged: it says so.
        return Ok(AddrInfo::from_bytes(&bytes)?);
    }
    let found = device.get_addr_info(node, service, &AddrHints::default(), PATIENCE)?;
    let best = found.into_iter().next().ok_or("no way there")?;
    fs::write(file, best.to_bytes())?;
    Ok(best)
}

/// Writes `text` into the server's memory, as `hello` does.
pub fn greet(device: &Device, way: &AddrInfo, text: &str) -> Result<(), Box<dyn Error>> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(16, None)?);
    let memory = pd.alloc_mr(64, Access::LOCAL_WRITE)?;
    memory.write(0, text.as_bytes())?;
    let (channel, param) = (device.create_event_channel(), ConnParam::default());
    let server = channel.connect_with(way, &pd, &QpInit::new(&cq), &param, PATIENCE)?;
    let target = server.private_data().first_chunk();
    let target = RemoteRegion::from_bytes(target.ok_or("no memory given")?);
    let text = memory.sge(0, text.len() as u32);
    server.post_send(SendWr::write(1, target).sge(text))?;
    server.post_send(SendWr::send(2).signaled())?;
    cq.wait_success(PATIENCE)?;
    Ok(server.close(PATIENCE)?)
}

fn by_arguments() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [spec, ip, node, service, file] = &arguments[..] else {
        return Err("address_info DEVICE OWN-ADDRESS SERVER PORT FILE".into());
    };
    let device = Device::open(transport::open(spec)?, DeviceConfig::at(ip.parse()?))?;
    let way = way(&device, node, service, Path::new(file))?;
    println!("{} by {}", way.destination, way.transport);
    greet(&device, &way, "hello, by a record")
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
