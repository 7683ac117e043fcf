//! ICMP echo (RFC 792).

use crate::checksum::Checksum;

/// Bytes of an echo message before its data.
pub const HEADER: usize = 8;
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// True if the ICMP message is a correct echo request.
pub fn is_echo_request(message: &[u8]) -> bool {
    message.len() >= HEADER
        && message[0] == ECHO_REQUEST
        && message[1] == 0
        && Checksum::default().bytes(message).finish() == 0
}

/// Turns an echo request into its reply.
pub fn make_reply(message: &mut [u8]) {
    if message.len() < HEADER {
        return;
    }
    message[0] = ECHO_REPLY;
    message[2..4].fill(0);
    let checksum = Checksum::default().bytes(message).finish();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply() {
        let mut message = [8, 0, 0, 0, 1, 2, 3, 4, 5];
        let checksum = Checksum::default().bytes(&message).finish();
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        assert!(is_echo_request(&message));
        make_reply(&mut message);
        assert_eq!(message[0], 0);
        assert_eq!(Checksum::default().bytes(&message).finish(), 0);
        assert!(!is_echo_request(&message));
    }
}
