//! The vfio-user transport, with servers that its tests make.

mod toy;
mod vfio_user;
mod vfio_user_descriptors;
mod vfio_user_hostile;
