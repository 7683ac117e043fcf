//! Misuse of the verbs and of the connection manager gets a typed error, and changes nothing.

use crate::fake;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use fake::{FakeCard, Fault};
use weft_hostdrv::cm::{CmError, CmEventType, CmState, ConnParam};
use weft_hostdrv::dma::{page_size, Pages};
use weft_hostdrv::verbs::{
    Access, Cq, Mr, Notify, Pd, Qp, QpCap, QpInit, QpState, RecvWr, RemoteRegion, SendWr,
    VerbsError, WcStatus,
};
use weft_hostdrv::{Device, DeviceConfig, DeviceError};
use weft_layout::{doorbell, reg, table, ReceiveElement, StagRow};

const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fn open(card: &FakeCard) -> Device {
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], Ipv4Addr::new(10, 0, 0, 1));
    Device::open(Arc::new(card.clone()), config).expect("nothing is wrong")
}

struct Setup {
    card: FakeCard,
    device: Device,
    pd: Pd,
    cq: Cq,
    mr: Mr,
    qp: Qp,
}

const CAP: QpCap = QpCap {
    max_send_wr: 4,
    max_recv_wr: 4,
    max_send_sge: 2,
    max_recv_sge: 3,
    max_inline_data: 32,
};

fn set_up() -> Setup {
    let card = FakeCard::new();
    let device = open(&card);
    let pd = device.alloc_pd().expect("a domain");
    let cq = device.create_cq(16, None).expect("a queue");
    let mr = pd
        .alloc_mr(1000, Access::LOCAL_WRITE | Access::READ_SINK)
        .expect("a region");
    let qp = pd
        .create_qp(&QpInit {
            cap: CAP,
            ..QpInit::new(&cq)
        })
        .expect("a queue pair");
    Setup {
        card,
        device,
        pd,
        cq,
        mr,
        qp,
    }
}

/// A queue pair whose connection is under way, so that work may be posted.
fn connecting(setup: &Setup, cap: QpCap, cq: &Cq) -> Qp {
    let channel = setup.device.create_event_channel();
    let id = channel.create_id();
    id.resolve_addr(SocketAddrV4::new(PEER, 4791))
        .expect("possible");
    id.resolve_route().expect("possible");
    let qp = id
        .create_qp(
            &setup.pd,
            &QpInit {
                cap,
                ..QpInit::new(cq)
            },
        )
        .expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    assert_eq!(id.state(), CmState::Connecting);
    // The identifier's end would be the connection's.
    std::mem::forget(id);
    qp
}

const REMOTE: RemoteRegion = RemoteRegion {
    addr: 0x1000,
    rkey: 0x100,
    length: 4096,
};

#[test]
fn regions_are_the_cards_while_they_live() {
    let Setup {
        card,
        device,
        pd,
        mr,
        ..
    } = set_up();
    let row = || {
        card.lock()
            .rows
            .get(&(table::STAG, mr.lkey() >> 8))
            .map(StagRow::from_bytes)
    };
    let registered = row().expect("the row was written");
    assert_eq!(
        (
            registered.valid,
            u32::from(registered.key),
            registered.base,
            registered.length
        ),
        (1, mr.lkey() & 0xff, mr.addr(), 1000)
    );
    // The right to a Read's answer is there while a Read is under way.
    assert_eq!(registered.access, Access::LOCAL_WRITE.bits());
    mr.write(990, &[7; 10]).expect("inside");
    assert_eq!(card.dma_read(registered.iova + 990, 10), [7; 10]);
    assert!(matches!(
        mr.write(990, &[7; 11]),
        Err(VerbsError::OutOfBounds(_))
    ));
    assert!(matches!(
        mr.to_vec(usize::MAX, 2),
        Err(VerbsError::OutOfBounds(_))
    ));

    let part = mr
        .reg_part(&pd, 100, 10, Access::REMOTE_READ)
        .expect("a part");
    assert_ne!(part.lkey(), mr.lkey());
    assert_eq!(part.to_vec(0, 10).expect("inside").len(), 10);
    assert!(matches!(
        mr.reg_part(&pd, 995, 10, Access::NONE),
        Err(VerbsError::OutOfBounds(_))
    ));

    let iova = registered.iova;
    let (lkey, mapped) = (mr.lkey(), |card: &FakeCard| {
        card.lock().memory.contains_key(&iova)
    });
    card.set(reg::STATUS, 0);
    let fences = |card: &FakeCard| {
        let inner = card.lock();
        let writes = inner.writes.iter().filter(|w| w.0 == reg::FENCE);
        writes.map(|w| w.1).collect::<Vec<_>>()
    };
    card.lock().fault = Some(Fault::Register(reg::FENCE_DONE, 0));
    drop((mr, part));
    assert_eq!(
        card.lock().rows[&(table::STAG, lkey >> 8)][0],
        0,
        "the STag is invalid at once"
    );
    device.progress().expect("nothing is wrong");
    device.progress().expect("nothing is wrong");
    assert!(mapped(&card), "unmapped before the fence");
    assert_eq!(fences(&card), [1], "one fence, behind the STag's end");
    // The card need not come to rest.
    card.lock().fault = None;
    device.progress().expect("nothing is wrong");
    assert!(!mapped(&card), "stays mapped");
}

