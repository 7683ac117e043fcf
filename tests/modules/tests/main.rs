//! Single RTL modules against independent references.

mod bar_port;
mod board_pcie;
mod byte_packer;
mod capture;
mod counters;
mod crc32c;
mod dma_read;
mod dma_write;
mod fifo_async;
mod fifo_sync;
mod mac_loopback;
mod mac_rx_fifo;
mod mac_tx_fifo;
mod msix_table;
mod report_writer;
mod rq_element;
mod rx_front;
mod rx_walk;
mod trace_ring;
mod weft_tx;
mod write_watch;
mod write_whole;
