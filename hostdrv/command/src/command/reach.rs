//! Ways to a card: what `--device` can name. The driver has its own; other crates add theirs to [`WAYS`].

use std::any::Any;
use std::sync::Arc;

use weft_hostdrv::transport::{self, Transport};

use super::Failure;

/// A way to cards of one or several kinds.
pub trait Way: Sync {
    /// The kinds: what specifications begin with, up to the colon.
    fn kinds(&self) -> &'static [&'static str];
    /// For the help, what specifications look like.
    fn help(&self) -> &'static str;
    /// Reaches the card that `spec` names.
    fn reach(&self, spec: &str) -> Result<Reached, Failure>;
}

/// All that this build has.
const WAYS: &[&dyn Way] = &[
    &Driver,
    #[cfg(feature = "sim")]
    &crate::simulator::Simulated,
];

/// A card within reach. Keep it longer than what uses its transport.
pub struct Reached {
    /// The way to it.
    pub transport: Arc<dyn Transport>,
    /// What has to live as long.
    _keep: Option<Box<dyn Any>>,
}

impl Reached {
    /// By this transport alone.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self {
            transport,
            _keep: None,
        }
    }

    /// By this transport, for as long as `keep` lives.
    #[cfg_attr(not(feature = "sim"), expect(dead_code))]
    pub fn while_kept(transport: Arc<dyn Transport>, keep: impl Any) -> Self {
        Self {
            transport,
            _keep: Some(Box::new(keep)),
        }
    }

    /// By a specification; nothing is reset, nothing is checked.
    pub fn by(spec: &str) -> Result<Self, Failure> {
        let kind = spec.split_once(':').map_or(spec, |(kind, _)| kind);
        match WAYS.iter().find(|way| way.kinds().contains(&kind)) {
            Some(way) => way.reach(spec),
            None if kind == "sim" => Err(format!(
                "`{spec}`: this build has no simulator; `cargo install` and `cargo build` add it with `--features sim`"
            )
            .into()),
            // The driver knows what to say of it, but for the simulator.
            None if cfg!(feature = "sim") => Driver
                .reach(spec)
                .map_err(|why| format!("{why}, or sim, a simulated card").into()),
            None => Driver.reach(spec),
        }
    }
}

/// The kinds of card that can be named.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    WAYS.iter().flat_map(|way| way.kinds()).copied()
}

/// The help of `--device`.
pub fn help() -> String {
    let each: Vec<_> = WAYS.iter().map(|way| way.help()).collect();
    format!("The card: {}", each.join("; "))
}

/// The driver's transports.
struct Driver;

impl Way for Driver {
    fn kinds(&self) -> &'static [&'static str] {
        &["vfio", "vfio-user", "serial"]
    }

    fn help(&self) -> &'static str {
        "vfio:0000:3b:00.0, vfio-user:/path/to.sock, serial:/dev/ttyUSB1"
    }

    fn reach(&self, spec: &str) -> Result<Reached, Failure> {
        Ok(Reached::new(transport::open(spec)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ways_have_a_kind_in_common_and_unknown_kinds_are_refused() {
        let all: Vec<_> = kinds().collect();
        for (n, kind) in all.iter().enumerate() {
            assert!(!all[..n].contains(kind), "{kind}");
        }
        for spec in ["", "sum", "uio:00:04.0", "sim:colour=red"] {
            let error = Reached::by(spec).err().expect("no card").to_string();
            assert!(
                error.contains(spec.rsplit(':').next().unwrap_or(spec)),
                "{spec}: {error}"
            );
        }
    }
}
