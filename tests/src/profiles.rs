//! Peers that Weft is to get along with, each as its driver's sources have it, scripted frame by frame.
//!
//! [`Profile`] is what a peer is like, [`Scripted`] plays it over TCP segments made by hand ([`crate::peer`]), [`meet`] lets it
//! meet a card with driver and application, and [`table`] tells what came of it.

mod meeting;
mod profile;
mod scenarios;
mod scripted;
mod table;

pub use meeting::{meet, Met};
pub use profile::{Profile, Rtr};
pub use scenarios::{scenarios, Outcome, Role, Scenario};
pub use scripted::Scripted;
pub use table::table;
