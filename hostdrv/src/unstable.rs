//! What stands on types of the engine and of queues in memory: it changes with them, without notice and without a new version.
//!
//! It is for who writes queues without verbs (`weft-share`), and for tests. A program of verbs needs nothing of it.

use weft_engine::{EngineConfig, PdId, StreamHandover};

use crate::device::{Device, DeviceConfig};
use crate::processor::{Processor, ProcessorError};
use crate::socket::ConnectionState;
use crate::verbs::SharedRange;

pub use crate::processor::served::CardEngine;
pub use crate::verbs::shared_control::SharedControl;
pub use crate::verbs::shared_queues::SharedQueues;
pub use crate::verbs::shared_srq::SharedSrq;

/// What who shares queues writes and reads.
pub use weft_queues as queues;

/// What who shares control rings commands, and hears.
pub mod control {
    pub use weft_engine::commands::{
        abort, accept, alloc_pd, connect, create_qp, dealloc_pd, deregister, destroy_qp,
        disconnect, listen, modify_qp, query_qp, register, reject, resolve, state_of, unlisten,
        Answer, Command, Refusal,
    };
    pub use weft_engine::{
        AcceptParams, ConnId, ConnectParams, Endpoint, Error, Event, PdId, QpConfig, QpId,
    };
}

/// What a congestion controller of one's own is made of.
pub use weft_engine::congestion;

/// The domain of memory that is shared.
pub fn domain_of(range: &SharedRange) -> PdId {
    PdId::from_number(range.pd)
}

/// The settings of a device's engine.
pub fn settings(device: &Device) -> &EngineConfig {
    device.config()
}

/// The settings of an engine, to be changed before it is there.
pub fn settings_mut(config: &mut DeviceConfig) -> &mut EngineConfig {
    &mut config.engine
}

/// The firmware that was started takes the card, which nobody else has.
///
/// # Errors
/// [`ProcessorError::NotOnCard`]: no engine there can be so. [`ProcessorError::NoEngine`]: the firmware has none.
pub fn start_engine(
    processor: &Processor,
    config: &DeviceConfig,
) -> Result<CardEngine, ProcessorError> {
    processor.start_engine(&config.engine)
}

/// The state of a connection, as an engine takes it over.
pub fn stream_of(state: &ConnectionState) -> &StreamHandover {
    state.engine()
}

/// The same, the other way.
pub fn state_of_stream(stream: StreamHandover) -> ConnectionState {
    ConnectionState::of_engine(stream)
}
