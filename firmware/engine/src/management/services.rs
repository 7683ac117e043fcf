//! The small services that other people's suites know: echo, discard, chargen (RFC 862, 863, 864), for streams.

use alloc::vec;
use alloc::vec::Vec;

use crate::card::port::Port;
use crate::interface::cm::{ConnId, Event};
use crate::interface::error::Error;
use crate::interface::verbs::{QpId, Sge};
use crate::management::engine::Engine;

/// Bytes that are moved at a time.
const CHUNK: usize = 4096;
/// The printing characters, from blank on.
const PRINTING: u32 = 95;
/// Characters in a line of chargen.
const LINE: u32 = 72;

/// What a server does with a stream. Each closes when its peer has closed and everything is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Sends back what comes.
    Echo,
    /// Takes what comes.
    Discard,
    /// Takes what comes, and sends lines of 72 characters without end.
    Chargen,
}

/// Byte number `at` of chargen's stream: lines of 72 of the 95 printing characters, each line one further on (RFC 864).
pub fn chargen(at: u64) -> u8 {
    let row = (at / u64::from(LINE + 2) % u64::from(PRINTING)) as u32;
    match (at % u64::from(LINE + 2)) as u32 {
        LINE => b'\r',
        column if column > LINE => b'\n',
        column => b' ' + ((row + column) % PRINTING) as u8,
    }
}

/// A stream that is served.
#[derive(Debug)]
struct Served {
    service: Service,
    conn: ConnId,
    /// Which of the server's places it has.
    place: usize,
    /// Bytes of chargen that were written.
    written: u64,
    closed: bool,
}

/// A queue pair and a ring that a stream can have.
#[derive(Debug)]
struct Place {
    qp: QpId,
    ring: Sge,
    free: bool,
}

/// What a server counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounts {
    /// Streams that were taken.
    pub streams: u64,
    /// Streams that there was no place for: they were reset.
    pub refused: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

/// A server of such services on an engine.
#[derive(Debug)]
pub struct Services {
    ports: Vec<(u16, Service)>,
    places: Vec<Place>,
    streams: Vec<Served>,
    counts: ServiceCounts,
    buffer: Vec<u8>,
}

impl Services {
    /// A server that listens on these ports. It has a place for as many streams at a time as it is given queue pairs and rings.
    pub fn start(
        engine: &mut Engine,
        ports: &[(u16, Service)],
        places: impl IntoIterator<Item = (QpId, Sge)>,
    ) -> Result<Self, Error> {
        let place = |(qp, ring)| Place {
            qp,
            ring,
            free: true,
        };
        let places: Vec<_> = places.into_iter().map(place).collect();
        for (port, _) in ports {
            engine.listen_stream(*port, places.len())?;
        }
        Ok(Services {
            ports: ports.to_vec(),
            places,
            streams: Vec::new(),
            counts: ServiceCounts::default(),
            buffer: vec![0; CHUNK],
        })
    }

    /// What it counted.
    pub fn counts(&self) -> ServiceCounts {
        self.counts
    }

    /// Streams that it serves now.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// An event of the engine's: one of its streams, or a new one.
    pub fn on_event<P: Port>(
        &mut self,
        now: u64,
        event: &Event,
        engine: &mut Engine,
        port: &mut P,
    ) {
        match event {
            Event::StreamRequest {
                conn, port: asked, ..
            } => {
                let service = self.ports.iter().find(|(port, _)| port == asked);
                let place = self.places.iter().position(|place| place.free);
                let taken = service.zip(place).filter(|(_, place)| {
                    let (qp, ring) = (self.places[*place].qp, self.places[*place].ring);
                    engine.accept_stream(now, *conn, qp, &ring, port).is_ok()
                });
                let Some(((_, service), place)) = taken else {
                    self.counts.refused += 1;
                    let _ = engine.abort(now, *conn, port);
                    return;
                };
                self.counts.streams += 1;
                self.places[place].free = false;
                self.streams.push(Served {
                    service: *service,
                    conn: *conn,
                    place,
                    written: 0,
                    closed: false,
                });
            }
            Event::StreamClosed { conn: gone, .. } => {
                let places = &mut self.places;
                self.streams.retain(|stream| {
                    let is = stream.conn == *gone;
                    places[stream.place].free |= is;
                    !is
                });
            }
            _ => {}
        }
    }

    /// Serves all streams as far as they go now.
    pub fn poll<P: Port>(&mut self, now: u64, engine: &mut Engine, port: &mut P) {
        for stream in &mut self.streams {
            // An error says that the stream is over: its last event comes.
            let _ = stream.serve(now, engine, port, &mut self.buffer, &mut self.counts);
        }
    }
}

impl Served {
    fn serve<P: Port>(
        &mut self,
        now: u64,
        engine: &mut Engine,
        port: &mut P,
        buffer: &mut [u8],
        counts: &mut ServiceCounts,
    ) -> Result<(), Error> {
        loop {
            let state = engine.stream_state(self.conn)?;
            let room = match (self.service, self.closed) {
                // What comes when all is said is nobody's.
                (_, true) => usize::MAX,
                (Service::Echo, false) => state.writable,
                (Service::Discard | Service::Chargen, false) => usize::MAX,
            };
            let count = state.readable.min(room).min(buffer.len());
            let read = engine.read_stream(now, self.conn, &mut buffer[..count], port)?;
            counts.read += read as u64;
            if self.closed {
                if read == 0 {
                    return Ok(());
                }
                continue;
            }
            let written = match self.service {
                Service::Echo => engine.write_stream(now, self.conn, &buffer[..read], port)?,
                Service::Discard => 0,
                Service::Chargen if state.at_end => 0,
                Service::Chargen => {
                    let line = &mut buffer[..state.writable.min(CHUNK)];
                    for (byte, at) in line.iter_mut().zip(self.written..) {
                        *byte = chargen(at);
                    }
                    engine.write_stream(now, self.conn, line, port)?
                }
            };
            self.written += written as u64;
            counts.written += written as u64;
            if state.at_end && read == state.readable {
                self.closed = true;
                engine.disconnect(now, self.conn, port)?;
            } else if read == 0 && written == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_of_rfc_864() {
        let text: Vec<u8> = (0..222).map(chargen).collect();
        let first: Vec<u8> = (b' '..b' ' + 72).chain(*b"\r\n").collect();
        assert_eq!(text[..74], first);
        assert_eq!(text[74..76], *b"!\"");
        assert_eq!(text[148..150], *b"\"#");
        // After the last character comes the first again.
        assert_eq!(chargen(74 * 94), b'~');
        assert_eq!(chargen(74 * 94 + 1), b' ');
        assert_eq!(chargen(74 * 95), b' ');
    }
}