#[test]
fn a_region_owns_its_memory() {
    let Setup { card, pd, .. } = set_up();
    let pages = Pages::new(100_000).expect("memory");
    let mr = pd.reg_owned(pages, Access::LOCAL_WRITE).expect("a region");
    assert!(mr.len() >= 100_000);
    mr.write(99_999, &[5]).expect("inside");
    // One block, many small regions, one mapping.
    let parts: Vec<_> = (0..200)
        .map(|n| {
            mr.reg_part(&pd, n * 500, 100, Access::LOCAL_WRITE)
                .expect("a part")
        })
        .collect();
    assert_eq!(card.lock().foreign.len(), 1);
    drop(parts);
    mr.dereg().expect("unmapped");
    assert!(card.lock().foreign.is_empty());
    let map = memmap2::MmapMut::map_anon(10_000).expect("memory");
    let mr = pd.reg_owned(map, Access::LOCAL_WRITE).expect("a region");
    assert_eq!(mr.len(), 10_000);
    assert_eq!(
        card.lock().foreign.values().next().expect("mapped").len() % page_size(),
        0
    );
    mr.dereg().expect("unmapped");
}

/// A region that nobody has a handle of stays as long as work that was posted before uses it, and no longer: work of another queue pair, or
/// with another region, does not keep it.
#[test]
fn work_keeps_its_regions() {
    let setup = set_up();
    let Setup {
        card,
        device,
        pd,
        mr,
        ..
    } = &setup;
    let cq = device.create_cq(64, None).expect("a queue");
    let qps = [connecting(&setup, CAP, &cq), connecting(&setup, CAP, &cq)];
    let is_there = |lkey: u32| {
        let row = card.lock().rows[&(table::STAG, lkey >> 8)][0];
        row & StagRow::VALID != 0
    };
    let region = || pd.alloc_mr(64, Access::LOCAL_WRITE | Access::READ_SINK);
    let regions: Vec<Mr> = (0..5).map(|_| region().expect("a region")).collect();
    let lkeys: Vec<u32> = regions.iter().map(Mr::lkey).collect();
    qps[0]
        .post_recv(RecvWr::new(0).sge(regions[0].sge(0, 8)))
        .expect("room");
    qps[0]
        .post_send(SendWr::send(1).sges(&[mr.sge(0, 8), regions[1].sge(8, 8)]))
        .expect("room");
    qps[1]
        .post_send(SendWr::read(2, REMOTE).sge(regions[2].sge(0, 8)))
        .expect("room");
    // A part of no bytes is no use.
    qps[1]
        .post_send(SendWr::send(3).sge(regions[3].sge(0, 0)))
        .expect("room");
    for mr in regions {
        let lkey = mr.lkey();
        // That card does no jobs, so what it may be busy with stays mapped.
        let answer = match lkeys.iter().position(|key| *key == lkey) {
            Some(0..=2) => VerbsError::RegionInUse { lkey, uses: 0 },
            _ => VerbsError::StaysMapped { lkey },
        };
        assert_eq!(mr.dereg().map_err(VerbsError::from), Err(answer));
    }
    let there = || lkeys.iter().map(|lkey| is_there(*lkey)).collect::<Vec<_>>();
    assert_eq!(there(), [true, true, true, false, false]);
    qps[1].modify(QpState::Error).expect("possible");
    assert_eq!(there(), [true, true, false, false, false]);
    qps[0].modify(QpState::Error).expect("possible");
    assert_eq!(there(), [false; 5]);
    // A queue pair that goes lets go as well.
    let qp = pd.create_qp(&QpInit::new(&cq)).expect("a queue pair");
    let mr = region().expect("a region");
    let lkey = mr.lkey();
    qp.post_recv(RecvWr::new(0).sge(mr.sge(0, 8)))
        .expect("room");
    drop(mr);
    assert!(is_there(lkey));
    drop(qp);
    assert!(!is_there(lkey));
}

