//! Registers and doorbells as types: what may be done with each of them, and what is in it.
//!
//! A [`Register`] is a place, not an access: who reaches a card reads and writes by it, and refuses at compile
//! time to write one that is [`ReadOnly`]. A [`Doorbell`] can only be rung.

use core::marker::PhantomData;

/// The host may only read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOnly {}

/// The host may read and write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadWrite {}

/// What the host may write.
pub trait Writable {}

impl Writable for ReadWrite {}

/// A register: `W` is what is written to it, `R` what it answers.
#[derive(Debug, PartialEq, Eq)]
pub struct Register<A, W, R = W> {
    name: &'static str,
    offset: u32,
    types: PhantomData<fn(A, W) -> R>,
}

// Whatever its types are: derived, it would be as copyable as they.
impl<A, W, R> Clone for Register<A, W, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, W, R> Copy for Register<A, W, R> {}

impl<A, W, R> Register<A, W, R> {
    /// The register at this byte of BAR0.
    pub(crate) const fn new(name: &'static str, offset: u32) -> Self {
        Self {
            name,
            offset,
            types: PhantomData,
        }
    }

    /// Its name, as in the reference page.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Its byte in BAR0.
    pub const fn offset(self) -> u32 {
        self.offset
    }
}

/// A number of registers, one word after the other.
#[derive(Debug, PartialEq, Eq)]
pub struct RegisterArray<A, W> {
    first: Register<A, W>,
    count: u32,
}

impl<A, W> RegisterArray<A, W> {
    /// `count` registers from this byte of BAR0.
    pub(crate) const fn new(name: &'static str, offset: u32, count: u32) -> Self {
        Self {
            first: Register::new(name, offset),
            count,
        }
    }

    /// The first of them.
    pub const fn first(&self) -> u32 {
        self.first.offset
    }

    /// How many.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Register n, modulo the number of them.
    pub const fn word(&self, n: u32) -> Register<A, W> {
        Register::new(self.first.name, self.first.offset + 4 * (n % self.count))
    }

    /// All of them in order.
    pub fn words(&self) -> impl Iterator<Item = Register<A, W>> + '_ {
        (0..self.count).map(|n| self.word(n))
    }
}

/// A doorbell: it can be rung, and nothing can be read there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doorbell {
    name: &'static str,
    offset: u32,
}

impl Doorbell {
    /// The doorbell at this byte of BAR2.
    pub(crate) const fn new(name: &'static str, offset: u32) -> Self {
        Self { name, offset }
    }

    /// Its name, as in the reference page.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Its byte in BAR2.
    pub const fn offset(self) -> u32 {
        self.offset
    }
}

/// A doorbell of each flow, or of each number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorbellArray {
    first: Doorbell,
}

impl DoorbellArray {
    /// From this byte of BAR2.
    pub(crate) const fn new(name: &'static str, offset: u32) -> Self {
        Self {
            first: Doorbell::new(name, offset),
        }
    }

    /// That of a flow or a number.
    pub const fn of(self, flow: u16) -> Doorbell {
        Doorbell::new(self.first.name, self.first.offset + 4 * flow as u32)
    }
}
