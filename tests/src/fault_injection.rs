//! Things are pulled in the middle of work: the link, the peer, the process. What has to hold is that nothing hangs, that every
//! work request completes, that no mapping stays and no late DMA finds memory, and that the card is of use at once.
//!
//! [`Site`] has two cards whose drivers may die, [`App`] is an application that keeps books on what it posted.

mod app;
mod mortal;
mod plan;
mod site;

pub use app::App;
pub use mortal::Mortal;
pub use plan::{Kind, Op, Plan, OPS, SLOT};
pub use site::Site;
