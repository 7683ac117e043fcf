//! Connections that have said nothing yet: a SYN came, a SYN-ACK went, and perhaps the handshake's third segment came. Each costs a row of a
//! table of fixed size; a connection is made when the peer has something to say. Half of the rows may be of handshakes that are done: those have
//! an address that is somebody's, so the oldest gives way to one more, while a flood of SYNs from nobody puts out none of them. Without room in the
//! table the SYN-ACK's sequence number is all there is (a SYN cookie, RFC 4987 §3.6): it says the MSS; window scale, SACK and timestamps are
//! given up.

use alloc::vec::Vec;

use weft_wire::ethernet::Mac;

use crate::connection::conn::MIN_SEGMENT;
use crate::interface::cm::Endpoint;
use crate::interface::random::Secret;
use crate::tcp::limits::Limit;
use weft_tcp::seq;

/// A half-open connection.
#[derive(Clone, Copy, Debug)]
pub struct HalfOpen {
    /// This side.
    pub local: Endpoint,
    /// The other side.
    pub remote: Endpoint,
    /// Where the SYN came from.
    pub mac: Mac,
    /// Its sequence number.
    pub irs: u32,
    /// Ours.
    pub iss: u32,
    /// Its MSS, if it said one.
    pub mss: Option<u16>,
    /// Its window scale.
    pub scale: Option<u8>,
    /// It permits SACK.
    pub sack: bool,
    /// It asks for ECN, and may have it. (A cookie has no room for that.)
    pub ecn: bool,
    /// Its timestamp, if both sides want them.
    pub ts_val: Option<u32>,
    /// When the handshake's third segment came, if it has, and how many did before.
    pub stands_since: Option<(u64, u64)>,
    /// There was no room for the SYN-ACK: it has not gone yet.
    pub unsent: bool,
    /// When the SYN-ACK went first.
    pub since: u64,
    /// When it goes again.
    pub again_at: u64,
    /// How often it went again.
    pub tries: u8,
}

/// A card has sent something after so long, and there is room again.
const SOON: u64 = 100_000;

/// The table.
#[derive(Debug)]
pub struct SynCache {
    rows: Vec<HalfOpen>,
    room: usize,
    /// The first time that a SYN-ACK goes again.
    soonest: Option<u64>,
    /// Handshakes done.
    done: u64,
}

impl SynCache {
    /// Room for so many.
    pub fn new(room: u16) -> Self {
        SynCache {
            rows: Vec::with_capacity(usize::from(room)),
            room: usize::from(room),
            soonest: None,
            done: 0,
        }
    }

    /// The row of a connection.
    pub fn find(&self, local: Endpoint, remote: Endpoint) -> Option<usize> {
        self.rows
            .iter()
            .position(|row| row.local == local && row.remote == remote)
    }

    /// A row.
    pub fn get(&self, index: usize) -> Option<&HalfOpen> {
        self.rows.get(index)
    }

    /// False if there is no room.
    pub fn insert(&mut self, row: HalfOpen) -> bool {
        let room = self.rows.len() < self.room;
        if room {
            let at = row.again_at;
            self.soonest = Some(self.soonest.map_or(at, |soonest| soonest.min(at)));
            self.rows.push(row);
        }
        room
    }

    /// Takes a row out.
    pub fn remove(&mut self, index: usize) {
        if index < self.rows.len() {
            self.rows.swap_remove(index);
            self.changed();
        }
    }

    fn changed(&mut self) {
        self.soonest = self.rows.iter().map(|row| row.again_at).min();
    }

    /// A neighbour has another station address.
    pub fn moved(&mut self, ip: [u8; 4], mac: Mac) {
        for row in self.rows.iter_mut().filter(|row| row.remote.ip == ip) {
            row.mac = mac;
        }
    }

    /// Forgets those of a port.
    pub fn forget_port(&mut self, port: u16) {
        self.rows.retain(|row| row.local.port != port);
        self.changed();
    }

