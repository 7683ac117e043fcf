//! What two processes tell each other beside the queues that one lends to the other: that there is something to do, and that one of them is gone.
//!
//! ```text
//!   owner    LentLine::new ──► two files ──► (its own way)   SharedLine::open
//!            wake ──► a byte by a socket ──► a thread, which wakes who sleeps in wait_for
//!            sleeps, says so in the page ◄── a post looks, and rings by the owner's way
//! ```
//!
//! The owner never reads what the borrower could send, and never waits for it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{fence, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use weft_card_transport::queue_memory::QueueMemory;

/// Bytes of the page.
const PAGE: usize = 64;
/// Its words: what became of the owner, whether the owner sleeps, whether the borrower does.
const STATE: usize = 0;
const OWNER_ASLEEP: usize = 1;
const BORROWER_ASLEEP: usize = 2;
/// The fence that the borrower asked for last, and the last one that has ended.
const FENCE: usize = 3;
const FENCE_DONE: usize = 4;

/// What is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Gone {
    /// The card, or its device.
    #[error("the card is gone")]
    Card,
    /// The process that lent it.
    #[error("the broker of the card is gone")]
    Broker,
}

impl Gone {
    fn number(self) -> u64 {
        match self {
            Gone::Card => 1,
            Gone::Broker => 2,
        }
    }

    fn of(number: u64) -> Option<Self> {
        match number {
            0 => None,
            1 => Some(Gone::Card),
            _ => Some(Gone::Broker),
        }
    }
}

impl From<Gone> for io::Error {
    fn from(gone: Gone) -> Self {
        io::Error::new(io::ErrorKind::BrokenPipe, gone)
    }
}

/// Why nothing was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotPosted {
    /// There is no room before something is polled.
    #[error("the queue is full")]
    Full,
    /// Nobody would do it.
    #[error(transparent)]
    Gone(#[from] Gone),
}

/// The owner's end.
pub struct LentLine {
    page: QueueMemory,
    bell: UnixStream,
    lent: Option<OwnedFd>,
}

impl LentLine {
    /// A line to another process.
    pub fn new() -> io::Result<Self> {
        let (bell, lent) = UnixStream::pair()?;
        // What the borrower would send could be descriptors, which somebody would have to close.
        bell.shutdown(Shutdown::Read)?;
        bell.set_nonblocking(true)?;
        Ok(Self {
            page: QueueMemory::new(PAGE, true).ok_or(io::ErrorKind::OutOfMemory)?,
            bell,
            lent: Some(lent.into()),
        })
    }

    fn word(&self, at: usize) -> Option<&AtomicU64> {
        self.page.words().get(at)
    }

    /// The files to be lent: the page, and the borrower's end of the bell, which is closed here by [`lent`](Self::lent).
    pub fn files(&self) -> Option<[BorrowedFd<'_>; 2]> {
        Some([self.page.file()?, self.lent.as_ref()?.as_fd()])
    }

    /// Another process has them.
    pub fn lent(&mut self) {
        self.lent = None;
    }

    /// Wakes the borrower, if it sleeps. Behind what was written for it.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        let asleep = self.word(BORROWER_ASLEEP);
        if asleep.is_some_and(|asleep| asleep.swap(0, Ordering::SeqCst) != 0) {
            self.ring();
        }
    }

    fn ring(&self) {
        // A socket that is full has woken it already; one that nobody has any more wakes nobody.
        let _ = (&self.bell).write(&[1]);
    }

    /// From now on a post rings, or does not. What was posted before is to be looked for afterwards.
    pub fn set_asleep(&self, asleep: bool) {
        if let Some(word) = self.word(OWNER_ASLEEP) {
            word.store(asleep.into(), Ordering::SeqCst);
            fence(Ordering::SeqCst);
        }
    }

    /// The number of the fence that the borrower asks for.
    pub fn fence_asked(&self) -> u32 {
        let word = self.word(FENCE);
        word.map_or(0, |word| word.load(Ordering::SeqCst) as u32)
    }

    /// What tells the borrower, when it is dropped, that this fence has ended.
    pub fn fence_ends(&self, number: u32) -> impl Send + 'static {
        /// Tells when it is dropped.
        struct Ends(QueueMemory, u32);
        impl Drop for Ends {
            fn drop(&mut self) {
                if let Some(word) = self.0.words().get(FENCE_DONE) {
                    word.store(self.1.into(), Ordering::SeqCst);
                }
            }
        }
        Ends(self.page.clone(), number)
    }

    /// Posts fail from now on, and who sleeps is told.
    pub fn end(&self, why: Gone) {
        if let Some(state) = self.word(STATE) {
            state.store(why.number(), Ordering::SeqCst);
        }
        self.ring();
    }
}

