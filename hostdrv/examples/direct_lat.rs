//! A ping-pong between queue pairs that are connected without connection management, as perftest's `ib_send_lat` makes them: the two
//! programs tell each other GID and number of their queue pairs over a socket of their own.
//!
//! ```sh
//! weft serve --socket a.sock --socket b.sock --port card:1 --port card:0     # no card? two simulated ones
//! cargo run -p weft-hostdrv --example direct_lat -- vfio-user:a.sock 10.0.0.1 listen 127.0.0.1:18515
//! cargo run -p weft-hostdrv --example direct_lat -- vfio-user:b.sock 10.0.0.2 connect 127.0.0.1:18515
//! ```

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{ConnParam, Direct, DirectName};
use weft_hostdrv::verbs::{Access, QpInit, RecvWr, SendWr};
use weft_hostdrv::{transport, Device, DeviceConfig};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));
const SIZE: u32 = 64;

/// Sends and waits for the answer, `rounds` times, or answers. Half of the time of a round, the median.
pub fn ping_pong(
    device: &Device,
    out_of_band: &mut TcpStream,
    first: bool,
    rounds: usize,
) -> Result<Duration, Box<dyn Error>> {
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(128, None)?);
    let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE)?;
    let direct = Direct::new(device);
    // INIT: it has a name, and takes receives.
    let end = direct.create_qp(&pd, &QpInit::new(&cq))?;
    let receive = |wr_id| {
        end.qp()
            .post_recv(RecvWr::new(wr_id).sge(mr.sge(2048, SIZE)))
    };
    receive(0)?;
    out_of_band.write_all(&end.name().to_bytes())?;
    let mut peer = [0; DirectName::SIZE];
    out_of_band.read_exact(&mut peer)?;
    // RTR, RTS.
    end.modify_to_rtr(DirectName::from_bytes(&peer), &ConnParam::default())?;
    end.modify_to_rts(PATIENCE)?;

    let send = || end.qp().post_send(SendWr::send(1).sge(mr.sge(0, SIZE)));
    let mut times = Vec::new();
    for round in 0..rounds {
        let begun = Instant::now();
        if first {
            send()?;
        }
        cq.wait_success(PATIENCE)?;
        if round + 1 < rounds {
            receive(0)?;
        }
        if !first {
            send()?;
        }
        times.push(begun.elapsed() / 2);
    }
    // Nobody leaves while something is under way.
    out_of_band.write_all(b".")?;
    out_of_band.set_nonblocking(true)?;
    let mut done = [0];
    while !matches!(out_of_band.read(&mut done), Ok(1)) {
        device.progress()?;
    }
    times.sort();
    Ok(times[rounds / 2])
}

fn by_arguments() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [spec, ip, role, at] = &arguments[..] else {
        return Err("direct_lat DEVICE OWN-ADDRESS listen|connect HOST:PORT".into());
    };
    let device = Device::open(transport::open(spec)?, DeviceConfig::at(ip.parse()?))?;
    let first = role == "connect";
    let mut out_of_band = match first {
        true => TcpStream::connect(at)?,
        false => TcpListener::bind(at)?.accept()?.0,
    };
    let half = ping_pong(&device, &mut out_of_band, first, 1000)?;
    println!("{SIZE} bytes, 1000 rounds: {half:?} each way");
    Ok(())
}

fn main() {
    if let Err(error) = by_arguments() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
