//! `weft run`: programs for libibverbs and librdmacm on a card, unmodified.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use weft_hostdrv::Rung;

use super::device::{rung, Network};
use super::Failure;

/// What the name of a card begins with that a broker shares.
const SHARED: &str = "share:";

/// The library's file.
const LIBRARY: &str = "libweft_rdma.so";

/// The program, its card and its address.
#[derive(Args)]
pub struct Run {
    /// The card, or one that `weft share` shares: share:/path/of/its/socket.
    #[arg(
        long,
        env = "WEFT_DEVICE",
        value_name = "SPEC",
        required_unless_present = "pair"
    )]
    device: Option<String>,
    /// Its IPv4 address and the length of the network's prefix: 10.0.0.1/24. A shared card has its broker's.
    #[arg(long, env = "WEFT_IP", value_name = "A.B.C.D/LEN")]
    ip: Option<Network>,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// How much of the work is the card's (docs/partitions.md).
    #[arg(long, env = "WEFT_RUNG", default_value_t, value_parser = rung())]
    rung: Rung,
    // Environment (programs): `WEFT_C_LIBRARY`: the C interface, as `--library` of `weft run`. Without it: `libweft_rdma.so` beside the command.
    /// The C interface [default: libweft_rdma.so beside this command].
    #[arg(long, env = "WEFT_C_LIBRARY", value_name = "FILE")]
    library: Option<PathBuf>,
    /// Two simulated cards that are joined: this program, whose words are split at spaces, has the first one, at 10.0.0.1, and PROGRAM the other, at 10.0.0.2.
    /// PROGRAM begins when this one listens; both have to end well, and this one is ended if PROGRAM does not.
    #[arg(long, value_name = "SERVER")]
    pair: Option<String>,
    /// With --pair: one card for both, at 10.0.0.1, which a broker shares; they reach each other inside the host.
    #[arg(long, requires = "pair", conflicts_with = "loss")]
    shared: bool,
    /// With --pair: SERVER is ended when PROGRAM has ended, as it does not end by itself.
    #[arg(long, requires = "pair")]
    end_server: bool,
    /// With --pair: decides every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --pair: frames lost on the link, per million.
    #[arg(long, value_name = "FRAMES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    loss: u32,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

impl Run {
    fn library(&self) -> Result<PathBuf, Failure> {
        let library = match &self.library {
            Some(library) => library.clone(),
            None => std::env::current_exe()?.with_file_name(LIBRARY),
        };
        match library.exists() {
            // The loader looks for a name without a slash elsewhere.
            true => Ok(library.canonicalize()?),
            false => Err(format!(
                "there is no {}: build it (cargo build -p weft-rdma), or name it by --library",
                library.display()
            )
            .into()),
        }
    }

    /// A program with what the C interface reads of the environment.
    fn command(
        &self,
        program: &[OsString],
        device: &str,
        ip: Option<&str>,
    ) -> Result<Command, Failure> {
        let [name, arguments @ ..] = program else {
            return Err("no program".into());
        };
        let library = self.library()?;
        let preload = match std::env::var_os("LD_PRELOAD") {
            Some(others) => [library.as_os_str(), OsStr::new(":"), &others]
                .into_iter()
                .collect(),
            None => library.into_os_string(),
        };
        let mut command = Command::new(name);
        command
            .args(arguments)
            .env("LD_PRELOAD", preload)
            .env("WEFT_DEVICE", device)
            .env("WEFT_MTU", self.mtu.to_string())
            .env("WEFT_RUNG", self.rung.name());
        match ip {
            Some(ip) => command.env("WEFT_IP", ip),
            None => command.env_remove("WEFT_IP"),
        };
        Ok(command)
    }
}

/// Becomes the program, or runs two.
pub fn run(args: &Run) -> Result<(), Failure> {
    if let Some(server) = &args.pair {
        return pair::run(args, server);
    }
    let ip = args.ip.map(|ip| ip.to_string());
    let device = match (&args.device, &ip) {
        (Some(device), Some(_)) => device,
        (Some(device), None) if device.starts_with(SHARED) => device,
        _ => return Err("--device needs --ip as well: the address that the card has on its network, as 10.0.0.1/24".into()),
    };
    let mut command = args.command(&args.program, device, ip.as_deref())?;
    let failed = command.exec();
    let program = command.get_program().to_string_lossy();
    Err(format!("{program}: {failed}").into())
}

#[cfg(not(feature = "sim"))]
mod pair {
    use super::{Failure, Run};

    pub(super) fn run(_: &Run, _: &str) -> Result<(), Failure> {
        Err("--pair needs the simulator, which this build has not; `cargo install` and `cargo build` add it with `--features sim`".into())
    }
}

