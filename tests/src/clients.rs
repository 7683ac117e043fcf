//! Steps of a client of a broker, whose other end turns elsewhere.

use weft_hostdrv::unstable::control::{Answer, Command, Event};
use weft_share::Client;

/// Has a command done that is its own to give.
///
/// # Panics
/// If it is refused as one that is not.
pub fn command(client: &mut Client, command: &Command) -> Answer {
    client.control().post(command, &[]).expect("room");
    loop {
        if let Some((_, answer)) = client.control().answer() {
            return answer.expect("its own");
        }
        std::thread::yield_now();
    }
}

/// The next event.
pub fn event(client: &mut Client) -> Event {
    loop {
        if let Some(event) = client.control().take_event() {
            return event;
        }
        std::thread::yield_now();
    }
}
