//! The driver on cards that its tests make.

mod bring_up;
mod cm_styles;
mod fake;
mod files;
mod lent_refusals;
mod loopback_host;
mod loopback_xrc;
mod misuse;
mod pairs;
mod raw;
mod registering;
mod reports;
mod resize;
mod route_bytes;
mod seed;
mod short_way;
mod threads;
