//! A program of many blocking threads in one simulated world, and the capture of what it did: the seed decides it.

use std::error::Error;
use std::fs;
use std::net::SocketAddrV4;
use std::time::Duration;

use weft_hostdrv::cm::{ConnParam, Connection, EventChannel};
use weft_hostdrv::verbs::*;
use weft_hostdrv::Device;
use weft_sim::fabric::{ip, Fabric, FabricConfig};
use weft_sim::threads::{scope, sleep};

/// Nobody waits so long for anything, in simulated time.
const LIMIT: Option<Duration> = Some(Duration::from_secs(60));
/// The port of the first server; those that share a listener have the one before.
const PORT: u16 = 5000;
/// Bytes of a region.
const LEN: usize = 16 << 10;
/// Messages of a connection.
const ROUNDS: u64 = 4;

type Done = Result<(), Box<dyn Error + Send + Sync>>;

/// What runs.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Decides everything.
    pub seed: u64,
    /// Connections; each has a thread at either end.
    pub connections: u16,
    /// Frames of a million that the link loses.
    pub loss: u32,
    /// The servers' device is driven by a thread of its own.
    pub driven: bool,
    /// The clients poll, and never sleep for a completion.
    pub polled: bool,
}

impl Program {
    /// Sixteen threads, and a link that loses frames.
    pub fn of_sixteen(seed: u64) -> Self {
        Self {
            seed,
            connections: 8,
            loss: 10_000,
            driven: false,
            polled: false,
        }
    }

    /// Runs it once; what was on the wire, and when.
    ///
    /// # Errors
    /// Whatever went wrong in the program.
    pub fn capture(&self) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let folder = tempfile::tempdir()?;
        let mut config = FabricConfig {
            seed: self.seed,
            captures: Some(folder.path().to_owned()),
            ..FabricConfig::default()
        };
        config.link.faults.loss = self.loss;
        let fabric = Fabric::new(&config)?;
        self.run(&fabric)?;
        fabric.flush()?;
        let path = fabric.captures().next().ok_or("no capture")?;
        Ok(fs::read(path)?)
    }

    fn run(&self, fabric: &Fabric) -> Done {
        let devices = [0, 1].map(|n| fabric.device(n));
        // Half of the servers have a listener of their own, the others one for all.
        let own = self.connections / 2;
        let shared = devices[1].create_event_channel();
        let _listener = shared.listen(PORT - 1, usize::from(self.connections))?;
        let ended = scope(fabric.world(), |threads| {
            let drive = self.driven.then(|| devices[1].drive()).transpose()?;
            let mut all = Vec::new();
            for n in 0..self.connections {
                let shared = (n >= own).then(|| shared.clone());
                let server = move || serve(devices[1], n, shared);
                all.push(threads.spawn(&format!("server {n}"), server));
                let port = if n < own { PORT + n } else { PORT - 1 };
                let polled = self.polled;
                let client = move || call(devices[0], n, port, polled);
                all.push(threads.spawn(&format!("client {n}"), client));
            }
            for one in all {
                one.join().map_err(|_| "a thread panicked")??;
            }
            drop(drive);
            Done::Ok(())
        });
        ended?
    }
}

/// What an end works with.
struct End {
    pd: Pd,
    cq: Cq,
    memory: Mr,
}

impl End {
    fn new(device: &Device) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let pd = device.alloc_pd()?;
        let rights = Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
        let rights = rights | Access::LOCAL_WRITE;
        Ok(Self {
            memory: pd.alloc_mr(LEN, rights)?,
            cq: device.create_cq(16, None)?,
            pd,
        })
    }
}

/// Answers each message.
fn serve(device: &Device, n: u16, shared: Option<EventChannel>) -> Done {
    let end = End::new(device)?;
    let channel = device.create_event_channel();
    let own = match shared {
        Some(_) => None,
        None => Some(channel.listen(PORT + n, 1)?),
    };
    let channel = shared.unwrap_or(channel);
    let offer = ConnParam::with_private_data(end.memory.remote().to_bytes());
    let init = QpInit::new(&end.cq);
    let client = channel.accept(&end.pd, &init, [RecvWr::new(0)], &offer, LIMIT)?;
    drop(own);
    let qp: &Qp = client.qp();
    for round in 0..ROUNDS {
        while end.cq.wait_success(LIMIT)?.wr_id != round {}
        qp.post_recv(RecvWr::new(round + 1))?;
        // It computes.
        sleep(u64::from(n) * 300)?;
        qp.post_send(SendWr::send(1_000).signaled())?;
    }
    client.closed(LIMIT)?;
    Ok(())
}

/// Writes, says so, waits for the answer, and reads what it wrote.
fn call(device: &Device, n: u16, port: u16, polled: bool) -> Done {
    let end = End::new(device)?;
    let channel = device.create_event_channel();
    // A server may not listen yet.
    let mut connected = None;
    for _ in 0..100 {
        match connect(&channel, &end, port) {
            Ok(connection) => {
                connected = Some(connection);
                break;
            }
            Err(_) => sleep(20_000)?,
        }
    }
    let server = connected.ok_or("no server")?;
    let remote = server.private_data().first_chunk().ok_or("no memory")?;
    let remote = RemoteRegion::from_bytes(remote);
    let len = LEN as u32 / (1 + u32::from(n) % 3);
    for round in 0..ROUNDS {
        server.post_recv(RecvWr::new(round))?;
        server.post_send(SendWr::write(100, remote).sge(end.memory.sge(0, len)))?;
        server.post_send(SendWr::send(200))?;
        let read = SendWr::read(300, remote).sge(end.memory.sge(0, len));
        server.post_send(read.signaled())?;
        let mut left = vec![round, 300];
        while !left.is_empty() {
            let wc = match polled {
                true => poll(&end.cq)?,
                false => end.cq.wait_success(LIMIT)?,
            };
            left.retain(|wr_id| *wr_id != wc.wr_id);
        }
    }
    server.close(LIMIT)?;
    Ok(())
}

/// The next completion, by a thread that never sleeps.
fn poll(cq: &Cq) -> Result<Wc, Box<dyn Error + Send + Sync>> {
    loop {
        match cq.poll_one()? {
            Some(wc) if wc.status == WcStatus::Success => return Ok(wc),
            Some(wc) => return Err(format!("{wc:?}").into()),
            None => std::hint::spin_loop(),
        }
    }
}

fn connect(
    channel: &EventChannel,
    end: &End,
    port: u16,
) -> Result<Connection, Box<dyn Error + Send + Sync>> {
    let (to, init) = (SocketAddrV4::new(ip(1), port), QpInit::new(&end.cq));
    Ok(channel.connect(to, &end.pd, &init, &ConnParam::default(), LIMIT)?)
}