#[test]
fn sges_are_checked() {
    let setup = set_up();
    let Setup { device, pd, mr, .. } = &setup;
    let cq = device.create_cq(64, None).expect("a queue");
    let qp = connecting(&setup, CAP, &cq);
    let recv = |sge| qp.post_recv(RecvWr::new(1).sge(sge));

    for (offset, length) in [(0, 1001), (1000, 1), (u64::MAX, 2)] {
        let error = recv(mr.sge(offset, length)).expect_err("beyond the region");
        assert!(
            matches!(error, VerbsError::SgeBeyondMr { region: 1000, .. }),
            "{error}"
        );
        let error = qp
            .post_send(SendWr::send(1).sge(mr.sge(offset, length)))
            .expect_err("beyond the region");
        assert!(
            matches!(error, VerbsError::SgeBeyondMr { region: 1000, .. }),
            "{error}"
        );
    }

    let other_pd = device.alloc_pd().expect("a domain");
    let stranger = other_pd.alloc_mr(8, Access::LOCAL_WRITE).expect("a region");
    let error = recv(stranger.sge(0, 8)).expect_err("another domain");
    assert!(
        matches!(error, VerbsError::WrongPd { lkey, .. } if lkey == stranger.lkey()),
        "{error}"
    );

    let other_device = open(&FakeCard::new());
    let foreign = other_device
        .alloc_pd()
        .and_then(|pd| pd.alloc_mr(8, Access::LOCAL_WRITE))
        .expect("a region");
    assert_eq!(
        recv(foreign.sge(0, 8)),
        Err(VerbsError::WrongDevice { what: "region" })
    );

    let read_only = pd.alloc_mr(8, Access::REMOTE_READ).expect("a region");
    let error = recv(read_only.sge(0, 8)).expect_err("no local write");
    assert!(
        matches!(
            error,
            VerbsError::NoAccess {
                name: "LOCAL_WRITE",
                ..
            }
        ),
        "{error}"
    );
    let error = qp
        .post_send(SendWr::read(1, REMOTE).sge(read_only.sge(0, 8)))
        .expect_err("no Read sink");
    assert!(
        matches!(
            error,
            VerbsError::NoAccess {
                name: "READ_SINK",
                ..
            }
        ),
        "{error}"
    );
    qp.post_send(SendWr::send(1).sge(read_only.sge(0, 8)))
        .expect("any region can be sent from");

    let list = [0, 1, 2, 3].map(|offset| mr.sge(offset, 1));
    assert_eq!(
        qp.post_send(SendWr::send(1).sges(&list[..3])),
        Err(VerbsError::TooManySges { given: 3, max: 2 })
    );
    assert_eq!(
        qp.post_recv(RecvWr::new(1).sges(&list)),
        Err(VerbsError::TooManySges { given: 4, max: 3 })
    );
}

#[test]
fn inline_and_flags_are_checked() {
    let setup = set_up();
    let cq = setup.device.create_cq(64, None).expect("a queue");
    let qp = connecting(&setup, CAP, &cq);
    let long = SendWr::send(1).inline(&[0; 33]);
    assert_eq!(
        qp.post_send(long),
        Err(VerbsError::InlineTooLong { given: 33, max: 32 })
    );
    let read = SendWr::read(1, REMOTE).inline(&[0; 3]);
    assert_eq!(qp.post_send(read), Err(VerbsError::InlineRead));
    let both = SendWr::send(1).inline(&[0; 3]).sge(setup.mr.sge(0, 1));
    assert_eq!(qp.post_send(both), Err(VerbsError::MixedPayload));
    let twice = RecvWr::new(1).sge(setup.mr.sge(0, 1));
    let twice = twice.sge(setup.mr.sge(1, 1));
    assert_eq!(qp.post_recv(twice), Err(VerbsError::MixedPayload));
    let solicited = SendWr::write(1, REMOTE).solicited();
    assert_eq!(
        qp.post_send(solicited),
        Err(VerbsError::MeaninglessFlag {
            flag: "solicited",
            work: "Write"
        })
    );
    qp.post_send(SendWr::send(1).inline(&[0; 32]))
        .expect("32 bytes are possible");
}

