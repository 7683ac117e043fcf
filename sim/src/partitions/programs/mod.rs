//! Programs that readers know, on the driver's verbs: each is one file, which says what each of its hosts does in a step.
//!
//! A program is made once all its connections stand. Then each host's program takes a step whenever its core is free, and is charged for what the
//! step did. Nothing but the seed decides what it asks for.

mod all_reduce;
mod arrivals;
mod block;
mod bytes;
mod churn;
mod drive;
mod incast;
mod key_value;
mod lanes;
mod rounds;
mod rpc;
mod scene;
mod short;
mod sizes;
mod step;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::scene::Scene;
use self::step::Step;
use super::PartitionsError;

pub(super) use drive::run;

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A store: GETs by Read, SETs by Send.
    KeyValue,
    /// Requests by Send, answers looked for by Reads.
    Rpc,
    /// Commands and completions by Send, data by Write and Read of the target.
    Block,
    /// A ring of hosts, each of which gets the sum of all vectors.
    AllReduce,
    /// All hosts but one answer that one at once.
    Incast,
    /// Connections that move one request and its answer.
    Churn,
}

/// A program.
trait Program {
    /// What a host does now, if there is anything: it takes one completion, or asks for one thing.
    fn act(&mut self, host: usize, step: &mut Step<'_>) -> Result<bool, PartitionsError>;

    /// When it asks for something that no completion leads to.
    fn due(&self) -> Option<u64> {
        None
    }
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::KeyValue => "key-value",
            Kind::Rpc => "rpc",
            Kind::Block => "block",
            Kind::AllReduce => "all-reduce",
            Kind::Incast => "incast",
            Kind::Churn => "churn",
        }
    }

    /// The program, with all its connections.
    fn start(self, scene: &mut Scene<'_>) -> Result<Box<dyn Program>, PartitionsError> {
        Ok(match self {
            Kind::KeyValue => Box::new(key_value::KeyValue::new(scene)?),
            Kind::Rpc => Box::new(rpc::Rpc::new(scene)?),
            Kind::Block => Box::new(block::Block::new(scene)?),
            Kind::AllReduce => Box::new(all_reduce::AllReduce::new(scene)?),
            Kind::Incast => Box::new(incast::Incast::new(scene)?),
            Kind::Churn => Box::new(churn::Churn::new(scene)?),
        })
    }
}
