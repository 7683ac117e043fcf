//! Reductions that may be taken back (RFC 3708): all that a recovery has sent again has arrived twice, so nothing was lost.
//!
//! The word of it comes as late as what was late. Where that is longer than a round trip the next recovery has begun by then, from a
//! window that the first one has reduced for nothing. So the last two are remembered: each begins where all that those before it
//! have sent again is acknowledged, and a sequence number tells whose copy it is.
//!
//! ```text
//!   earlier.from          latest.from            una
//!        │ sent again by it    │ sent again by it   │
//! ```

use alloc::boxed::Box;

use crate::control::Controller;
use crate::seq;

/// A recovery's reduction.
#[derive(Clone, Debug)]
struct Account {
    /// The controller before it.
    before: Controller,
    /// SND.UNA then.
    from: u32,
    /// Bytes sent again of which it is not known that they arrived twice.
    open: u32,
}

/// What is to be taken back: the controller as it was before.
#[derive(Clone, Debug)]
pub(super) enum Spared {
    /// The reduction of the latest recovery.
    Latest(Controller),
    /// That of the one before, and the latest one's stands.
    Earlier(Controller),
}

/// Of the last two recoveries.
#[derive(Clone, Debug, Default)]
struct Accounts {
    latest: Option<Account>,
    earlier: Option<Account>,
}

/// The accounts. A connection that has nothing to take back has no memory for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo(Option<Box<Accounts>>);

/// With what it has grown to since.
fn grown(mut controller: Controller, since: &Controller) -> Controller {
    controller.raise_to(since);
    controller
}

impl Undo {
    /// A recovery begins at `una`, with this controller.
    pub fn begin(&mut self, before: Controller, una: u32) {
        let accounts = self.0.get_or_insert_default();
        if let Some(latest) = accounts.latest.take_if(|account| account.open > 0) {
            accounts.earlier = Some(latest);
        }
        accounts.latest = Some(Account {
            before,
            from: una,
            open: 0,
        });
    }

    /// Nothing is taken back any more.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// The latest recovery sends so much again.
    pub fn sent_again(&mut self, bytes: u32) {
        if let Some(account) = self.0.as_mut().and_then(|all| all.latest.as_mut()) {
            account.open = account.open.saturating_add(bytes);
        }
    }

    /// `[left, right)` has arrived twice: is a reduction to be taken back now?
    pub fn arrived_twice(&mut self, left: u32, right: u32) -> Option<Spared> {
        let mine = |account: &Account| seq::le(account.from, left);
        let accounts = self.0.as_mut()?;
        let (account, is_latest) = match (&mut accounts.latest, &mut accounts.earlier) {
            (Some(latest), _) if mine(latest) => (latest, true),
            (_, Some(earlier)) if mine(earlier) => (earlier, false),
            _ => return None,
        };
        let open = account.open;
        account.open = open.saturating_sub(right.wrapping_sub(left));
        if open == 0 || account.open > 0 {
            return None;
        }
        if is_latest {
            return self.take_latest().map(Spared::Latest);
        }
        let before = accounts.earlier.take()?.before;
        match &mut accounts.latest {
            Some(latest) => {
                latest.before = grown(before, &latest.before);
                Some(Spared::Earlier(latest.before.clone()))
            }
            None => Some(Spared::Latest(before)),
        }
    }

    /// The latest recovery was for nothing: the controller before it.
    pub fn take_latest(&mut self) -> Option<Controller> {
        let accounts = self.0.as_mut()?;
        let latest = accounts.latest.take();
        if accounts.earlier.is_none() {
            self.0 = None;
        }
        latest.map(|account| account.before)
    }
}
