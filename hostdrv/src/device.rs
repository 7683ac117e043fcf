//! A device: one card, the engine that controls it, and the loop between them.
//!
//! [`Device::progress`] handles what is there and never blocks; a program
//! calls it (every poll of a completion queue or an event channel does), or sleeps in
//! [`Device::wait`] until the card or a timer wants it. Where a program does neither for a while,
//! a thread of the device's does ([`Device::drive`]).

mod account;
mod async_event;
#[cfg(feature = "async")]
mod awaited;
mod both;
mod client_resources;
mod config;
mod control;
mod control_clients;
mod cq_moderation;
mod deferred_deregistration;
mod doorbell_bitmap;
mod drive;
mod event_routing;
mod executor;
mod files;
mod fork;
mod gate;
mod graveyard;
mod handles;
mod interrupt_moderation;
mod lent;
mod lent_completions;
mod lent_xrc;
mod lingering;
mod loopback;
mod loopback_copy;
mod manager;
mod on_card;
mod page_runs;
mod place;
mod queue_pairs;
mod raw_queues;
mod said;
mod second_port;
mod shared_receives;
mod sleep;
mod sleepers;
mod thread_queue;
mod wqe_intake;
mod xrcd_registry;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{fence, AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

use weft_engine::on_card::{CONNECTIONS, WORK};
use weft_engine::{
    ConnId, Endpoint, Engine, EngineConfig, EngineStats, Event, QpId, ResourceSplit, Rung, SrqId,
};

use crate::card::{self, Card};
pub use crate::card::{Capabilities, Health, RingSizes, MAX_FRAME};
use crate::checks;
use crate::error::DeviceError;
use crate::mmio::Mmio;
use crate::processor::Processor;
use crate::stats::{add, counter_named, CardCounters, HostStats};
pub use account::{Account, Charge, Exhausted, Quota, Resource};
pub use async_event::AsyncEvent;
#[cfg(feature = "async")]
pub(crate) use awaited::Awaited;
pub(crate) use both::Both;
pub use config::DeviceConfig;
pub(crate) use control::{Control, ControlRings};
use control_clients::ControlClient;
pub(crate) use cq_moderation::ModeratedCq;
use cq_moderation::Waiting;
pub(crate) use deferred_deregistration::DeferredDeregistration;
use doorbell_bitmap::DoorbellBitmap;
pub use drive::Drive;
use drive::Driver;
pub(crate) use event_routing::EventOwner;
use event_routing::EventRouting;
use executor::Executor;
pub(crate) use files::Events;
pub use files::Readiness;
use files::Watch;
pub use gate::{Gate, Knock, Open};
use graveyard::Graveyard;
use handles::Handles;
use interrupt_moderation::InterruptModeration;
use lent::Lent;
pub use lent::{DeviceLender, LentDevice, QueuePairAsked, QueuePairLent};
pub use lent_xrc::{TargetLent, XrcLender, XrcReceivesAsked, XrcdAsked};
use lingering::Lingering;
pub(crate) use loopback::{Loopback, WeakDevice};
pub(crate) use loopback_copy::MessageBytes;
pub(crate) use manager::Manager;
use on_card::OnCard;
use page_runs::PageRuns;
pub(crate) use page_runs::{pages_around, Mapping, Outcome, PageRun};
use place::{Here, Place};
pub(crate) use queue_pairs::Queues;
pub(crate) use raw_queues::RawQueues;
pub use raw_queues::{RawConfig, RawStats, Sent};
pub(crate) use said::Said;
use second_port::SecondPort;
pub(crate) use shared_receives::SharedReceives;
use shared_receives::SrqEntry;
use sleepers::Sleepers;
use weft_card_transport::dma::DmaBuffer;
use weft_card_transport::turns::Turns;
use weft_card_transport::{OfProcess, Transport};
use wqe_intake::QpEntry;
pub(crate) use xrcd_registry::XrcdFileName;
use xrcd_registry::XrcdRegistry;

/// Reports handled before the doorbells of what they caused are rung.
const REPORTS_PER_BATCH: usize = 64;
/// Reports handled in one call of `progress`, so that it ends; as many as there may be at its beginning, if those are more.
const REPORTS_PER_CALL: usize = 4096;

/// Asynchronous events that wait for a taker at most.
const MAX_ASYNC_EVENTS: usize = 4096;

/// How often a device with nothing to do is looked at: is it still there? One register read of about a microsecond.
const PRESENCE_NS: u64 = 10_000_000;

thread_local! {
    /// Devices whose events this thread hands on.
    static DISPATCHING: RefCell<Vec<*const AtomicBool>> = const { RefCell::new(Vec::new()) };
}

/// A Weft card that is up. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Handles>,
}

