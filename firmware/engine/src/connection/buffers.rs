//! Memory that connections use by turns: pages of streams, accounts of what is in flight, and room for one FPDU and one frame.

use alloc::vec;
use alloc::vec::Vec;

use crate::connection::conn::Conn;
use crate::connection::in_flight::InFlight;
use crate::interface::config::EngineConfig;
use weft_tcp::pages::Pool;
use weft_tcp::scoreboard::Run;
use weft_tcp::spare::Spare;

/// Connections that may come to rest and wake again without asking for memory.
const SPARE: usize = 32;

/// Memory that is lent to whoever needs it.
#[derive(Debug)]
pub struct Buffers {
    /// Memory for what lies beyond gaps, and for FPDUs that are not whole.
    pub pool: Pool,
    /// An FPDU as received.
    pub wire: Vec<u8>,
    /// Its ULPDU.
    pub ulpdu: Vec<u8>,
    /// A frame to send.
    pub frame: Vec<u8>,
    /// Memory to keep account of what is in flight.
    spare_in_flight: Spare<InFlight>,
    /// The same, of the sender.
    spare_runs: Spare<Run>,
}

/// The pages of all streams.
fn pool(config: &EngineConfig) -> Pool {
    let reserve = config.memory.reserve as usize;
    let pool = Pool::new(config.reassembly_memory as usize, reserve);
    match config.memory.counted {
        true => pool.with_all(config.slots().into()),
        false => pool,
    }
}

/// Queues for what is in flight. Where memory is counted, none are kept beside those in use.
fn spare<T>(config: &EngineConfig, room: u16) -> Spare<T> {
    match config.memory.counted {
        true => Spare::new(0, room.into()),
        false => Spare::new(SPARE, 0),
    }
}

impl Buffers {
    /// As large as the configuration says.
    pub fn new(config: &EngineConfig) -> Self {
        let longest = config.memory.longest as usize;
        Buffers {
            pool: pool(config),
            wire: vec![0; longest],
            ulpdu: vec![0; longest.min(1 << 16)],
            frame: vec![0; usize::from(config.mtu.max(576)) + 14],
            spare_in_flight: spare(config, config.memory.in_flight),
            spare_runs: spare(config, config.memory.runs),
        }
    }

    /// A connection that has something in flight has memory to keep account of it.
    pub fn lend(&mut self, conn: &mut Conn) {
        self.spare_in_flight.lend(&mut conn.in_flight);
        conn.sender.lend(&mut self.spare_runs);
    }

    /// One that has nothing needs none.
    pub fn take_back(&mut self, conn: &mut Conn) {
        if conn.in_flight.is_empty() {
            self.spare_in_flight.take_back(&mut conn.in_flight);
            conn.sender.give_back(&mut self.spare_runs);
        }
    }
}
