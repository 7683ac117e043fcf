//! What a file to wait by costs, and what it is good for on a device that defers.

use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use weft_hostdrv::cm::{ConnParam, LoopbackHost};
use weft_hostdrv::device::Readiness;
use weft_hostdrv::dma::DmaBuffer;
use weft_hostdrv::transport::{Bar, NoCard, Transport, TransportError};
use weft_hostdrv::verbs::*;
use weft_hostdrv::{Device, DeviceConfig};

/// No card, whose interrupt is counted when it is asked for: each time is two system calls.
struct Counted(NoCard, AtomicU64);

impl Transport for Counted {
    fn read32(&self, bar: Bar, offset: u32) -> Result<u32, TransportError> {
        self.0.read32(bar, offset)
    }
    fn write32(&self, bar: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
        self.0.write32(bar, offset, value)
    }
    fn write_block(&self, bar: Bar, offset: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.0.write_block(bar, offset, bytes)
    }
    fn config_read32(&self, offset: u16) -> Result<u32, TransportError> {
        self.0.config_read32(offset)
    }
    fn dma_alloc(&self, len: usize) -> Result<DmaBuffer, TransportError> {
        self.0.dma_alloc(len)
    }
    unsafe fn map(&self, ptr: NonNull<u8>, len: usize) -> Result<u64, TransportError> {
        // SAFETY: the caller's contract.
        unsafe { self.0.map(ptr, len) }
    }
    fn unmap(&self, iova: u64, len: usize) -> Result<(), TransportError> {
        self.0.unmap(iova, len)
    }
    fn now(&self) -> u64 {
        self.0.now()
    }
    fn wait(&self, vector: u16, deadline: Option<u64>) -> Result<bool, TransportError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.wait(vector, deadline)
    }
    fn wake(&self, vector: u16) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.wake(vector);
    }
    fn interrupt_fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        self.0.interrupt_fd(vector)
    }
    fn has_card(&self) -> bool {
        false
    }
    fn reset(&self) -> Result<(), TransportError> {
        self.0.reset()
    }
    fn name(&self) -> String {
        self.0.name()
    }
}

fn counted() -> (Device, Arc<Counted>) {
    let card = Arc::new(Counted(NoCard::new().expect("eventfds"), AtomicU64::new(0)));
    let config = DeviceConfig::at([10, 0, 0, 1].into()).seed(1);
    (
        Device::open(card.clone(), config).expect("it comes up"),
        card,
    )
}

fn is_readable(file: &Readiness) -> bool {
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&at_once)).expect("it polls") > 0
}

/// Polls that find nothing: without a file, after there was one, while there is one.
#[test]
fn empty_polls_make_no_system_calls() {
    let (device, card) = counted();
    let cq = device.create_cq(16, None).expect("a queue");
    let calls = || {
        let before = card.1.load(Ordering::Relaxed);
        for _ in 0..1000 {
            assert_eq!(cq.poll_one(), Ok(None));
        }
        card.1.load(Ordering::Relaxed) - before
    };
    assert_eq!(calls(), 0, "there was no file");
    let file = device.readiness().expect("a file");
    let with_file = calls();
    assert!(with_file <= 12, "{with_file} of 1000, with a file");
    drop(file);
    assert_eq!(calls(), 0, "the file is gone");
    let _file = device.readiness().expect("a file again");
    assert!((1..=12).contains(&calls()), "it counts again");
}

/// A device that defers, and a program that does nothing but wait by files: what it posts is sent.
#[test]
fn a_post_on_a_deferred_device_is_sent_while_there_is_a_file() {
    let host = LoopbackHost::new();
    let device = |n: u8| {
        let config = DeviceConfig::at([10, 0, 0, n].into()).seed(1).deferred();
        let device = Device::without_card(config).expect("it comes up");
        host.join(&device).expect("a new address");
        device
    };
    let (a, b) = (device(1), device(2));
    let comp = a.create_comp_channel();
    let cqs = [
        a.create_cq(16, Some(&comp)).expect("a queue"),
        b.create_cq(16, None).expect("a queue"),
    ];
    let pds = [&a, &b].map(|device| device.alloc_pd().expect("a domain"));
    let channels = [&a, &b].map(Device::create_event_channel);
    let _listener = channels[1].listen(4791, 1).expect("a port");
    let wait = Some(std::time::Duration::from_secs(20));
    let [near, far] = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let (init, receives) = (QpInit::new(&cqs[1]), [RecvWr::new(0), RecvWr::new(1)]);
            channels[1].accept(&pds[1], &init, receives, &ConnParam::default(), wait)
        });
        let (to, init) = (
            "10.0.0.2:4791".parse().expect("an address"),
            QpInit::new(&cqs[0]),
        );
        let near = channels[0].connect(to, &pds[0], &init, &ConnParam::default(), wait);
        [near, server.join().expect("no panic")].map(|end| end.expect("it stands"))
    });
    // Posted before there is a file, and after.
    cqs[0].req_notify(Notify::Any).expect("it has a channel");
    near.post_send(SendWr::send(7).signaled()).expect("room");
    let file = comp.readiness().expect("a file");
    for wr_id in [7, 8] {
        assert!(is_readable(&file), "work {wr_id} is not sent");
        assert!(comp.try_get_event().expect("works").is_some());
        assert_eq!(
            cqs[0].poll_one().expect("works").map(|wc| wc.wr_id),
            Some(wr_id)
        );
        cqs[0].req_notify(Notify::Any).expect("it has a channel");
        assert_eq!(cqs[0].poll_one(), Ok(None));
        if wr_id == 7 {
            assert!(!is_readable(&file));
            near.post_send(SendWr::send(8).signaled()).expect("room");
        }
    }
    drop((near, far));
}
