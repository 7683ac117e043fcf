//! What a broker refuses is the error of that call alone: a client that asks for more than it may have goes on, and has it once it has given something back.

use std::net::SocketAddrV4;

use weft_hostdrv::verbs::*;
use weft_share::Limits;
use weft_tests::clients::broker_scene;
use weft_tests::ends::{no_faults, PORT};
use weft_tests::left_out_on_card;
use weft_tests::lent_program::{until, Program};

/// More than a client may have of anything.
const MANY: usize = 64;

/// Asks until it is refused; what it was given.
fn all<T, E: std::fmt::Display>(what: &str, mut ask: impl FnMut() -> Result<T, E>) -> Vec<T> {
    let mut given = Vec::new();
    loop {
        match ask() {
            Ok(one) => given.push(one),
            Err(refused) => {
                println!("{} {what}, and: {refused}", given.len());
                break;
            }
        }
        assert!(given.len() < MANY, "{what} without end");
    }
    given
}

/// Has as many as it may have, gives them back, and has one more; the device is as it was.
fn more_than_it_may<T, E: std::fmt::Display>(
    program: &Program,
    what: &str,
    mut ask: impl FnMut() -> Result<T, E>,
) {
    drop(all(what, &mut ask));
    // What the card may still have in hand is free a little later.
    until(|| {
        let progress = program.device.progress();
        progress.unwrap_or_else(|error| panic!("{what}: {error}"));
        ask().ok()
    });
    assert_eq!(program.device.get_async_event(), None, "{what}");
}

#[test]
fn what_is_refused_is_the_calls_error() {
    if left_out_on_card("what_is_refused_is_the_calls_error", "it has a broker") {
        return;
    }
    let limits = Limits {
        queue_pairs: 3,
        regions: 12,
        ports: 3,
        memory: 4 << 20,
        ..Limits::default()
    };
    let mut scene = broker_scene(97, limits);
    let path = scene.path.clone();
    scene.with(move || {
        let program = Program::open(&path);
        let (device, pd) = (&program.device, &program.pd);
        let qp = QpInit::new(&program.cq);
        more_than_it_may(&program, "domains", || device.alloc_pd());
        more_than_it_may(&program, "queue pairs", || pd.create_qp(&qp));
        let initiator = qp.clone().initiator();
        more_than_it_may(&program, "initiators", || pd.create_qp(&initiator));
        let srq = SrqInit {
            max_wr: 8,
            ..SrqInit::default()
        };
        more_than_it_may(&program, "shared receive queues", || pd.create_srq(&srq));
        more_than_it_may(&program, "windows", || pd.alloc_mw(MwType::Type2));
        let rights = Access::LOCAL_WRITE;
        more_than_it_may(&program, "regions", || pd.alloc_mr(4096, rights));
        let mut ports = PORT..;
        more_than_it_may(&program, "ports", || {
            let id = program.channel.create_id();
            let port = ports.next().unwrap_or(PORT);
            id.bind_addr(SocketAddrV4::new(device.ip(), port))?;
            id.listen(1).map(|()| id)
        });
        more_than_it_may(&program, "XRC domains", || device.alloc_xrcd());
        let xrcd = device.alloc_xrcd().expect("one");
        more_than_it_may(&program, "targets", || pd.create_qp(&xrcd.target()));
        more_than_it_may(&program, "their receive queues", || {
            pd.create_xrc_srq(&xrcd, &program.cq, &srq)
        });
        assert!(xrcd.open_target(77).is_err());
        let file = std::fs::File::open("/dev/null").expect("a file");
        let none = device.open_xrcd(file, XrcdOpen::Existing);
        assert_eq!(none.err(), Some(VerbsError::NoSuchXrcd));
        // Memory of a client's stays its own: this comes last.
        more_than_it_may(&program, "bytes", || pd.alloc_mr(1_500_000, rights));
        assert_eq!(device.get_async_event(), None);
    });
    scene.nothing_is_left();
    no_faults(&scene.bench);
}