struct Shared {
    state: Mutex<State>,
    sleepers: Arc<Sleepers>,
    mmio: Mmio,
    dispatching: AtomicBool,
    /// Queue pairs with work that nobody has taken.
    doorbells: Arc<DoorbellBitmap>,
    /// The device does no more.
    failed: Arc<AtomicBool>,
    deferred: bool,
    /// Memory of the program's.
    page_runs: PageRuns,
    /// Who moves messages between queue pairs inside the host.
    loopback: OnceLock<Arc<dyn Loopback>>,
    manager: OnceLock<Arc<dyn Manager>>,
    driver: Driver,
    /// How its threads take turns, where they do.
    turns: Option<Arc<dyn Turns>>,
    linger: Option<Duration>,
    name: String,
    caps: Capabilities,
    config: EngineConfig,
}

/// What the device's lock guards.
pub(crate) struct State {
    // First: a card has to forget all memory before that goes.
    pub(crate) place: Place,
    mmio: Mmio,
    qps: BTreeMap<QpId, QpEntry>,
    /// Shared receive queues.
    srqs: BTreeMap<SrqId, SrqEntry>,
    /// What files name.
    pub(crate) xrcd_registry: XrcdRegistry,
    /// The queue pair of each flow.
    flows: Vec<Option<QpId>>,
    doorbells: Arc<DoorbellBitmap>,
    /// Flows whose queues another process has: nothing rings for them.
    pub(crate) shared_flows: Vec<u16>,
    /// Processes that control rings were lent to, and the number of the next one.
    control_clients: Vec<ControlClient>,
    next_control_client: u64,
    failed: Arc<AtomicBool>,
    pub(crate) event_routing: EventRouting,
    /// What happened to streams and was not taken, if somebody serves them.
    pub(crate) stream_events: Option<VecDeque<Event>>,
    /// The port for raw frames, if it is open.
    pub(crate) raw: Option<RawQueues>,
    pub(crate) async_events: Arc<Events<AsyncEvent>>,
    /// Where they go instead.
    async_handler: Option<AsyncHandler>,
    /// What files watch, once there was one.
    watch: Option<Arc<Watch>>,
    /// The device's own thread has found something since the program looked.
    driven_news: bool,
    /// Calls of `progress`, one after the other, that found nothing.
    empty_looks: u64,
    sleepers: Arc<Sleepers>,
    /// Events that wait for more of their kind.
    waiting: Waiting,
    /// Queue pairs that nobody has a handle of, and whose connection is closing.
    lingering: Lingering,
    /// Regions that nobody has a handle of, and that work under way uses.
    deferred_deregistrations: Vec<DeferredDeregistration>,
    graveyard: Graveyard,
    /// Dropped after the lock is released: their drop may want the lock.
    released: Vec<Box<dyn Send>>,
    frame: Vec<u8>,
    next_qp_num: u32,
    /// Reports that an interrupt was asked for after; 0: none was asked for.
    armed: u32,
    /// How many to ask for.
    interrupt_moderation: InterruptModeration,
    /// When to look next whether the card is still there.
    look_at: u64,
    /// An interrupt has come since the last `progress`.
    woken: bool,
    fault: Option<DeviceError>,
}

/// The state, locked; what was released meanwhile is dropped after unlocking.
pub(crate) struct StateGuard<'a> {
    // In this order: the lock goes before what is done after it.
    guard: MutexGuard<'a, State>,
    after: Option<Unlocked<'a>>,
}

/// What is done when the lock has gone.
struct Unlocked<'a> {
    shared: &'a Shared,
    released: Vec<Box<dyn Send>>,
    /// Queue pairs that are joined inside the host have news.
    joined: bool,
}

impl Deref for StateGuard<'_> {
    type Target = State;
    fn deref(&self) -> &State {
        &self.guard
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.guard
    }
}

