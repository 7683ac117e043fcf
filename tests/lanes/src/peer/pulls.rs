//! Things pulled in the middle: the guest's rping, our process, the link. At seeded moments, `WEFT_LANE_PULLS` of each (8; at
//! `firmware` 3).

use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::process::HostProcess;
use crate::steps::{ensure, NoPass};

use super::card::finish;
use super::pace::{fewer_on_card, longer_on_card, seconds};
use super::rping::READY;
use super::{Capture, Rtr, Scenario, Session, Siw, CARD_IP, GUEST_IP};

const SIGKILL: i32 = 9;

/// Everybody has noticed within this.
fn bound() -> Duration {
    longer_on_card(Duration::from_secs(40))
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let pull = |name: &str, siw, run: fn(&mut Session<'_>) -> Result<String, NoPass>| Scenario {
        name: format!("pulled: {name}"),
        siw,
        capture: Capture::Any,
        run: Box::new(run),
    };
    vec![
        pull(
            "the guest's client",
            Siw::peer_to_peer(Rtr::Read),
            guests_client,
        ),
        pull("the guest's server", Siw::STOCK, guests_server),
        pull("our client", Siw::STOCK, our_client),
        pull("our server", Siw::STOCK, our_server),
        pull("the link, for a while", Siw::STOCK, link_for_a_while),
        pull("the link, for good", Siw::STOCK, link_for_good),
    ]
}

/// So many moments, each with its generator.
fn moments() -> Result<Vec<(u64, ChaCha8Rng)>, NoPass> {
    // Environment (tests): `WEFT_LANE_PULLS`: peer lane: moments at which things are pulled out, of each kind. Without it: 8.
    let count = match std::env::var("WEFT_LANE_PULLS") {
        Ok(count) => count.parse::<u64>()?,
        Err(_) => fewer_on_card(8, 3),
    };
    let seeds = 0..count;
    Ok(seeds
        .map(|seed| (seed, ChaCha8Rng::seed_from_u64(seed)))
        .collect())
}

/// Waits for some time, while it starts, connects, pings.
fn wait(rng: &mut ChaCha8Rng) -> u64 {
    let ms = rng.random_range(0..700);
    std::thread::sleep(longer_on_card(Duration::from_millis(ms)));
    ms
}

fn at(seed: u64, ms: u64, why: NoPass) -> NoPass {
    match why {
        NoPass::Fail(why) => NoPass::Fail(format!("seed {seed}, after {ms} ms: {why}")),
        skip => skip,
    }
}

/// Our server, for any number of clients.
fn our_persistent_server(session: &mut Session<'_>) -> Result<HostProcess, NoPass> {
    let mut server = session
        .card
        .tool("rping", &format!("-s -P --timeout {}", seconds(20)))?;
    ensure(
        server.wait_for_output("listening", READY),
        format!("weft rping does not listen:\n{}", server.output()),
    )?;
    Ok(server)
}

/// The guest's server, for any number of clients.
fn guests_persistent_server(session: &mut Session<'_>) -> Result<(), NoPass> {
    let guest = &mut session.bench.guest;
    let server = guest.spawn(&format!("stdbuf -oL rping -s -P -a {GUEST_IP} -d"))?;
    ensure(
        guest.wait_for_output(&server, "rdma_listen", READY),
        "the guest's rping does not listen",
    )
}

fn guest_pings(session: &mut Session<'_>) -> Result<(), NoPass> {
    let command = format!("rping -c -a {CARD_IP} -C 3 -V");
    let client = session.bench.guest.run(&command, bound())?;
    ensure(
        super::rping::ended_well(&client),
        format!(
            "{command}: {}\n{}{}",
            client.status, client.stdout, client.stderr
        ),
    )
}

