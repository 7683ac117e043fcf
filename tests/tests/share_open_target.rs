//! `ibv_open_qp` on devices that a broker lends: a target of another client's, by its number and the domain that both have.

use std::fs::File;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::ends::PORT;
use weft_tests::left_out_on_card;
use weft_tests::lent_program::{two_programs, until, Program};

const BYTES: u32 = 5000;

/// A file that names a domain, beside the broker's socket.
fn file(path: &Path, name: &str) -> File {
    let mut options = File::options();
    let opened = options.create(true).append(true);
    opened.open(path.with_extension(name)).expect("a file")
}

fn domain(program: &Program, path: &Path) -> Xrcd {
    let opened = program
        .device
        .open_xrcd(file(path, "domain"), XrcdOpen::OrNew);
    opened.expect("lent")
}

/// One client accepts with a target, and takes what is sent; the other one, which sends, opens the target again and again, and as often lets go of it.
#[test]
fn a_target_of_another_client_is_opened() {
    if left_out_on_card("a_target_of_another_client_is_opened", "it has a broker") {
        return;
    }
    const ROUNDS: u64 = 20;
    let (tell, told) = channel();
    let server = move |path: PathBuf| {
        let program = Program::open(&path);
        let xrcd = domain(&program, &path);
        let init = SrqInit {
            max_wr: 4,
            ..SrqInit::default()
        };
        let srq = program.pd.create_xrc_srq(&xrcd, &program.cq, &init);
        let srq = srq.expect("lent");
        let mr = program.pd.alloc_mr(BYTES as usize, Access::LOCAL_WRITE);
        let mr = mr.expect("lent");
        let listener = program.listen(PORT);
        tell.send(srq.srq_num()).expect("a client");
        let request = program.wanted(CmEventType::ConnectRequest);
        let made = request.id.create_qp(&program.pd, &xrcd.target());
        let target = made.expect("lent");
        tell.send(target.qp_num()).expect("a client");
        request.id.accept(&ConnParam::default()).expect("possible");
        program.wanted(CmEventType::Established);
        for wr_id in 0..ROUNDS {
            let wr = RecvWr::new(wr_id).sge(mr.sge(0, BYTES));
            srq.post_recv(wr).expect("room");
            tell.send(0).expect("a client");
            let wc = program.next();
            assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
            assert_eq!(wc.qp_num, target.qp_num());
        }
        program.wanted(CmEventType::Disconnected);
        drop((request.id, target, listener));
        srq.destroy().expect("nobody has it");
    };
    let client = move |path: PathBuf| {
        let program = Program::open(&path);
        let xrcd = domain(&program, &path);
        let srq = told.recv().expect("a server");
        let to = SocketAddrV4::new(program.device.ip(), PORT);
        let init = QpInit::new(&program.cq).initiator();
        let id = program.resolved(to, &init);
        id.connect(&ConnParam::default()).expect("possible");
        program.wanted(CmEventType::Established);
        let target = told.recv().expect("a server");
        // What is no target, and what is one of another domain.
        let own = id.qp().expect("has one").qp_num();
        let other = program
            .device
            .open_xrcd(file(&path, "other"), XrcdOpen::New);
        let other = other.expect("lent");
        assert!(other.open_target(target).is_err());
        for none in [0, own, u32::MAX, target + 1] {
            assert!(xrcd.open_target(none).is_err(), "{none}");
        }
        let mr = program.pd.alloc_mr(BYTES as usize, Access::LOCAL_WRITE);
        let mr = mr.expect("lent");
        for wr_id in 0..ROUNDS {
            assert_eq!(told.recv().expect("a server"), 0);
            let opened = xrcd.open_target(target).expect("it is there");
            assert_eq!(opened.qp_num(), target);
            assert!(matches!(opened.kind(), QpKind::XrcTarget(of) if of.is(&xrcd)));
            assert_eq!(opened.state().expect("asked"), QpState::Rts);
            let again = xrcd.open_target(target).expect("it is there");
            assert_eq!(again.number_in_commands(), opened.number_in_commands());
            let wr = SendWr::send(wr_id).sge(mr.sge(0, BYTES));
            let qp = id.qp().expect("has one");
            qp.post_send(wr.to_srq(srq).signaled()).expect("room");
            drop((opened, again));
            let wc = program.next();
            assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
        }
        // Threads that open it and let go of it, each while others do.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let opened = xrcd.open_target(target).expect("it is there");
                        assert_eq!(opened.state().expect("asked"), QpState::Rts);
                    }
                });
            }
        });
        id.disconnect().expect("possible");
        program.wanted(CmEventType::Disconnected);
        drop(id);
        // Who made it has gone, and nobody else has it.
        until(|| xrcd.open_target(target).err());
    };
    two_programs(98, server, client);
}
