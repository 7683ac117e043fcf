//! Sends between two cards that are joined, both ends in one thread of an async runtime: no call blocks.
//!
//! ```console
//! $ cargo run -p weft-hostdrv --features async --example async_ping -- vfio-user:/tmp/a.sock vfio-user:/tmp/b.sock
//! ```

use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{transport, Device, DeviceConfig};

type Error = Box<dyn std::error::Error>;

const PORT: u16 = 7000;
const BYTES: u32 = 64;

/// One end's things.
struct End {
    pd: Pd,
    cq: AsyncCq,
    mr: Mr,
}

impl End {
    fn new(device: &Device) -> Result<Self, Error> {
        let pd = device.alloc_pd()?;
        let (cq, mr) = (
            device.create_async_cq(16)?,
            pd.alloc_mr(4096, Access::LOCAL_WRITE)?,
        );
        Ok(Self { pd, cq, mr })
    }

    fn receive(&self) -> RecvWr<'_> {
        RecvWr::new(1).sge(self.mr.sge(0, BYTES))
    }

    fn send(&self) -> SendWr<'_> {
        SendWr::send(2).sge(self.mr.sge(64, BYTES))
    }

    async fn received(&self) -> Result<(), Error> {
        let wc = self.cq.completed().await?;
        match (wc.wr_id, wc.status) {
            (1, WcStatus::Success) => Ok(()),
            _ => Err(format!("{wc:?}, and not a message").into()),
        }
    }
}

async fn server(device: &Device, rounds: u32) -> Result<(), Error> {
    let (end, param) = (End::new(device)?, ConnParam::default());
    let listener = device.listen_async(PORT, 1)?;
    let init = QpInit::new(&end.cq);
    let client = listener
        .accept(&end.pd, &init, [end.receive()], &param)
        .await?;
    for _ in 0..rounds {
        end.received().await?;
        client.post_recv(end.receive())?;
        client.post_send(end.send())?;
    }
    client.closed().await?;
    Ok(())
}

async fn client(device: &Device, to: SocketAddrV4, rounds: u32) -> Result<(), Error> {
    let (end, param) = (End::new(device)?, ConnParam::default());
    let init = QpInit::new(&end.cq);
    let server = device.connect_async(to, &end.pd, &init, &param).await?;
    for _ in 0..rounds {
        server.post_recv(end.receive())?;
        server.post_send(end.send())?;
        end.received().await?;
    }
    Ok(server.close().await?)
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
    let took = ping(&a, &b, 1000).await?;
    println!("1000 messages there and back in {took:?}");
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
