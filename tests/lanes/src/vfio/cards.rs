//! The driver's own tools and tests on cards that the guest sees as PCI functions.

use std::time::Duration;

use crate::steps::{ensure, Lane, NoPass, Told};

use super::site::{Site, CARDS, SHORT};
use super::Setting;

/// A simulated card is slow.
const LONG: Duration = Duration::from_secs(600);

/// Of `weft selftest`, what is about the way to memory: where each beat is a message between processes, all of it takes minutes.
const WAY_TO_MEMORY: &str = " job-ring interrupts dma-read page-edges dma-read-error malformed-job";

pub fn run(lane: &mut Lane, site: &mut Site, setting: &Setting<'_>) {
    tools(lane, site, "", "");
    match &setting.suite {
        None => lane.skip(
            "test-suite of all transports",
            "the test `transports` of weft-tests was not built",
        ),
        Some(_) => {
            lane.check("test-suite of all transports", || suite(site));
        }
    }
}

pub fn by_messages(lane: &mut Lane, site: &mut Site) {
    tools(lane, site, ", DMA by messages", WAY_TO_MEMORY);
    lane.check("DMA went by messages", || {
        let messages = site.stat(0, "dma_messages")?;
        ensure(messages > 0, "weft serve sent no DMA message")?;
        Ok(format!("{messages} messages"))
    });
}

pub fn by_iommufd(lane: &mut Lane, site: &mut Site) {
    tools(lane, site, ", newer kernel", "");
}

/// What every set-up must give; `tests` of the self-test, or all of them.
fn tools(lane: &mut Lane, site: &mut Site, how: &str, tests: &str) {
    let [first, second] = CARDS;
    lane.check(&format!("weft probe{how}"), || {
        let said = site.must(
            &format!("/host/weft probe vfio:{first} vfio:{second}"),
            SHORT,
        )?;
        ensure(said.matches(": usable").count() == 2, said.clone())?;
        Ok("two cards, usable".to_owned())
    });
    lane.check(&format!("weft regs{how}"), || {
        let said = site.must(&format!("/host/weft regs --device vfio:{first}"), SHORT)?;
        Ok(format!("{} lines", said.lines().count()))
    });
    lane.check(&format!("weft selftest{how}"), || {
        let said = tool(
            site,
            &format!("/host/weft selftest --device vfio:{first}{tests}"),
            LONG,
        )?;
        Ok(last_line(&said))
    });
    lane.check(&format!("weft rping between the cards{how}"), || {
        rping(site)
    });
}

/// Runs a tool; where this build has none of the name, the step is skipped.
fn tool(site: &mut Site, command: &str, limit: Duration) -> Result<String, NoPass> {
    let output = site.run(command, limit)?;
    if output.stderr.contains("unrecognized subcommand") {
        return Err(NoPass::Skip(format!("this build has no `{command}`")));
    }
    let said = format!("{}{}", output.stdout, output.stderr);
    ensure(
        output.status.success(),
        format!("`{command}`: {}\n{said}", output.status),
    )?;
    site.is_well()?;
    Ok(output.stdout)
}

fn last_line(text: &str) -> String {
    text.lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// One process for each card, in the guest.
fn rping(site: &mut Site) -> Told {
    let [client, server] = CARDS;
    let served = site.guest.spawn(&format!(
        "exec /host/weft rping --device vfio:{server} --ip 10.9.0.2/24 -s 2>&1"
    ))?;
    ensure(
        site.guest.wait_for_output(&served, "listening", SHORT),
        format!(
            "the server does not listen: {}",
            site.guest.output_so_far(&served)
        ),
    )?;
    let command = format!(
        "/host/weft rping --device vfio:{client} --ip 10.9.0.1/24 -c -a 10.9.0.2 -C 20 -S 1000"
    );
    let said = tool(site, &command, LONG)?;
    let server = site.guest.wait(&served, SHORT)?;
    ensure(
        server.status.success(),
        format!("the server: {}\n{}", server.status, server.stdout),
    )?;
    Ok(said
        .lines()
        .find(|line| line.contains("pings"))
        .unwrap_or_default()
        .to_owned())
}

fn suite(site: &mut Site) -> Told {
    let [first, second] = CARDS;
    let command = format!("WEFT_TEST_TRANSPORT=vfio:{first},{second} /host/suite --test-threads 1");
    let said = tool(site, &command, Duration::from_secs(600))?;
    let result = said
        .lines()
        .find(|line| line.starts_with("test result"))
        .unwrap_or_default();
    Ok(result.trim_start_matches("test result: ").to_owned())
}
