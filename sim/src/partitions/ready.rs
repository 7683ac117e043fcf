//! Workloads that are there without a file.

/// The ready ones, by name; the first is the default.
pub const READY: [(&str, &str); 22] = [
    ("default", include_str!("../../workloads/default.toml")),
    ("echo", include_str!("../../workloads/echo.toml")),
    ("block", include_str!("../../workloads/block.toml")),
    (
        "small-reads",
        include_str!("../../workloads/small-reads.toml"),
    ),
    ("bulk", include_str!("../../workloads/bulk.toml")),
    ("book", include_str!("../../workloads/book.toml")),
    ("sizes", include_str!("../../workloads/sizes.toml")),
    ("replay", include_str!("../../workloads/replay.toml")),
    ("mixed", include_str!("../../workloads/mixed.toml")),
    ("depths", include_str!("../../workloads/depths.toml")),
    ("firmware", include_str!("../../workloads/firmware.toml")),
    ("ladder", include_str!("../../workloads/ladder.toml")),
    ("rto", include_str!("../../workloads/rto.toml")),
    (
        "many-flows",
        include_str!("../../workloads/many-flows.toml"),
    ),
    ("lossy", include_str!("../../workloads/lossy.toml")),
    ("key-value", include_str!("../../workloads/key-value.toml")),
    (
        "key-value-rates",
        include_str!("../../workloads/key-value-rates.toml"),
    ),
    ("rpc", include_str!("../../workloads/rpc.toml")),
    ("block-io", include_str!("../../workloads/block-io.toml")),
    (
        "all-reduce",
        include_str!("../../workloads/all-reduce.toml"),
    ),
    ("incast", include_str!("../../workloads/incast.toml")),
    ("churn", include_str!("../../workloads/churn.toml")),
];

/// Their names.
pub(super) fn names() -> String {
    READY.map(|(name, _)| name).join(", ")
}