impl<'a> StateGuard<'a> {
    /// What is to be done when the lock has gone, for who does it.
    fn take_after(&mut self) -> Option<Unlocked<'a>> {
        let mut after = self.after.take()?;
        after.released = std::mem::take(&mut self.guard.released);
        after.joined = self.guard.has_loopback_events();
        Some(after)
    }
}

impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        self.after = self.take_after();
    }
}

impl Drop for Unlocked<'_> {
    fn drop(&mut self) {
        self.released.clear();
        // Who posted while the lock was held has left it to the holder.
        if self.shared.sends_posts() {
            self.shared.take_posted();
        }
        if self.joined {
            self.shared.notify_loopback();
        }
    }
}

/// Who takes asynchronous events as they come.
struct AsyncHandler(Box<dyn Fn(AsyncEvent) + Send>);

impl Shared {
    /// Is what was posted sent by who posts, or left to `progress`? Who sleeps for the device does not look at the bells.
    fn sends_posts(&self) -> bool {
        !self.deferred || self.sleepers.is_anybody_asleep()
    }

    /// Lets the engine take what was posted, unless another thread is at work in the device: then that one does it when it leaves.
    fn take_posted(&self) {
        // Who posts rings and then tries the lock; who leaves gives the lock back and then looks at the doorbells: one of them sees the other.
        fence(Ordering::SeqCst);
        while self.doorbells.is_rung() && !self.failed.load(Ordering::Acquire) {
            let mut state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            add(&self.mmio.counts.engine_steps, 1);
            state.take_posted(self.mmio.transport.now());
            // A failure is the device's, and kept there.
            let _ = state.finish_turn();
            let released = std::mem::take(&mut state.released);
            let joined = state.has_loopback_events();
            drop(state);
            drop(released);
            if joined {
                self.notify_loopback();
            }
        }
    }
}

impl State {
    /// The transport's time.
    pub(crate) fn now(&self) -> u64 {
        self.mmio.transport.now()
    }

    /// Have queue pairs that are joined inside the host news?
    fn has_loopback_events(&mut self) -> bool {
        let here = self.place.here();
        here.is_some_and(|(engine, _)| engine.has_loopback_events())
    }

    /// Drops something after the lock is released.
    pub(crate) fn release(&mut self, thing: impl Send + 'static) {
        self.released.push(Box::new(thing));
    }

    /// A number for a new queue pair.
    pub(crate) fn take_qp_num(&mut self) -> u32 {
        let number = self.next_qp_num;
        self.next_qp_num = number.wrapping_add(1);
        number
    }

    /// Segments of this connection that wait for the host's stack are nobody's.
    pub(crate) fn drop_raw_segments(&mut self, local: Endpoint, remote: Endpoint) {
        if let Some(raw) = &mut self.raw {
            raw.drop_segments(local, remote);
        }
    }

    /// A stream that somebody else goes on with; nothing is sent.
    pub(crate) fn forget_stream(&mut self, now: u64, conn: ConnId) {
        // Before the neighbour is known it has no state that could be taken out; then its end sends nothing either.
        let Some((engine, card)) = self.place.here() else {
            return;
        };
        if engine.hand_over(now, conn, card).is_err() {
            let _ = engine.abort(now, conn, card);
        }
    }

    /// Ends a turn of the engine: doorbells, completions, faults; tells those who sleep.
    pub(crate) fn finish_turn(&mut self) -> Result<(), DeviceError> {
        if let Err(error) = self.ring_doorbells() {
            self.fail(error);
        }
        let mut news = self.deliver_completions() > 0;
        if news {
            self.leave_regions();
        }
        self.end_lingering();
        news |= self.put_events();
        news |= self.tell_of_waiting();
        if news {
            self.sleepers.announce();
        }
        if self.sleepers.is_anybody_asleep() {
            if let Some(at) = self.next_deadline() {
                self.sleepers.timer_at(at);
            }
        }
        self.keep_watch();
        self.check_fault()
    }

    /// Tells the card of what the engine gave it, if that is here.
    fn ring_doorbells(&mut self) -> Result<(), DeviceError> {
        let Some((_, card)) = self.place.here() else {
            return Ok(());
        };
        card.ring_doorbells()?;
        let fault = card.take_fault();
        if self.interrupt_moderation.is_late(self.armed) {
            self.ask_anew();
        }
        fault.map_or(Ok(()), Err)
    }

