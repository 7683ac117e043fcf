//! A TAP: names that cannot be, and frames through a real one where there is the right to make it.

use std::path::Path;

use weft_tools::tap::{Tap, TapConfig, TapError, Written};

#[test]
fn names_that_no_interface_can_have_are_refused() {
    for name in ["", "sixteen_bytes_xx", "a b", "a/b", "a:b", "tap%d"] {
        let refused = Tap::open(name, &TapConfig::default());
        assert!(
            matches!(refused, Err(TapError::Name(_))),
            "{name:?}: {refused:?}"
        );
    }
}

#[test]
fn a_frame_goes_in_and_the_kernel_answers() {
    let name = format!("weft{}", std::process::id() % 1_000_000);
    let config = TapConfig {
        mac: Some([2, 0, 0, 0, 0, 7]),
        mtu: Some(9000),
        ip: Some(([198, 51, 100, 1].into(), 30)),
    };
    let tap = match Tap::open(&name, &config) {
        Ok(tap) => tap,
        Err(error) => {
            eprintln!("skipped: needs root and /dev/net/tun ({error})");
            assert!(matches!(error, TapError::Open { .. }));
            return;
        }
    };
    assert_eq!(tap.mac().expect("MAC"), [2, 0, 0, 0, 0, 7]);
    let sys = Path::new("/sys/class/net").join(&name);
    if sys.exists() {
        let mtu = std::fs::read_to_string(sys.join("mtu")).expect("mtu");
        assert_eq!(mtu.trim(), "9000");
    }

    // Who has 198.51.100.1? Tell 198.51.100.2.
    let mut arp = vec![0xff; 6];
    arp.extend([2, 0, 0, 0, 0, 8, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    arp.extend([
        2, 0, 0, 0, 0, 8, 198, 51, 100, 2, 0, 0, 0, 0, 0, 0, 198, 51, 100, 1,
    ]);
    assert_eq!(tap.write_frame(&arp).expect("write"), Written::Taken);
    // The kernel answers at once; what else it sends by itself is passed over.
    let reply = (0..1000).find_map(|_| {
        let frame = tap.read_frame().expect("read");
        if frame.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        frame.filter(|f| f[12..14] == [8, 6] && f[21] == 2)
    });
    let reply = reply.expect("an ARP reply");
    assert_eq!(reply[..6], [2, 0, 0, 0, 0, 8]);
    assert_eq!(reply[6..12], [2, 0, 0, 0, 0, 7]);
    assert_eq!(reply[28..32], [198, 51, 100, 1]);

    let second = Tap::open(&name, &TapConfig::default());
    assert!(matches!(second, Err(TapError::Open { .. })), "{second:?}");

    drop(tap);
    assert!(!sys.exists(), "the interface went with its TAP");
}