#[test]
fn queues_fill_up() {
    let setup = set_up();
    let Setup {
        card, device, mr, ..
    } = &setup;
    let cq = device.create_cq(64, None).expect("a queue");
    let qp = connecting(&setup, CAP, &cq);
    for n in 0..4 {
        qp.post_recv(RecvWr::new(n).sge(mr.sge(8 * n, 8)))
            .expect("room");
        qp.post_send(SendWr::send(n).sge(mr.sge(0, 8)))
            .expect("room");
    }
    assert_eq!(
        qp.post_recv(RecvWr::new(4)),
        Err(VerbsError::RecvQueueFull { depth: 4 })
    );
    assert_eq!(
        qp.post_send(SendWr::send(4)),
        Err(VerbsError::SendQueueFull { depth: 4 })
    );
    // The elements are where the card looks for them.
    assert_eq!(
        card.doorbell(doorbell::RQ_TAIL + 4 * u32::from(qp.flow())),
        Some(4)
    );

    // A completion queue without room for another completion.
    let small = device.create_cq(3, None).expect("a queue");
    let qp = connecting(&setup, CAP, &small);
    qp.post_recv(RecvWr::new(0)).expect("room");
    qp.post_send(SendWr::send(1)).expect("room");
    qp.post_send(SendWr::send(2)).expect("room");
    assert_eq!(
        qp.post_recv(RecvWr::new(3)),
        Err(VerbsError::CqFull { cqe: 3 })
    );
    // In the error state everything comes back, flushed.
    qp.modify(QpState::Error).expect("possible");
    let wcs = small.poll(8).expect("works");
    assert_eq!(wcs.len(), 3, "{wcs:?}");
    assert!(wcs
        .iter()
        .all(|wc| wc.status == weft_hostdrv::verbs::WcStatus::WrFlushError));
    qp.post_recv(RecvWr::new(3)).expect("room again");
}

/// A list is posted up to the first that is refused, and all of it before that is there.
#[test]
fn a_list_says_how_far_it_came() {
    let setup = set_up();
    let Setup {
        card, device, mr, ..
    } = &setup;
    let cq = device.create_cq(64, None).expect("a queue");
    let qp = connecting(&setup, CAP, &cq);
    let recv = |n| RecvWr::new(n).sge(mr.sge(0, 8));
    assert_eq!(qp.post_recv_list((0..3).map(recv)), Ok(()));
    assert_eq!(
        qp.post_recv_list((3..9).map(recv)),
        Err((1, VerbsError::RecvQueueFull { depth: 4 }))
    );
    assert_eq!(
        card.doorbell(doorbell::RQ_TAIL + 4 * u32::from(qp.flow())),
        Some(4)
    );
    let send = |n| SendWr::send(n).sge(mr.sge(0, 8));
    let list = [
        send(10),
        send(11),
        SendWr::send(12).sge(mr.sge(4096, 1)),
        send(13),
    ];
    let refused = qp.post_send_list(list);
    assert!(
        matches!(refused, Err((2, VerbsError::SgeBeyondMr { .. }))),
        "{refused:?}"
    );
    qp.modify(QpState::Error).expect("possible");
    let mut ids: Vec<_> = cq
        .poll(64)
        .expect("works")
        .iter()
        .map(|wc| wc.wr_id)
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2, 3, 10, 11]);
    assert_eq!(qp.post_send_list([]), Ok(()));
}

/// A deferred device sends when it is asked to make progress, and not before.
#[test]
fn deferred_posts_wait_for_progress() {
    let card = FakeCard::new();
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into()).deferred();
    let device = Device::open(Arc::new(card.clone()), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE).expect("a region");
    let cq = device.create_cq(16, None).expect("a queue");
    let qp = pd.create_qp(&QpInit::new(&cq)).expect("a queue pair");
    let tail = doorbell::RQ_TAIL + 4 * u32::from(qp.flow());
    qp.post_recv(RecvWr::new(1).sge(mr.sge(0, 8)))
        .expect("room");
    assert_eq!(card.doorbell(tail), Some(0));
    device.progress().expect("it works");
    assert_eq!(card.doorbell(tail), Some(1));
}

