//! Frames of no flow, which come to the owner of the card's first port, and which of them are for the owner of the second one.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_engine::ResourceSplit;

/// Where in an Ethernet frame what is in it begins.
const PACKET: usize = 14;

/// What the first port's owner knows of the second one's.
#[derive(Clone, Default)]
pub(crate) struct Given(Arc<Mutex<Option<Taker>>>);

/// Frames of no flow that are the second port's, for an engine of this process that has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenFrames(Arc<Mutex<VecDeque<Vec<u8>>>>);

/// Frames that wait at most.
const FRAMES: usize = 64;

impl GivenFrames {
    fn frames(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False: it found no room, and is lost, as on the wire.
    pub(crate) fn put(&self, frame: &[u8]) -> bool {
        let mut frames = self.frames();
        let has_room = frames.len() < FRAMES;
        if has_room {
            frames.push_back(frame.to_vec());
        }
        has_room
    }

    /// The oldest.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        self.frames().pop_front()
    }
}

/// How a card is shared.
#[derive(Debug)]
pub(crate) enum Sharing {
    /// It is not.
    Alone,
    /// This is its first port; frames that are the other one's go there.
    First(Given),
    /// This is its second port; frames of no flow come from the first one.
    Second(GivenFrames),
}

/// Takes a frame.
type Give = Box<dyn FnMut(&[u8]) + Send>;

/// Who has the second port.
struct Taker {
    give: Give,
    /// Ports that are its own, besides those that it chooses from.
    listens: BTreeSet<u16>,
}

/// What is in a frame, as far as it matters whose it is.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// An answer to who has an address: for whoever asked.
    ArpReply,
    /// TCP to this port.
    Tcp(u16),
    Other,
}

fn kind(frame: &[u8]) -> Kind {
    let word = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let found = || {
        let byte = |at: usize| frame.get(at).copied();
        Some(match word(12)? {
            0x0806 if word(PACKET + 6)? == 2 => Kind::ArpReply,
            // Also of a fragment: what it says is looked at by who gets it.
            0x0800 if byte(PACKET + 9)? == 6 => {
                let header = usize::from(byte(PACKET)? & 15) * 4;
                Kind::Tcp(word(PACKET + header + 2)?)
            }
            _ => Kind::Other,
        })
    };
    found().unwrap_or(Kind::Other)
}

impl Given {
    fn taker(&self) -> MutexGuard<'_, Option<Taker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frame of no flow. True: it is the second port's, and of nobody else.
    pub(crate) fn offer(&self, frame: &[u8]) -> bool {
        let mut taker = self.taker();
        let Some(taker) = &mut *taker else {
            return false;
        };
        let (is_for, alone) = match kind(frame) {
            Kind::ArpReply => (true, false),
            Kind::Tcp(port) => {
                let is_for =
                    ResourceSplit::Second.ports().contains(&port) || taker.listens.contains(&port);
                (is_for, is_for)
            }
            Kind::Other => (false, false),
        };
        if is_for {
            (taker.give)(frame);
        }
        alone
    }

    /// The second port is somebody's, who takes frames [later](Self::to). False: it was before.
    pub(crate) fn claim(&self) -> bool {
        let mut taker = self.taker();
        let is_free = taker.is_none();
        taker.get_or_insert_with(|| Taker {
            give: Box::new(|_| ()),
            listens: BTreeSet::new(),
        });
        is_free
    }

    /// Who has claimed it takes frames from now on.
    pub(crate) fn to(&self, give: Give) {
        if let Some(taker) = &mut *self.taker() {
            taker.give = give;
        }
    }

    /// There is none any more.
    pub(crate) fn to_nobody(&self) {
        *self.taker() = None;
    }

    /// What comes for this port is the second one's from now on.
    pub(crate) fn listen(&self, port: u16) {
        if let Some(taker) = &mut *self.taker() {
            taker.listens.insert(port);
        }
    }

    /// And no more.
    pub(crate) fn unlisten(&self, port: u16) {
        if let Some(taker) = &mut *self.taker() {
            taker.listens.remove(&port);
        }
    }

    /// Does the second port's owner listen there?
    pub(crate) fn listens(&self, port: u16) -> bool {
        let taker = self.taker();
        taker
            .as_ref()
            .is_some_and(|taker| taker.listens.contains(&port))
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Given")
            .field("open", &self.taker().is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_wait_are_bounded() {
        let frames = GivenFrames::default();
        let put = (0..=FRAMES).filter(|n| frames.put(&[*n as u8])).count();
        assert_eq!(put, FRAMES);
        assert_eq!(frames.take(), Some(vec![0]), "in their order");
        assert!(frames.put(&[9]), "there is room again");
    }

    #[test]
    fn what_is_in_a_frame() {
        let mut arp = vec![0; 42];
        arp[12..14].copy_from_slice(&[8, 6]);
        arp[21] = 1;
        assert_eq!(kind(&arp), Kind::Other, "a question is the first one's");
        arp[21] = 2;
        assert_eq!(kind(&arp), Kind::ArpReply);
        let mut tcp = vec![0; 54];
        tcp[12..14].copy_from_slice(&[8, 0]);
        tcp[14] = 0x45;
        tcp[23] = 6;
        tcp[36..38].copy_from_slice(&[0x1d, 0x2f]);
        assert_eq!(kind(&tcp), Kind::Tcp(0x1d2f));
        tcp[14] = 0x46;
        tcp[40..42].copy_from_slice(&[1, 2]);
        assert_eq!(kind(&tcp), Kind::Tcp(0x0102), "behind IP options");
        for length in 0..54 {
            let cut = kind(&tcp[..length]);
            assert!(cut == Kind::Other || cut == Kind::Tcp(0x0102), "{length}");
        }
        tcp[23] = 17;
        assert_eq!(kind(&tcp), Kind::Other);
    }

    /// To the second port goes what is for it, and a copy of what both may wait for.
    #[test]
    fn what_is_given() {
        let given = Given::default();
        let mut tcp = vec![0; 54];
        tcp[12..14].copy_from_slice(&[8, 0]);
        tcp[14] = 0x45;
        tcp[23] = 6;
        let to = |port: u16| {
            let mut frame = tcp.clone();
            frame[36..38].copy_from_slice(&port.to_be_bytes());
            frame
        };
        let chosen = *ResourceSplit::Second.ports().start();
        assert!(!given.offer(&to(chosen)), "there is nobody");
        let had = Arc::new(Mutex::new(0));
        let count = had.clone();
        assert!(given.claim() && !given.claim());
        given.to(Box::new(move |_| *count.lock().unwrap() += 1));
        assert!(given.offer(&to(chosen)) && !given.offer(&to(chosen - 1)));
        assert!(!given.offer(&to(4791)));
        given.listen(4791);
        assert!(given.listens(4791) && given.offer(&to(4791)));
        given.unlisten(4791);
        assert!(!given.listens(4791) && !given.offer(&to(4791)));
        let mut arp = vec![0; 42];
        arp[12..14].copy_from_slice(&[8, 6]);
        arp[21] = 2;
        assert!(!given.offer(&arp), "it is the first one's, too");
        assert_eq!(*had.lock().unwrap(), 3);
        given.to_nobody();
        assert!(!given.offer(&to(chosen)));
    }
}
