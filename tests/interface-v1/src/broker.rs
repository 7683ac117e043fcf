//! A broker of then. It has no card: what a client writes to a peer comes into [`Served`].

use std::io;
use std::net::Ipv4Addr;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::memory::Memory;
use crate::packet::{answer, request, CREATE_QP, HELLO, MEMORY};
use crate::records::*;

const COMMANDS: usize = 16;
const EVENTS: usize = 64;
const QP: u32 = 0x0001_0003;
const QP_NUM: u32 = 5;
const CONN: u64 = 0x0002_0007;
const PD: u32 = 9;
const STAG: u32 = 0x0123_4500;
const IOVA: u64 = 0x1_0000_0000;

/// What a client did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Whom it connected to.
    pub peer: Option<(Ipv4Addr, u16)>,
    /// What it wrote: STag, TO, bytes.
    pub written: Vec<(u32, u64, Vec<u8>)>,
    /// It ended its connection in order.
    pub disconnected: bool,
    /// Requests and commands that were refused.
    pub refused: u32,
}

/// Its socket.
pub struct Broker(UnixListener);

/// What a client was lent.
struct Lent {
    commands: Memory,
    events: Memory,
    region: Option<(Memory, bool)>,
    queues: Option<Queues>,
    connected: bool,
    taken: usize,
    put: usize,
    served: Served,
}

struct Queues {
    queues: Memory,
    completions: Memory,
    blocks: usize,
    cqe: usize,
    taken: usize,
    put: usize,
}

impl Broker {
    /// Listens there.
    pub fn bind(path: &Path) -> io::Result<Self> {
        UnixListener::bind(path).map(Self)
    }

    /// Serves one client until it is gone.
    pub fn serve(&self) -> io::Result<Served> {
        let (socket, _) = self.0.accept()?;
        let mut lent = Lent {
            commands: Memory::new(DOORBELL + COMMANDS * (COMMAND_SLOT + ANSWER))?,
            events: Memory::new(DOORBELL + EVENTS * EVENT_SLOT)?,
            region: None,
            queues: None,
            connected: false,
            taken: 0,
            put: 0,
            served: Served::default(),
        };
        match request(&socket)? {
            // Of the other words nothing is known.
            Some([HELLO, ..]) => {
                let words = [COMMANDS as u64, EVENTS as u64, 0x0a00_0001];
                let files = [&lent.commands.file, &lent.events.file];
                answer(&socket, Ok((&words, &files)))?;
            }
            _ => {
                answer(&socket, Err("no such request"))?;
                return Ok(lent.served);
            }
        }
        loop {
            socket.set_nonblocking(true)?;
            let mut first = [0; 1];
            let flags = rustix::net::RecvFlags::PEEK;
            match rustix::net::recv(&socket, &mut first, flags) {
                Err(rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => {
                    socket.set_nonblocking(false)?;
                    match request(&socket)? {
                        Some(asked) => lent.serve(&socket, asked)?,
                        None => return Ok(lent.served),
                    }
                }
            }
            lent.take_command();
            lent.take_wqe();
            std::thread::yield_now();
        }
    }
}

impl Lent {
    fn serve(&mut self, socket: &UnixStream, asked: [u64; 8]) -> io::Result<()> {
        match asked {
            [MEMORY, bytes, ..] if self.region.is_none() && bytes > 0 && bytes <= 1 << 20 => {
                let memory = Memory::new(bytes as usize)?;
                answer(socket, Ok((&[PD.into(), IOVA, bytes], &[&memory.file])))?;
                self.region = Some((memory, false));
            }
            [CREATE_QP, send, recv, sges, _, inline, cqe, _] if self.queues.is_none() => {
                let behind = (sges as usize).saturating_sub(2).div_ceil(4);
                let inline_behind = (inline as usize).saturating_sub(32).div_ceil(64);
                let blocks = send as usize * (1 + behind.max(inline_behind));
                let blocks = blocks.next_power_of_two();
                let elements = (recv as usize).next_power_of_two();
                let slots = (cqe as usize).next_power_of_two();
                let queues = Queues {
                    queues: Memory::new(SEND_QUEUE + (blocks + elements) * BLOCK)?,
                    completions: Memory::new(DOORBELL + slots * CQE)?,
                    blocks,
                    cqe: slots,
                    taken: 0,
                    put: 0,
                };
                let terms = [QP.into(), QP_NUM.into(), send, recv, sges, inline, cqe];
                let files = [&queues.queues.file, &queues.completions.file];
                answer(socket, Ok((&terms, &files)))?;
                self.queues = Some(queues);
            }
            _ => {
                self.served.refused += 1;
                answer(socket, Err("no such request"))?;
            }
        }
        Ok(())
    }