    /// Queues an asynchronous event. Nobody has to take them: a program that never does loses the latest.
    pub(crate) fn tell(&mut self, event: AsyncEvent) {
        if let Some(handler) = &self.async_handler {
            handler.0(event);
        } else if self.async_events.len() < MAX_ASYNC_EVENTS {
            self.async_events.push(event);
            self.sleepers.announce();
        } else {
            tracing::warn!(?event, "asynchronous event lost");
        }
    }

    /// The device does no more.
    pub(crate) fn fail(&mut self, error: DeviceError) {
        if self.fault.is_some() {
            return;
        }
        // A transport says itself that the way is lost.
        if !matches!(error, DeviceError::Lost { .. }) {
            tracing::error!(%error, "the device failed");
        }
        self.tell(AsyncEvent::DeviceFatal(error.clone()));
        self.fault = Some(error);
        self.failed.store(true, Ordering::Release);
        for entry in self.qps.values() {
            entry.queues.fail();
        }
        self.keep_watch();
        self.sleepers.announce();
    }

    /// Fails if the card is known to be gone, or does not answer when it is asked, which it is from time to time; and if it
    /// cannot report.
    fn check_presence(&mut self, now: u64) -> Result<(), DeviceError> {
        if now < self.look_at {
            return Ok(());
        }
        self.look_at = now.saturating_add(PRESENCE_NS);
        self.place.check_presence(&self.mmio)
    }