/// Pings of ours; siw may lose the first FPDU of a connection, and then it is tried again.
fn we_ping(session: &mut Session<'_>, lost: &mut u32) -> Result<(), NoPass> {
    for _ in 0..4 {
        let arguments = format!(
            "-c -a {GUEST_IP} -C 3 --peer-to-peer off --timeout {}",
            seconds(5)
        );
        match session.card.must("rping", &arguments, bound()) {
            Ok(_) => return Ok(()),
            Err(NoPass::Fail(said)) if said.contains("0 pings") => *lost += 1,
            Err(why) => return Err(why),
        }
    }
    Err(NoPass::Fail("four times in a row".to_owned()))
}

fn guests_client(session: &mut Session<'_>) -> Result<String, NoPass> {
    let mut server = our_persistent_server(session)?;
    let moments = moments()?;
    let count = moments.len();
    for (seed, mut rng) in moments {
        let guest = &mut session.bench.guest;
        let victim = guest.spawn(&format!("rping -c -a {CARD_IP} -C 0"))?;
        let ms = wait(&mut rng);
        session.bench.guest.kill(&victim, SIGKILL)?;
        session.bench.guest.wait(&victim, READY)?;
        guest_pings(session).map_err(|why| at(seed, ms, why))?;
    }
    ensure(server.ended().is_none(), "our server ended")?;
    let said = server.output();
    let ended = said
        .lines()
        .filter(|line| line.starts_with("peer "))
        .count();
    server.kill();
    Ok(format!(
        "{count} moments; our server saw {ended} connections end and went on"
    ))
}

fn guests_server(session: &mut Session<'_>) -> Result<String, NoPass> {
    let moments = moments()?;
    let (count, mut lost) = (moments.len(), 0);
    for (seed, mut rng) in moments {
        let guest = &mut session.bench.guest;
        let victim = guest.spawn(&format!("stdbuf -oL rping -s -P -a {GUEST_IP} -d"))?;
        ensure(
            guest.wait_for_output(&victim, "rdma_listen", READY),
            "the guest's rping does not listen",
        )?;
        let arguments = format!(
            "-c -a {GUEST_IP} -C 0 --peer-to-peer off --timeout {}",
            seconds(8)
        );
        let mut client = session.card.tool("rping", &arguments)?;
        let ms = wait(&mut rng);
        session.bench.guest.kill(&victim, SIGKILL)?;
        session.bench.guest.wait(&victim, READY)?;
        let status = client.wait(bound());
        ensure(
            status.is_some_and(|status| !status.success()),
            format!(
                "seed {seed}, after {ms} ms: our client has not noticed: {status:?}\n{}",
                client.output()
            ),
        )?;
        guests_persistent_server(session)?;
        we_ping(session, &mut lost).map_err(|why| at(seed, ms, why))?;
        session.bench.guest.run("pkill -9 rping", READY)?;
    }
    Ok(format!(
        "{count} moments; our client noticed each time (siw lost {lost} first FPDUs)"
    ))
}

fn our_client(session: &mut Session<'_>) -> Result<String, NoPass> {
    guests_persistent_server(session)?;
    let moments = moments()?;
    let (count, mut lost) = (moments.len(), 0);
    for (seed, mut rng) in moments {
        let arguments = format!("-c -a {GUEST_IP} -C 0 --peer-to-peer off");
        let mut victim = session.card.tool("rping", &arguments)?;
        let ms = wait(&mut rng);
        victim.kill();
        we_ping(session, &mut lost).map_err(|why| at(seed, ms, why))?;
        clean(session).map_err(|why| at(seed, ms, why))?;
    }
    Ok(format!(
        "{count} moments; nothing stayed mapped, the next process connected at once (siw lost {lost} first FPDUs)"
    ))
}

