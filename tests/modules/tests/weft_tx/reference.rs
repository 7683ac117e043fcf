//! What transmit has to make of a job: frames by RFC 791, 9293, 7323 (headers), 1071 (checksums), 5044 §4 (FPDUs, markers, CRC) and
//! 5041 §4 (DDP headers), from docs/card.md *Sending*. It shares nothing with the card or its model.

/// CRC32C bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

/// RFC 1071: the sum of these bytes as 16-bit words, folded, not inverted.
pub fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u64;
    for part in parts {
        for word in part.chunks(2) {
            sum += u64::from(word[0]) << 8 | u64::from(*word.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// A row of FLOW_TX.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    pub markers: bool,
    pub crc: bool,
    pub valid: bool,
    pub timestamps: bool,
    pub ttl: u8,
    pub tos: u8,
    /// Addresses and ports as they stand in the row: MACs, IPs, ports.
    pub ends: [u8; 24],
    pub marker_base: u32,
    /// Most octets of a segment of several FPDUs.
    pub pack: u16,
}

impl Row {
    pub fn bytes(&self) -> [u8; 64] {
        let mut row = [0; 64];
        row[0] = u8::from(self.markers)
            | u8::from(self.crc) << 1
            | u8::from(self.valid) << 2
            | u8::from(self.timestamps) << 3;
        (row[1], row[2]) = (self.ttl, self.tos);
        row[4..28].copy_from_slice(&self.ends);
        row[28..32].copy_from_slice(&self.marker_base.to_le_bytes());
        row[32..34].copy_from_slice(&self.pack.to_le_bytes());
        row
    }
}

pub const RAW: u8 = 1;
pub const SEGMENT: u8 = 2;
pub const MESSAGE: u8 = 3;
pub const REPLAY: u8 = 4;

/// A job as it is posted.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub kind: u8,
    pub tagged: bool,
    pub last: bool,
    pub notify: bool,
    pub inline: bool,
    pub flow: u16,
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub tcp_flags: u8,
    pub sge_count: u8,
    pub ts: (u32, u32),
    pub length: u32,
    pub fpdu_payload: u16,
    pub rdmap_control: u8,
    pub ddp_rsvd: u8,
    pub stag_or_qn: u32,
    pub msn: u32,
    pub to_or_mo: u64,
    pub rsvd_ulp: u32,
    pub sges: Vec<(u64, u32)>,
    /// What is sent.
    pub payload: Vec<u8>,
}

impl Job {
    pub fn bytes(&self) -> [u8; 128] {
        let mut b = [0; 128];
        b[0] = self.kind;
        b[1] = u8::from(self.tagged)
            | u8::from(self.last) << 1
            | u8::from(self.notify) << 2
            | u8::from(self.inline) << 3;
        b[2..4].copy_from_slice(&self.flow.to_le_bytes());
        b[4..8].copy_from_slice(&self.seq.to_le_bytes());
        b[8..12].copy_from_slice(&self.ack.to_le_bytes());
        b[12..14].copy_from_slice(&self.window.to_le_bytes());
        (b[14], b[15]) = (self.tcp_flags, self.sge_count);
        b[16..20].copy_from_slice(&self.ts.0.to_le_bytes());
        b[20..24].copy_from_slice(&self.ts.1.to_le_bytes());
        b[24..28].copy_from_slice(&self.length.to_le_bytes());
        b[28..30].copy_from_slice(&self.fpdu_payload.to_le_bytes());
        (b[30], b[31]) = (self.rdmap_control, self.ddp_rsvd);
        b[32..36].copy_from_slice(&self.stag_or_qn.to_le_bytes());
        b[36..40].copy_from_slice(&self.msn.to_le_bytes());
        b[40..48].copy_from_slice(&self.to_or_mo.to_le_bytes());
        b[48..52].copy_from_slice(&self.rsvd_ulp.to_le_bytes());
        if self.inline {
            let count = self.payload.len().min(64);
            b[64..64 + count].copy_from_slice(&self.payload[..count]);
        }
        for (n, (iova, length)) in self.sges.iter().enumerate() {
            b[64 + 16 * n..][..8].copy_from_slice(&iova.to_le_bytes());
            b[72 + 16 * n..][..4].copy_from_slice(&length.to_le_bytes());
        }
        b
    }

    pub fn malformed(&self, row: &Row) -> bool {
        let used = usize::from(self.sge_count);
        let sum: u64 = self.sges.iter().take(used).map(|s| u64::from(s.1)).sum();
        let payload = match self.inline {
            true => used == 0 && self.length <= 64,
            false => used <= 4 && sum == u64::from(self.length),
        };
        let size = match self.kind {
            RAW => (14..=9216).contains(&self.length),
            SEGMENT => row.valid && self.length <= 9000,
            REPLAY => row.valid && (1..=4096).contains(&self.length),
            MESSAGE => {
                let fpdu = self.length.min(self.fpdu_payload.into());
                let aligned = self.seq.wrapping_sub(row.marker_base) % 4 == 0;
                row.valid
                    && (self.length == 0 || fpdu > 0 && fpdu <= 9000)
                    && (aligned || !row.markers)
            }
            _ => false,
        };
        !payload || !size
    }

    /// The frames, each with the part of the payload in it: identification and what follows from it are 0.
    pub fn frames(&self, row: &Row) -> Vec<(Vec<u8>, std::ops::Range<usize>)> {
        let all = self.payload.len();
        match self.kind {
            RAW | REPLAY => vec![(self.payload.clone(), 0..all)],
            SEGMENT => vec![(self.frame(row, self.seq, true, &self.payload), 0..all)],
            _ => {
                let (mut frames, mut at, mut seq) = (vec![], 0, self.seq);
                loop {
                    let end = all.min(at + usize::from(self.fpdu_payload));
                    let fpdu = self.fpdu(row, seq, at..end);
                    frames.push((self.frame(row, seq, end == all, &fpdu), at..end));
                    seq = seq.wrapping_add(fpdu.len() as u32);
                    at = end;
                    if at == all {
                        return frames;
                    }
                }
            }
        }
    }

    fn fpdu(&self, row: &Row, seq: u32, part: std::ops::Range<usize>) -> Vec<u8> {
        let ends = part.end == self.payload.len();
        let mut ulpdu = vec![
            u8::from(self.tagged) << 7 | u8::from(self.last && ends) << 6 | self.ddp_rsvd | 1,
            self.rdmap_control,
        ];
        let offset = self.to_or_mo.wrapping_add(part.start as u64);
        if self.tagged {
            ulpdu.extend(self.stag_or_qn.to_be_bytes());
            ulpdu.extend(offset.to_be_bytes());
        } else {
            ulpdu.extend(self.rsvd_ulp.to_be_bytes());
            ulpdu.extend(self.stag_or_qn.to_be_bytes());
            ulpdu.extend(self.msn.to_be_bytes());
            ulpdu.extend((offset as u32).to_be_bytes());
        }
        ulpdu.extend(&self.payload[part]);
        let mut plain = (ulpdu.len() as u16).to_be_bytes().to_vec();
        plain.extend(ulpdu);
        plain.resize(plain.len().next_multiple_of(4) + 4, 0);
        let (mut out, mut begin) = (vec![], 0);
        for word in plain.chunks(4) {
            let since = seq
                .wrapping_add(out.len() as u32)
                .wrapping_sub(row.marker_base);
            if row.markers && since % 512 == 0 {
                if out.is_empty() {
                    begin = 4;
                }
                let back = out.len().saturating_sub(begin) as u32;
                out.extend(back.to_be_bytes());
            }
            out.extend(word);
        }
        let end = out.len() - 4;
        if row.crc {
            let crc = crc32c(&out[..end]);
            out[end..].copy_from_slice(&crc.to_le_bytes());
        }
        out
    }

    fn frame(&self, row: &Row, seq: u32, ends: bool, payload: &[u8]) -> Vec<u8> {
        let (macs, rest) = row.ends.split_at(12);
        let (ips, ports) = rest.split_at(8);
        let mut tcp = ports.to_vec();
        tcp.extend(seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.push(if row.timestamps { 0x80 } else { 0x50 });
        tcp.push(if ends {
            self.tcp_flags
        } else {
            self.tcp_flags & !8
        });
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        if row.timestamps {
            tcp.extend([1, 1, 8, 10]);
            tcp.extend(self.ts.0.to_be_bytes());
            tcp.extend(self.ts.1.to_be_bytes());
        }
        let length = (tcp.len() + payload.len()) as u16;
        let pseudo = [0, 6, (length >> 8) as u8, length as u8];
        let check = !sum(&[ips, &pseudo, &tcp, payload]);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        let mut frame = macs.to_vec();
        frame.extend([8, 0, 0x45, row.tos]);
        frame.extend((length + 20).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, row.ttl, 6, 0, 0]);
        frame.extend(ips);
        frame.extend(tcp);
        frame.extend(payload);
        frame
    }
}

/// Where the TCP header is in a frame.
const TCP: usize = 34;
/// Most FPDUs of a segment.
const MAX_FPDUS: usize = 16;

/// The segment that `first` and the FPDU `next` behind it make, if they may share one (docs/card.md *Sending: jobs*): both as the card would send
/// them alone, with `pack` of their rows. `fpdus` are in `first`.
pub fn packed(first: &[u8], fpdus: usize, next: &[u8], pack: u16) -> Option<Vec<u8>> {
    let header = |frame: &[u8]| usize::from(frame[TCP + 12] >> 4) * 4;
    let begin = TCP + header(first);
    let number = |frame: &[u8]| u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]);
    let plain = |frame: &[u8]| frame[TCP + 13] & !0x18 == 0;
    let length = first.len() - begin + next.len() - begin.min(next.len());
    let follows = number(next) == number(first).wrapping_add((first.len() - begin) as u32);
    // Addresses, type of service, time to live; ports.
    let same = first[..16] == next[..16]
        && first[20..24] == next[20..24]
        && first[26..38] == next[26..38]
        && header(first) == header(next);
    let few = length <= usize::from(pack.min(2048)) && fpdus < MAX_FPDUS;
    if !(same && follows && few && plain(first) && plain(next)) {
        return None;
    }
    let mut all = next[..begin].to_vec();
    all[38..42].copy_from_slice(&first[38..42]);
    all[TCP + 13] |= first[TCP + 13];
    all.extend(&first[begin..]);
    all.extend(&next[begin..]);
    let bytes = ((all.len() - 14) as u16).to_be_bytes();
    all[16..18].copy_from_slice(&bytes);
    all[TCP + 16..TCP + 18].fill(0);
    let tcp = (all.len() - TCP) as u16;
    let pseudo = [0, 6, (tcp >> 8) as u8, tcp as u8];
    let check = !sum(&[&all[26..34], &pseudo, &all[TCP..]]);
    all[TCP + 16..TCP + 18].copy_from_slice(&check.to_be_bytes());
    Some(all)
}

/// Puts identification and header checksum in.
pub fn identify(frame: &mut [u8], id: u16) {
    frame[18..20].copy_from_slice(&id.to_be_bytes());
    frame[24..26].fill(0);
    let check = !sum(&[&frame[14..34]]);
    frame[24..26].copy_from_slice(&check.to_be_bytes());
}
