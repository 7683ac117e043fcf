//! The driver as it is, on whole simulated boards at serial lines: each its card's RTL, `serial_host` and MAC, behind a pseudo-terminal.

use std::net::{Ipv4Addr, SocketAddrV4};

use weft_board_tests::{Boards, Damage};
use weft_debug::trace::TraceReader;
use weft_hostdrv::transport::{self, Bar};
use weft_hostdrv::{Device, DeviceConfig};
use weft_layout::{pci, reg};
use weft_tools::selftest;
use weft_watchdog::Watchdog;

#[allow(dead_code)] // Its `main` takes a command line.
#[path = "../../../hostdrv/examples/hello.rs"]
mod hello;

/// What of the self-test is about the way to the card and to memory: all of it takes minutes, as each byte comes by a line of bits.
const WAY: [&str; 7] = [
    "registers",
    "job-ring",
    "interrupts",
    "dma-read",
    "page-edges",
    "dma-read-error",
    "malformed-job",
];

#[test]
fn the_selftest_passes() {
    let _limit = Watchdog::usual("seed 1");
    let boards = Boards::start(1, 1);
    let card = transport::open(&boards.device(0)).expect("the board answers");
    let report = selftest::run(&card, &WAY.map(String::from), |_| {});
    println!("{report}");
    assert!(report.passed());
}

#[test]
fn two_boards_say_hello() {
    let _limit = Watchdog::usual("seed 2");
    let boards = Boards::start(2, 2);
    let ip = |n: usize| Ipv4Addr::new(10, 0, 0, 1 + n as u8);
    let open = |n: usize| {
        let transport = transport::open(&boards.device(n)).expect("the board answers");
        Device::open(transport, DeviceConfig::at(ip(n)).seed(n as u64)).expect("it comes up")
    };
    let (server, client) = (open(0), open(1));
    let heard = std::thread::scope(|scope| {
        let server = scope.spawn(|| hello::serve(&server).map_err(|e| e.to_string()));
        let at = SocketAddrV4::new(ip(0), 7471);
        hello::greet(&client, at, "hello, serial line").expect("it is heard");
        server.join().expect("no panic")
    });
    assert_eq!(heard.as_deref(), Ok("hello, serial line"));
}

#[test]
fn a_damaged_line_is_a_lost_card_and_the_next_program_has_it_back() {
    let _limit = Watchdog::usual("seed 3");
    let boards = Boards::start(1, 3);
    for damage in [
        Damage::LostToCard,
        Damage::LostFromCard,
        Damage::ChangedFromCard,
        Damage::LineError,
    ] {
        let card = transport::open(&boards.device(0)).expect("the board answers");
        let read = |offset| card.read32(Bar::Registers, offset);
        assert_eq!(
            read(reg::ID).expect("it is there"),
            u32::from_be_bytes(*b"WEFT"),
            "{damage:?}"
        );
        assert_eq!(card.lost(), None);
        boards.damage(0, damage);
        // The frame of one access is damaged; the card's receiver may need the next to see it.
        let error = (0..4)
            .find_map(|_| read(reg::ID).err())
            .expect("it is noticed")
            .to_string();
        println!("{damage:?}: {error}");
        let lost = card.lost().expect("it is lost");
        assert!(error.contains(&lost), "{error}");
        assert!(card.write32(Bar::Registers, reg::SCRATCH, 1).is_err());
        assert!(card.wait(0, None).is_err());
    }
    let card = transport::open(&boards.device(0)).expect("the board answers");
    assert_eq!(
        card.config_read32(0).expect("made up"),
        u32::from(pci::DEVICE) << 16 | u32::from(pci::VENDOR)
    );
    assert!(selftest::run(&card, &["registers".into(), "dma-read".into()], |_| {}).passed());
}

#[test]
fn what_the_board_has_no_room_for_is_said() {
    let _limit = Watchdog::usual("seed 4");
    let boards = Boards::start(1, 4);
    let card = transport::open(&boards.device(0)).expect("the board answers");
    let error = TraceReader::open(card)
        .err()
        .expect("there is no trace")
        .to_string();
    assert!(error.contains("without trace and capture"), "{error}");
}

#[test]
fn wrong_names() {
    let error = |spec: &str| transport::open(spec).err().expect(spec).to_string();
    assert!(error("serial:/nowhere/tty").contains("/nowhere/tty"));
    assert!(error("serial:/dev/null").contains("/dev/null"));
}
