//! The engine against lwIP: a program of its own, since that peer is no crate of the registry and no published package has it.

#[path = "../bench/mod.rs"]
mod bench;
mod peer;
mod rdma;
mod tcp;
