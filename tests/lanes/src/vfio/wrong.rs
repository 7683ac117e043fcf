//! Set-ups that are wrong, as they usually are: each must give an error that says what to do.

use crate::steps::{ensure, Lane, Told};

use super::edu::spec;
use super::site::{bind_command, Site, CARDS, EDU, SHARED, SHORT, SIBLING};

/// Runs a command that must fail, and say all of this.
fn says(site: &mut Site, command: &str, wanted: &[&str]) -> Told {
    let output = site.run(command, SHORT)?;
    let said = format!("{}{}", output.stdout, output.stderr);
    ensure(
        !output.status.success(),
        format!("`{command}` succeeded:\n{said}"),
    )?;
    for text in wanted {
        ensure(
            said.contains(text),
            format!("`{command}` does not say \"{text}\":\n{said}"),
        )?;
    }
    let line = said
        .lines()
        .find(|line| wanted.iter().any(|text| line.contains(text)));
    let line = line.unwrap_or_default().trim().trim_start_matches("FAIL ");
    Ok(line.chars().take(160).collect())
}

pub fn before_binding(lane: &mut Lane, site: &mut Site) {
    lane.check("wrong: no such function", || {
        says(
            site,
            "/host/edu vfio:0000:00:1e.0",
            &["there is no PCI function 0000:00:1e.0", "lspci"],
        )
    });
    lane.check("wrong: not bound, vfio-pci not loaded", || {
        says(
            site,
            &format!("/host/edu vfio:{EDU}"),
            &["bound to no driver", "modprobe vfio-pci", "driver_override"],
        )
    });
    if site.server.is_some() {
        lane.check("wrong: card not bound", || {
            says(
                site,
                &format!("/host/weft probe vfio:{}", CARDS[0]),
                &["bound to no driver", "driver_override"],
            )
        });
    }
}

pub fn after_binding(lane: &mut Lane, site: &mut Site) {
    lane.check("wrong: group not viable", || {
        site.must("modprobe virtio_pci", SHORT)?;
        let told = says(
            site,
            &format!("/host/edu vfio:{SHARED}"),
            &["is not viable", SIBLING, "virtio-pci"],
        )?;
        site.must(&bind_command(SIBLING), SHORT)?;
        site.must(&format!("/host/edu 'vfio:{SHARED}?iova-bits=28'"), SHORT)?;
        Ok(told)
    });
    let user =
        "setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all";
    lane.check("wrong: no permission", || {
        says(
            site,
            &format!("{user} /host/edu {}", spec("")),
            &["no permission to open /dev/vfio/", "chown"],
        )
    });
    let group = format!("/dev/vfio/$(basename $(readlink /sys/bus/pci/devices/{EDU}/iommu_group))");
    // As a udev rule would do it.
    let give = format!("chown 65534 {group}; chmod 666 /dev/vfio/vfio");
    lane.check("an unprivileged user who was given the group", || {
        let command = format!("{give}; ulimit -l 65536; {user} /host/edu {}", spec(""));
        site.must(&command, SHORT)?;
        Ok("edu's checks passed as user nobody".to_owned())
    });
    lane.check("wrong: locked memory limited to 64 KiB", || {
        let command = format!("{give}; ulimit -l 64; {user} /host/edu {}", spec(""));
        let told = says(site, &command, &["locked", "ulimit -l"]);
        site.must(&format!("chown 0 {group}"), SHORT)?;
        told
    });
    lane.check("wrong: in use by another program", || {
        let holder = site
            .guest
            .spawn(&format!("exec /host/edu --sleep {}", spec("")))?;
        std::thread::sleep(std::time::Duration::from_secs(1));
        let told = says(
            site,
            &format!("/host/edu {}", spec("")),
            &["is in use by edu"],
        );
        site.guest.kill(&holder, 9)?;
        site.guest.wait(&holder, SHORT)?;
        told
    });
}

pub fn iommu_off(lane: &mut Lane, site: &mut Site) {
    lane.check("wrong: IOMMU off", || {
        // Binding fails; that is what a user sees first.
        site.run(&format!("modprobe vfio-pci; {}", bind_command(EDU)), SHORT)?;
        says(
            site,
            &format!("/host/edu vfio:{EDU}"),
            &[
                "IOMMU is off",
                "intel_iommu=on",
                "without `intel_iommu=off`",
            ],
        )
    });
}

/// VFIO without an IOMMU, which the kernel was built for and does not do unasked.
pub fn no_iommu_mode(lane: &mut Lane, site: &mut Site) {
    lane.check("wrong: no-IOMMU mode", || {
        let unsafe_mode = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";
        site.must(&format!("echo 1 > {unsafe_mode}"), SHORT)?;
        site.must(&bind_command(EDU), SHORT)?;
        site.must("ls /dev/vfio/noiommu-*", SHORT)?;
        let wanted = ["no-IOMMU mode", "intel_iommu=on", "echo N"];
        says(site, &format!("/host/edu vfio:{EDU}"), &wanted)
    });
}
