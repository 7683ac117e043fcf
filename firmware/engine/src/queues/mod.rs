//! The queues of a queue pair: work as it is posted and checked, its issue, what is completed, and what several queue pairs share. It
//! knows `memory`, and a connection where an entry is issued or an element taken; what goes on the wire it does not know.

pub mod issue;
pub mod loopback;
pub mod qp;
pub mod send_buffer;
pub mod send_queue;
pub mod shared_queues;
pub mod shared_receive;
pub mod srq;
pub mod work_request;
pub mod xrc;
