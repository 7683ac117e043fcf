//! Runs of the exploration, on what it is a model of.

mod cards;
mod engine;
mod wire;
