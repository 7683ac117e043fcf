//! Connections that do not come about: nobody listens, markers asked of siw, which has none, an application that says no, with
//! private data, in either direction.

use std::time::Duration;

use crate::steps::{ensure, NoPass};

use super::pace::longer_on_card;
use super::rping::READY;
use super::{Capture, Scenario, Session, Siw, CARD_IP, GUEST_IP};

pub(super) fn scenarios() -> Vec<Scenario> {
    let refusal =
        |name: &str, capture, run: fn(&mut Session<'_>) -> Result<String, NoPass>| Scenario {
            name: format!("refused: {name}"),
            siw: Siw::STOCK,
            capture,
            run: Box::new(run),
        };
    vec![
        refusal(
            "nobody listens in the guest",
            Capture::Any,
            guest_has_no_listener,
        ),
        refusal("nobody listens here", Capture::Any, no_listener_here),
        refusal("siw is asked for markers", Capture::StartUp, markers),
        refusal("our application says no", Capture::Clean, we_say_no),
        refusal(
            "the guest's application says no",
            Capture::StartUp,
            guest_says_no,
        ),
    ]
}

/// Runs our tool, which has to fail; answers what it said.
fn must_fail(session: &mut Session<'_>, arguments: &str, saying: &str) -> Result<String, NoPass> {
    let mut tool = session.card.tool("rping", arguments)?;
    let status = tool.wait(Duration::from_secs(60));
    let said = tool.output();
    ensure(
        status.is_some_and(|status| !status.success()) && said.contains(saying),
        format!("`weft rping {arguments}` ended with {status:?}, not saying `{saying}`:\n{said}"),
    )?;
    let line = said.lines().find(|line| line.contains(saying));
    Ok(line.unwrap_or_default().trim().to_owned())
}

fn guest_has_no_listener(session: &mut Session<'_>) -> Result<String, NoPass> {
    must_fail(session, &format!("-c -a {GUEST_IP} -C 1"), "status -111")
}

fn no_listener_here(session: &mut Session<'_>) -> Result<String, NoPass> {
    // A card that is up, and listens on another port.
    let mut other = session.card.listening("rping", "-s -p 7999")?;
    // It says that it was refused, and then does not end by itself.
    let command = format!("timeout -s KILL 5 rping -c -a {CARD_IP} -C 1");
    let client = session
        .bench
        .guest
        .run(&command, longer_on_card(READY * 2))?;
    other.kill();
    let said = client.stdout + &client.stderr;
    ensure(
        !client.status.success() && said.contains("Connection refused"),
        format!("the guest's rping: {}\n{said}", client.status),
    )?;
    Ok(format!(
        "the guest's rping: {}",
        said.trim().replace('\n', "; ")
    ))
}

/// siw answers with R, and our application hears REJECTED.
fn markers(session: &mut Session<'_>) -> Result<String, NoPass> {
    let guest = &mut session.bench.guest;
    let server = guest.spawn(&format!("stdbuf -oL rping -s -a {GUEST_IP} -C 1 -d"))?;
    ensure(
        guest.wait_for_output(&server, "rdma_listen", READY),
        "the guest's rping does not listen",
    )?;
    must_fail(
        session,
        &format!("-c -a {GUEST_IP} -C 1 --markers"),
        "said no",
    )
}

/// weft's rping serves one client and tells the next one, in private data, that it is busy.
fn we_say_no(session: &mut Session<'_>) -> Result<String, NoPass> {
    let mut server = session.card.listening("rping", "-s -v")?;
    let guest = &mut session.bench.guest;
    let first = guest.spawn(&format!("rping -c -a {CARD_IP} -C 0"))?;
    ensure(
        server.wait_for_output("ping data", READY),
        format!("no ping came:\n{}", server.output()),
    )?;
    let second = guest.run(
        &format!("rping -c -a {CARD_IP} -C 1"),
        longer_on_card(READY * 2),
    )?;
    guest.kill(&first, 9)?;
    let said = second.stdout + &second.stderr;
    ensure(
        !second.status.success() && said.contains("REJECTED"),
        format!("the guest's second rping: {}\n{said}", second.status),
    )?;
    Ok(format!(
        "the guest's rping: {}",
        said.trim().replace('\n', "; ")
    ))
}

/// Private data both ways: the request's reach the guest's application, the rejection's ours.
fn guest_says_no(session: &mut Session<'_>) -> Result<String, NoPass> {
    let guest = &mut session.bench.guest;
    let command = format!("stdbuf -oL /host/weft-say-no {GUEST_IP} 7174 'not today'");
    let server = guest.spawn(&command)?;
    ensure(
        guest.wait_for_output(&server, "listening", READY),
        "weft-say-no does not listen",
    )?;
    let arguments = format!("-c -a {GUEST_IP} -C 1 --private-data may-I");
    let said = must_fail(session, &arguments, "not today")?;
    let guest = &mut session.bench.guest;
    ensure(
        guest.wait_for_output(&server, "a request with \"may-I\"", READY),
        format!("the guest heard: {}", guest.output_so_far(&server)),
    )?;
    guest.kill(&server, 9)?;
    Ok(format!("the guest heard \"may-I\"; we heard {said}"))
}
