//! A program of then.

use std::io;
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::memory::Memory;
use crate::packet::{ask, hear, CREATE_QP, HELLO, MEMORY};
use crate::records::*;

/// What it is to do: connect to a port and write words there.
pub struct Errand {
    /// Where to.
    pub peer: (Ipv4Addr, u16),
    /// The peer's region: STag, TO.
    pub to: (u32, u64),
    /// What is written.
    pub words: Vec<u64>,
}

/// Its control rings.
pub struct Client {
    socket: UnixStream,
    commands: Memory,
    events: Memory,
    command_count: usize,
    event_count: usize,
    posted: usize,
    taken: usize,
}

/// A queue pair with its completion queue.
struct Queues {
    queues: Memory,
    completions: Memory,
    number: u32,
    qp_num: u32,
    cqe: usize,
    posted: usize,
    polled: usize,
}

fn wrong(what: impl std::fmt::Debug) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what:?}"))
}

/// IdlePolls until there is something.
fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> io::Result<T> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if began.elapsed() > Duration::from_secs(120) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, what.to_owned()));
        }
        std::thread::yield_now();
    }
}

impl Client {
    /// Asks a broker for control rings.
    pub fn connect(path: &Path) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        ask(&socket, &[HELLO])?;
        let (words, mut files) = hear(&socket)?;
        let (Some(events), Some(commands), true) = (files.pop(), files.pop(), files.is_empty())
        else {
            return Err(wrong("two files are lent"));
        };
        let client = Self {
            socket,
            commands: Memory::map(commands)?,
            events: Memory::map(events)?,
            command_count: words[0] as usize,
            event_count: words[1] as usize,
            posted: 0,
            taken: 0,
        };
        let command_bytes = DOORBELL + client.command_count * (COMMAND_SLOT + ANSWER);
        let event_bytes = DOORBELL + client.event_count * EVENT_SLOT;
        let fits = client.commands.bytes() >= command_bytes && client.events.bytes() >= event_bytes;
        match fits && client.command_count.is_power_of_two() && client.event_count.is_power_of_two()
        {
            true => Ok(client),
            false => Err(wrong(words)),
        }
    }

    /// Has a command done; its answer.
    fn command(&mut self, command: &[u8; COMMAND]) -> io::Result<[u8; ANSWER]> {
        let (number, count) = (self.posted, self.command_count);
        let slot = number & (count - 1);
        self.commands.put(DOORBELL + slot * COMMAND_SLOT, command);
        self.posted += 1;
        self.commands.store(TAIL, self.posted as u64);
        let at = DOORBELL + count * COMMAND_SLOT + slot * ANSWER;
        let answer = wait("an answer", || {
            let mut answer = [0; ANSWER];
            self.commands.get(at, &mut answer);
            (answer[ANSWER - 1] & 1 == phase(number, count)).then_some(answer)
        })?;
        let done = u32_at(&answer, 0) == number as u32 && answer[4] == status::DONE;
        if done {
            Ok(answer)
        } else {
            Err(wrong(("command", command[0], "answer", answer[4])))
        }
    }

    fn event(&mut self) -> io::Result<[u8; EVENT]> {
        let (number, count) = (self.taken, self.event_count);
        let at = DOORBELL + (number & (count - 1)) * EVENT_SLOT;
        let event = wait("an event", || {
            let mut event = [0; EVENT];
            self.events.get(at, &mut event);
            (event[EVENT - 1] & 1 == phase(number, count)).then_some(event)
        })?;
        self.taken += 1;
        self.events.store(TAKEN, self.taken as u64);
        Ok(event)
    }

    fn create_qp(&self) -> io::Result<Queues> {
        // Send and receive work, SGEs of both, inline bytes, CQEs.
        ask(&self.socket, &[CREATE_QP, 4, 4, 2, 2, 32, 8])?;
        let (words, mut files) = hear(&self.socket)?;
        let (Some(completions), Some(queues)) = (files.pop(), files.pop()) else {
            return Err(wrong("two files are lent"));
        };
        let queues = Queues {
            queues: Memory::map(queues)?,
            completions: Memory::map(completions)?,
            number: words[0] as u32,
            qp_num: words[1] as u32,
            cqe: words[6] as usize,
            posted: 0,
            polled: 0,
        };
        let as_asked = words[2..7] == [4, 4, 2, 32, 8];
        let fits = queues.queues.bytes() >= SEND_QUEUE + (4 + 4) * BLOCK
            && queues.completions.bytes() >= DOORBELL + 8 * CQE;
        match as_asked && fits {
            true => Ok(queues),
            false => Err(wrong(words)),
        }
    }

    /// Memory, a queue pair, a connection, the words in Writes of at most 8 each, an orderly end.
    pub fn run(&mut self, errand: &Errand) -> io::Result<()> {
        // LOCAL_WRITE, of a whole page.
        let bytes = (8 * errand.words.len() as u64).next_multiple_of(4096);
        ask(&self.socket, &[MEMORY, bytes, 1])?;
        let (words, mut files) = hear(&self.socket)?;
        let memory = Memory::map(files.pop().ok_or_else(|| wrong("a file is lent"))?)?;
        let [pd, iova, length, ..] = words;
        for (at, word) in errand.words.iter().enumerate() {
            memory.store(8 * at, *word);
        }
        let mut register = [0; COMMAND];
        register[0] = command::REGISTER;
        register[2] = 1;
        put(&mut register, 20, &(pd as u32).to_le_bytes());
        put(&mut register, 40, &iova.to_le_bytes());
        put(&mut register, 48, &length.to_le_bytes());
        let stag = u32_at(&self.command(&register)?, 24);
        let mut qp = self.create_qp()?;
        let mut connect = [0; COMMAND];
        connect[0] = command::CONNECT;
        // With CRC and what revision 1 needs.
        connect[1] = 1 << 1;
        put(&mut connect, 16, &qp.number.to_le_bytes());
        let (ip, port) = errand.peer;
        put(&mut connect, 64, &ip.octets());
        put(&mut connect, 68, &port.to_le_bytes());
        connect[77] = 1;
        let conn = u64_at(&self.command(&connect)?, 8);
        let event = self.event()?;
        if (event[0], u64_at(&event, 8)) != (event::ESTABLISHED, conn) {
            return Err(wrong(event));
        }
        let mut query = [0; COMMAND];
        query[0] = command::QUERY_QP;
        put(&mut query, 16, &qp.number.to_le_bytes());
        let answer = self.command(&query)?;
        let named = (answer[5], u64_at(&answer, 8), &answer[40..44]);
        if named != (1, conn, &ip.octets()[..]) {
            return Err(wrong(named));
        }
        for first in (0..errand.words.len()).step_by(8) {
            let some = errand.words.len().min(first + 8) - first;
            qp.write(errand.to, stag, 8 * first, 8 * some)?;
        }
        let mut disconnect = [0; COMMAND];
        disconnect[0] = command::DISCONNECT;
        put(&mut disconnect, 8, &conn.to_le_bytes());
        self.command(&disconnect)?;
        let event = self.event()?;
        match (event[0], u64_at(&event, 8)) == (event::DISCONNECTED, conn) {
            true => Ok(()),
            false => Err(wrong(event)),
        }
    }

    /// What the broker says to a request that nobody knows; it goes on.
    pub fn ask_nonsense(&self) -> io::Result<String> {
        ask(&self.socket, &[0x7fff_ffff, 1, 2, 3])?;
        match hear(&self.socket) {
            Ok(words) => Err(wrong(words)),
            Err(why) => Ok(why.to_string()),
        }
    }
}

