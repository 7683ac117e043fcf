//! The driver's process is killed in the middle of DMA at seeded moments. Afterwards no mapping is left, and the card is
//! of use at once.

use std::time::Duration;

use crate::steps::{ensure, Lane, Told};

use super::site::{Site, CARDS, SHORT};
use super::Setting;

/// A process has its card up and data under way within this, on the machines where the lane was written.
const LATEST_MS: u64 = 3000;

pub fn run(lane: &mut Lane, site: &mut Site, setting: &Setting<'_>) {
    let (kills, seed) = (setting.kills, setting.seed);
    lane.check(
        &format!("killed {kills} times in the middle of DMA"),
        || killed(site, kills, seed),
    );
}

fn killed(site: &mut Site, kills: u64, seed: u64) -> Told {
    let [first, second] = CARDS;
    // Mappings that are there while nobody has the cards: the guest's firmware and kernel may leave some.
    let before = [site.stat(0, "mappings")?, site.stat(1, "mappings")?];
    let mut in_the_middle = 0;
    for kill in 0..kills {
        let moment = 200 + mix(seed, kill) % LATEST_MS;
        let when = format!("kill {kill} of seed {seed}, after {moment} ms");
        let server = site.guest.spawn(&format!(
            "exec /host/weft rping --device vfio:{second} --ip 10.9.0.2/24 -s -P 2>&1"
        ))?;
        site.guest.wait_for_output(&server, "listening", SHORT);
        let client = site.guest.spawn(&format!(
            "exec /host/weft rping --device vfio:{first} --ip 10.9.0.1/24 -c -a 10.9.0.2 -S 16384 2>&1"
        ))?;
        std::thread::sleep(Duration::from_millis(moment));
        ensure(
            !site.guest.ended(&client),
            format!("{when}: the client had ended"),
        )?;
        in_the_middle += u64::from(site.stat(0, "mappings")? > before[0]);
        for process in [&client, &server] {
            site.guest.kill(process, 9)?;
            site.guest.wait(process, SHORT)?;
        }
        let after = [site.stat(0, "mappings")?, site.stat(1, "mappings")?];
        ensure(
            after == before,
            format!("{when}: mappings {before:?} before, {after:?} after"),
        )?;
        let probe = site.run(
            &format!("/host/weft probe vfio:{first} vfio:{second}"),
            SHORT,
        )?;
        ensure(
            probe.status.success(),
            format!("{when}: {}{}", probe.stdout, probe.stderr),
        )?;
        site.is_well()?;
    }
    ensure(
        in_the_middle > 0,
        "no kill found a mapping: none came in the middle",
    )?;
    Ok(format!(
        "{in_the_middle} with mappings that the kernel took away; seed {seed}"
    ))
}

/// A number that looks random and depends on both (SplitMix64).
fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
