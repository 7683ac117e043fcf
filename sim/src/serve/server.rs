//! The loop of a serving process: one thread, one world with all cards.
//!
//! While a card has something to do, the world runs in short slices, and between two of them everything from outside
//! is looked at. When the world is at rest the thread sleeps in `poll`: idle cards cost nothing.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use weft_card_transport::listening::Listening;

use super::connection::{lock, Connection, Gone, SharedConnection};
use super::device::Device;
use super::message::{error_reply, Errno};
use super::port::Outside;
use super::stats::{CardStats, Stats};
use crate::card::CYCLE_NS;
use crate::link::LinkConfig;
use crate::world::{Stop, World, WorldError};

/// Commands taken from a client between two slices.
const COMMANDS_AT_ONCE: usize = 16;
/// Frames taken from a port between two slices.
const FRAMES_AT_ONCE: usize = 64;
/// Cycles of a slice, at least and at most.
const SLICE: (u64, u64) = (16, 4096);
/// Wall-clock time that a slice should take at most.
const SLICE_TIME: Duration = Duration::from_micros(200);

/// Who comes while another one is there is refused after so long.
const GRACE: Duration = Duration::from_millis(100);

/// How long is waited for an answer on DMA by message before the card asks again.
const WAIT: Duration = Duration::from_millis(1);

/// What the world is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Busy,
    Waiting,
    Quiet,
    /// Until this time of the world's, of which as much passes as on the wall.
    Asleep(u64),
}

/// What the owner of a serving thread asks of it.
pub enum Control {
    /// Cut a card's link, or join it again, and say when that is done.
    SetLink(usize, bool, Sender<()>),
    /// Tell what happened so far.
    Stats(Sender<Stats>),
    /// End.
    Stop,
}

/// A card's place: its socket, its client, its port.
pub struct Seat {
    /// Where clients come to.
    pub listener: Listening<UnixListener>,
    /// Its path.
    pub path: PathBuf,
    /// The PCI function.
    pub device: Device,
    /// The link of its port, and what it is like when it is up.
    pub link: Option<(usize, LinkConfig)>,
    /// What is outside.
    pub outside: Option<Box<dyn Outside>>,
    /// What the card is, for the statistics.
    pub kind: String,
    /// The present client.
    pub client: Option<SharedConnection>,
    /// Another one that came meanwhile, and when: the present one may be about to go.
    pub next: Option<(Connection, Instant)>,
    /// How many clients there were.
    pub clients: u64,
    /// How many of them were sent away for something that is no message.
    pub broken: u64,
    /// DMA messages and replies out of place of former clients.
    pub former: (u64, u64),
}

/// Answers a client's first message with the reason, and closes.
fn refuse(mut connection: Connection) {
    if let Some(message) = connection.command() {
        connection.send(&error_reply(&message.header, Errno::Busy));
    }
}

/// All of it.
pub struct Server {
    /// The world.
    pub world: World,
    /// The cards' places.
    pub seats: Vec<Seat>,
    /// Where the owner's wishes come from.
    pub control: Receiver<Control>,
    /// Becomes readable with a wish.
    pub wake: Arc<OwnedFd>,
    /// Where the last statistics are left.
    pub last: Arc<Mutex<Stats>>,
}

impl Server {
    /// Serves until the owner ends it, or a card fails.
    pub fn run(mut self) -> Result<(), WorldError> {
        let result = self.serve();
        self.flush();
        let stats = self.stats();
        *self.last.lock().unwrap_or_else(|e| e.into_inner()) = stats;
        result
    }

    fn serve(&mut self) -> Result<(), WorldError> {
        let mut slice = SLICE.0;
        let mut rest = Rest::Busy;
        loop {
            let quiet = matches!(rest, Rest::Quiet | Rest::Asleep(_));
            let again = self.tick(quiet);
            if quiet {
                self.flush();
            }
            let asleep = Instant::now();
            self.poll(match rest {
                Rest::Busy => Some(Duration::ZERO),
                // Whoever lends memory answers on a socket that is polled; the time is for the one who does not.
                Rest::Waiting => Some(WAIT),
                Rest::Quiet => again,
                Rest::Asleep(until) => {
                    let alarm = Duration::from_nanos(until.saturating_sub(self.world.now()));
                    Some(again.map_or(alarm, |again| again.min(alarm)))
                }
            });
            if let Rest::Asleep(until) = rest {
                let passed = u64::try_from(asleep.elapsed().as_nanos()).unwrap_or(u64::MAX);
                self.world
                    .step(until.min(self.world.now().saturating_add(passed)))?;
            }
            if self.control() {
                return Ok(());
            }
            self.accept();
            let mut more = self.commands()?;
            more |= self.frames_in();

            let began = Instant::now();
            let stop = self
                .world
                .settle_awake(self.world.now() + slice * CYCLE_NS)?;
            let took = began.elapsed();
            if stop == Stop::Deadline && took < SLICE_TIME / 4 {
                slice = (slice * 2).min(SLICE.1);
            } else if took > SLICE_TIME {
                slice = (slice / 2).max(SLICE.0);
            }
            for seat in &mut self.seats {
                seat.device.deliver(&mut self.world);
            }
            self.frames_out();
            self.partings();
            // The card may have found commands while it looked for answers: no poll tells of them any more.
            let found = |seat: &Seat| seat.client.as_ref().is_some_and(|c| lock(c).has_waiting());
            more |= self.seats.iter().any(found);
            rest = match stop {
                _ if more => Rest::Busy,
                Stop::Quiet => Rest::Quiet,
                Stop::Asleep(until) => Rest::Asleep(until),
                Stop::Waiting => Rest::Waiting,
                Stop::Interrupt | Stop::Deadline => Rest::Busy,
            };
        }
    }

