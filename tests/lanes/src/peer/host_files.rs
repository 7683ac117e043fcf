//! What the host's files say to programs that say nothing: peer-to-peer by its configuration, who may ask by its policy.

use std::time::Duration;

use super::card::finish;
use super::rping::{we_are_client, Run, READY};
use super::{Capture, Scenario, Session, Siw, CARD_IP, GUEST_IP};
use crate::steps::{ensure, NoPass};

pub(super) fn scenarios() -> Vec<Scenario> {
    let scenario = |name: &str, run: fn(&mut Session<'_>) -> Result<String, NoPass>| Scenario {
        name: name.to_owned(),
        siw: Siw::STOCK,
        capture: Capture::Clean,
        run: Box::new(run),
    };
    vec![
        scenario("the host's configuration decides", configuration),
        scenario("the host's policy decides", policy),
    ]
}

/// The same command line, and another file.
fn configuration(session: &mut Session<'_>) -> Result<String, NoPass> {
    let file = session.card.logs.join("weft.toml");
    session.card.set_env("WEFT_CONFIG", &file);
    let mut agreed = Vec::new();
    for (text, wanted) in [
        ("default = false", "not peer-to-peer"),
        ("default = true\nrtr = [\"read\"]", "peer-to-peer: read"),
        ("default = true\nrtr = [\"write\"]", "peer-to-peer: write"),
    ] {
        std::fs::write(&file, format!("[peer_to_peer]\n{text}\n"))?;
        let run = Run {
            count: 10,
            size: 64,
            ours: "".into(),
        };
        let said = we_are_client(session, &run)?;
        ensure(
            said.ends_with(wanted),
            format!("with {text:?} it was {said:?}, not {wanted}"),
        )?;
        agreed.push(wanted);
    }
    Ok(agreed.join(", then "))
}

/// The guest is turned away with the reason, and let in when the file says so, by the same server.
fn policy(session: &mut Session<'_>) -> Result<String, NoPass> {
    let file = session.card.logs.join("policy.toml");
    session.card.set_env("WEFT_POLICY", &file);
    let rule = |action: &str| {
        format!("[[rule]]\naction = \"{action}\"\nfrom = \"{GUEST_IP}\"\nreason = \"ask the operator\"\n")
    };
    std::fs::write(&file, rule("reject"))?;
    let server = session.card.listening("rping", "-s -P --sessions 1")?;
    let guest = &mut session.bench.guest;
    // rdma-core's rping does not end when it is refused.
    let ping = format!("timeout -s KILL 10 rping -c -a {CARD_IP} -C 5 -V");
    let refused = guest.run(&ping, READY)?;
    let said = refused.stdout + &refused.stderr;
    ensure(
        said.contains("REJECTED"),
        format!("it was to be refused, and said:\n{said}"),
    )?;
    // A file's time has to differ, for who looks at that.
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(&file, "default = \"accept\"\n")?;
    guest.run(&ping, READY)?;
    finish(server, "weft rping -s -P", READY)?;
    Ok("refused by a rule, let in by another file".to_owned())
}
