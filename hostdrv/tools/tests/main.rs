//! The tools, where they need no card.

mod tap;
