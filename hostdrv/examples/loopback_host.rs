//! Two threads of one program speak RDMA without a card: the client finds the server by the connection manager, which says by what way.
//!
//! ```console
//! $ cargo run -p weft-hostdrv --example loopback_host
//! the server at 10.9.0.1:7471 is reached by loop
//! the client read: hello from the other thread
//! ```

use std::net::Ipv4Addr;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::Duration;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

type Error = Box<dyn std::error::Error + Send + Sync>;

const SERVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const SERVICE: &str = "7471";
const TIMEOUT: Option<Duration> = Some(Duration::from_secs(10));
const WORDS: &[u8] = b"hello from the other thread";

fn by_arguments() -> Result<(), Error> {
    let host = LoopbackHost::new();
    // With a card this is `Device::open`, and other hosts are reached as well.
    let [server, client] = [SERVER, CLIENT].map(|ip| Device::without_card(DeviceConfig::at(ip)));
    let (server, client) = (server?, client?);
    host.join(&server)?;
    host.join(&client)?;
    let (listening, listens) = channel();
    thread::scope(|scope| {
        let serving = scope.spawn(move || serve(&server, &listening));
        let read = ask(&client, &listens);
        // A panic there is one here.
        serving.join().map_err(|_| "the server panicked")??;
        println!("the client read: {}", String::from_utf8_lossy(&read?));
        Ok(())
    })
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Lets a client read.
fn serve(device: &Device, listening: &Sender<()>) -> Result<(), Error> {
    let pd = device.alloc_pd()?;
    let cq = device.create_cq(16, None)?;
    let mr = pd.alloc_mr(4096, Access::REMOTE_READ)?;
    mr.write(0, WORDS)?;
    let events = device.create_event_channel();
    let _listener = events.listen(SERVICE.parse()?, 4)?;
    listening.send(())?;
    let request = events.expect_event(CmEventType::ConnectRequest, TIMEOUT)?;
    request.id.create_qp(&pd, &QpInit::new(&cq))?;
    let offer = mr.remote().to_bytes();
    request
        .id
        .accept(&ConnParam::with_private_data(offer.as_slice()))?;
    events.expect_event(CmEventType::Established, TIMEOUT)?;
    events.expect_event(CmEventType::Disconnected, TIMEOUT)?;
    Ok(())
}

/// Reads what the server offers.
fn ask(device: &Device, listens: &Receiver<()>) -> Result<Vec<u8>, Error> {
    let pd = device.alloc_pd()?;
    let cq = device.create_cq(16, None)?;
    let mr = pd.alloc_mr(4096, Access::READ_SINK)?;
    let events = device.create_event_channel();
    listens.recv()?;
    let ways =
        device.get_addr_info(&SERVER.to_string(), SERVICE, &AddrHints::default(), TIMEOUT)?;
    let way = ways.first().ok_or("no way")?;
    println!(
        "the server at {SERVER}:{SERVICE} is reached by {}",
        way.transport
    );
    let param = ConnParam::default();
    let server = events.connect_with(way, &pd, &QpInit::new(&cq), &param, TIMEOUT)?;
    let offer = server.private_data().first_chunk();
    let offer = offer.ok_or("nothing is offered")?;
    let remote = RemoteRegion::from_bytes(offer);
    let length = WORDS.len() as u32;
    server.post_send(SendWr::read(1, remote).sge(mr.sge(0, length)).signaled())?;
    let done = cq.wait_one(TIMEOUT)?.ok_or("no completion")?;
    assert_eq!(done.status, WcStatus::Success);
    server.close(TIMEOUT)?;
    Ok(mr.to_vec(0, WORDS.len())?)
}