impl Queues {
    /// Writes bytes of the region of `stag` to the same place in the peer's, and waits for the completion.
    fn write(&mut self, to: (u32, u64), stag: u32, from: usize, bytes: usize) -> io::Result<()> {
        let number = self.posted;
        let mut wqe = [0; BLOCK];
        wqe[..4].copy_from_slice(&[WRITE, SIGNALED, 1, 1]);
        put(&mut wqe, 8, &(to.1 + from as u64).to_le_bytes());
        put(&mut wqe, 16, &to.0.to_le_bytes());
        put(&mut wqe, 32, &(from as u64).to_le_bytes());
        put(&mut wqe, 40, &(bytes as u32).to_le_bytes());
        put(&mut wqe, 44, &stag.to_le_bytes());
        self.queues.put(SEND_QUEUE + (number & 3) * BLOCK, &wqe);
        self.posted += 1;
        self.queues.store(TAIL, self.posted as u64);
        let (polled, cqe) = (self.polled, self.cqe);
        let at = DOORBELL + (polled & (cqe - 1)) * CQE;
        let found = wait("a completion", || {
            let mut found = [0; CQE];
            self.completions.get(at, &mut found);
            (found[CQE - 1] & 1 == phase(polled, cqe)).then_some(found)
        })?;
        self.polled += 1;
        self.completions.store(TAKEN, self.polled as u64);
        let names = (u32_at(&found, 0), u32_at(&found, 4));
        let ended = (found[26], found[27]);
        match (names, ended) == ((self.qp_num, number as u32), (WRITE, 0)) {
            true => Ok(()),
            false => Err(wrong(found)),
        }
    }
}