    fn take_command(&mut self) {
        if self.commands.load(TAIL) as usize == self.taken {
            return;
        }
        let (number, slot) = (self.taken, self.taken & (COMMANDS - 1));
        let mut command = [0; COMMAND];
        self.commands
            .get(DOORBELL + slot * COMMAND_SLOT, &mut command);
        self.taken += 1;
        let mut answer = [0; ANSWER];
        put(&mut answer, 0, &(number as u32).to_le_bytes());
        answer[4] = self.execute(&command, &mut answer);
        self.served.refused += u32::from(answer[4] != status::DONE);
        answer[ANSWER - 1] = phase(number, COMMANDS);
        let at = DOORBELL + COMMANDS * COMMAND_SLOT + slot * ANSWER;
        self.commands.put(at, &answer);
    }

    fn execute(&mut self, command: &[u8; COMMAND], answer: &mut [u8; ANSWER]) -> u8 {
        let (conn, qp) = (u64_at(command, 8), u32_at(command, 16));
        match command[0] {
            command::REGISTER => match &mut self.region {
                Some((memory, registered))
                    if u32_at(command, 20) == PD
                        && u64_at(command, 40) == IOVA
                        && u64_at(command, 48) == memory.bytes() as u64 =>
                {
                    *registered = true;
                    put(answer, 24, &STAG.to_le_bytes());
                }
                _ => return status::MALFORMED,
            },
            command::CONNECT if qp == QP && !self.connected => {
                self.connected = true;
                let [a, b, c, d] = [64, 65, 66, 67].map(|at| command[at]);
                let port = u16::from_le_bytes([command[68], command[69]]);
                self.served.peer = Some((Ipv4Addr::new(a, b, c, d), port));
                put(answer, 8, &CONN.to_le_bytes());
                self.tell(event::ESTABLISHED);
            }
            command::QUERY_QP if qp == QP => {
                answer[5] = u8::from(self.connected);
                put(answer, 8, &CONN.to_le_bytes());
                if let Some((ip, port)) = self.served.peer {
                    put(answer, 40, &ip.octets());
                    put(answer, 46, &port.to_le_bytes());
                }
                answer[61] = u8::from(self.connected);
            }
            command::CONNECT | command::QUERY_QP => return status::UNKNOWN_QP,
            command::DISCONNECT if conn == CONN && self.connected => {
                self.connected = false;
                self.served.disconnected = true;
                self.tell(event::DISCONNECTED);
            }
            command::DISCONNECT => return status::UNKNOWN_CONNECTION,
            _ => return status::MALFORMED,
        }
        status::DONE
    }

    fn tell(&mut self, kind: u8) {
        let mut event = [0; EVENT];
        event[0] = kind;
        match kind {
            // Revision 1, an IRD and an ORD of 0, CRC.
            event::ESTABLISHED => (event[3], event[33]) = (1, 0b1011),
            // This side closed.
            _ => event[2] = event::CLOSED,
        }
        put(&mut event, 4, &QP.to_le_bytes());
        put(&mut event, 8, &CONN.to_le_bytes());
        event[EVENT - 1] = phase(self.put, EVENTS);
        let slot = self.put & (EVENTS - 1);
        self.events.put(DOORBELL + slot * EVENT_SLOT, &event);
        self.put += 1;
        self.events.load(ARMED);
    }

    /// Does a Write of one SGE.
    fn take_wqe(&mut self) {
        let (Some(queues), Some((memory, true)), true) =
            (&mut self.queues, &self.region, self.connected)
        else {
            return;
        };
        queues.queues.load(RECV_TAIL);
        if queues.queues.load(TAIL) as usize == queues.taken {
            return;
        }
        let number = queues.taken;
        let mut wqe = [0; BLOCK];
        let at = SEND_QUEUE + (number & (queues.blocks - 1)) * BLOCK;
        queues.queues.get(at, &mut wqe);
        queues.taken += 1;
        let (from, length) = (u64_at(&wqe, 32), u32_at(&wqe, 40));
        let is_write = wqe[..4] == [WRITE, SIGNALED, 1, 1] && u32_at(&wqe, 44) == STAG;
        let fits = from % 8 == 0 && length % 8 == 0;
        let inside = from + u64::from(length) <= memory.bytes() as u64;
        let mut cqe = [0; CQE];
        if is_write && fits && inside {
            let mut bytes = vec![0; length as usize];
            memory.get(from as usize, &mut bytes);
            let to = (u32_at(&wqe, 16), u64_at(&wqe, 8));
            self.served.written.push((to.0, to.1, bytes));
        } else {
            self.served.refused += 1;
            cqe[27] = 3;
        }
        put(&mut cqe, 0, &QP_NUM.to_le_bytes());
        put(&mut cqe, 4, &(number as u32).to_le_bytes());
        put(&mut cqe, 16, &length.to_le_bytes());
        cqe[26] = WRITE;
        cqe[CQE - 1] = phase(queues.put, queues.cqe);
        let slot = queues.put & (queues.cqe - 1);
        queues.completions.put(DOORBELL + slot * CQE, &cqe);
        queues.put += 1;
    }
}
