//! Which turns the calling thread takes.

use std::cell::RefCell;
use std::sync::Arc;

use super::turns::Turns;

/// Polls in vain after which a thread gives way.
const POLLS: u32 = 64;

/// A world in which the thread takes turns.
struct Taken {
    turns: Arc<Turns>,
    number: u64,
    polls: u32,
}

thread_local! {
    /// The latest last: a thread of one world may open a scope of another.
    static TAKEN: RefCell<Vec<Taken>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread is this one.
pub(super) fn enter(turns: &Arc<Turns>, number: u64) {
    let taken = Taken {
        turns: Arc::clone(turns),
        number,
        polls: 0,
    };
    TAKEN.with_borrow_mut(|all| all.push(taken));
}

/// The calling thread is this one no longer.
pub(super) fn leave(turns: &Turns, number: u64) {
    let left = TAKEN.with_borrow_mut(|all| {
        let is = |one: &Taken| std::ptr::eq(&*one.turns, turns) && one.number == number;
        let at = all.iter().position(is)?;
        Some(all.remove(at))
    });
    drop(left);
}

/// What the calling thread has in these turns, if it takes them.
fn with_own<T>(turns: &Turns, f: impl FnOnce(&mut Taken) -> T) -> Option<T> {
    TAKEN.with_borrow_mut(|all| {
        let mut all = all.iter_mut();
        let own = all.find(|one| std::ptr::eq(&*one.turns, turns));
        own.map(f)
    })
}

/// The calling thread's number in these turns.
pub(super) fn number(turns: &Turns) -> Option<u64> {
    with_own(turns, |own| own.number)
}

/// The calling thread's latest turns, and its number there.
pub(super) fn latest() -> Option<(Arc<Turns>, u64)> {
    TAKEN.with_borrow(|all| {
        let last = all.last()?;
        Some((Arc::clone(&last.turns), last.number))
    })
}

/// The calling thread has polled in vain. Is it to give way?
pub(super) fn count_poll(turns: &Turns) -> bool {
    let counted = with_own(turns, |own| {
        own.polls = (own.polls + 1) % POLLS;
        own.polls == 0
    });
    counted.unwrap_or(false)
}

/// The calling thread has waited: its polls count from nothing.
pub(super) fn forget_polls(turns: &Turns) {
    with_own(turns, |own| own.polls = 0);
}
