//! A program on a device that a broker lends, and two of them beside each other.

use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{CmEvent, CmEventType, CmId, EventChannel};
use weft_hostdrv::verbs::{Cq, Pd, QpInit, Wc};
use weft_hostdrv::Device;
use weft_share::Limits;

use crate::clients::{broker_scene, Scene};
use crate::ends::no_faults;

/// Looks until there is something.
///
/// # Panics
/// If there is nothing for long.
pub fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "waited in vain");
        thread::yield_now();
    }
}

/// What a program has to begin with. It polls; another thread is the broker.
pub struct Program {
    /// Its events.
    pub channel: EventChannel,
    /// A protection domain.
    pub pd: Pd,
    /// A completion queue.
    pub cq: Cq,
    /// Its device.
    pub device: Device,
}

impl Program {
    /// On the device that the broker at this socket lends.
    ///
    /// # Panics
    /// If it lends none.
    pub fn open(path: &Path) -> Self {
        let device = weft_share::open(path).expect("lent");
        Self {
            channel: device.create_event_channel(),
            pd: device.alloc_pd().expect("a domain"),
            cq: device.create_cq(64, None).expect("a queue"),
            device,
        }
    }

    /// The next event.
    ///
    /// # Panics
    /// If there is none for long.
    pub fn event(&self) -> CmEvent {
        until(|| self.channel.try_get_event().expect("it works"))
    }

    /// The next event, which is to be this.
    ///
    /// # Panics
    /// If it is another one.
    pub fn wanted(&self, kind: CmEventType) -> CmEvent {
        let event = self.event();
        assert_eq!(event.event, kind);
        event
    }

    /// The next completion.
    ///
    /// # Panics
    /// If there is none for long.
    pub fn next(&self) -> Wc {
        until(|| self.cq.poll_one().expect("it works"))
    }

    /// Listens at this port of the card's own address.
    ///
    /// # Panics
    /// If it is not free.
    pub fn listen(&self, port: u16) -> CmId {
        let listener = self.channel.create_id();
        let here = SocketAddrV4::new(self.device.ip(), port);
        listener.bind_addr(here).expect("free");
        listener.listen(4).expect("possible");
        listener
    }

    /// An identifier with a queue pair on the way there.
    ///
    /// # Panics
    /// If there is no way.
    pub fn resolved(&self, to: SocketAddrV4, init: &QpInit) -> CmId {
        let id = self.channel.create_id();
        id.resolve_addr(to).expect("possible");
        self.wanted(CmEventType::AddrResolved);
        id.resolve_route().expect("possible");
        self.wanted(CmEventType::RouteResolved);
        id.create_qp(&self.pd, init).expect("a queue pair");
        id
    }
}

/// Runs two programs on what one broker lends, each told its socket, until both are over. Nothing is left of them.
///
/// # Panics
/// If one does, or something is left.
pub fn two_programs(
    seed: u64,
    server: impl FnOnce(PathBuf) + Send + 'static,
    client: impl FnOnce(PathBuf) + Send + 'static,
) {
    let mut scene = broker_scene(seed, Limits::default());
    let [to_server, to_client] = [(); 2].map(|()| scene.path.clone());
    let threads = [
        thread::spawn(move || server(to_server)),
        thread::spawn(move || client(to_client)),
    ];
    // They have limits of their own.
    while !threads.iter().all(|one| one.is_finished()) {
        scene.turn();
        thread::yield_now();
    }
    for one in threads {
        one.join().expect("it works");
    }
    scene.nothing_is_left();
    no_faults(&scene.bench);
}

impl Scene {
    /// Turns until nothing of clients is counted any more.
    ///
    /// # Panics
    /// If something is for long.
    pub fn nothing_is_left(&mut self) {
        for _ in 0..200_000 {
            self.turn();
            if self.broker.in_use().is_empty() {
                return;
            }
            thread::yield_now();
        }
        assert_eq!(self.broker.in_use(), []);
    }
}