    /// When the next SYN-ACK goes again.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        self.soonest
    }

    /// There was no room for the first SYN-ACK of a row: its timer expires soon.
    pub fn unsent(&mut self, now: u64, row: &HalfOpen) {
        let index = self.find(row.local, row.remote);
        if let Some(row) = index.and_then(|index| self.rows.get_mut(index)) {
            (row.unsent, row.again_at) = (true, now.saturating_add(SOON));
            self.changed();
        }
    }

    /// The handshake of a row is done; it is forgotten if nothing has come until then. The row that gives way to it, if one has to: the oldest of the
    /// port that has the most.
    pub fn stands(&mut self, now: u64, index: usize, until: u64) -> Option<HalfOpen> {
        let row = self.rows.get_mut(index)?;
        (row.stands_since, row.unsent, row.again_at) = (Some((now, self.done)), false, until);
        self.done += 1;
        let standing = |rows: &[HalfOpen]| rows.iter().filter(|r| r.stands_since.is_some()).count();
        let goes = match standing(&self.rows) > (self.room / 2).max(1) {
            true => self.who_gives_way(),
            false => None,
        };
        let gone = goes.map(|at| self.rows.swap_remove(at));
        self.changed();
        gone
    }

    fn who_gives_way(&self) -> Option<usize> {
        let stands = |row: &&HalfOpen| row.stands_since.is_some();
        let of_port = |port: u16| {
            let standing = self.rows.iter().filter(stands);
            standing.filter(|row| row.local.port == port).count()
        };
        let rows = self.rows.iter().enumerate();
        let standing = rows.filter(|(_, row)| stands(row));
        let worst = standing.max_by_key(|(_, row)| {
            let age = core::cmp::Reverse(row.stands_since);
            (of_port(row.local.port), age)
        });
        worst.map(|(at, _)| at)
    }

    /// A row whose timer has expired: its SYN-ACK, or the end of its time. It is forgotten when its SYN-ACK went `retries` times, or it stands and is silent;
    /// else it waits twice as long for the next, and the second value is false.
    pub fn take_expired(&mut self, now: u64, retries: u8, rto: u64) -> Option<(HalfOpen, bool)> {
        self.soonest.filter(|at| *at <= now)?;
        let index = self.rows.iter().position(|row| row.again_at <= now)?;
        let unsent = core::mem::take(&mut self.rows[index].unsent);
        let row = &self.rows[index];
        let gone = row.stands_since.is_some() || !unsent && row.tries >= retries;
        let row = if gone {
            self.rows.swap_remove(index)
        } else if unsent {
            let row = &mut self.rows[index];
            (row.since, row.again_at) = (now, now.saturating_add(rto));
            *row
        } else {
            let row = &mut self.rows[index];
            row.tries += 1;
            row.again_at = now.saturating_add(rto << row.tries.min(16));
            *row
        };
        self.changed();
        Some((row, gone))
    }
}

/// The MSS values that a cookie can say. Who says less is refused.
const MSS: [u16; 8] = [MIN_SEGMENT, 256, 536, 1220, 1380, 1460, 4096, 8960];
/// The clock of cookies: one is good for two of these periods at the most.
const PERIOD: u64 = 64_000_000_000;
const MAC_BITS: u32 = 24;
const MAC_MASK: u32 = (1 << MAC_BITS) - 1;

/// Makes and judges cookies.
#[derive(Debug)]
pub struct Cookies {
    secret: Secret,
    last: Option<u64>,
}

impl Cookies {
    /// None made yet.
    pub fn new(secret: Secret) -> Self {
        Cookies { secret, last: None }
    }

    /// The sequence number for a SYN-ACK: five bits of the period, three of the MSS, and a hash of everything.
    pub fn make(&mut self, now: u64, local: Endpoint, remote: Endpoint, irs: u32, mss: u16) -> u32 {
        self.last = Some(now);
        let index = MSS.iter().rposition(|known| *known <= mss).unwrap_or(0) as u32;
        let period = now / PERIOD;
        (period as u32 & 31) << 27 | index << MAC_BITS | self.mac(local, remote, irs, period, index)
    }

