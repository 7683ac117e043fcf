//! Resolvers of other hosts, asked over UDP by the hosts' own network: eight bytes that the answer repeats, and a question or an answer.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use weft_hostdrv::cm::{answer_bytes, answer_from_bytes, AddrInfo, Question};

/// A question is sent so often, and answered within so long each time.
const ROUNDS: u32 = 2;
const ROUND: Duration = Duration::from_millis(150);
/// The longest datagram.
const MOST: usize = 8 + 8192;

/// What the peers know; whoever knows something first is believed.
pub(super) fn ask(peers: &[SocketAddrV4], question: &Question) -> Vec<AddrInfo> {
    if peers.is_empty() {
        return Vec::new();
    }
    let asked = || -> io::Result<Vec<AddrInfo>> {
        let forwarded = Question {
            forwarded: true,
            ..question.clone()
        };
        let message = forwarded.to_bytes().ok_or(io::ErrorKind::InvalidInput)?;
        // Nobody else can know it.
        let id = RandomState::new().build_hasher().finish().to_be_bytes();
        let datagram = [&id[..], &message].concat();
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        let mut silent = peers.to_vec();
        for _ in 0..ROUNDS {
            for peer in &silent {
                if let Err(error) = socket.send_to(&datagram, peer) {
                    tracing::debug!(%peer, %error, "the peer cannot be asked");
                }
            }
            let end = Instant::now() + ROUND;
            while !silent.is_empty() {
                let Some((from, body)) = receive(&socket, end)? else {
                    break;
                };
                let Some(peer) = silent.iter().position(|peer| from == SocketAddr::V4(*peer))
                else {
                    continue;
                };
                let Some(answer) = body.strip_prefix(&id) else {
                    continue;
                };
                silent.remove(peer);
                let mut found = answer_from_bytes(answer).unwrap_or_else(|error| {
                    tracing::warn!(%from, %error, "a peer's answer is malformed");
                    Vec::new()
                });
                found.retain(|entry| question.is_answered_by(entry));
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        Ok(Vec::new())
    };
    asked().unwrap_or_else(|error| {
        tracing::warn!(%error, "the peers are not asked");
        Vec::new()
    })
}

/// The next datagram before `end`.
fn receive(socket: &UdpSocket, end: Instant) -> io::Result<Option<(SocketAddr, Vec<u8>)>> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(None);
    }
    socket.set_read_timeout(Some(left))?;
    let mut bytes = vec![0; MOST];
    match socket.recv_from(&mut bytes) {
        Ok((length, from)) => {
            bytes.truncate(length);
            Ok(Some((from, bytes)))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(None),
            // A peer without a resolver: its host said so. The others may answer.
            io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted => Ok(Some((
                SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
                Vec::new(),
            ))),
            _ => Err(error),
        },
    }
}

/// A question of another host's resolver.
pub(super) struct PeerQuestion {
    pub(super) from: SocketAddr,
    id: [u8; 8],
    pub(super) question: Question,
}

/// Why a datagram is not answered.
pub(super) enum Unanswered {
    /// None is there.
    Nothing,
    /// Not from one of the peers.
    Stranger,
    /// No question.
    Nonsense,
}

/// The next question, if it is one of a peer's.
pub(super) fn next(socket: &UdpSocket, peers: &[SocketAddrV4]) -> Result<PeerQuestion, Unanswered> {
    let mut bytes = [0; MOST];
    let (length, from) = socket
        .recv_from(&mut bytes)
        .map_err(|_| Unanswered::Nothing)?;
    if !peers.iter().any(|peer| from.ip() == *peer.ip()) {
        return Err(Unanswered::Stranger);
    }
    let question = |bytes: &[u8]| {
        let (id, message) = bytes.split_first_chunk::<8>()?;
        let question = Question::from_bytes(message).ok()?;
        question.forwarded.then_some(PeerQuestion {
            from,
            id: *id,
            question,
        })
    };
    question(&bytes[..length]).ok_or(Unanswered::Nonsense)
}

impl PeerQuestion {
    pub(super) fn answer(&self, socket: &UdpSocket, found: &[AddrInfo]) -> io::Result<()> {
        let datagram = [&self.id[..], &answer_bytes(found)].concat();
        socket.send_to(&datagram, self.from).map(drop)
    }
}
