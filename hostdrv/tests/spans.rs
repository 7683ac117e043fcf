//! Every verb and every call of the connection manager has a span of its name. A program of its own: who listens to spans is decided for a process.

mod fake;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fake::FakeCard;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::dma::Pages;
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

/// Notes the names of spans.
#[derive(Default)]
struct Names {
    seen: Arc<Mutex<BTreeSet<&'static str>>>,
    next: AtomicU64,
}

impl Subscriber for Names {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let name = span.metadata().name();
        self.seen.lock().expect("no panic").insert(name);
        Id::from_u64(1 + self.next.fetch_add(1, Ordering::Relaxed))
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Everything once; what fails has its span as well.
fn everything() {
    let card = FakeCard::new();
    let config = DeviceConfig::new([2, 0, 0, 0, 0, 1], [10, 0, 0, 1].into());
    let device = Device::open(Arc::new(card), config).expect("nothing is wrong");
    let pd = device.alloc_pd().expect("a domain");
    let comp = device.create_comp_channel();
    let cq = device.create_cq(8, Some(&comp)).expect("a queue");
    let mr = pd.alloc_mr(100, Access::LOCAL_WRITE).expect("a region");
    pd.alloc_mr_at(100, 0, Access::LOCAL_WRITE)
        .expect("a region");
    let pages = Pages::new(1).expect("memory");
    let owned = pd.reg_owned(pages, Access::NONE).expect("a region");
    let part = owned.reg_part(&pd, 0, 8, Access::NONE).expect("a part");
    part.dereg().expect("nobody has it");
    // SAFETY: refused.
    unsafe { pd.reg_raw(std::ptr::NonNull::dangling(), 0, Access::NONE) }.expect_err("no bytes");
    // SAFETY: as above.
    unsafe { pd.reg_raw_at(std::ptr::NonNull::dangling(), 0, 0, Access::NONE) }
        .expect_err("no bytes");
    let channel = device.create_event_channel();
    let listener = channel.create_id();
    listener
        .bind_addr("10.0.0.1:1".parse().expect("an address"))
        .expect("free");
    listener.listen(1).expect("free");
    let id = channel.create_id();
    id.resolve_addr("10.0.0.2:1".parse().expect("an address"))
        .expect("possible");
    id.resolve_route().expect("possible");
    let qp = id.create_qp(&pd, &QpInit::new(&cq)).expect("a queue pair");
    id.connect(&ConnParam::default()).expect("possible");
    qp.post_recv(RecvWr::new(1).sge(mr.sge(0, 8)))
        .expect("room");
    qp.post_send(SendWr::send(1).inline(b"x")).expect("room");
    qp.state().expect("it has one");
    cq.req_notify(Notify::Any).expect("it has a channel");
    cq.poll_one().expect("works");
    cq.wait_one(Some(Duration::ZERO)).expect("works");
    comp.get_event(Some(Duration::ZERO)).expect("works");
    channel.get_event(Some(Duration::ZERO)).expect("works");
    id.accept(&ConnParam::default()).expect_err("no request");
    id.reject(b"").expect_err("no request");
    id.disconnect().expect("possible");
    qp.modify(QpState::Error).ok();
    device.get_async_event();
}

#[test]
fn every_call_has_its_span() {
    let names = Names::default();
    let seen = names.seen.clone();
    tracing::subscriber::with_default(names, everything);
    let seen = seen.lock().expect("no panic");
    for name in [
        "accept",
        "alloc_mr",
        "alloc_mr_at",
        "alloc_pd",
        "bind_addr",
        "bring_up",
        "cm_create_qp",
        "connect",
        "create_comp_channel",
        "create_cq",
        "create_event_channel",
        "create_id",
        "create_qp",
        "dealloc_pd",
        "dereg_mr",
        "destroy_id",
        "destroy_qp",
        "disconnect",
        "get_async_event",
        "get_cm_event",
        "get_cq_event",
        "listen",
        "modify_qp",
        "poll_cq",
        "post_recv",
        "post_send",
        "progress",
        "query_qp",
        "reg_raw",
        "reg_raw_at",
        "reg_owned",
        "reg_part",
        "reject",
        "req_notify_cq",
        "resolve_addr",
        "resolve_route",
        "wait_cq",
    ] {
        assert!(seen.contains(name), "no span {name} in {seen:?}");
    }
}
