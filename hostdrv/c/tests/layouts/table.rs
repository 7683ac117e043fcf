// Made by layouts.py of src/bindings.rs.

use std::mem::{offset_of, size_of};

use weft_rdma::c;

/// A structure: its name, its bytes, and where its fields are.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

pub const LAYOUTS: &[Layout] = &[
    (
        "ibv_gid_entry",
        size_of::<c::ibv_gid_entry>(),
        &[
            ("gid", offset_of!(c::ibv_gid_entry, gid)),
            ("gid_index", offset_of!(c::ibv_gid_entry, gid_index)),
            ("port_num", offset_of!(c::ibv_gid_entry, port_num)),
            ("gid_type", offset_of!(c::ibv_gid_entry, gid_type)),
            ("ndev_ifindex", offset_of!(c::ibv_gid_entry, ndev_ifindex)),
        ],
    ),
    (
        "ibv_device_attr",
        size_of::<c::ibv_device_attr>(),
        &[
            ("fw_ver", offset_of!(c::ibv_device_attr, fw_ver)),
            ("node_guid", offset_of!(c::ibv_device_attr, node_guid)),
            (
                "sys_image_guid",
                offset_of!(c::ibv_device_attr, sys_image_guid),
            ),
            ("max_mr_size", offset_of!(c::ibv_device_attr, max_mr_size)),
            (
                "page_size_cap",
                offset_of!(c::ibv_device_attr, page_size_cap),
            ),
            ("vendor_id", offset_of!(c::ibv_device_attr, vendor_id)),
            (
                "vendor_part_id",
                offset_of!(c::ibv_device_attr, vendor_part_id),
            ),
            ("hw_ver", offset_of!(c::ibv_device_attr, hw_ver)),
            ("max_qp", offset_of!(c::ibv_device_attr, max_qp)),
            ("max_qp_wr", offset_of!(c::ibv_device_attr, max_qp_wr)),
            (
                "device_cap_flags",
                offset_of!(c::ibv_device_attr, device_cap_flags),
            ),
            ("max_sge", offset_of!(c::ibv_device_attr, max_sge)),
            ("max_sge_rd", offset_of!(c::ibv_device_attr, max_sge_rd)),
            ("max_cq", offset_of!(c::ibv_device_attr, max_cq)),
            ("max_cqe", offset_of!(c::ibv_device_attr, max_cqe)),
            ("max_mr", offset_of!(c::ibv_device_attr, max_mr)),
            ("max_pd", offset_of!(c::ibv_device_attr, max_pd)),
            (
                "max_qp_rd_atom",
                offset_of!(c::ibv_device_attr, max_qp_rd_atom),
            ),
            (
                "max_ee_rd_atom",
                offset_of!(c::ibv_device_attr, max_ee_rd_atom),
            ),
            (
                "max_res_rd_atom",
                offset_of!(c::ibv_device_attr, max_res_rd_atom),
            ),
            (
                "max_qp_init_rd_atom",
                offset_of!(c::ibv_device_attr, max_qp_init_rd_atom),
            ),
            (
                "max_ee_init_rd_atom",
                offset_of!(c::ibv_device_attr, max_ee_init_rd_atom),
            ),
            ("atomic_cap", offset_of!(c::ibv_device_attr, atomic_cap)),
            ("max_ee", offset_of!(c::ibv_device_attr, max_ee)),
            ("max_rdd", offset_of!(c::ibv_device_attr, max_rdd)),
            ("max_mw", offset_of!(c::ibv_device_attr, max_mw)),
            (
                "max_raw_ipv6_qp",
                offset_of!(c::ibv_device_attr, max_raw_ipv6_qp),
            ),
            (
                "max_raw_ethy_qp",
                offset_of!(c::ibv_device_attr, max_raw_ethy_qp),
            ),
            (
                "max_mcast_grp",
                offset_of!(c::ibv_device_attr, max_mcast_grp),
            ),
            (
                "max_mcast_qp_attach",
                offset_of!(c::ibv_device_attr, max_mcast_qp_attach),
            ),
            (
                "max_total_mcast_qp_attach",
                offset_of!(c::ibv_device_attr, max_total_mcast_qp_attach),
            ),
            ("max_ah", offset_of!(c::ibv_device_attr, max_ah)),
            ("max_fmr", offset_of!(c::ibv_device_attr, max_fmr)),
            (
                "max_map_per_fmr",
                offset_of!(c::ibv_device_attr, max_map_per_fmr),
            ),
            ("max_srq", offset_of!(c::ibv_device_attr, max_srq)),
            ("max_srq_wr", offset_of!(c::ibv_device_attr, max_srq_wr)),
            ("max_srq_sge", offset_of!(c::ibv_device_attr, max_srq_sge)),
            ("max_pkeys", offset_of!(c::ibv_device_attr, max_pkeys)),
            (
                "local_ca_ack_delay",
                offset_of!(c::ibv_device_attr, local_ca_ack_delay),
            ),
            (
                "phys_port_cnt",
                offset_of!(c::ibv_device_attr, phys_port_cnt),
            ),
        ],
    ),
    (
        "ibv_query_device_ex_input",
        size_of::<c::ibv_query_device_ex_input>(),
        &[(
            "comp_mask",
            offset_of!(c::ibv_query_device_ex_input, comp_mask),
        )],
    ),
    (
        "ibv_odp_caps",
        size_of::<c::ibv_odp_caps>(),
        &[
            ("general_caps", offset_of!(c::ibv_odp_caps, general_caps)),
            (
                "per_transport_caps",
                offset_of!(c::ibv_odp_caps, per_transport_caps),
            ),
        ],
    ),
    (
        "ibv_tso_caps",
        size_of::<c::ibv_tso_caps>(),
        &[
            ("max_tso", offset_of!(c::ibv_tso_caps, max_tso)),
            (
                "supported_qpts",
                offset_of!(c::ibv_tso_caps, supported_qpts),
            ),
        ],
    ),
    (
        "ibv_rss_caps",
        size_of::<c::ibv_rss_caps>(),
        &[
            (
                "supported_qpts",
                offset_of!(c::ibv_rss_caps, supported_qpts),
            ),
            (
                "max_rwq_indirection_tables",
                offset_of!(c::ibv_rss_caps, max_rwq_indirection_tables),
            ),
            (
                "max_rwq_indirection_table_size",
                offset_of!(c::ibv_rss_caps, max_rwq_indirection_table_size),
            ),
            (
                "rx_hash_fields_mask",
                offset_of!(c::ibv_rss_caps, rx_hash_fields_mask),
            ),
            (
                "rx_hash_function",
                offset_of!(c::ibv_rss_caps, rx_hash_function),
            ),
        ],
    ),
    (
        "ibv_packet_pacing_caps",
        size_of::<c::ibv_packet_pacing_caps>(),
        &[
            (
                "qp_rate_limit_min",
                offset_of!(c::ibv_packet_pacing_caps, qp_rate_limit_min),
            ),
            (
                "qp_rate_limit_max",
                offset_of!(c::ibv_packet_pacing_caps, qp_rate_limit_max),
            ),
            (
                "supported_qpts",
                offset_of!(c::ibv_packet_pacing_caps, supported_qpts),
            ),
        ],
    ),
    (
        "ibv_tm_caps",
        size_of::<c::ibv_tm_caps>(),
        &[
            (
                "max_rndv_hdr_size",
                offset_of!(c::ibv_tm_caps, max_rndv_hdr_size),
            ),
            ("max_num_tags", offset_of!(c::ibv_tm_caps, max_num_tags)),
            ("flags", offset_of!(c::ibv_tm_caps, flags)),
            ("max_ops", offset_of!(c::ibv_tm_caps, max_ops)),
            ("max_sge", offset_of!(c::ibv_tm_caps, max_sge)),
        ],
    ),
    (
        "ibv_cq_moderation_caps",
        size_of::<c::ibv_cq_moderation_caps>(),
        &[
            (
                "max_cq_count",
                offset_of!(c::ibv_cq_moderation_caps, max_cq_count),
            ),
            (
                "max_cq_period",
                offset_of!(c::ibv_cq_moderation_caps, max_cq_period),
            ),
        ],
    ),
    (
        "ibv_pci_atomic_caps",
        size_of::<c::ibv_pci_atomic_caps>(),
        &[
            ("fetch_add", offset_of!(c::ibv_pci_atomic_caps, fetch_add)),
            ("swap", offset_of!(c::ibv_pci_atomic_caps, swap)),
            (
                "compare_swap",
                offset_of!(c::ibv_pci_atomic_caps, compare_swap),
            ),
        ],
    ),
    (
        "ibv_device_attr_ex",
        size_of::<c::ibv_device_attr_ex>(),
        &[
            ("orig_attr", offset_of!(c::ibv_device_attr_ex, orig_attr)),
            ("comp_mask", offset_of!(c::ibv_device_attr_ex, comp_mask)),
            ("odp_caps", offset_of!(c::ibv_device_attr_ex, odp_caps)),
            (
                "completion_timestamp_mask",
                offset_of!(c::ibv_device_attr_ex, completion_timestamp_mask),
            ),
            (
                "hca_core_clock",
                offset_of!(c::ibv_device_attr_ex, hca_core_clock),
            ),
            (
                "device_cap_flags_ex",
                offset_of!(c::ibv_device_attr_ex, device_cap_flags_ex),
            ),
            ("tso_caps", offset_of!(c::ibv_device_attr_ex, tso_caps)),
            ("rss_caps", offset_of!(c::ibv_device_attr_ex, rss_caps)),
            (
                "max_wq_type_rq",
                offset_of!(c::ibv_device_attr_ex, max_wq_type_rq),
            ),
            (
                "packet_pacing_caps",
                offset_of!(c::ibv_device_attr_ex, packet_pacing_caps),
            ),
            (
                "raw_packet_caps",
                offset_of!(c::ibv_device_attr_ex, raw_packet_caps),
            ),
            ("tm_caps", offset_of!(c::ibv_device_attr_ex, tm_caps)),
            (
                "cq_mod_caps",
                offset_of!(c::ibv_device_attr_ex, cq_mod_caps),
            ),
            (
                "max_dm_size",
                offset_of!(c::ibv_device_attr_ex, max_dm_size),
            ),
            (
                "pci_atomic_caps",
                offset_of!(c::ibv_device_attr_ex, pci_atomic_caps),
            ),
            (
                "xrc_odp_caps",
                offset_of!(c::ibv_device_attr_ex, xrc_odp_caps),
            ),
            (
                "phys_port_cnt_ex",
                offset_of!(c::ibv_device_attr_ex, phys_port_cnt_ex),
            ),
        ],
    ),
    (
        "ibv_port_attr",
        size_of::<c::ibv_port_attr>(),
        &[
            ("state", offset_of!(c::ibv_port_attr, state)),
            ("max_mtu", offset_of!(c::ibv_port_attr, max_mtu)),
            ("active_mtu", offset_of!(c::ibv_port_attr, active_mtu)),
            ("gid_tbl_len", offset_of!(c::ibv_port_attr, gid_tbl_len)),
            (
                "port_cap_flags",
                offset_of!(c::ibv_port_attr, port_cap_flags),
            ),
            ("max_msg_sz", offset_of!(c::ibv_port_attr, max_msg_sz)),
            ("bad_pkey_cntr", offset_of!(c::ibv_port_attr, bad_pkey_cntr)),
            (
                "qkey_viol_cntr",
                offset_of!(c::ibv_port_attr, qkey_viol_cntr),
            ),
            ("pkey_tbl_len", offset_of!(c::ibv_port_attr, pkey_tbl_len)),
            ("lid", offset_of!(c::ibv_port_attr, lid)),
            ("sm_lid", offset_of!(c::ibv_port_attr, sm_lid)),
            ("lmc", offset_of!(c::ibv_port_attr, lmc)),
            ("max_vl_num", offset_of!(c::ibv_port_attr, max_vl_num)),
            ("sm_sl", offset_of!(c::ibv_port_attr, sm_sl)),
            (
                "subnet_timeout",
                offset_of!(c::ibv_port_attr, subnet_timeout),
            ),
            (
                "init_type_reply",
                offset_of!(c::ibv_port_attr, init_type_reply),
            ),
            ("active_width", offset_of!(c::ibv_port_attr, active_width)),
            ("active_speed", offset_of!(c::ibv_port_attr, active_speed)),
            ("phys_state", offset_of!(c::ibv_port_attr, phys_state)),
            ("link_layer", offset_of!(c::ibv_port_attr, link_layer)),
            ("flags", offset_of!(c::ibv_port_attr, flags)),
            (
                "port_cap_flags2",
                offset_of!(c::ibv_port_attr, port_cap_flags2),
            ),
        ],
    ),
    (
        "ibv_async_event",
        size_of::<c::ibv_async_event>(),
        &[
            ("element", offset_of!(c::ibv_async_event, element)),
            ("event_type", offset_of!(c::ibv_async_event, event_type)),
        ],
    ),
    (
        "ibv_wc",
        size_of::<c::ibv_wc>(),
        &[
            ("wr_id", offset_of!(c::ibv_wc, wr_id)),
            ("status", offset_of!(c::ibv_wc, status)),
            ("opcode", offset_of!(c::ibv_wc, opcode)),
            ("vendor_err", offset_of!(c::ibv_wc, vendor_err)),
            ("byte_len", offset_of!(c::ibv_wc, byte_len)),
            ("qp_num", offset_of!(c::ibv_wc, qp_num)),
            ("src_qp", offset_of!(c::ibv_wc, src_qp)),
            ("wc_flags", offset_of!(c::ibv_wc, wc_flags)),
            ("pkey_index", offset_of!(c::ibv_wc, pkey_index)),
            ("slid", offset_of!(c::ibv_wc, slid)),
            ("sl", offset_of!(c::ibv_wc, sl)),
            ("dlid_path_bits", offset_of!(c::ibv_wc, dlid_path_bits)),
        ],
    ),
    (
        "ibv_mw_bind_info",
        size_of::<c::ibv_mw_bind_info>(),
        &[
            ("mr", offset_of!(c::ibv_mw_bind_info, mr)),
            ("addr", offset_of!(c::ibv_mw_bind_info, addr)),
            ("length", offset_of!(c::ibv_mw_bind_info, length)),
            (
                "mw_access_flags",
                offset_of!(c::ibv_mw_bind_info, mw_access_flags),
            ),
        ],
    ),
    (
        "ibv_pd",
        size_of::<c::ibv_pd>(),
        &[
            ("context", offset_of!(c::ibv_pd, context)),
            ("handle", offset_of!(c::ibv_pd, handle)),
        ],
    ),
    (
        "ibv_xrcd_init_attr",
        size_of::<c::ibv_xrcd_init_attr>(),
        &[
            ("comp_mask", offset_of!(c::ibv_xrcd_init_attr, comp_mask)),
            ("fd", offset_of!(c::ibv_xrcd_init_attr, fd)),
            ("oflags", offset_of!(c::ibv_xrcd_init_attr, oflags)),
        ],
    ),
    (
        "ibv_xrcd",
        size_of::<c::ibv_xrcd>(),
        &[("context", offset_of!(c::ibv_xrcd, context))],
    ),
    (
        "ibv_mr",
        size_of::<c::ibv_mr>(),
        &[
            ("context", offset_of!(c::ibv_mr, context)),
            ("pd", offset_of!(c::ibv_mr, pd)),
            ("addr", offset_of!(c::ibv_mr, addr)),
            ("length", offset_of!(c::ibv_mr, length)),
            ("handle", offset_of!(c::ibv_mr, handle)),
            ("lkey", offset_of!(c::ibv_mr, lkey)),
            ("rkey", offset_of!(c::ibv_mr, rkey)),
        ],
    ),
    (
        "ibv_mw",
        size_of::<c::ibv_mw>(),
        &[
            ("context", offset_of!(c::ibv_mw, context)),
            ("pd", offset_of!(c::ibv_mw, pd)),
            ("rkey", offset_of!(c::ibv_mw, rkey)),
            ("handle", offset_of!(c::ibv_mw, handle)),
            ("type", offset_of!(c::ibv_mw, type_)),
        ],
    ),
    (
        "ibv_global_route",
        size_of::<c::ibv_global_route>(),
        &[
            ("dgid", offset_of!(c::ibv_global_route, dgid)),
            ("flow_label", offset_of!(c::ibv_global_route, flow_label)),
            ("sgid_index", offset_of!(c::ibv_global_route, sgid_index)),
            ("hop_limit", offset_of!(c::ibv_global_route, hop_limit)),
            (
                "traffic_class",
                offset_of!(c::ibv_global_route, traffic_class),
            ),
        ],
    ),
    (
        "ibv_ah_attr",
        size_of::<c::ibv_ah_attr>(),
        &[
            ("grh", offset_of!(c::ibv_ah_attr, grh)),
            ("dlid", offset_of!(c::ibv_ah_attr, dlid)),
            ("sl", offset_of!(c::ibv_ah_attr, sl)),
            ("src_path_bits", offset_of!(c::ibv_ah_attr, src_path_bits)),
            ("static_rate", offset_of!(c::ibv_ah_attr, static_rate)),
            ("is_global", offset_of!(c::ibv_ah_attr, is_global)),
            ("port_num", offset_of!(c::ibv_ah_attr, port_num)),
        ],
    ),
    (
        "ibv_srq_attr",
        size_of::<c::ibv_srq_attr>(),
        &[
            ("max_wr", offset_of!(c::ibv_srq_attr, max_wr)),
            ("max_sge", offset_of!(c::ibv_srq_attr, max_sge)),
            ("srq_limit", offset_of!(c::ibv_srq_attr, srq_limit)),
        ],
    ),
    (
        "ibv_srq_init_attr",
        size_of::<c::ibv_srq_init_attr>(),
        &[
            ("srq_context", offset_of!(c::ibv_srq_init_attr, srq_context)),
            ("attr", offset_of!(c::ibv_srq_init_attr, attr)),
        ],
    ),
    (
        "ibv_tm_cap",
        size_of::<c::ibv_tm_cap>(),
        &[
            ("max_num_tags", offset_of!(c::ibv_tm_cap, max_num_tags)),
            ("max_ops", offset_of!(c::ibv_tm_cap, max_ops)),
        ],
    ),
    (
        "ibv_srq_init_attr_ex",
        size_of::<c::ibv_srq_init_attr_ex>(),
        &[
            (
                "srq_context",
                offset_of!(c::ibv_srq_init_attr_ex, srq_context),
            ),
            ("attr", offset_of!(c::ibv_srq_init_attr_ex, attr)),
            ("comp_mask", offset_of!(c::ibv_srq_init_attr_ex, comp_mask)),
            ("srq_type", offset_of!(c::ibv_srq_init_attr_ex, srq_type)),
            ("pd", offset_of!(c::ibv_srq_init_attr_ex, pd)),
            ("xrcd", offset_of!(c::ibv_srq_init_attr_ex, xrcd)),
            ("cq", offset_of!(c::ibv_srq_init_attr_ex, cq)),
            ("tm_cap", offset_of!(c::ibv_srq_init_attr_ex, tm_cap)),
        ],
    ),
    (
        "ibv_qp_cap",
        size_of::<c::ibv_qp_cap>(),
        &[
            ("max_send_wr", offset_of!(c::ibv_qp_cap, max_send_wr)),
            ("max_recv_wr", offset_of!(c::ibv_qp_cap, max_recv_wr)),
            ("max_send_sge", offset_of!(c::ibv_qp_cap, max_send_sge)),
            ("max_recv_sge", offset_of!(c::ibv_qp_cap, max_recv_sge)),
            (
                "max_inline_data",
                offset_of!(c::ibv_qp_cap, max_inline_data),
            ),
        ],
    ),
    (
        "ibv_qp_init_attr",
        size_of::<c::ibv_qp_init_attr>(),
        &[
            ("qp_context", offset_of!(c::ibv_qp_init_attr, qp_context)),
            ("send_cq", offset_of!(c::ibv_qp_init_attr, send_cq)),
            ("recv_cq", offset_of!(c::ibv_qp_init_attr, recv_cq)),
            ("srq", offset_of!(c::ibv_qp_init_attr, srq)),
            ("cap", offset_of!(c::ibv_qp_init_attr, cap)),
            ("qp_type", offset_of!(c::ibv_qp_init_attr, qp_type)),
            ("sq_sig_all", offset_of!(c::ibv_qp_init_attr, sq_sig_all)),
        ],
    ),
    (
        "ibv_qp_init_attr_ex",
        size_of::<c::ibv_qp_init_attr_ex>(),
        &[
            ("qp_context", offset_of!(c::ibv_qp_init_attr_ex, qp_context)),
            ("send_cq", offset_of!(c::ibv_qp_init_attr_ex, send_cq)),
            ("recv_cq", offset_of!(c::ibv_qp_init_attr_ex, recv_cq)),
            ("srq", offset_of!(c::ibv_qp_init_attr_ex, srq)),
            ("cap", offset_of!(c::ibv_qp_init_attr_ex, cap)),
            ("qp_type", offset_of!(c::ibv_qp_init_attr_ex, qp_type)),
            ("sq_sig_all", offset_of!(c::ibv_qp_init_attr_ex, sq_sig_all)),
            ("comp_mask", offset_of!(c::ibv_qp_init_attr_ex, comp_mask)),
            ("pd", offset_of!(c::ibv_qp_init_attr_ex, pd)),
            ("xrcd", offset_of!(c::ibv_qp_init_attr_ex, xrcd)),
            (
                "create_flags",
                offset_of!(c::ibv_qp_init_attr_ex, create_flags),
            ),
            (
                "max_tso_header",
                offset_of!(c::ibv_qp_init_attr_ex, max_tso_header),
            ),
            (
                "rwq_ind_tbl",
                offset_of!(c::ibv_qp_init_attr_ex, rwq_ind_tbl),
            ),
            (
                "rx_hash_conf",
                offset_of!(c::ibv_qp_init_attr_ex, rx_hash_conf),
            ),
            ("source_qpn", offset_of!(c::ibv_qp_init_attr_ex, source_qpn)),
            (
                "send_ops_flags",
                offset_of!(c::ibv_qp_init_attr_ex, send_ops_flags),
            ),
        ],
    ),
    (
        "ibv_qp_open_attr",
        size_of::<c::ibv_qp_open_attr>(),
        &[
            ("comp_mask", offset_of!(c::ibv_qp_open_attr, comp_mask)),
            ("qp_num", offset_of!(c::ibv_qp_open_attr, qp_num)),
            ("xrcd", offset_of!(c::ibv_qp_open_attr, xrcd)),
            ("qp_context", offset_of!(c::ibv_qp_open_attr, qp_context)),
            ("qp_type", offset_of!(c::ibv_qp_open_attr, qp_type)),
        ],
    ),
    (
        "ibv_qp_attr",
        size_of::<c::ibv_qp_attr>(),
        &[
            ("qp_state", offset_of!(c::ibv_qp_attr, qp_state)),
            ("cur_qp_state", offset_of!(c::ibv_qp_attr, cur_qp_state)),
            ("path_mtu", offset_of!(c::ibv_qp_attr, path_mtu)),
            ("path_mig_state", offset_of!(c::ibv_qp_attr, path_mig_state)),
            ("qkey", offset_of!(c::ibv_qp_attr, qkey)),
            ("rq_psn", offset_of!(c::ibv_qp_attr, rq_psn)),
            ("sq_psn", offset_of!(c::ibv_qp_attr, sq_psn)),
            ("dest_qp_num", offset_of!(c::ibv_qp_attr, dest_qp_num)),
            (
                "qp_access_flags",
                offset_of!(c::ibv_qp_attr, qp_access_flags),
            ),
            ("cap", offset_of!(c::ibv_qp_attr, cap)),
            ("ah_attr", offset_of!(c::ibv_qp_attr, ah_attr)),
            ("alt_ah_attr", offset_of!(c::ibv_qp_attr, alt_ah_attr)),
            ("pkey_index", offset_of!(c::ibv_qp_attr, pkey_index)),
            ("alt_pkey_index", offset_of!(c::ibv_qp_attr, alt_pkey_index)),
            (
                "en_sqd_async_notify",
                offset_of!(c::ibv_qp_attr, en_sqd_async_notify),
            ),
            ("sq_draining", offset_of!(c::ibv_qp_attr, sq_draining)),
            ("max_rd_atomic", offset_of!(c::ibv_qp_attr, max_rd_atomic)),
            (
                "max_dest_rd_atomic",
                offset_of!(c::ibv_qp_attr, max_dest_rd_atomic),
            ),
            ("min_rnr_timer", offset_of!(c::ibv_qp_attr, min_rnr_timer)),
            ("port_num", offset_of!(c::ibv_qp_attr, port_num)),
            ("timeout", offset_of!(c::ibv_qp_attr, timeout)),
            ("retry_cnt", offset_of!(c::ibv_qp_attr, retry_cnt)),
            ("rnr_retry", offset_of!(c::ibv_qp_attr, rnr_retry)),
            ("alt_port_num", offset_of!(c::ibv_qp_attr, alt_port_num)),
            ("alt_timeout", offset_of!(c::ibv_qp_attr, alt_timeout)),
            ("rate_limit", offset_of!(c::ibv_qp_attr, rate_limit)),
        ],
    ),
    (
        "ibv_data_buf",
        size_of::<c::ibv_data_buf>(),
        &[
            ("addr", offset_of!(c::ibv_data_buf, addr)),
            ("length", offset_of!(c::ibv_data_buf, length)),
        ],
    ),
    (
        "ibv_sge",
        size_of::<c::ibv_sge>(),
        &[
            ("addr", offset_of!(c::ibv_sge, addr)),
            ("length", offset_of!(c::ibv_sge, length)),
            ("lkey", offset_of!(c::ibv_sge, lkey)),
        ],
    ),
    (
        "ibv_send_wr",
        size_of::<c::ibv_send_wr>(),
        &[
            ("wr_id", offset_of!(c::ibv_send_wr, wr_id)),
            ("next", offset_of!(c::ibv_send_wr, next)),
            ("sg_list", offset_of!(c::ibv_send_wr, sg_list)),
            ("num_sge", offset_of!(c::ibv_send_wr, num_sge)),
            ("opcode", offset_of!(c::ibv_send_wr, opcode)),
            ("send_flags", offset_of!(c::ibv_send_wr, send_flags)),
            ("wr", offset_of!(c::ibv_send_wr, wr)),
            ("qp_type", offset_of!(c::ibv_send_wr, qp_type)),
        ],
    ),
    (
        "ibv_recv_wr",
        size_of::<c::ibv_recv_wr>(),
        &[
            ("wr_id", offset_of!(c::ibv_recv_wr, wr_id)),
            ("next", offset_of!(c::ibv_recv_wr, next)),
            ("sg_list", offset_of!(c::ibv_recv_wr, sg_list)),
            ("num_sge", offset_of!(c::ibv_recv_wr, num_sge)),
        ],
    ),
    (
        "ibv_mw_bind",
        size_of::<c::ibv_mw_bind>(),
        &[
            ("wr_id", offset_of!(c::ibv_mw_bind, wr_id)),
            ("send_flags", offset_of!(c::ibv_mw_bind, send_flags)),
            ("bind_info", offset_of!(c::ibv_mw_bind, bind_info)),
        ],
    ),
    (
        "ibv_srq",
        size_of::<c::ibv_srq>(),
        &[
            ("context", offset_of!(c::ibv_srq, context)),
            ("srq_context", offset_of!(c::ibv_srq, srq_context)),
            ("pd", offset_of!(c::ibv_srq, pd)),
            ("handle", offset_of!(c::ibv_srq, handle)),
            ("mutex", offset_of!(c::ibv_srq, mutex)),
            ("cond", offset_of!(c::ibv_srq, cond)),
            ("events_completed", offset_of!(c::ibv_srq, events_completed)),
        ],
    ),
    (
        "ibv_qp",
        size_of::<c::ibv_qp>(),
        &[
            ("context", offset_of!(c::ibv_qp, context)),
            ("qp_context", offset_of!(c::ibv_qp, qp_context)),
            ("pd", offset_of!(c::ibv_qp, pd)),
            ("send_cq", offset_of!(c::ibv_qp, send_cq)),
            ("recv_cq", offset_of!(c::ibv_qp, recv_cq)),
            ("srq", offset_of!(c::ibv_qp, srq)),
            ("handle", offset_of!(c::ibv_qp, handle)),
            ("qp_num", offset_of!(c::ibv_qp, qp_num)),
            ("state", offset_of!(c::ibv_qp, state)),
            ("qp_type", offset_of!(c::ibv_qp, qp_type)),
            ("mutex", offset_of!(c::ibv_qp, mutex)),
            ("cond", offset_of!(c::ibv_qp, cond)),
            ("events_completed", offset_of!(c::ibv_qp, events_completed)),
        ],
    ),
    (
        "ibv_qp_ex",
        size_of::<c::ibv_qp_ex>(),
        &[
            ("qp_base", offset_of!(c::ibv_qp_ex, qp_base)),
            ("comp_mask", offset_of!(c::ibv_qp_ex, comp_mask)),
            ("wr_id", offset_of!(c::ibv_qp_ex, wr_id)),
            ("wr_flags", offset_of!(c::ibv_qp_ex, wr_flags)),
            (
                "wr_atomic_cmp_swp",
                offset_of!(c::ibv_qp_ex, wr_atomic_cmp_swp),
            ),
            (
                "wr_atomic_fetch_add",
                offset_of!(c::ibv_qp_ex, wr_atomic_fetch_add),
            ),
            ("wr_bind_mw", offset_of!(c::ibv_qp_ex, wr_bind_mw)),
            ("wr_local_inv", offset_of!(c::ibv_qp_ex, wr_local_inv)),
            ("wr_rdma_read", offset_of!(c::ibv_qp_ex, wr_rdma_read)),
            ("wr_rdma_write", offset_of!(c::ibv_qp_ex, wr_rdma_write)),
            (
                "wr_rdma_write_imm",
                offset_of!(c::ibv_qp_ex, wr_rdma_write_imm),
            ),
            ("wr_send", offset_of!(c::ibv_qp_ex, wr_send)),
            ("wr_send_imm", offset_of!(c::ibv_qp_ex, wr_send_imm)),
            ("wr_send_inv", offset_of!(c::ibv_qp_ex, wr_send_inv)),
            ("wr_send_tso", offset_of!(c::ibv_qp_ex, wr_send_tso)),
            ("wr_set_ud_addr", offset_of!(c::ibv_qp_ex, wr_set_ud_addr)),
            ("wr_set_xrc_srqn", offset_of!(c::ibv_qp_ex, wr_set_xrc_srqn)),
            (
                "wr_set_inline_data",
                offset_of!(c::ibv_qp_ex, wr_set_inline_data),
            ),
            (
                "wr_set_inline_data_list",
                offset_of!(c::ibv_qp_ex, wr_set_inline_data_list),
            ),
            ("wr_set_sge", offset_of!(c::ibv_qp_ex, wr_set_sge)),
            ("wr_set_sge_list", offset_of!(c::ibv_qp_ex, wr_set_sge_list)),
            ("wr_start", offset_of!(c::ibv_qp_ex, wr_start)),
            ("wr_complete", offset_of!(c::ibv_qp_ex, wr_complete)),
            ("wr_abort", offset_of!(c::ibv_qp_ex, wr_abort)),
            ("wr_atomic_write", offset_of!(c::ibv_qp_ex, wr_atomic_write)),
        ],
    ),
    (
        "ibv_comp_channel",
        size_of::<c::ibv_comp_channel>(),
        &[
            ("context", offset_of!(c::ibv_comp_channel, context)),
            ("fd", offset_of!(c::ibv_comp_channel, fd)),
            ("refcnt", offset_of!(c::ibv_comp_channel, refcnt)),
        ],
    ),
    (
        "ibv_cq",
        size_of::<c::ibv_cq>(),
        &[
            ("context", offset_of!(c::ibv_cq, context)),
            ("channel", offset_of!(c::ibv_cq, channel)),
            ("cq_context", offset_of!(c::ibv_cq, cq_context)),
            ("handle", offset_of!(c::ibv_cq, handle)),
            ("cqe", offset_of!(c::ibv_cq, cqe)),
            ("mutex", offset_of!(c::ibv_cq, mutex)),
            ("cond", offset_of!(c::ibv_cq, cond)),
            (
                "comp_events_completed",
                offset_of!(c::ibv_cq, comp_events_completed),
            ),
            (
                "async_events_completed",
                offset_of!(c::ibv_cq, async_events_completed),
            ),
        ],
    ),
    (
        "ibv_poll_cq_attr",
        size_of::<c::ibv_poll_cq_attr>(),
        &[("comp_mask", offset_of!(c::ibv_poll_cq_attr, comp_mask))],
    ),
    (
        "ibv_cq_ex",
        size_of::<c::ibv_cq_ex>(),
        &[
            ("context", offset_of!(c::ibv_cq_ex, context)),
            ("channel", offset_of!(c::ibv_cq_ex, channel)),
            ("cq_context", offset_of!(c::ibv_cq_ex, cq_context)),
            ("handle", offset_of!(c::ibv_cq_ex, handle)),
            ("cqe", offset_of!(c::ibv_cq_ex, cqe)),
            ("mutex", offset_of!(c::ibv_cq_ex, mutex)),
            ("cond", offset_of!(c::ibv_cq_ex, cond)),
            (
                "comp_events_completed",
                offset_of!(c::ibv_cq_ex, comp_events_completed),
            ),
            (
                "async_events_completed",
                offset_of!(c::ibv_cq_ex, async_events_completed),
            ),
            ("comp_mask", offset_of!(c::ibv_cq_ex, comp_mask)),
            ("status", offset_of!(c::ibv_cq_ex, status)),
            ("wr_id", offset_of!(c::ibv_cq_ex, wr_id)),
            ("start_poll", offset_of!(c::ibv_cq_ex, start_poll)),
            ("next_poll", offset_of!(c::ibv_cq_ex, next_poll)),
            ("end_poll", offset_of!(c::ibv_cq_ex, end_poll)),
            ("read_opcode", offset_of!(c::ibv_cq_ex, read_opcode)),
            ("read_vendor_err", offset_of!(c::ibv_cq_ex, read_vendor_err)),
            ("read_byte_len", offset_of!(c::ibv_cq_ex, read_byte_len)),
            ("read_imm_data", offset_of!(c::ibv_cq_ex, read_imm_data)),
            ("read_qp_num", offset_of!(c::ibv_cq_ex, read_qp_num)),
            ("read_src_qp", offset_of!(c::ibv_cq_ex, read_src_qp)),
            ("read_wc_flags", offset_of!(c::ibv_cq_ex, read_wc_flags)),
            ("read_slid", offset_of!(c::ibv_cq_ex, read_slid)),
            ("read_sl", offset_of!(c::ibv_cq_ex, read_sl)),
            (
                "read_dlid_path_bits",
                offset_of!(c::ibv_cq_ex, read_dlid_path_bits),
            ),
            (
                "read_completion_ts",
                offset_of!(c::ibv_cq_ex, read_completion_ts),
            ),
            ("read_cvlan", offset_of!(c::ibv_cq_ex, read_cvlan)),
            ("read_flow_tag", offset_of!(c::ibv_cq_ex, read_flow_tag)),
            ("read_tm_info", offset_of!(c::ibv_cq_ex, read_tm_info)),
            (
                "read_completion_wallclock_ns",
                offset_of!(c::ibv_cq_ex, read_completion_wallclock_ns),
            ),
        ],
    ),
    (
        "ibv_moderate_cq",
        size_of::<c::ibv_moderate_cq>(),
        &[
            ("cq_count", offset_of!(c::ibv_moderate_cq, cq_count)),
            ("cq_period", offset_of!(c::ibv_moderate_cq, cq_period)),
        ],
    ),
    (
        "ibv_modify_cq_attr",
        size_of::<c::ibv_modify_cq_attr>(),
        &[
            ("attr_mask", offset_of!(c::ibv_modify_cq_attr, attr_mask)),
            ("moderate", offset_of!(c::ibv_modify_cq_attr, moderate)),
        ],
    ),
    (
        "ibv_ah",
        size_of::<c::ibv_ah>(),
        &[
            ("context", offset_of!(c::ibv_ah, context)),
            ("pd", offset_of!(c::ibv_ah, pd)),
            ("handle", offset_of!(c::ibv_ah, handle)),
        ],
    ),
    (
        "ibv_device",
        size_of::<c::ibv_device>(),
        &[
            ("_ops", offset_of!(c::ibv_device, _ops)),
            ("node_type", offset_of!(c::ibv_device, node_type)),
            ("transport_type", offset_of!(c::ibv_device, transport_type)),
            ("name", offset_of!(c::ibv_device, name)),
            ("dev_name", offset_of!(c::ibv_device, dev_name)),
            ("dev_path", offset_of!(c::ibv_device, dev_path)),
            ("ibdev_path", offset_of!(c::ibv_device, ibdev_path)),
        ],
    ),
    (
        "ibv_context_ops",
        size_of::<c::ibv_context_ops>(),
        &[
            (
                "_compat_query_device",
                offset_of!(c::ibv_context_ops, _compat_query_device),
            ),
            (
                "_compat_query_port",
                offset_of!(c::ibv_context_ops, _compat_query_port),
            ),
            (
                "_compat_alloc_pd",
                offset_of!(c::ibv_context_ops, _compat_alloc_pd),
            ),
            (
                "_compat_dealloc_pd",
                offset_of!(c::ibv_context_ops, _compat_dealloc_pd),
            ),
            (
                "_compat_reg_mr",
                offset_of!(c::ibv_context_ops, _compat_reg_mr),
            ),
            (
                "_compat_rereg_mr",
                offset_of!(c::ibv_context_ops, _compat_rereg_mr),
            ),
            (
                "_compat_dereg_mr",
                offset_of!(c::ibv_context_ops, _compat_dereg_mr),
            ),
            ("alloc_mw", offset_of!(c::ibv_context_ops, alloc_mw)),
            ("bind_mw", offset_of!(c::ibv_context_ops, bind_mw)),
            ("dealloc_mw", offset_of!(c::ibv_context_ops, dealloc_mw)),
            (
                "_compat_create_cq",
                offset_of!(c::ibv_context_ops, _compat_create_cq),
            ),
            ("poll_cq", offset_of!(c::ibv_context_ops, poll_cq)),
            (
                "req_notify_cq",
                offset_of!(c::ibv_context_ops, req_notify_cq),
            ),
            (
                "_compat_cq_event",
                offset_of!(c::ibv_context_ops, _compat_cq_event),
            ),
            (
                "_compat_resize_cq",
                offset_of!(c::ibv_context_ops, _compat_resize_cq),
            ),
            (
                "_compat_destroy_cq",
                offset_of!(c::ibv_context_ops, _compat_destroy_cq),
            ),
            (
                "_compat_create_srq",
                offset_of!(c::ibv_context_ops, _compat_create_srq),
            ),
            (
                "_compat_modify_srq",
                offset_of!(c::ibv_context_ops, _compat_modify_srq),
            ),
            (
                "_compat_query_srq",
                offset_of!(c::ibv_context_ops, _compat_query_srq),
            ),
            (
                "_compat_destroy_srq",
                offset_of!(c::ibv_context_ops, _compat_destroy_srq),
            ),
            (
                "post_srq_recv",
                offset_of!(c::ibv_context_ops, post_srq_recv),
            ),
            (
                "_compat_create_qp",
                offset_of!(c::ibv_context_ops, _compat_create_qp),
            ),
            (
                "_compat_query_qp",
                offset_of!(c::ibv_context_ops, _compat_query_qp),
            ),
            (
                "_compat_modify_qp",
                offset_of!(c::ibv_context_ops, _compat_modify_qp),
            ),
            (
                "_compat_destroy_qp",
                offset_of!(c::ibv_context_ops, _compat_destroy_qp),
            ),
            ("post_send", offset_of!(c::ibv_context_ops, post_send)),
            ("post_recv", offset_of!(c::ibv_context_ops, post_recv)),
            (
                "_compat_create_ah",
                offset_of!(c::ibv_context_ops, _compat_create_ah),
            ),
            (
                "_compat_destroy_ah",
                offset_of!(c::ibv_context_ops, _compat_destroy_ah),
            ),
            (
                "_compat_attach_mcast",
                offset_of!(c::ibv_context_ops, _compat_attach_mcast),
            ),
            (
                "_compat_detach_mcast",
                offset_of!(c::ibv_context_ops, _compat_detach_mcast),
            ),
            (
                "_compat_async_event",
                offset_of!(c::ibv_context_ops, _compat_async_event),
            ),
        ],
    ),
    (
        "ibv_context",
        size_of::<c::ibv_context>(),
        &[
            ("device", offset_of!(c::ibv_context, device)),
            ("ops", offset_of!(c::ibv_context, ops)),
            ("cmd_fd", offset_of!(c::ibv_context, cmd_fd)),
            ("async_fd", offset_of!(c::ibv_context, async_fd)),
            (
                "num_comp_vectors",
                offset_of!(c::ibv_context, num_comp_vectors),
            ),
            ("mutex", offset_of!(c::ibv_context, mutex)),
            ("abi_compat", offset_of!(c::ibv_context, abi_compat)),
        ],
    ),
    (
        "ibv_cq_init_attr_ex",
        size_of::<c::ibv_cq_init_attr_ex>(),
        &[
            ("cqe", offset_of!(c::ibv_cq_init_attr_ex, cqe)),
            ("cq_context", offset_of!(c::ibv_cq_init_attr_ex, cq_context)),
            ("channel", offset_of!(c::ibv_cq_init_attr_ex, channel)),
            (
                "comp_vector",
                offset_of!(c::ibv_cq_init_attr_ex, comp_vector),
            ),
            ("wc_flags", offset_of!(c::ibv_cq_init_attr_ex, wc_flags)),
            ("comp_mask", offset_of!(c::ibv_cq_init_attr_ex, comp_mask)),
            ("flags", offset_of!(c::ibv_cq_init_attr_ex, flags)),
            (
                "parent_domain",
                offset_of!(c::ibv_cq_init_attr_ex, parent_domain),
            ),
        ],
    ),
    (
        "ibv_values_ex",
        size_of::<c::ibv_values_ex>(),
        &[
            ("comp_mask", offset_of!(c::ibv_values_ex, comp_mask)),
            ("raw_clock", offset_of!(c::ibv_values_ex, raw_clock)),
        ],
    ),
    (
        "verbs_context",
        size_of::<c::verbs_context>(),
        &[
            ("query_port", offset_of!(c::verbs_context, query_port)),
            ("advise_mr", offset_of!(c::verbs_context, advise_mr)),
            ("alloc_null_mr", offset_of!(c::verbs_context, alloc_null_mr)),
            ("read_counters", offset_of!(c::verbs_context, read_counters)),
            (
                "attach_counters_point_flow",
                offset_of!(c::verbs_context, attach_counters_point_flow),
            ),
            (
                "create_counters",
                offset_of!(c::verbs_context, create_counters),
            ),
            (
                "destroy_counters",
                offset_of!(c::verbs_context, destroy_counters),
            ),
            ("reg_dm_mr", offset_of!(c::verbs_context, reg_dm_mr)),
            ("alloc_dm", offset_of!(c::verbs_context, alloc_dm)),
            ("free_dm", offset_of!(c::verbs_context, free_dm)),
            (
                "modify_flow_action_esp",
                offset_of!(c::verbs_context, modify_flow_action_esp),
            ),
            (
                "destroy_flow_action",
                offset_of!(c::verbs_context, destroy_flow_action),
            ),
            (
                "create_flow_action_esp",
                offset_of!(c::verbs_context, create_flow_action_esp),
            ),
            (
                "modify_qp_rate_limit",
                offset_of!(c::verbs_context, modify_qp_rate_limit),
            ),
            (
                "alloc_parent_domain",
                offset_of!(c::verbs_context, alloc_parent_domain),
            ),
            ("dealloc_td", offset_of!(c::verbs_context, dealloc_td)),
            ("alloc_td", offset_of!(c::verbs_context, alloc_td)),
            ("modify_cq", offset_of!(c::verbs_context, modify_cq)),
            ("post_srq_ops", offset_of!(c::verbs_context, post_srq_ops)),
            (
                "destroy_rwq_ind_table",
                offset_of!(c::verbs_context, destroy_rwq_ind_table),
            ),
            (
                "create_rwq_ind_table",
                offset_of!(c::verbs_context, create_rwq_ind_table),
            ),
            ("destroy_wq", offset_of!(c::verbs_context, destroy_wq)),
            ("modify_wq", offset_of!(c::verbs_context, modify_wq)),
            ("create_wq", offset_of!(c::verbs_context, create_wq)),
            (
                "query_rt_values",
                offset_of!(c::verbs_context, query_rt_values),
            ),
            ("create_cq_ex", offset_of!(c::verbs_context, create_cq_ex)),
            ("priv", offset_of!(c::verbs_context, priv_)),
            (
                "query_device_ex",
                offset_of!(c::verbs_context, query_device_ex),
            ),
            (
                "ibv_destroy_flow",
                offset_of!(c::verbs_context, ibv_destroy_flow),
            ),
            (
                "ABI_placeholder2",
                offset_of!(c::verbs_context, ABI_placeholder2),
            ),
            (
                "ibv_create_flow",
                offset_of!(c::verbs_context, ibv_create_flow),
            ),
            (
                "ABI_placeholder1",
                offset_of!(c::verbs_context, ABI_placeholder1),
            ),
            ("open_qp", offset_of!(c::verbs_context, open_qp)),
            ("create_qp_ex", offset_of!(c::verbs_context, create_qp_ex)),
            ("get_srq_num", offset_of!(c::verbs_context, get_srq_num)),
            ("create_srq_ex", offset_of!(c::verbs_context, create_srq_ex)),
            ("open_xrcd", offset_of!(c::verbs_context, open_xrcd)),
            ("close_xrcd", offset_of!(c::verbs_context, close_xrcd)),
            (
                "_ABI_placeholder3",
                offset_of!(c::verbs_context, _ABI_placeholder3),
            ),
            ("sz", offset_of!(c::verbs_context, sz)),
            ("context", offset_of!(c::verbs_context, context)),
        ],
    ),
    (
        "ibv_sa_path_rec",
        size_of::<c::ibv_sa_path_rec>(),
        &[
            ("dgid", offset_of!(c::ibv_sa_path_rec, dgid)),
            ("sgid", offset_of!(c::ibv_sa_path_rec, sgid)),
            ("dlid", offset_of!(c::ibv_sa_path_rec, dlid)),
            ("slid", offset_of!(c::ibv_sa_path_rec, slid)),
            ("raw_traffic", offset_of!(c::ibv_sa_path_rec, raw_traffic)),
            ("flow_label", offset_of!(c::ibv_sa_path_rec, flow_label)),
            ("hop_limit", offset_of!(c::ibv_sa_path_rec, hop_limit)),
            (
                "traffic_class",
                offset_of!(c::ibv_sa_path_rec, traffic_class),
            ),
            ("reversible", offset_of!(c::ibv_sa_path_rec, reversible)),
            ("numb_path", offset_of!(c::ibv_sa_path_rec, numb_path)),
            ("pkey", offset_of!(c::ibv_sa_path_rec, pkey)),
            ("sl", offset_of!(c::ibv_sa_path_rec, sl)),
            ("mtu_selector", offset_of!(c::ibv_sa_path_rec, mtu_selector)),
            ("mtu", offset_of!(c::ibv_sa_path_rec, mtu)),
            (
                "rate_selector",
                offset_of!(c::ibv_sa_path_rec, rate_selector),
            ),
            ("rate", offset_of!(c::ibv_sa_path_rec, rate)),
            (
                "packet_life_time_selector",
                offset_of!(c::ibv_sa_path_rec, packet_life_time_selector),
            ),
            (
                "packet_life_time",
                offset_of!(c::ibv_sa_path_rec, packet_life_time),
            ),
            ("preference", offset_of!(c::ibv_sa_path_rec, preference)),
        ],
    ),
    (
        "rdma_ib_addr",
        size_of::<c::rdma_ib_addr>(),
        &[
            ("sgid", offset_of!(c::rdma_ib_addr, sgid)),
            ("dgid", offset_of!(c::rdma_ib_addr, dgid)),
            ("pkey", offset_of!(c::rdma_ib_addr, pkey)),
        ],
    ),
    (
        "rdma_addr",
        size_of::<c::rdma_addr>(),
        &[("addr", offset_of!(c::rdma_addr, addr))],
    ),
    (
        "rdma_route",
        size_of::<c::rdma_route>(),
        &[
            ("addr", offset_of!(c::rdma_route, addr)),
            ("path_rec", offset_of!(c::rdma_route, path_rec)),
            ("num_paths", offset_of!(c::rdma_route, num_paths)),
        ],
    ),
    (
        "rdma_event_channel",
        size_of::<c::rdma_event_channel>(),
        &[("fd", offset_of!(c::rdma_event_channel, fd))],
    ),
    (
        "rdma_cm_id",
        size_of::<c::rdma_cm_id>(),
        &[
            ("verbs", offset_of!(c::rdma_cm_id, verbs)),
            ("channel", offset_of!(c::rdma_cm_id, channel)),
            ("context", offset_of!(c::rdma_cm_id, context)),
            ("qp", offset_of!(c::rdma_cm_id, qp)),
            ("route", offset_of!(c::rdma_cm_id, route)),
            ("ps", offset_of!(c::rdma_cm_id, ps)),
            ("port_num", offset_of!(c::rdma_cm_id, port_num)),
            ("event", offset_of!(c::rdma_cm_id, event)),
            (
                "send_cq_channel",
                offset_of!(c::rdma_cm_id, send_cq_channel),
            ),
            ("send_cq", offset_of!(c::rdma_cm_id, send_cq)),
            (
                "recv_cq_channel",
                offset_of!(c::rdma_cm_id, recv_cq_channel),
            ),
            ("recv_cq", offset_of!(c::rdma_cm_id, recv_cq)),
            ("srq", offset_of!(c::rdma_cm_id, srq)),
            ("pd", offset_of!(c::rdma_cm_id, pd)),
            ("qp_type", offset_of!(c::rdma_cm_id, qp_type)),
        ],
    ),
    (
        "rdma_conn_param",
        size_of::<c::rdma_conn_param>(),
        &[
            ("private_data", offset_of!(c::rdma_conn_param, private_data)),
            (
                "private_data_len",
                offset_of!(c::rdma_conn_param, private_data_len),
            ),
            (
                "responder_resources",
                offset_of!(c::rdma_conn_param, responder_resources),
            ),
            (
                "initiator_depth",
                offset_of!(c::rdma_conn_param, initiator_depth),
            ),
            ("flow_control", offset_of!(c::rdma_conn_param, flow_control)),
            ("retry_count", offset_of!(c::rdma_conn_param, retry_count)),
            (
                "rnr_retry_count",
                offset_of!(c::rdma_conn_param, rnr_retry_count),
            ),
            ("srq", offset_of!(c::rdma_conn_param, srq)),
            ("qp_num", offset_of!(c::rdma_conn_param, qp_num)),
        ],
    ),
    (
        "rdma_ud_param",
        size_of::<c::rdma_ud_param>(),
        &[
            ("private_data", offset_of!(c::rdma_ud_param, private_data)),
            (
                "private_data_len",
                offset_of!(c::rdma_ud_param, private_data_len),
            ),
            ("ah_attr", offset_of!(c::rdma_ud_param, ah_attr)),
            ("qp_num", offset_of!(c::rdma_ud_param, qp_num)),
            ("qkey", offset_of!(c::rdma_ud_param, qkey)),
        ],
    ),
    (
        "rdma_cm_event",
        size_of::<c::rdma_cm_event>(),
        &[
            ("id", offset_of!(c::rdma_cm_event, id)),
            ("listen_id", offset_of!(c::rdma_cm_event, listen_id)),
            ("event", offset_of!(c::rdma_cm_event, event)),
            ("status", offset_of!(c::rdma_cm_event, status)),
            ("param", offset_of!(c::rdma_cm_event, param)),
        ],
    ),
    (
        "rdma_addrinfo",
        size_of::<c::rdma_addrinfo>(),
        &[
            ("ai_flags", offset_of!(c::rdma_addrinfo, ai_flags)),
            ("ai_family", offset_of!(c::rdma_addrinfo, ai_family)),
            ("ai_qp_type", offset_of!(c::rdma_addrinfo, ai_qp_type)),
            ("ai_port_space", offset_of!(c::rdma_addrinfo, ai_port_space)),
            ("ai_src_len", offset_of!(c::rdma_addrinfo, ai_src_len)),
            ("ai_dst_len", offset_of!(c::rdma_addrinfo, ai_dst_len)),
            ("ai_src_addr", offset_of!(c::rdma_addrinfo, ai_src_addr)),
            ("ai_dst_addr", offset_of!(c::rdma_addrinfo, ai_dst_addr)),
            (
                "ai_src_canonname",
                offset_of!(c::rdma_addrinfo, ai_src_canonname),
            ),
            (
                "ai_dst_canonname",
                offset_of!(c::rdma_addrinfo, ai_dst_canonname),
            ),
            ("ai_route_len", offset_of!(c::rdma_addrinfo, ai_route_len)),
            ("ai_route", offset_of!(c::rdma_addrinfo, ai_route)),
            (
                "ai_connect_len",
                offset_of!(c::rdma_addrinfo, ai_connect_len),
            ),
            ("ai_connect", offset_of!(c::rdma_addrinfo, ai_connect)),
            ("ai_next", offset_of!(c::rdma_addrinfo, ai_next)),
        ],
    ),
];