impl fmt::Debug for LentLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LentLine").field(&self.bell).finish()
    }
}

/// The borrower's end, for all its threads.
pub struct SharedLine {
    page: QueueMemory,
    bell: UnixStream,
    /// How often the owner has rung.
    rung: Mutex<u64>,
    woken: Condvar,
    ring: Box<dyn Fn() + Send + Sync>,
    heard: Box<dyn Fn() + Send + Sync>,
}

impl SharedLine {
    /// From files that came from [`LentLine::files`] by whatever way; `ring` wakes the owner, and does not wait. A thread listens until one of the
    /// two is gone.
    pub fn open(
        files: [OwnedFd; 2],
        ring: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Arc<Self>> {
        Self::open_with(files, ring, || ())
    }

    /// The same; `heard` is called whenever the owner has rung, and at its end.
    pub fn open_with(
        [page, bell]: [OwnedFd; 2],
        ring: impl Fn() + Send + Sync + 'static,
        heard: impl Fn() + Send + Sync + 'static,
    ) -> io::Result<Arc<Self>> {
        let page = QueueMemory::map(page)?;
        page.check_room(PAGE)?;
        let line = Arc::new(Self {
            page,
            bell: bell.into(),
            rung: Mutex::default(),
            woken: Condvar::new(),
            ring: Box::new(ring),
            heard: Box::new(heard),
        });
        let listening = line.clone();
        std::thread::Builder::new()
            .name("weft-line".to_owned())
            .spawn(move || listening.listen())?;
        Ok(line)
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        // Room was checked.
        &self.page.words()[at]
    }

    fn rung(&self) -> MutexGuard<'_, u64> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self) {
        let mut bytes = [0; 64];
        loop {
            match (&self.bell).read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => break,
                Ok(_) => self.tell(),
            }
        }
        // Whoever ended in order said why.
        let state = self.word(STATE);
        let died = Gone::Broker.number();
        let _ = state.compare_exchange(0, died, Ordering::SeqCst, Ordering::SeqCst);
        self.tell();
    }

    fn tell(&self) {
        *self.rung() += 1;
        self.woken.notify_all();
        (self.heard)();
    }

    /// What is gone, if something is.
    pub fn gone(&self) -> Option<Gone> {
        Gone::of(self.word(STATE).load(Ordering::Acquire))
    }

    /// This process wants nothing more: its thread ends.
    pub fn close(&self) {
        let _ = self.bell.shutdown(Shutdown::Both);
    }

    pub(super) fn check(line: &Option<Arc<Self>>) -> Result<(), Gone> {
        match line.as_ref().and_then(|line| line.gone()) {
            None => Ok(()),
            Some(gone) => Err(gone),
        }
    }

    /// Something was posted.
    pub(super) fn posted(line: &Option<Arc<Self>>) {
        if let Some(line) = line {
            line.wake_owner();
        }
    }

    /// Wakes the owner, if it sleeps. Behind what was written for it.
    pub fn wake_owner(&self) {
        fence(Ordering::SeqCst);
        let asleep = self.word(OWNER_ASLEEP);
        if asleep.load(Ordering::SeqCst) != 0 && asleep.swap(0, Ordering::SeqCst) != 0 {
            (self.ring)();
        }
    }

    /// What the owner writes from now on wakes who hears the bell. Look once more afterwards.
    pub fn arm(&self) {
        self.word(BORROWER_ASLEEP).store(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Asks that the card be waited for, by this number.
    pub fn begin_fence(&self, number: u32) {
        self.word(FENCE).store(number.into(), Ordering::SeqCst);
        self.wake_owner();
    }

    /// The last number that it was waited for.
    pub fn fence_done(&self) -> u32 {
        self.word(FENCE_DONE).load(Ordering::SeqCst) as u32
    }

    /// Sleeps until `look` finds something, or the time is over. What is there already is found also when the owner is gone; then nothing more
    /// comes, which is an error.
    pub fn wait_for<T>(
        &self,
        timeout: Option<Duration>,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, Gone> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let before = *self.rung();
            let gone = self.gone();
            self.word(BORROWER_ASLEEP).store(1, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if let Some(found) = look() {
                return Ok(Some(found));
            }
            if let Some(gone) = gone {
                return Err(gone);
            }
            let mut rung = self.rung();
            while *rung == before {
                let left = until.map(|until| until.saturating_duration_since(Instant::now()));
                rung = match left {
                    Some(Duration::ZERO) => return Ok(None),
                    Some(left) => {
                        let waited = self.woken.wait_timeout(rung, left);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => {
                        let waited = self.woken.wait(rung);
                        waited.unwrap_or_else(PoisonError::into_inner)
                    }
                };
            }
        }
    }
}

impl fmt::Debug for SharedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLine")
            .field("gone", &self.gone())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> (LentLine, Arc<SharedLine>) {
        let mut lent = LentLine::new().expect("files");
        let files = lent
            .files()
            .expect("files")
            .map(|file| file.try_clone_to_owned().expect("a file"));
        lent.lent();
        (lent, SharedLine::open(files, || ()).expect("as lent"))
    }

    #[test]
    fn who_sleeps_is_woken_by_news_and_by_the_end() {
        let (lent, line) = line();
        let number = Arc::new(AtomicU64::new(0));
        let [looker, teller] = [(); 2].map(|()| number.clone());
        let sleeper = std::thread::spawn(move || {
            let look = |wanted| {
                let found = || (looker.load(Ordering::SeqCst) == wanted).then_some(wanted);
                line.wait_for(None, found)
            };
            [look(1), look(2), look(3)]
        });
        for news in [1, 2] {
            teller.store(news, Ordering::SeqCst);
            // It may not sleep yet, and then looks by itself.
            lent.wake();
        }
        lent.end(Gone::Card);
        drop(lent);
        let found = sleeper.join().expect("it works");
        assert_eq!(found[2], Err(Gone::Card));
    }

    /// A process that is killed says nothing.
    #[test]
    fn an_end_without_a_word_is_seen() {
        let (lent, line) = line();
        assert_eq!(SharedLine::check(&Some(line.clone())), Ok(()));
        drop(lent);
        assert_eq!(line.wait_for(None, || None::<()>), Err(Gone::Broker));
        assert_eq!(SharedLine::check(&Some(line.clone())), Err(Gone::Broker));
        assert_eq!(
            line.wait_for(None, || Some(5)),
            Ok(Some(5)),
            "what is there is found"
        );
    }

    /// A borrower that reads nothing, and says that it sleeps for ever, holds nobody.
    #[test]
    fn a_bell_that_nobody_hears_holds_nobody() {
        let mut lent = LentLine::new().expect("files");
        let kept: Vec<OwnedFd> = lent
            .files()
            .expect("files")
            .map(|file| file.try_clone_to_owned().expect("a file"))
            .into();
        lent.lent();
        // The borrower's end is the same open file for both: its mode is not the owner's.
        rustix::io::ioctl_fionbio(&kept[1], false).expect("possible");
        for _ in 0..1_000_000 {
            if let Some(word) = lent.word(BORROWER_ASLEEP) {
                word.store(1, Ordering::SeqCst);
            }
            lent.wake();
        }
        // Nor can it send anything.
        assert!(UnixStream::from(kept[1].try_clone().expect("a file"))
            .write(&[1])
            .is_err());
    }
}
