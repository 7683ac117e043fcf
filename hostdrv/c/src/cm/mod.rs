//! librdmacm's calls.

pub mod address;
pub mod channel;
pub mod endpoint;
pub mod id;
mod ip;

pub(crate) use id::Ids;
pub(crate) use ip::made;
