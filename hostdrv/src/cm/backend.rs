//! The backend of a connection: the engine, which is commanded, or loopback inside the host. The rest of the connection manager does not know which.

use weft_engine::{commands, ConnId};

use super::loopback::LoopbackHost;
use super::CmError;
use crate::device::Device;

/// Rejects a request.
pub(super) fn reject(device: &Device, conn: ConnId, private_data: &[u8]) -> Result<(), CmError> {
    if let Some(host) = host_of(device, conn) {
        return host.exchange.reject(conn, private_data);
    }
    device.command(&commands::reject(conn), private_data)??;
    Ok(())
}

/// Closes a connection that stands, in order.
pub(super) fn disconnect(device: &Device, conn: ConnId) -> Result<(), CmError> {
    if let Some(host) = host_of(device, conn) {
        host.exchange.disconnect(device, conn);
        return Ok(());
    }
    device.command(&commands::disconnect(conn), &[])??;
    Ok(())
}

/// Ends a connection that does not stand yet; this side hears nothing of it.
pub(super) fn give_up(device: &Device, conn: ConnId) -> Result<(), CmError> {
    match conn.is_inside() {
        true => abort(device, conn),
        false => disconnect(device, conn),
    }
}

/// Ends a connection at once.
pub(super) fn abort(device: &Device, conn: ConnId) -> Result<(), CmError> {
    if let Some(host) = host_of(device, conn) {
        host.exchange.abort(device, conn);
        return Ok(());
    }
    device.command(&commands::abort(conn), &[])??;
    Ok(())
}

/// The loop that a device is a member of.
pub(super) fn host(device: &Device) -> Result<LoopbackHost, CmError> {
    LoopbackHost::of(device).ok_or(CmError::NotJoined)
}

/// The loop that a connection is of; one of a lent device's is its lender's, and commanded.
pub(super) fn host_of(device: &Device, conn: ConnId) -> Option<LoopbackHost> {
    match conn.is_inside() {
        true => LoopbackHost::of(device),
        false => None,
    }
}
