//! Opening a transport by its name.

use std::sync::Arc;

use super::open_error::OpenError;
use super::serial::SerialTransport;
use super::spec::Spec;
use super::vfio::{Host, VfioTransport};
use super::vfio_user::VfioUserTransport;
use super::Transport;

/// Opens the device that `spec` names: `vfio:0000:3b:00.0` (kernel VFIO; options see [`Spec`]),
/// `vfio-user:/path/to.sock` or `serial:/dev/ttyUSB1`.
///
/// Nothing is checked that is a Weft card's own: that is `Device::open` of `weft-hostdrv`'s.
pub fn open(spec: &str) -> Result<Arc<dyn Transport>, OpenError> {
    match spec.parse()? {
        Spec::Vfio(address, options) => {
            let transport = VfioTransport::open(&Host::this(), address, options)?;
            Ok(Arc::new(transport))
        }
        Spec::VfioUser(socket) => Ok(Arc::new(VfioUserTransport::connect(&socket)?)),
        Spec::Serial(path, baud) => Ok(Arc::new(SerialTransport::open(&path, baud)?)),
    }
}
