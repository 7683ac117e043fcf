//! The layers of a host's software, and to which of them a line of source or a function belongs.

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Posting and polling.
    Verbs,
    /// WQEs, CQEs and doorbells in memory.
    Queues,
    /// The device's loop; rings, tables and doorbells of the card.
    Driver,
    /// RDMAP, DDP, MPA, connections.
    Engine,
    /// What is lost, what may go, what is in order.
    Tcp,
    /// Headers, FPDUs and their checks.
    Formats,
    /// CRC32C.
    Crc,
    /// Copies of bytes: `memcpy` and `memmove`, whichever layer asked for them, and what reads and writes memory that the card sees.
    Copies,
    /// No host's: the simulator, and what runs in it.
    Simulator,
}

impl Layer {
    /// The host's, from the top.
    pub const HOST: [Layer; 8] = [
        Layer::Verbs,
        Layer::Queues,
        Layer::Driver,
        Layer::Engine,
        Layer::Tcp,
        Layer::Formats,
        Layer::Crc,
        Layer::Copies,
    ];
    /// How many there are.
    pub(super) const COUNT: usize = Layer::HOST.len() + 1;

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::Verbs => "verbs",
            Layer::Queues => "queues",
            Layer::Driver => "driver",
            Layer::Engine => "engine",
            Layer::Tcp => "TCP",
            Layer::Formats => "formats",
            Layer::Crc => "CRC",
            Layer::Copies => "copies",
            Layer::Simulator => "simulator",
        }
    }
}

/// Whose a line or a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of this layer.
    Of(Layer),
    /// Of this one if a host calls it: simulated cards use it as well.
    Shared(Layer),
}

impl Place {
    /// Of a line in this file; `None`: it is nobody's own, and belongs to whoever has it compiled in.
    pub(super) fn of_file(file: &str) -> Option<Self> {
        let within = |folder: &str| {
            let at = file.find(folder)?;
            let whole = at == 0 || file[..at].ends_with('/');
            whole.then(|| &file[at + folder.len()..])
        };
        let mut found = FOLDERS.iter();
        found.find_map(|(folder, layer)| Some(part(*layer, within(folder)?)))
    }

    /// Of a function, by the first crate in its name.
    pub(super) fn of_function(name: &str) -> Option<Self> {
        let found = CRATES
            .iter()
            .filter_map(|(prefix, layer)| Some((name.find(prefix)?, prefix.len(), *layer)));
        let (at, length, layer) = found.min_by_key(|(at, ..)| *at)?;
        Some(part(layer, &name[at + length..]))
    }
}

/// A module of a crate that is mainly of this layer.
fn part(layer: Layer, module: &str) -> Place {
    match layer {
        Layer::Driver if module.starts_with("verbs") => Place::Of(Layer::Verbs),
        Layer::Driver if module.starts_with("dma") => Place::Shared(Layer::Copies),
        Layer::Formats if module.starts_with("crc") => Place::Shared(Layer::Crc),
        Layer::Formats | Layer::Crc => Place::Shared(layer),
        layer => Place::Of(layer),
    }
}

/// Folders of sources.
const FOLDERS: [(&str, Layer); 12] = [
    ("hostdrv/command/", Layer::Simulator),
    ("hostdrv/debug/src/", Layer::Driver),
    ("hostdrv/share/src/", Layer::Driver),
    ("hostdrv/tools/src/", Layer::Driver),
    ("hostdrv/transport/src/", Layer::Driver),
    ("hostdrv/src/", Layer::Driver),
    ("firmware/queues/src/", Layer::Queues),
    ("firmware/engine/src/", Layer::Engine),
    ("firmware/tcp/src/", Layer::Tcp),
    ("firmware/wire/src/", Layer::Formats),
    ("sim/", Layer::Simulator),
    // The crate that computes CRCs for `weft-wire`.
    ("crc-", Layer::Crc),
];

/// Crates as functions' names have them.
const CRATES: [(&str, Layer); 13] = [
    ("weft_hostdrv::", Layer::Driver),
    ("weft_debug::", Layer::Driver),
    ("weft_share::", Layer::Driver),
    ("weft_tools::", Layer::Driver),
    ("weft_card_transport::", Layer::Driver),
    ("weft_queues::", Layer::Queues),
    ("weft_engine::", Layer::Engine),
    ("weft_tcp::", Layer::Tcp),
    ("weft_wire::", Layer::Formats),
    ("weft_sim::", Layer::Simulator),
    ("rtl_sim::", Layer::Simulator),
    ("weft::", Layer::Simulator),
    ("crc::", Layer::Crc),
];

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{Of, Shared};

    #[test]
    fn a_line_is_of_the_layer_whose_source_it_is_in() {
        for (file, place) in [
            (
                "/a/weft/hostdrv/src/verbs/posting.rs",
                Some(Of(Layer::Verbs)),
            ),
            ("hostdrv/src/card/job_ring.rs", Some(Of(Layer::Driver))),
            ("hostdrv/transport/src/dma.rs", Some(Shared(Layer::Copies))),
            (
                "/registry/src/index/crc-3.2.1/src/crc32.rs",
                Some(Shared(Layer::Crc)),
            ),
            (
                "/a/firmware/engine/src/queues/qp.rs",
                Some(Of(Layer::Engine)),
            ),
            ("/a/firmware/tcp/src/sender.rs", Some(Of(Layer::Tcp))),
            ("/a/firmware/wire/src/crc32c.rs", Some(Shared(Layer::Crc))),
            ("/a/firmware/wire/src/walk.rs", Some(Shared(Layer::Formats))),
            ("/a/sim/src/transport.rs", Some(Of(Layer::Simulator))),
            ("/a/hostdrv/command/src/main.rs", Some(Of(Layer::Simulator))),
            ("/a/firmware/layout/src/lib.rs", None),
            ("/rustc/1/library/core/src/slice/mod.rs", None),
            ("/a/versim/other.rs", None),
        ] {
            assert_eq!(Place::of_file(file), place, "{file}");
        }
    }

    #[test]
    fn a_function_is_of_the_first_crate_in_its_name() {
        for (name, place) in [
            (
                "weft_hostdrv::verbs::cq::Cq::poll_one",
                Some(Of(Layer::Verbs)),
            ),
            (
                "<weft_hostdrv::card::Card as weft_engine::Port>::push",
                Some(Of(Layer::Driver)),
            ),
            (
                "core::ptr::drop_in_place<weft_engine::Event>",
                Some(Of(Layer::Engine)),
            ),
            ("weft_wire::crc32c::crc32c", Some(Shared(Layer::Crc))),
            ("crc::crc32::update_table", Some(Shared(Layer::Crc))),
            ("malloc", None),
        ] {
            assert_eq!(Place::of_function(name), place, "{name}");
        }
    }
}