fn our_server(session: &mut Session<'_>) -> Result<String, NoPass> {
    let moments = moments()?;
    let count = moments.len();
    for (seed, mut rng) in moments {
        let mut victim = our_persistent_server(session)?;
        let guest = &mut session.bench.guest;
        let client = guest.spawn(&format!("rping -c -a {CARD_IP} -C 0"))?;
        let ms = wait(&mut rng);
        victim.kill();
        clean(session).map_err(|why| at(seed, ms, why))?;
        let mut server = our_persistent_server(session)?;
        guest_pings(session).map_err(|why| at(seed, ms, why))?;
        session.bench.guest.kill(&client, SIGKILL)?;
        server.kill();
    }
    Ok(format!(
        "{count} moments; nothing stayed mapped, the next process was connected to at once"
    ))
}

/// With no process on it, the card has no mapping, and it has touched nothing that was not its own.
fn clean(session: &mut Session<'_>) -> Result<(), NoPass> {
    for _ in 0..100 {
        let stats = session.card.server.ask("stats", READY)?;
        let wanted = [
            "\"connected\":false",
            "\"mappings\":0,",
            "\"dma_refused\":0,",
        ];
        if wanted.iter().all(|text| stats.contains(text)) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let stats = session.card.server.ask("stats", READY)?;
    Err(NoPass::Fail(format!("the card is not let go: {stats}")))
}

/// Sixty pings, or ten, and a cut of up to 800 ms somewhere in them: all of them come back.
fn link_for_a_while(session: &mut Session<'_>) -> Result<String, NoPass> {
    let pings = fewer_on_card(60, 10);
    let moments = moments()?;
    let count = moments.len();
    for (seed, mut rng) in moments {
        let arguments = format!("-s -C {pings} --timeout {}", seconds(30));
        let mut server = session.card.tool("rping", &arguments)?;
        ensure(
            server.wait_for_output("listening", READY),
            format!("weft rping does not listen:\n{}", server.output()),
        )?;
        let command = format!("rping -c -a {CARD_IP} -C {pings} -V");
        let client = session.bench.guest.spawn(&command)?;
        let ms = wait(&mut rng);
        session.card.server.tell("down 0")?;
        std::thread::sleep(Duration::from_millis(rng.random_range(1..800)));
        session.card.server.tell("up 0")?;
        let client = session.bench.guest.wait(&client, bound())?;
        let said = client.stdout + &client.stderr;
        ensure(
            client.status.success(),
            format!("seed {seed}, after {ms} ms: {}\n{said}", client.status),
        )?;
        finish(server, "weft rping -s", READY)?;
    }
    Ok(format!(
        "{count} cuts of up to 0.8 s, {pings} pings each, all verified"
    ))
}

/// Nothing comes any more: both sides give up in their own time, and are of use when the link is back.
fn link_for_good(session: &mut Session<'_>) -> Result<String, NoPass> {
    let guest = &mut session.bench.guest;
    let retries = "/proc/sys/net/ipv4/tcp_retries2";
    let before = guest.must(&format!("cat {retries}; echo 3 > {retries}"), READY)?;
    guests_persistent_server(session)?;
    let moments = moments()?;
    let (count, mut lost) = (moments.len(), 0);
    for (seed, mut rng) in moments {
        let arguments = format!(
            "-c -a {GUEST_IP} -C 0 --peer-to-peer off --timeout {}",
            seconds(3)
        );
        let mut client = session.card.tool("rping", &arguments)?;
        let ms = wait(&mut rng);
        session.card.server.tell("down 0")?;
        let status = client.wait(bound());
        session.card.server.tell("up 0")?;
        ensure(
            status.is_some_and(|status| !status.success()),
            format!(
                "seed {seed}, after {ms} ms: our client has not noticed: {status:?}\n{}",
                client.output()
            ),
        )?;
        we_ping(session, &mut lost).map_err(|why| at(seed, ms, why))?;
        clean(session).map_err(|why| at(seed, ms, why))?;
    }
    let restore = format!("echo {} > {retries}", before.trim());
    session.bench.guest.must(&restore, READY)?;
    Ok(format!(
        "{count} moments; connected anew at once afterwards (siw lost {lost} first FPDUs)"
    ))
}
