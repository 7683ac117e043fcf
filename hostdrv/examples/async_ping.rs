//! Sends between two cards that are joined, both ends in one thread of an async runtime: no call blocks, every wait is for a
//! file descriptor.
//!
//! ```console
//! $ cargo run -p weft-hostdrv --example async_ping -- vfio-user:/tmp/a.sock vfio-user:/tmp/b.sock
//! ```

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use tokio::io::Interest;
use weft_hostdrv::cm::{CmEvent, CmEventType, ConnParam, EventChannel};
use weft_hostdrv::device::Readiness;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{transport, Device, DeviceConfig};

type Error = Box<dyn std::error::Error>;

const PORT: u16 = 7000;
const BYTES: u32 = 64;

/// A file that the runtime watches.
fn file(readiness: Readiness) -> Result<AsyncFd<Readiness>, Error> {
    // SAFETY: it owns its descriptor, and gives no other.
    let file = unsafe { AsyncFd::register_with_interest(readiness, Interest::READABLE) };
    Ok(file.map_err(std::io::Error::from)?)
}

/// The next connection event.
async fn event(
    channel: &EventChannel,
    file: &AsyncFd<Readiness>,
    wanted: CmEventType,
) -> Result<CmEvent, Error> {
    loop {
        let mut ready = file.readable().await?;
        match channel.try_get_event()? {
            Some(event) if event.event == wanted => return Ok(event),
            Some(event) => return Err(format!("{wanted} did not come, but {event:?}").into()),
            None => ready.clear_ready(),
        }
    }
}

/// The next completion: ask for an event, look, wait for the event.
async fn completion(
    cq: &Cq,
    channel: &CompChannel,
    file: &AsyncFd<Readiness>,
) -> Result<Wc, Error> {
    loop {
        if let Some(wc) = cq.poll_one()? {
            return Ok(wc);
        }
        cq.req_notify(Notify::Any)?;
        // What came before the question makes no event.
        if let Some(wc) = cq.poll_one()? {
            return Ok(wc);
        }
        loop {
            let mut ready = file.readable().await?;
            match channel.try_get_event()? {
                Some(_) => break,
                None => ready.clear_ready(),
            }
        }
    }
}

/// One end's things.
struct End {
    pd: Pd,
    cq: Cq,
    mr: Mr,
    completions: (CompChannel, AsyncFd<Readiness>),
    events: (EventChannel, AsyncFd<Readiness>),
}

impl End {
    fn new(device: &Device) -> Result<Self, Error> {
        let pd = device.alloc_pd()?;
        let channel = device.create_comp_channel();
        let events = device.create_event_channel();
        Ok(Self {
            cq: device.create_cq(16, Some(&channel))?,
            mr: pd.alloc_mr(4096, Access::LOCAL_WRITE)?,
            pd,
            completions: (channel.clone(), file(channel.readiness()?)?),
            events: (events.clone(), file(events.readiness()?)?),
        })
    }

    async fn event(&self, wanted: CmEventType) -> Result<CmEvent, Error> {
        event(&self.events.0, &self.events.1, wanted).await
    }

    async fn completion(&self, wr_id: u64) -> Result<(), Error> {
        let wc = completion(&self.cq, &self.completions.0, &self.completions.1).await?;
        if (wc.wr_id, wc.status) != (wr_id, WcStatus::Success) {
            return Err(format!("{wc:?}, and not the end of {wr_id}").into());
        }
        Ok(())
    }

    fn receive(&self, qp: &Qp) -> Result<(), Error> {
        Ok(qp.post_recv(RecvWr::new(1).sge(self.mr.sge(0, BYTES)))?)
    }

    fn send(&self, qp: &Qp) -> Result<(), Error> {
        Ok(qp.post_send(SendWr::send(2).sge(self.mr.sge(64, BYTES)))?)
    }
}

async fn server(device: &Device, rounds: u32) -> Result<(), Error> {
    let end = End::new(device)?;
    let listener = end.events.0.create_id();
    listener.bind_addr(SocketAddrV4::new(device.ip(), PORT))?;
    listener.listen(1)?;
    let id = end.event(CmEventType::ConnectRequest).await?.id;
    let qp = id.create_qp(&end.pd, &QpInit::new(&end.cq))?;
    end.receive(&qp)?;
    id.accept(&ConnParam::default())?;
    end.event(CmEventType::Established).await?;
    for _ in 0..rounds {
        end.completion(1).await?;
        end.receive(&qp)?;
        end.send(&qp)?;
    }
    end.event(CmEventType::Disconnected).await?;
    Ok(())
}

async fn client(device: &Device, server: SocketAddrV4, rounds: u32) -> Result<(), Error> {
    let end = End::new(device)?;
    let id = end.events.0.create_id();
    id.resolve_addr(server)?;
    end.event(CmEventType::AddrResolved).await?;
    id.resolve_route()?;
    end.event(CmEventType::RouteResolved).await?;
    let qp = id.create_qp(&end.pd, &QpInit::new(&end.cq))?;
    id.connect(&ConnParam::default())?;
    end.event(CmEventType::Established).await?;
    for _ in 0..rounds {
        end.receive(&qp)?;
        end.send(&qp)?;
        end.completion(1).await?;
    }
    id.disconnect()?;
    end.event(CmEventType::Disconnected).await?;
    Ok(())
}

/// So many messages there and back; how long it took.
pub async fn ping(a: &Device, b: &Device, rounds: u32) -> Result<Duration, Error> {
    let start = Instant::now();
    let at = SocketAddrV4::new(b.ip(), PORT);
    tokio::try_join!(server(b, rounds), client(a, at, rounds))?;
    Ok(start.elapsed())
}

#[allow(dead_code)] // A test has this file as a module.
async fn by_arguments() -> Result<(), Error> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = names.as_slice() else {
        return Err("give the names of two cards that are joined".into());
    };
    let open = |name: &str, number: u8| -> Result<Device, Error> {
        let config = DeviceConfig::new([2, 0, 0, 0, 0, number], [10, 0, 0, number].into());
        Ok(Device::open(transport::open(name)?, config)?)
    };
    let (a, b) = (open(a, 1)?, open(b, 2)?);
    println!(
        "1000 messages there and back in {:?}",
        ping(&a, &b, 1000).await?
    );
    Ok(())
}

#[allow(dead_code)] // As above.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Err(error) = by_arguments().await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
