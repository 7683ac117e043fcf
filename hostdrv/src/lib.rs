//! The host driver of the Weft card.
//!
//! From the bottom up: [`transport`] is the seam to a card (kernel VFIO, vfio-user or the in-process
//! simulator), [`dma`] the memory that host and card share, [`device`] a card with the engine that
//! controls it. Programs use [`verbs`] and [`cm`]. See `docs/driver.md`.
//!
//! A client that sends a greeting and reads what the server offers in its private data:
//!
//! ```
//! # use std::{net::SocketAddrV4, time::Duration};
//! # use weft_hostdrv::{cm::*, verbs::*, Device};
//! # type Error = Box<dyn std::error::Error>;
//! fn client(device: &Device, server: SocketAddrV4) -> Result<Vec<u8>, Error> {
//!     let pd = device.alloc_pd()?;
//!     let cq = device.create_cq(16, None)?;
//!     let mr = pd.alloc_mr(4096, Access::LOCAL_WRITE | Access::READ_SINK)?;
//!     mr.write(0, b"hello")?;
//!
//!     let channel = device.create_event_channel();
//!     let id = channel.create_id();
//!     let expect = |wanted| -> Result<CmEvent, Error> {
//!         match channel.get_event(Some(Duration::from_secs(5)))? {
//!             Some(event) if event.event == wanted => Ok(event),
//!             other => Err(format!("{wanted} did not come, but {other:?}").into()),
//!         }
//!     };
//!     id.resolve_addr(server)?;
//!     expect(CmEventType::AddrResolved)?;
//!     id.resolve_route()?;
//!     expect(CmEventType::RouteResolved)?;
//!     let qp = id.create_qp(&pd, &QpInit::new(&cq))?;
//!     id.connect(&ConnParam { peer_to_peer: Some(true), ..ConnParam::default() })?;
//!     let established = expect(CmEventType::Established)?;
//!
//!     let offered = established.private_data.first_chunk().ok_or("no region offered")?;
//!     let remote = RemoteRegion::from_bytes(offered);
//!     qp.post_send(SendWr::send(1).sge(mr.sge(0, 5)))?;
//!     qp.post_send(SendWr::read(2, remote).sge(mr.sge(8, 100)).signaled())?;
//!     let wc = cq.wait_one(Some(Duration::from_secs(5)))?.ok_or("no completion")?;
//!     assert_eq!((wc.wr_id, wc.status), (2, WcStatus::Success));
//!     id.disconnect()?;
//!     expect(CmEventType::Disconnected)?;
//!     Ok(mr.to_vec(8, 100)?)
//! }
//! ```

pub mod bare;
pub mod bounded;
mod card;
pub mod checks;
pub mod cm;
pub mod device;
mod error;
pub mod mmio;
pub mod processor;
pub mod raw;
pub mod socket;
mod stats;
pub mod tcp_services;
pub mod unstable;
pub mod verbs;

pub use device::{Device, DeviceConfig};
pub use error::DeviceError;
pub use stats::{CardCounters, HostStats};
/// The way to a card, as a program needs it to open a device.
pub use weft_card_transport as transport;
pub use weft_card_transport::dma;
pub use weft_engine::{Congestion, Ecn, EngineStats, Error as EngineError, Rung, RungError};
pub use weft_layout::Counter;
