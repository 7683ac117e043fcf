//! The kernel's VFIO by the driver's own transport, on a device that is not Weft's.

use crate::steps::{ensure, Lane, NoPass, Told};

use super::site::{Site, EDU, SHORT};

/// edu drives 28 bits of an address.
pub fn spec(options: &str) -> String {
    format!("'vfio:{EDU}?{options}iova-bits=28'")
}

pub fn run(lane: &mut Lane, site: &mut Site) {
    lane.check("edu, legacy container", || checks(site, &spec("")));
    lane.check("edu, huge pages", || {
        site.must("echo 16 > /proc/sys/vm/nr_hugepages", SHORT)?;
        let told = checks(site, &spec(""));
        site.must("echo 0 > /proc/sys/vm/nr_hugepages", SHORT)?;
        told
    });
    lane.check("edu, killed 5 times in the middle of DMA", || {
        killed(site, &spec(""))
    });
}

pub fn by_iommufd(lane: &mut Lane, site: &mut Site) {
    let there = site.run(
        "[ -c /dev/iommu ] || modprobe iommufd; ls /dev/iommu /dev/vfio/devices",
        SHORT,
    );
    match there {
        Ok(output) if output.status.success() => {
            lane.check("edu, iommufd", || checks(site, &spec("iommufd&")));
            lane.check("edu, iommufd, killed 5 times", || {
                killed(site, &spec("iommufd&"))
            });
        }
        _ => lane.skip(
            "edu, iommufd",
            "this kernel has no /dev/iommu or no /dev/vfio/devices",
        ),
    }
    lane.check("edu, legacy container, newer kernel", || {
        checks(site, &spec("legacy&"))
    });
}

fn checks(site: &mut Site, spec: &str) -> Told {
    let output = site.run(&format!("/host/edu {spec}"), SHORT)?;
    let failed = format!("{}:\n{}{}", output.status, output.stdout, output.stderr);
    ensure(
        output.status.success() && output.stdout.contains("all passed"),
        failed,
    )?;
    site.is_well()?;
    let passed = output
        .stdout
        .lines()
        .filter(|line| line.to_lowercase().contains("pass"))
        .count();
    Ok(format!("{} checks", passed.saturating_sub(1)))
}

/// A process in the middle of endless DMA is killed; the device must be of use at once. edu cannot be reset: what it was
/// told last, it finishes after 100 ms, with an interrupt. The next one waits for that.
fn killed(site: &mut Site, spec: &str) -> Told {
    for round in 0..5 {
        let running = site
            .guest
            .spawn(&format!("exec /host/edu --sleep {spec}"))?;
        let delay = std::time::Duration::from_millis(400 + 37 * round);
        std::thread::sleep(delay);
        ensure(!site.guest.ended(&running), "edu --sleep ended by itself")?;
        site.guest.kill(&running, 9)?;
        site.guest.wait(&running, SHORT)?;
        std::thread::sleep(std::time::Duration::from_millis(200));
        checks(site, spec).map_err(|why| match why {
            NoPass::Fail(why) => NoPass::Fail(format!("after kill {round}: {why}")),
            skip => skip,
        })?;
    }
    Ok("every time at once of use".to_owned())
}