    /// The error that ended the device's work, if one did.
    pub(crate) fn check_fault(&self) -> Result<(), DeviceError> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

impl Device {
    /// Brings up the card behind `transport`.
    #[doc(alias(
        "ibv_get_device_list",
        "ibv_free_device_list",
        "ibv_open_device",
        "ibv_close_device"
    ))]
    pub fn open(transport: Arc<dyn Transport>, config: DeviceConfig) -> Result<Self, DeviceError> {
        Self::open_by(transport, config, None)
    }

    fn open_by(
        transport: Arc<dyn Transport>,
        mut config: DeviceConfig,
        second: Option<SecondPort>,
    ) -> Result<Self, DeviceError> {
        // What is left of it in a child reaches no card.
        let transport = Arc::new(OfProcess::new(transport));
        let mmio = Mmio {
            transport,
            counts: Arc::default(),
        };
        let (place, caps) = match config.engine.rung {
            Rung::Firmware => {
                let caps = match &second {
                    Some(second) => second.capabilities(),
                    None => card::examine(&mmio)?,
                };
                let on_card = OnCard::start(&mmio, &config, second)?;
                (Place::OnCard(Box::new(on_card)), caps)
            }
            _ => {
                let engine = &mut config.engine;
                engine.hash_secret = engine.seed.hash_secret();
                let (mac, mtu, secret) = (engine.mac, engine.mtu, engine.hash_secret);
                let mut card = Card::bring_up(mmio.clone(), mac, mtu, secret, config.rings)?;
                if engine.split != ResourceSplit::Whole {
                    card.share()?;
                }
                let caps = card.capabilities();
                let engine = Engine::new(numbered(engine.clone(), &caps));
                let rings = ControlRings::new()?;
                let here = Here {
                    card,
                    engine,
                    control: Control::new(rings.clone()),
                    executor: Executor::new(rings),
                };
                (Place::Here(Box::new(here)), caps)
            }
        };
        Ok(Self::around(place, caps, mmio, config))
    }

    /// One that another process lends: it makes progress there, and nothing drives it here.
    pub(crate) fn borrowed(
        transport: Arc<dyn Transport>,
        lender: Arc<dyn DeviceLender>,
        control: Control,
        lent: &LentDevice,
    ) -> Self {
        let mmio = Mmio {
            transport: Arc::new(OfProcess::new(transport)),
            counts: Arc::default(),
        };
        let [qps, regions] = lent.most;
        let caps = Capabilities {
            data_bytes: 0,
            flows: qps,
            stags: regions.saturating_add(1),
            vectors: 1,
            replay: 0,
            ports: 1,
        };
        let place = Place::Lent(Box::new(Lent::new(lender, control)));
        let config = DeviceConfig::at(lent.ip).mtu(lent.mtu);
        let config = config.netmask(lent.netmask).gateway(lent.gateway);
        Self::around(place, caps, mmio, config.polled().linger(None))
    }

    fn around(place: Place, caps: Capabilities, mmio: Mmio, config: DeviceConfig) -> Self {
        /// Flows at most: a lender does not say which ones it lends.
        const FLOWS: usize = 1 << 16;
        let DeviceConfig {
            engine: mut config,
            deferred,
            driven,
            linger,
            ..
        } = config;
        // Simulated time is the program's, and there is no file to sleep by.
        let is_driven = driven && mmio.transport.interrupt_fd(0).is_some();
        let turns = mmio.transport.turns();
        let sleepers = Arc::new(Sleepers::new(mmio.transport.clone()));
        config = numbered(config, &caps);
        let doorbells = Arc::new(DoorbellBitmap::new(match place {
            Place::Lent(_) => FLOWS,
            Place::Here(_) | Place::OnCard(_) => caps.flows as usize,
        }));
        let failed = Arc::new(AtomicBool::new(false));
        let state = State {
            place,
            mmio: mmio.clone(),
            qps: BTreeMap::new(),
            srqs: BTreeMap::new(),
            xrcd_registry: XrcdRegistry::default(),
            flows: Vec::new(),
            doorbells: doorbells.clone(),
            shared_flows: Vec::new(),
            control_clients: Vec::new(),
            next_control_client: 0,
            failed: failed.clone(),
            event_routing: EventRouting::default(),
            stream_events: None,
            raw: None,
            async_events: Arc::default(),
            async_handler: None,
            watch: None,
            driven_news: false,
            empty_looks: 0,
            sleepers: sleepers.clone(),
            waiting: Waiting::default(),
            lingering: Lingering::default(),
            deferred_deregistrations: Vec::new(),
            graveyard: Graveyard::default(),
            released: Vec::new(),
            frame: Vec::new(),
            next_qp_num: 1,
            armed: 0,
            interrupt_moderation: InterruptModeration::default(),
            look_at: mmio.transport.now().saturating_add(PRESENCE_NS),
            woken: false,
            fault: None,
        };
        Self {
            shared: Handles::new(Shared {
                state: Mutex::new(state),
                sleepers,
                name: mmio.transport.name(),
                mmio,
                dispatching: AtomicBool::new(false),
                doorbells,
                failed,
                deferred,
                page_runs: PageRuns::default(),
                loopback: OnceLock::new(),
                manager: OnceLock::new(),
                driver: Driver::new(is_driven),
                turns,
                linger,
                caps,
                config,
            }),
        }
    }

    /// Where it is.
    #[doc(alias = "ibv_get_device_name")]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// What the card can do.
    pub fn capabilities(&self) -> Capabilities {
        self.shared.caps
    }

    /// Its IPv4 address.
    pub fn ip(&self) -> Ipv4Addr {
        self.shared.config.ip.into()
    }

    /// The mask of its network.
    pub fn netmask(&self) -> Ipv4Addr {
        self.shared.config.netmask.into()
    }

    /// Who takes what is for other networks.
    pub fn gateway(&self) -> Option<Ipv4Addr> {
        self.shared.config.gateway.map(Ipv4Addr::from)
    }

    /// Its station address.
    pub fn mac(&self) -> [u8; 6] {
        self.shared.config.mac
    }

    /// Largest IPv4 packet that it sends and takes.
    pub fn mtu(&self) -> u16 {
        self.shared.config.mtu
    }

    /// The engine's settings.
    pub(crate) fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// The transport's time in nanoseconds.
    #[doc(alias = "ibv_query_rt_values_ex")]
    pub fn now(&self) -> u64 {
        self.shared.mmio.transport.now()
    }

    /// Something happened that a thread asleep on the device may wait for.
    pub(crate) fn announce(&self) {
        self.shared.sleepers.announce();
    }

    /// The card's registers and doorbells, counted with what the device itself does.
    pub fn mmio(&self) -> &Mmio {
        &self.shared.mmio
    }

    /// Runs of the program's pages that are mapped.
    pub(crate) fn page_runs(&self) -> &PageRuns {
        &self.shared.page_runs
    }

    /// Are the two the same device?
    pub(crate) fn is(&self, other: &Device) -> bool {
        std::ptr::eq::<Shared>(&**self.shared, &**other.shared)
    }

    pub(crate) fn lock(&self) -> StateGuard<'_> {
        // A panic under the lock is a bug in the driver; the data are still the best there are.
        let guard = self
            .shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        StateGuard {
            guard,
            after: Some(Unlocked {
                shared: &self.shared,
                released: Vec::new(),
                joined: false,
            }),
        }
    }

    /// The device's failure, if there was one; without its lock.
    #[inline]
    pub(crate) fn check_fault(&self) -> Result<(), DeviceError> {
        match self.shared.failed.load(Ordering::Acquire) {
            false => Ok(()),
            true => self.lock().check_fault(),
        }
    }

    /// Does a post leave the work to [`progress`](Self::progress)?
    pub(crate) fn is_deferred(&self) -> bool {
        self.shared.deferred
    }

    /// A queue pair of this flow has new work; `untold`: since who takes has looked.
    pub(crate) fn posted(&self, flow: u16, untold: bool) -> Result<(), DeviceError> {
        if untold {
            self.shared.doorbells.ring(flow);
        }
        match self.shared.sends_posts() {
            true => self.send_posted(),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn send_posted(&self) -> Result<(), DeviceError> {
        self.shared.take_posted();
        self.check_fault()
    }

    /// Handles what is there: reports, timers, connection events (callbacks run here, without any lock).
    /// Never blocks. Answers how much there was; 0: nothing to do before [`next_deadline`](Self::next_deadline)
    /// or the next report.
    ///
    /// After an error the device does no more; open it anew. A card that is gone is noticed by whoever polls, within
    /// 10 ms of the device's time.
    pub fn progress(&self) -> Result<usize, DeviceError> {
        add(&self.shared.mmio.counts.progress_calls, 1);
        self.progress_of(true)
    }

    /// The same, and it is no call of the program's.
    fn progress_quietly(&self) -> Result<usize, DeviceError> {
        self.progress_of(false)
    }

    fn progress_of(&self, program: bool) -> Result<usize, DeviceError> {
        let handled = self.make_progress(program);
        match handled {
            Ok(0) if program => self.polled_in_vain(),
            Ok(_) => {}
            Err(_) => self.tell_removal(),
        }
        handled
    }

    /// Where threads take turns, one that polls and polls gives way.
    #[inline]
    fn polled_in_vain(&self) {
        if let Some(turns) = &self.shared.turns {
            turns.polled();
        }
    }

    fn make_progress(&self, program: bool) -> Result<usize, DeviceError> {
        let _span = tracing::trace_span!("progress", device = self.name()).entered();
        let mut handled = 0;
        let (settled, waits_for_gates);
        {
            let mut state = self.lock();
            state.check_fault()?;
            if program {
                state.driven_news = false;
            }
            if state.looks_for_interrupt() {
                // What makes the files readable is being seen to. Any report after this one makes another interrupt.
                drop(state);
                self.take_interrupt(Some(0))?;
                state = self.lock();
                state.check_fault()?;
            }
            let result = self.handle_card(&mut state, &mut handled);
            if let Err(error) = result {
                state.fail(error);
            }
            state.check_fault()?;
            state.empty_looks = match handled {
                0 => state.empty_looks + 1,
                _ => 0,
            };
            if !program && handled > 0 {
                state.tell_of_driving();
            }
            if state.watched().is_some() {
                state.arm()?;
            }
            waits_for_gates = state.waits_for_gates();
            settled = self.is_idle();
        }
        if waits_for_gates {
            handled += self.ask_gates()?;
        }
        handled += self.dispatch_events()?;
        if !settled {
            handled += self.housekeep();
        }
        Ok(handled)
    }

    fn handle_card(&self, state: &mut State, handled: &mut usize) -> Result<(), DeviceError> {
        let now = match state.place {
            Place::Here(_) => self.handle_reports(state, handled)?,
            Place::OnCard(_) | Place::Lent(_) => self.now(),
        };
        state.take_posted(now);
        state.take_lent_commands(now);
        // What the end of the turn hands on, and tells those who sleep of.
        *handled += match &state.place {
            Place::Here(_) => 0,
            Place::OnCard(on_card) => on_card.has_news().into(),
            Place::Lent(lent) => lent.has_news().into(),
        };
        state.finish_turn()?;
        let here = state.place.here();
        here.map_or(Ok(()), |(_, card)| card.check_moving(now))?;
        let woken = std::mem::take(&mut state.woken);
        if *handled == 0 {
            if woken {
                state.place.check_woken()?;
            }
            state.check_presence(now)?;
        }
        state.clear_graveyard()
    }

    /// What the engine does that is here; the time.
    fn handle_reports(&self, state: &mut State, handled: &mut usize) -> Result<u64, DeviceError> {
        let counts = &self.shared.mmio.counts;
        let mut frame = std::mem::take(&mut state.frame);
        // A message that came meanwhile may need them; nobody rings for those that were lent.
        state.take_shared();
        // Whatever came before is handled before any timer: a host that was away must not take what waited for it for silence.
        let most = match &state.place {
            Place::Here(here) => here.card.report_slots().max(REPORTS_PER_CALL),
            Place::OnCard(_) | Place::Lent(_) => 0,
        };
        while *handled < most {
            let Place::Here(here) = &mut state.place else {
                break;
            };
            let now = self.now();
            let Some((report, arrived, slot)) = here.card.take_report(now)? else {
                break;
            };
            // The message may be for a receive that was posted before it came, and that nobody has taken.
            if state.doorbells.is_rung() {
                state.take_posted(now);
            }
            let Place::Here(here) = &mut state.place else {
                break;
            };
            state.interrupt_moderation.saw(&report);
            add(&counts.engine_steps, 1);
            let Here { engine, card, .. } = &mut **here;
            let for_host = engine.take_report((now, arrived), &report, slot, &mut frame, card)?;
            engine.return_slots(now, card)?;
            if let (true, Some(queues)) = (for_host, &mut state.raw) {
                queues.receive(&frame);
                state.sleepers.announce();
            }
            *handled += 1;
            if *handled % REPORTS_PER_BATCH == 0 {
                state.finish_turn()?;
            }
        }
        state.frame = frame;
        let now = self.now();
        let owed = state
            .interrupt_moderation
            .asleep_over()
            .filter(|_| state.woken);
        if let Place::Here(here) = &mut state.place {
            if owed.is_some_and(|flow| here.engine.acknowledge(now, flow, &mut here.card)) {
                add(&counts.engine_steps, 1);
            }
            if here.engine.next_deadline().is_some_and(|at| at <= now) {
                add(&counts.engine_steps, 1);
                here.engine.on_timer(now, &mut here.card);
                here.engine.return_slots(now, &mut here.card)?;
                *handled += 1;
            }
            if let Some(queues) = &mut state.raw {
                *handled += queues.send_waiting(now, &mut here.card);
            }
        }
        Ok(now)
    }

    /// Takes the events from their ring and hands them to the connections they belong to, one thread at a time and in order.
    fn dispatch_events(&self) -> Result<usize, DeviceError> {
        /// Unlocks on every way out, once.
        struct Dispatching<'a>(Option<&'a AtomicBool>);
        impl<'a> Dispatching<'a> {
            fn begin(dispatching: &'a AtomicBool) -> Self {
                DISPATCHING.with_borrow_mut(|all| all.push(std::ptr::from_ref(dispatching)));
                Self(Some(dispatching))
            }
            fn end(&mut self) {
                if let Some(dispatching) = self.0.take() {
                    let own = std::ptr::from_ref(dispatching);
                    DISPATCHING.with_borrow_mut(|all| all.retain(|one| *one != own));
                    dispatching.store(false, Ordering::Release);
                }
            }
        }
        impl Drop for Dispatching<'_> {
            fn drop(&mut self) {
                self.end();
            }
        }
        if self.shared.dispatching.swap(true, Ordering::Acquire) {
            // Another thread, or a callback's caller, is at it.
            return Ok(0);
        }
        let mut dispatching = Dispatching::begin(&self.shared.dispatching);
        let mut handled = 0;
        loop {
            let event = {
                let mut state = self.lock();
                let event = state.next_event();
                if event.is_none() {
                    // Under the lock: who is woken by an event that comes from now on finds nobody at it.
                    dispatching.end();
                }
                event
            };
            let Some(event) = event else {
                if handled > 0 {
                    self.announce();
                }
                return Ok(handled);
            };
            tracing::debug!(device = self.name(), ?event, "event");
            handled += 1;
            self.route_event(event)?;
        }
    }

    /// Is the caller called back by this device? Then no event comes before it returns.
    pub(crate) fn calls_back(&self) -> bool {
        let own = std::ptr::from_ref(&self.shared.dispatching);
        DISPATCHING.with_borrow(|all| all.contains(&own))
    }

    /// Queue pairs at most, and work requests in a queue, if the place of the engine has its own limits.
    pub(crate) fn limits(&self) -> Option<(u32, u32)> {
        match &self.lock().place {
            Place::Here(_) | Place::Lent(_) => None,
            Place::OnCard(_) => Some((CONNECTIONS.into(), WORK / 2)),
        }
    }

    /// Reads the STATUS register.
    pub fn health(&self) -> Result<Health, DeviceError> {
        match &self.lock().place {
            Place::Here(here) => here.card.health(),
            Place::OnCard(_) => card::health(&self.shared.mmio),
            Place::Lent(_) => Err(DeviceError::OfLender {
                what: "its registers",
            }),
        }
    }

    /// With `on`, what the card sends goes to its own receive path instead of the wire, and what comes from the
    /// wire is ignored (counted in `rx_drop_loopback`). Frames must then be for this station to arrive.
    pub fn set_mac_loopback(&self, on: bool) -> Result<(), DeviceError> {
        let mut state = self.lock();
        let (_, card) = state.engine_for("MAC loopback")?;
        card.set_mac_loopback(on)
    }

    /// Takes memory that the card may still write, and gives it back to the host when the card has done with it.
    pub fn retire(&self, memory: DmaBuffer) {
        self.lock().bury(Arc::new(memory), Arc::default());
    }

    /// Reads all counters of the card.
    pub fn counters(&self) -> Result<CardCounters, DeviceError> {
        let _state = self.lock();
        checks::counters(&self.shared.mmio)
    }

    /// Reads one counter of the card by its name (`rx_frames`).
    pub fn counter(&self, name: &str) -> Result<u32, DeviceError> {
        let counter =
            counter_named(name).ok_or_else(|| DeviceError::NoSuchCounter(name.to_owned()))?;
        let _state = self.lock();
        checks::counter(&self.shared.mmio, counter)
    }

    /// What the driver counted.
    pub fn host_stats(&self) -> HostStats {
        self.shared.mmio.counts.snapshot()
    }

    /// What the engine counted: nothing in this process, if it is on the card's processor.
    pub fn engine_stats(&self) -> EngineStats {
        match &self.lock().place {
            Place::Here(here) => *here.engine.stats(),
            Place::OnCard(_) | Place::Lent(_) => EngineStats::default(),
        }
    }

    /// Jobs that the card is not known to have finished; of an engine on the card's processor the host knows of none.
    pub fn jobs_outstanding(&self) -> u32 {
        match &self.lock().place {
            Place::Here(here) => here.card.jobs_outstanding(),
            Place::OnCard(_) | Place::Lent(_) => 0,
        }
    }

    /// The card's processor, if the engine is there: to look at it.
    pub fn processor(&self) -> Option<Processor> {
        match &self.lock().place {
            Place::Here(_) | Place::Lent(_) => None,
            Place::OnCard(on_card) => Some(on_card.processor().clone()),
        }
    }

    /// From now on asynchronous events go to a function, and do not wait for [`get_async_event`](Self::get_async_event). It is called as they come, with the device's
    /// lock: it must neither call the device nor panic, but may write to a file or wake a thread.
    pub fn handle_async_events(&self, handler: impl Fn(AsyncEvent) + Send + 'static) {
        self.lock().async_handler = Some(AsyncHandler(Box::new(handler)));
    }

    /// The oldest asynchronous event not yet taken.
    #[tracing::instrument(level = "trace", skip_all, fields(device = self.name()))]
    #[doc(alias("ibv_get_async_event", "ibv_ack_async_event"))]
    pub fn get_async_event(&self) -> Option<AsyncEvent> {
        let events = self.lock().async_events.clone();
        events.pop(Some)
    }
}

/// What the card says of itself, in an engine's settings.
fn numbered(config: EngineConfig, caps: &Capabilities) -> EngineConfig {
    EngineConfig {
        num_flows: caps.flows as u16,
        num_stags: caps.stags,
        replay: config
            .replay
            .min(caps.replay.try_into().unwrap_or(u16::MAX)),
        ..config
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("name", &self.shared.name)
            .field("ip", &self.ip())
            .field("caps", &self.shared.caps)
            .finish()
    }
}