#[test]
fn receive_elements_hold_the_sges_that_have_bytes() {
    let Setup { card, mr, qp, .. } = set_up();
    let list = [mr.sge(0, 5), mr.sge(9, 0), mr.sge(7, 11)];
    qp.post_recv(RecvWr::new(1).sges(&list)).expect("room");
    // Wherever the receive queue is: the only memory with this in it is the new element.
    let starts_like = |bytes: &[u8]| bytes.starts_with(&mr.addr().to_le_bytes()) && bytes[8] == 5;
    let inner = card.lock();
    let all = inner.memory.values().map(|pages| pages.memory());
    let found: Vec<[u8; 64]> = all
        .flat_map(|memory| memory.to_vec(0, memory.len()).expect("inside"))
        .collect::<Vec<_>>()
        .chunks_exact(64)
        .filter(|slot| starts_like(slot))
        .map(|slot| slot.try_into().expect("64 bytes"))
        .collect();
    let [bytes] = found[..] else {
        panic!("{} elements", found.len());
    };
    let element = ReceiveElement::from_bytes(&bytes);
    assert_eq!(
        (element.sge0_to, element.sge0_length, element.sge0_stag),
        (mr.addr(), 5, mr.lkey())
    );
    assert_eq!(
        (element.sge1_to, element.sge1_length, element.sge1_stag),
        (mr.addr() + 7, 11, mr.lkey())
    );
    assert_eq!(element.sge2_length, 0);
}

#[test]
fn states_and_sizes_are_checked() {
    let Setup {
        device,
        pd,
        cq,
        mr,
        qp,
        ..
    } = set_up();
    let error = qp
        .post_send(SendWr::send(1).sge(mr.sge(0, 1)))
        .expect_err("not connected");
    assert_eq!(
        error,
        VerbsError::WrongQpState {
            operation: "post_send",
            state: QpState::Idle
        }
    );
    assert!(error.to_string().contains("connect or accept first"));
    qp.post_recv(RecvWr::new(1).sge(mr.sge(0, 1)))
        .expect("possible before the connection");

    for cap in [
        QpCap {
            max_send_wr: 0,
            ..CAP
        },
        QpCap {
            max_recv_wr: 32769,
            ..CAP
        },
        QpCap {
            max_send_sge: 17,
            ..CAP
        },
        QpCap {
            max_recv_sge: 0,
            ..CAP
        },
        QpCap {
            max_recv_sge: 5,
            ..CAP
        },
        QpCap {
            max_inline_data: 257,
            ..CAP
        },
    ] {
        let error = pd
            .create_qp(&QpInit {
                cap,
                ..QpInit::new(&cq)
            })
            .expect_err("out of range");
        assert!(
            matches!(error, VerbsError::InvalidSize { .. }),
            "{cap:?}: {error}"
        );
    }
    assert!(matches!(
        device.create_cq(0, None),
        Err(VerbsError::InvalidSize { .. })
    ));
    let other = open(&FakeCard::new());
    assert!(matches!(
        other.create_cq(1, Some(&device.create_comp_channel())),
        Err(VerbsError::WrongDevice { .. })
    ));
    let alien = other.create_cq(1, None).expect("a queue");
    assert!(matches!(
        pd.create_qp(&QpInit::new(&alien)),
        Err(VerbsError::WrongDevice { .. })
    ));
    assert_eq!(cq.req_notify(Notify::Any), Err(VerbsError::NoChannel));
}

#[test]
fn resources_end() {
    let setup = set_up();
    let Setup {
        card,
        device,
        pd,
        cq,
        ..
    } = &setup;
    // One of 16 flows is in use.
    let qps: Vec<_> = (0..15)
        .map(|_| pd.create_qp(&QpInit::new(cq)).expect("a flow"))
        .collect();
    assert!(matches!(
        pd.create_qp(&QpInit::new(cq)),
        Err(VerbsError::Refused(_))
    ));
    drop(qps);
    pd.create_qp(&QpInit::new(cq)).expect("a flow again");
    // STag index 0 is never used, and one is in use.
    let mrs: Vec<_> = (0..254)
        .map(|_| pd.alloc_mr(8, Access::NONE).expect("an STag"))
        .collect();
    assert!(matches!(
        pd.alloc_mr(8, Access::NONE),
        Err(VerbsError::Refused(_))
    ));
    drop(mrs);
    pd.alloc_mr(8, Access::NONE).expect("an STag again");

    card.lock().fault = Some(Fault::NoMemory);
    assert!(matches!(
        pd.alloc_mr(8, Access::NONE),
        Err(VerbsError::Device(DeviceError::Transport(_)))
    ));
    assert_eq!(device.progress(), Ok(0), "not a failure of the device");
}

