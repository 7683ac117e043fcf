//! The messages of the vfio-user protocol: the driver's, which is the client.

pub use weft_card_transport::vfio_user_wire::{
    command, error_reply, name, receive_part, reply, request, Errno, Fields, Header, Payload,
    HEADER, MAX_DATA, MAX_FDS,
};