    /// Waits for anything from outside.
    fn poll(&self, limit: Option<Duration>) {
        let clients: Vec<_> = self
            .seats
            .iter()
            .map(|s| s.client.as_ref().map(lock))
            .collect();
        let mut fds = vec![PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN)];
        let mut limit = limit;
        for (seat, client) in self.seats.iter().zip(&clients) {
            match &seat.next {
                None => fds.push(PollFd::from_borrowed_fd(
                    seat.listener.as_fd(),
                    PollFlags::IN,
                )),
                Some((_, since)) => {
                    let left = GRACE.saturating_sub(since.elapsed());
                    limit = Some(limit.map_or(left, |limit| limit.min(left)));
                }
            }
            match client {
                None => {}
                Some(client) => {
                    let mut events = PollFlags::empty();
                    events.set(PollFlags::IN, client.takes_commands());
                    events.set(PollFlags::OUT, client.has_unsent());
                    fds.push(PollFd::from_borrowed_fd(client.fd(), events));
                }
            }
            if let Some(fd) = seat.outside.as_ref().and_then(|o| o.fd()) {
                fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
            }
        }
        let limit = limit.map(|l| Timespec::try_from(l).unwrap_or_default());
        // Interrupted: the loop comes here again.
        let _ = poll(&mut fds, limit.as_ref());
    }

    /// Does what the owner wants. `true`: to end.
    fn control(&mut self) -> bool {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.wake, &mut count);
        while let Ok(wish) = self.control.try_recv() {
            match wish {
                Control::Stop => return true,
                Control::Stats(to) => drop(to.send(self.stats())),
                Control::SetLink(card, up, done) => {
                    self.set_link(card, up);
                    let _ = done.send(());
                }
            }
        }
        false
    }

    fn set_link(&mut self, card: usize, up: bool) {
        let Some((link, config)) = self.seats.get(card).and_then(|s| s.link) else {
            tracing::warn!("card {card} has no link to cut or join");
            return;
        };
        let mut config = config;
        if !up {
            config.faults.loss = 1_000_000;
        }
        self.world.link(link).set_config(config);
        tracing::info!(
            "the link of card {card} is {}",
            if up { "up" } else { "down" }
        );
    }

    fn accept(&mut self) {
        for (card, seat) in self.seats.iter_mut().enumerate() {
            if seat.next.is_none() {
                seat.next = match seat.listener.accept() {
                    Ok((stream, _)) => match Connection::new(stream) {
                        Ok(connection) => Some((connection, Instant::now())),
                        Err(error) => {
                            tracing::warn!("card {card}: a client's socket: {error}");
                            None
                        }
                    },
                    Err(error) => {
                        if error.kind() != std::io::ErrorKind::WouldBlock {
                            tracing::warn!("card {card}: no client can be accepted: {error}");
                        }
                        None
                    }
                };
            }
            if seat.client.is_none() {
                if let Some((connection, _)) = seat.next.take() {
                    seat.clients += 1;
                    seat.client = Some(Arc::new(Mutex::new(connection)));
                    tracing::info!("card {card}: client {} is here", seat.clients);
                }
            } else if let Some((connection, _)) =
                seat.next.take_if(|(_, since)| since.elapsed() >= GRACE)
            {
                refuse(connection);
                tracing::info!("card {card}: another client is refused");
            }
        }
    }

    /// Carries out some of what the clients want. `true`: there is more.
    fn commands(&mut self) -> Result<bool, WorldError> {
        let mut more = false;
        for seat in &mut self.seats {
            let Some(client) = &seat.client else { continue };
            for n in 0..COMMANDS_AT_ONCE {
                let message = {
                    let mut client = lock(client);
                    client.flush();
                    if !client.takes_commands() {
                        break;
                    }
                    client.command()
                };
                let Some(message) = message else { break };
                let resets = seat.device.counters().resets;
                seat.device.handle(&mut self.world, client, message)?;
                if seat.device.counters().resets != resets {
                    if let Some(outside) = &mut seat.outside {
                        outside.restart();
                    }
                }
                more |= n + 1 == COMMANDS_AT_ONCE;
            }
        }
        Ok(more)
    }

    /// Gives frames from outside to the links. `true`: there is more.
    fn frames_in(&mut self) -> bool {
        let mut more = false;
        for (card, seat) in self.seats.iter_mut().enumerate() {
            let (Some(outside), Some((link, _))) = (&mut seat.outside, seat.link) else {
                continue;
            };
            for n in 0..FRAMES_AT_ONCE {
                match outside.receive() {
                    Ok(Some(frame)) => self.world.inject(link, frame),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::warn!("card {card}: its port is gone: {error}");
                        seat.outside = None;
                        break;
                    }
                }
                more |= n + 1 == FRAMES_AT_ONCE;
            }
        }
        more
    }

    fn frames_out(&mut self) {
        for (link, frame) in self.world.take_outside() {
            let seat = self
                .seats
                .iter_mut()
                .find(|s| s.link.is_some_and(|l| l.0 == link));
            if let Some(outside) = seat.and_then(|s| s.outside.as_mut()) {
                outside.send(frame);
            }
        }
    }

    /// Lets the ports do what they have left. Answers when the first one wants to be asked again.
    fn tick(&mut self, quiet: bool) -> Option<Duration> {
        let mut first: Option<Duration> = None;
        for seat in &mut self.seats {
            let ready = quiet && seat.device.is_receiving();
            if let Some(again) = seat.outside.as_mut().and_then(|o| o.tick(ready)) {
                first = Some(first.map_or(again, |f| f.min(again)));
            }
        }
        first
    }

    /// Clears up behind clients that are gone.
    fn partings(&mut self) {
        for (card, seat) in self.seats.iter_mut().enumerate() {
            let Some(client) = &seat.client else { continue };
            let (gone, counts) = {
                let client = lock(client);
                (client.gone().cloned(), client.lending.counts())
            };
            let Some(gone) = gone else { continue };
            let dropped = seat.device.start_over(&mut self.world);
            if let Some(outside) = &mut seat.outside {
                outside.restart();
            }
            match gone {
                Gone::Closed => tracing::info!("card {card}: {gone}; {dropped} mappings dropped"),
                Gone::Inside | Gone::Malformed(_) | Gone::Socket(_) => {
                    seat.broken += 1;
                    tracing::warn!("card {card}: {gone}; {dropped} mappings dropped");
                }
            }
            seat.former.0 += counts.0;
            seat.former.1 += counts.1;
            seat.client = None;
        }
    }

    fn flush(&mut self) {
        for number in 0..self.world.links() {
            if let Err(error) = self.world.link(number).flush() {
                tracing::warn!("the capture of link {number} cannot be written: {error}");
            }
        }
        for outside in self.seats.iter_mut().filter_map(|s| s.outside.as_mut()) {
            outside.flush();
        }
    }

    fn stats(&mut self) -> Stats {
        let mut cards = Vec::new();
        for (card, seat) in self.seats.iter().enumerate() {
            let counters = seat.device.counters();
            let (messages, unexpected) = seat
                .client
                .as_ref()
                .map_or((0, 0), |c| lock(c).lending.counts());
            let (cycles, mmio_reads, mmio_writes) = self.world.work(card);
            let (interrupts, interrupts_lost) = seat.device.interrupts();
            let iommu = self.world.iommu(card);
            let (read_bytes, written_bytes) = iommu.bytes();
            cards.push(CardStats {
                card: seat.kind.clone(),
                socket: seat.path.clone(),
                clients: seat.clients,
                connected: seat.client.is_some(),
                mappings: iommu.mappings() as u64,
                maps: counters.maps,
                unmaps: counters.unmaps,
                unmaps_of_nothing: counters.unmaps_of_nothing,
                commands: counters.commands,
                malformed: counters.malformed + seat.broken + seat.former.1 + unexpected,
                resets: counters.resets,
                unanswered_reads: counters.unanswered,
                dma_refused: iommu.refused(),
                dma_messages: seat.former.0 + messages,
                dma_read_bytes: read_bytes,
                dma_written_bytes: written_bytes,
                interrupts,
                interrupts_lost,
                cycles,
                mmio_reads,
                mmio_writes,
                port: seat.outside.as_ref().map(|o| o.counts()),
            });
        }
        Stats {
            simulated_ns: self.world.now(),
            cards,
        }
    }
}