#[test]
fn a_refused_table_row_ends_the_device() {
    let Setup {
        card, device, pd, ..
    } = set_up();
    card.lock().fault = Some(Fault::TablesRefuse);
    let error = pd.alloc_mr(8, Access::NONE).expect_err("the card refuses");
    assert!(
        matches!(
            error,
            VerbsError::Device(DeviceError::TableRefused {
                table: table::STAG,
                ..
            })
        ),
        "{error}"
    );
    assert!(device.progress().is_err());
}

#[test]
fn identifiers_go_through_their_states() {
    let Setup { device, pd, cq, .. } = set_up();
    let channel = device.create_event_channel();
    let id = channel.create_id();
    let wrong = |operation, state| Err(CmError::WrongState { operation, state });
    assert_eq!(id.resolve_route(), wrong("resolve_route", CmState::Idle));
    assert_eq!(
        id.connect(&ConnParam::default()),
        wrong("connect", CmState::Idle)
    );
    assert_eq!(
        id.accept(&ConnParam::default()),
        wrong("accept", CmState::Idle)
    );
    assert_eq!(id.reject(&[]), wrong("reject", CmState::Idle));
    assert_eq!(id.disconnect(), wrong("disconnect", CmState::Idle));
    let stranger = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 77), 0);
    assert!(matches!(
        id.bind_addr(stranger),
        Err(CmError::NotLocal { .. })
    ));
    id.resolve_addr(SocketAddrV4::new(PEER, 1))
        .expect("possible");
    id.resolve_route().expect("possible");
    let event = || {
        channel
            .try_get_event()
            .expect("works")
            .map(|event| event.event)
    };
    assert_eq!(event(), Some(CmEventType::AddrResolved));
    assert_eq!(event(), Some(CmEventType::RouteResolved));
    assert_eq!(event(), None);
    assert_eq!(
        id.connect(&ConnParam::default()),
        Err(CmError::NoQp {
            operation: "connect"
        })
    );
    let qp = id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
    assert!(
        matches!(id.create_qp(&pd, &QpInit::new(&cq)), Err(CmError::HasQp(n)) if n == qp.qp_num())
    );
    let long = ConnParam {
        private_data: vec![0; 509],
        ..ConnParam::default()
    };
    assert!(matches!(
        id.connect(&long),
        Err(CmError::Refused(
            weft_engine::Error::PrivateDataTooLong { .. }
        ))
    ));
    let old = ConnParam {
        mpa_revision: weft_hostdrv::cm::Revision::Rev1,
        peer_to_peer: Some(true),
        ..ConnParam::default()
    };
    assert_eq!(
        id.connect(&old),
        Err(CmError::Refused(weft_engine::Error::InvalidPeerToPeer))
    );
    id.connect(&ConnParam::default()).expect("now");
    assert_eq!(
        id.connect(&ConnParam::default()),
        wrong("connect", CmState::Connecting)
    );
}

#[test]
fn addresses_that_cannot_be_reached() {
    let Setup { device, .. } = set_up();
    let channel = device.create_event_channel();
    for ip in [
        "10.0.1.2",
        "10.0.0.0",
        "10.0.0.255",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "127.0.0.1",
    ] {
        let id = channel.create_id();
        id.resolve_addr(SocketAddrV4::new(ip.parse().expect("an address"), 1))
            .expect("answers by event");
        let event = channel.try_get_event().expect("works").expect("an event");
        assert_eq!(
            (event.event, event.status),
            (CmEventType::AddrError, -113),
            "{ip}"
        );
    }
}

#[test]
fn listeners_have_their_port_alone() {
    let Setup { device, .. } = set_up();
    let channel = device.create_event_channel();
    let first = channel.create_id();
    first
        .bind_addr(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 4791))
        .expect("possible");
    first.listen(4).expect("free");
    let second = channel.create_id();
    second
        .bind_addr(SocketAddrV4::new(device.ip(), 4791))
        .expect("possible");
    assert_eq!(
        second.listen(4),
        Err(CmError::Refused(weft_engine::Error::PortInUse(4791)))
    );
    drop(first);
    second.listen(4).expect("free again");
    let any = channel.create_id();
    any.listen(1).expect("some port");
    assert_ne!(any.local_addr().port(), 0);
}

