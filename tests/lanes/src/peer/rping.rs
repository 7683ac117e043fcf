//! rdma-core's rping in the guest against `weft rping`, either as client.

use std::borrow::Cow;
use std::time::Duration;

use crate::guest::Output;
use crate::steps::{ensure, NoPass};

use super::card::finish;
use super::pace::{fewer_on_card, longer_on_card, seconds};
use super::{Capture, Rtr, Scenario, Session, Siw, CARD_IP, GUEST_IP};

/// For the guest's side to be ready.
pub(super) const READY: Duration = Duration::from_secs(30);

/// Iterations, their size, and what our side is told besides.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) count: u32,
    pub(super) size: u32,
    pub(super) ours: Cow<'static, str>,
}

impl Run {
    /// The same, or fewer where the card's software has to be simulated.
    fn here(&self) -> Run {
        Run {
            count: self.count.min(fewer_on_card(u32::MAX, 5)),
            ..self.clone()
        }
    }

    /// Plenty for a simulated card.
    fn limit(&self) -> Duration {
        longer_on_card(Duration::from_secs(60 + u64::from(self.count) / 5))
    }

    /// Seconds without anything new after which our side gives up.
    fn patience(&self) -> u32 {
        seconds(15)
    }
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let short = Run {
        count: 10,
        size: 64,
        ours: "".into(),
    };
    let mut all = Vec::new();
    for (name, siw, ours) in [
        ("stock siw", Siw::STOCK, "--peer-to-peer off"),
        ("stock siw, we want an RTR", Siw::STOCK, "--peer-to-peer on"),
        (
            "siw with Read RTR",
            Siw::peer_to_peer(Rtr::Read),
            "--peer-to-peer on --rtr read",
        ),
        (
            "siw with Write RTR",
            Siw::peer_to_peer(Rtr::Write),
            "--peer-to-peer on --rtr write",
        ),
        (
            "siw with both RTRs",
            Siw::peer_to_peer(Rtr::Both),
            "--peer-to-peer on",
        ),
        ("siw with CRC", Siw::STOCK.with_crc(), "--peer-to-peer off"),
    ] {
        let run = Run {
            ours: ours.into(),
            ..short.clone()
        };
        all.push(scenario(
            format!("rping, we are client: {name}"),
            siw,
            run,
            we_are_client,
        ));
    }
    for (name, siw) in [
        ("stock siw", Siw::STOCK),
        ("siw with Read RTR", Siw::peer_to_peer(Rtr::Read)),
        ("siw with Write RTR", Siw::peer_to_peer(Rtr::Write)),
        ("siw with both RTRs", Siw::peer_to_peer(Rtr::Both)),
        ("siw with CRC", Siw::STOCK.with_crc()),
        (
            "siw, MPA revision 1",
            Siw {
                revision: 1,
                ..Siw::STOCK
            },
        ),
    ] {
        all.push(scenario(
            format!("rping, siw is client: {name}"),
            siw,
            short.clone(),
            siw_is_client,
        ));
    }
    let roles: [(&str, &str, Roles); 3] = [
        ("we are client: by GID", "--native", we_are_client),
        ("siw is client: we listen by GID", "--native", siw_is_client),
        (
            "siw is client: events by callback",
            "--callbacks",
            siw_is_client,
        ),
    ];
    for (name, ours, roles) in roles {
        let run = Run {
            ours: ours.into(),
            ..short.clone()
        };
        all.push(scenario(format!("rping, {name}"), Siw::STOCK, run, roles));
    }
    all
}

pub(super) type Roles = fn(&mut Session<'_>, &Run) -> Result<String, NoPass>;

pub(super) fn scenario(name: String, siw: Siw, run: Run, roles: Roles) -> Scenario {
    Scenario {
        name,
        siw,
        capture: Capture::Clean,
        run: Box::new(move |session| roles(session, &run.here())),
    }
}

pub(super) fn we_are_client(session: &mut Session<'_>, run: &Run) -> Result<String, NoPass> {
    let Run { count, size, ours } = run;
    let patience = run.patience();
    let guest = &mut session.bench.guest;
    let server = guest.spawn(&format!(
        "stdbuf -oL rping -s -a {GUEST_IP} -S {size} -C {count} -V -d"
    ))?;
    ensure(
        guest.wait_for_output(&server, "rdma_listen", READY),
        "the guest's rping does not listen",
    )?;
    let arguments = format!("-c -a {GUEST_IP} -S {size} -C {count} --timeout {patience} {ours}");
    let said = session.card.must("rping", &arguments, run.limit());
    let guest = &mut session.bench.guest;
    let said = said.map_err(|why| match why {
        NoPass::Fail(why) => {
            let there = guest.output_so_far(&server);
            NoPass::Fail(format!("{why}--- the guest's rping:\n{there}"))
        }
        skip => skip,
    })?;
    let served = guest.wait(&server, READY)?;
    // rdma-core's rping ends with an error when its client disconnects: what counts is that it served all.
    ensure(
        [&served.stdout, &served.stderr]
            .iter()
            .any(|said| said.contains("server DISCONNECT"))
            || served.status.success(),
        format!(
            "the guest's rping: {}\n{}\n{}",
            served.status, served.stdout, served.stderr
        ),
    )?;
    Ok(agreed(&said))
}

pub(super) fn siw_is_client(session: &mut Session<'_>, run: &Run) -> Result<String, NoPass> {
    let Run { count, size, ours } = run;
    let server = session
        .card
        .listening("rping", &format!("-s -S {size} -C {count} {ours}"))?;
    // It checks its data in any case (-V); those that are short it prints, too.
    let prints = *size <= 1000;
    let print = if prints { "-v" } else { "" };
    let command = format!("rping -c -a {CARD_IP} -S {size} -C {count} -V {print}");
    let client = session.bench.guest.run(&command, run.limit())?;
    ensure(
        ended_well(&client),
        format!(
            "{command}: {}\n{}\n{}\n--- weft rping:\n{}",
            client.status,
            client.stdout,
            client.stderr,
            server.output()
        ),
    )?;
    let pings = client
        .stdout
        .lines()
        .filter(|line| line.contains("ping data"))
        .count();
    ensure(
        !prints || pings == *count as usize,
        format!("{pings} of {count} pings came back"),
    )?;
    let said = finish(server, "weft rping -s", READY)?;
    Ok(agreed(&said))
}

/// The guest's rping did all its pings. When it ends, its thread of events may still read the channel that its main thread has
/// closed just then, and exits with 255: that is after the last ping.
pub(super) fn ended_well(client: &Output) -> bool {
    let last = client.stderr.trim_end().lines().last().unwrap_or_default();
    let over = client.stderr.contains("client DISCONNECT EVENT");
    client.status.success() || (over && last == "rdma_get_cm_event: Bad file descriptor")
}

/// What our side says was negotiated.
pub(super) fn agreed(said: &str) -> String {
    said.lines()
        .find(|line| line.contains("agreed"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}