    /// The MSS that a cookie says; `None` if it is none of ours, or too old.
    pub fn open(
        &self,
        now: u64,
        local: Endpoint,
        remote: Endpoint,
        irs: u32,
        cookie: u32,
    ) -> Option<u16> {
        // While none are made, no acknowledgment is taken for one.
        let age = now.saturating_sub(self.last?);
        if age >= 2 * PERIOD {
            return None;
        }
        let index = cookie >> MAC_BITS & 7;
        let current = now / PERIOD;
        let back = (current as u32).wrapping_sub(cookie >> 27) & 31;
        let period = current.checked_sub(u64::from(back)).filter(|_| back < 2)?;
        (cookie & MAC_MASK == self.mac(local, remote, irs, period, index))
            .then(|| MSS[index as usize])
    }

    fn mac(&self, local: Endpoint, remote: Endpoint, irs: u32, period: u64, index: u32) -> u32 {
        let more = u64::from(irs) << 32 | (period << 3 | u64::from(index)) & 0xffff_ffff;
        self.secret.hash(local, remote, more) as u32 & MAC_MASK
    }
}

/// Half-open connections, and what they may make the engine say.
#[derive(Debug)]
pub struct HalfOpens {
    /// A row each.
    pub rows: SynCache,
    /// For those that have no room there.
    pub cookies: Cookies,
    /// Challenge acknowledgments of theirs.
    pub challenges: Limit,
}

impl HalfOpens {
    /// None yet, and room for so many.
    pub fn new(rows: u16, secret: Secret) -> Self {
        HalfOpens {
            rows: SynCache::new(rows),
            cookies: Cookies::new(secret),
            challenges: Limit::default(),
        }
    }
}

/// The third segment acknowledges exactly the SYN-ACK, and lies in the window behind the SYN.
pub fn completes(irs: u32, iss: u32, seq: u32, ack: u32, window: u32) -> bool {
    let distance = seq::diff(seq, irs.wrapping_add(1));
    ack == iss.wrapping_add(1) && distance >= 0 && distance as u32 <= window
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::random::{Random, Seed};

    #[test]
    fn a_cookie_says_the_mss_and_grows_old() {
        let mut cookies = Cookies::new(Random::new(&Seed::from(1)).secret());
        let local = Endpoint {
            ip: [10, 0, 0, 1],
            port: 1,
        };
        let remote = Endpoint {
            ip: [10, 0, 0, 2],
            port: 2,
        };
        assert_eq!(cookies.open(0, local, remote, 7, 0), None);
        for start in [0, 31 * PERIOD + 5, 1000 * PERIOD - 1] {
            for (mss, said) in [
                (140, 140),
                (536, 536),
                (1459, 1380),
                (1460, 1460),
                (65535, 8960),
            ] {
                let cookie = cookies.make(start, local, remote, 7, mss);
                assert_eq!(cookies.open(start, local, remote, 7, cookie), Some(said));
                assert_eq!(
                    cookies.open(start + PERIOD, local, remote, 7, cookie),
                    Some(said)
                );
                assert_eq!(
                    cookies.open(start + 2 * PERIOD, local, remote, 7, cookie),
                    None
                );
                assert_eq!(cookies.open(start, local, remote, 8, cookie), None);
                assert_eq!(cookies.open(start, remote, local, 7, cookie), None);
                assert_eq!(
                    cookies.open(start, local, remote, 7, cookie ^ 1 << 25),
                    None
                );
            }
        }
        // 32 periods later the same five bits come again.
        let cookie = cookies.make(0, local, remote, 7, 1460);
        cookies.make(32 * PERIOD, local, remote, 9, 1460);
        assert_eq!(cookies.open(32 * PERIOD, local, remote, 7, cookie), None);
    }
}