#[test]
fn a_card_that_does_nothing_is_noticed() {
    let setup = set_up();
    let Setup { card, device, .. } = &setup;
    let cq = device.create_cq(8, None).expect("a queue");
    // Connecting sends an ARP request, which this card never does.
    let _qp = connecting(&setup, CAP, &cq);
    assert!(card
        .doorbell(doorbell::JOB_TAIL)
        .is_some_and(|tail| tail > 0));
    let job = card.dma_read(card.address(reg::JOB_BASE_LO), 128);
    assert_eq!(job[0], 1, "a raw frame");
    let error = loop {
        if let Err(error) = device.progress() {
            break error;
        }
        let next = device.now() + Duration::from_millis(500).as_nanos() as u64;
        assert!(next < 60_000_000_000, "not noticed in a minute");
        device.wait(Some(next)).expect("waits");
    };
    assert!(
        matches!(error, DeviceError::Stuck { done: 0, .. }),
        "{error}"
    );
}

/// What a refused request had promised is given back: afterwards there is room for exactly as much as before.
#[test]
fn a_refusal_takes_no_place() {
    let setup = set_up();
    let Setup { device, mr, .. } = &setup;
    let cq = device.create_cq(6, None).expect("a queue");
    // Room in the send queue for all that the completion queue takes: it comes back when a completion is polled.
    let cap = QpCap {
        max_send_wr: 8,
        ..CAP
    };
    let qp = connecting(&setup, cap, &cq);
    let recv = |n| qp.post_recv(RecvWr::new(n).sge(mr.sge(0, 8)));
    let send = |n| qp.post_send(SendWr::send(n).sge(mr.sge(0, 8)).signaled());
    (0..4).for_each(|n| recv(n).expect("room"));
    for _ in 0..100 {
        assert_eq!(recv(9), Err(VerbsError::RecvQueueFull { depth: 4 }));
    }
    (4..6).for_each(|n| send(n).expect("room"));
    for _ in 0..100 {
        assert_eq!(send(9), Err(VerbsError::CqFull { cqe: 6 }));
    }
    // Nothing was polled until now: each completion has its place, and each place one completion.
    qp.modify(QpState::Error).expect("possible");
    assert_eq!(send(9), Err(VerbsError::CqFull { cqe: 6 }));
    for left in 0..6 {
        let wc = cq.poll_one().expect("works").expect("a completion");
        assert_eq!(
            (wc.wr_id < 6, wc.status),
            (true, WcStatus::WrFlushError),
            "{left}"
        );
        // One was taken: one more is possible, and is flushed into its place at once.
        send(100 + left).expect("room for one");
        assert_eq!(send(9), Err(VerbsError::CqFull { cqe: 6 }));
    }
    let rest: Vec<_> = cq
        .poll(10)
        .expect("works")
        .iter()
        .map(|wc| wc.wr_id)
        .collect();
    assert_eq!(rest, [100, 101, 102, 103, 104, 105]);
}

/// The same for queue pairs and regions: a hundred refusals, and as many fit as if there had been none.
#[test]
fn a_refusal_takes_no_row() {
    let fit = |refusals: usize| {
        let Setup {
            card,
            device,
            pd,
            cq,
            ..
        } = set_up();
        card.lock().fault = Some(Fault::NoMemory);
        for _ in 0..refusals {
            assert!(pd.alloc_mr(100, Access::LOCAL_WRITE).is_err());
            assert!(pd
                .create_qp(&QpInit {
                    cap: CAP,
                    ..QpInit::new(&cq)
                })
                .is_err());
        }
        card.lock().fault = None;
        let qps: Vec<_> = std::iter::from_fn(|| {
            pd.create_qp(&QpInit {
                cap: CAP,
                ..QpInit::new(&cq)
            })
            .ok()
        })
        .collect();
        let mrs: Vec<_> = std::iter::from_fn(|| pd.alloc_mr(100, Access::LOCAL_WRITE).ok())
            .take(1000)
            .collect();
        device.progress().expect("nothing is wrong");
        (qps.len(), mrs.len())
    };
    let all = fit(0);
    assert!(all.0 > 10 && all.1 > 200 && all.1 < 1000, "{all:?}");
    assert_eq!(fit(100), all);
}