#[cfg(feature = "sim")]
mod pair {
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};
    use std::process::{Child, ExitStatus};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use weft_hostdrv::{transport, Device, DeviceConfig};
    use weft_share::{Broker, Limits};
    use weft_sim::kind::CardKind;
    use weft_sim::link::{Faults, LinkConfig};
    use weft_sim::serve::{self, CardConfig, ServeConfig, Served};

    use super::{Failure, OsString, Run};

    /// A child that does not outlive its parent's interest.
    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn check(who: &str, ended: ExitStatus) -> Result<(), Failure> {
        match ended.success() {
            true => Ok(()),
            false => Err(format!("the {who} ended with {ended}").into()),
        }
    }

    pub(super) fn run(args: &Run, server: &str) -> Result<(), Failure> {
        let folder = std::env::temp_dir().join(format!("weft-run-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let done = match args.shared {
            true => on_one_card(args, server, &folder),
            false => on_two_cards(args, server, &folder),
        };
        let _ = std::fs::remove_dir_all(&folder);
        done
    }

    /// Where the two programs are.
    struct Places {
        devices: [String; 2],
        /// A shared card's is its broker's.
        addresses: Option<[&'static str; 2]>,
    }

    fn card(socket: PathBuf, port: &str) -> Result<CardConfig, Failure> {
        Ok(CardConfig {
            kind: CardKind::Model,
            port: port.parse()?,
            socket,
            capture: None,
        })
    }

    fn serve(args: &Run, cards: Vec<CardConfig>) -> Result<Served, Failure> {
        let faults = Faults {
            loss: args.loss,
            ..Faults::default()
        };
        Ok(serve::start(&ServeConfig {
            cards,
            seed: args.seed,
            link: LinkConfig {
                faults,
                ..LinkConfig::default()
            },
        })?)
    }

    fn on_two_cards(args: &Run, server: &str, folder: &Path) -> Result<(), Failure> {
        let [a, b] = ["a", "b"].map(|name| folder.join(name));
        let name = |socket: &Path| format!("vfio-user:{}", socket.display());
        let places = Places {
            devices: [name(&a), name(&b)],
            addresses: Some(["10.0.0.1/24", "10.0.0.2/24"]),
        };
        let served = serve(args, vec![card(a, "card:1")?, card(b, "card:0")?])?;
        let ended = both(args, server, &places)?;
        served.stop()?;
        ended
    }

    fn on_one_card(args: &Run, server: &str, folder: &Path) -> Result<(), Failure> {
        let (socket, shared) = (folder.join("a"), folder.join("shared"));
        let served = serve(args, vec![card(socket.clone(), "none")?])?;
        let transport = transport::open(&format!("vfio-user:{}", socket.display()))?;
        let config = DeviceConfig::at([10, 0, 0, 1].into())
            .rung(args.rung)
            .mtu(args.mtu);
        let device = Device::open(transport, config)?;
        let mut broker = Broker::bind(&device, &shared, Limits::default())?;
        let place = format!("share:{}", shared.display());
        let places = Places {
            devices: [place.clone(), place],
            addresses: None,
        };
        let over = AtomicBool::new(false);
        let ended = thread::scope(|scope| {
            let serving = scope.spawn(|| broker.serve(|| over.load(Ordering::Relaxed)));
            let ended = both(args, server, &places);
            over.store(true, Ordering::Relaxed);
            match serving.join() {
                Ok(Ok(())) => ended,
                Ok(Err(error)) => Err(error.into()),
                Err(_) => Err("the broker ended".into()),
            }
        })?;
        drop((broker, device));
        served.stop()?;
        ended
    }

    /// Runs both to their ends; an error of the outer kind: they did not begin.
    fn both(args: &Run, server: &str, places: &Places) -> Result<Result<(), Failure>, Failure> {
        let [first, second] = &places.devices;
        let address = |at: usize| places.addresses.map(|all| all[at]);
        let words: Vec<OsString> = server.split_whitespace().map(Into::into).collect();
        // The server alone has the other end, and closes it when it listens, or ends.
        let (mut listening, told) = UnixStream::pair()?;
        rustix::io::fcntl_setfd(&told, rustix::io::FdFlags::empty())?;
        let mut command = args.command(&words, first, address(0))?;
        command.env("WEFT_C_LISTENING", told.as_raw_fd().to_string());
        let mut server = Ended(command.spawn()?);
        drop(told);
        listening.read_to_end(&mut Vec::new())?;
        let client = args.command(&args.program, second, address(1))?.status()?;
        if args.end_server || !client.success() {
            drop(server);
        } else if let Err(why) = check("server", server.0.wait()?) {
            return Ok(Err(why));
        }
        Ok(check("client", client))
    }
}
