// Two programs of rdma-core's that put work together call by call (ibv_qp_ex) and take completions field by field (ibv_cq_ex):
// `extended` serves, `extended ADDRESS` asks. Headers and libraries are Debian's. An exit status other than 0 says that something went wrong.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #what, errno); exit(1); } } while (0)

enum { DEPTH = 8, BYTES = 4096, WRITTEN = 100, AT = 2048, WORD = 1024 };
static const uint32_t IMMEDIATE = 0x12345678;

struct remote { uint64_t addr; uint32_t rkey; };

static struct rdma_cm_id *id;
static struct ibv_cq_ex *cq;
static struct ibv_qp_ex *qp;
static struct ibv_mr *mr;
static unsigned char *memory;

static struct rdma_cm_id *endpoint(const char *address)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct rdma_cm_id *made;

	if (!address)
		hints.ai_flags = RAI_PASSIVE;
	CHECK(!rdma_getaddrinfo(address, "7471", &hints, &info));
	CHECK(!rdma_create_ep(&made, info, NULL, NULL));
	rdma_freeaddrinfo(info);
	return made;
}

static void set_up(void)
{
	struct ibv_cq_init_attr_ex wanted = {
		.cqe = 64,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM,
	};
	struct ibv_cq_init_attr_ex too_much = { .cqe = 64, .wc_flags = IBV_WC_EX_WITH_CVLAN };
	struct ibv_qp_init_attr_ex init = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 64 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);

	CHECK(pd);
	CHECK(!ibv_create_cq_ex(id->verbs, &too_much) && errno == EOPNOTSUPP);
	cq = ibv_create_cq_ex(id->verbs, &wanted);
	CHECK(cq);
	init.pd = pd;
	init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
	init.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
	CHECK(rdma_create_qp_ex(id, &init) && errno == EOPNOTSUPP);
	init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE
		| IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
		| IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_BIND_MW;
	CHECK(!rdma_create_qp_ex(id, &init));
	qp = ibv_qp_to_qp_ex(id->qp);
	CHECK(qp);
	CHECK(!posix_memalign((void **)&memory, 4096, BYTES));
	memset(memory, 0, BYTES);
	mr = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC
		| IBV_ACCESS_MW_BIND);
	CHECK(mr);
}

// Takes the next completion, which has to be this one; the caller reads it and ends the poll.
static void take(uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_poll_cq_attr attr = {};
	int none;

	while ((none = ibv_start_poll(cq, &attr)) == ENOENT)
		;
	CHECK(!none);
	if (cq->status != IBV_WC_SUCCESS || cq->wr_id != wr_id || ibv_wc_read_opcode(cq) != opcode) {
		fprintf(stderr, "wr_id %lu, not %lu; opcode %d, not %d; %s\n", cq->wr_id, wr_id, ibv_wc_read_opcode(cq), opcode, ibv_wc_status_str(cq->status));
		exit(1);
	}
	CHECK(ibv_wc_read_qp_num(cq) == id->qp->qp_num);
}

static void receive(uint64_t wr_id, unsigned at, unsigned length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)memory + at, .length = length, .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = length > 0 }, *bad;

	CHECK(!ibv_post_recv(id->qp, &wr, &bad));
}

static void begin(uint64_t wr_id, unsigned flags)
{
	qp->wr_id = wr_id;
	qp->wr_flags = flags;
}

static void serve(void)
{
	struct rdma_cm_id *listener = endpoint(NULL);
	struct remote remote;
	struct rdma_conn_param param = { .private_data = &remote, .private_data_len = sizeof remote, .responder_resources = 1, .initiator_depth = 1 };
	uint64_t word = 40;
	struct ibv_mw_bind_info bind = { .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ };
	struct ibv_mw *window;
	uint32_t key;

	CHECK(!rdma_listen(listener, 1));
	CHECK(!rdma_get_request(listener, &id));
	set_up();
	memcpy(memory + WORD, &word, sizeof word);
	remote = (struct remote){ .addr = (uintptr_t)memory, .rkey = mr->rkey };
	receive(1, 0, 64);
	receive(2, 0, 0);
	receive(3, 64, 64);
	receive(4, 128, 64);
	CHECK(!rdma_accept(id, &param));
	window = ibv_alloc_mw(mr->pd, IBV_MW_TYPE_2);
	CHECK(window);
	key = ibv_inc_rkey(window->rkey);
	bind.mr = mr;
	bind.addr = (uintptr_t)memory;
	ibv_wr_start(qp);
	begin(50, IBV_SEND_SIGNALED);
	ibv_wr_bind_mw(qp, window, key, &bind);
	// Silent: whether its completion or the answer comes first, nobody promises.
	begin(51, 0);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, &key, sizeof key);
	CHECK(!ibv_wr_complete(qp));
	take(50, IBV_WC_BIND_MW);
	ibv_end_poll(cq);

	take(1, IBV_WC_RECV);
	CHECK(ibv_wc_read_byte_len(cq) == 5 && !memcmp(memory, "hello", 5) && !(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM));
	ibv_end_poll(cq);
	take(2, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK(ibv_wc_read_byte_len(cq) == WRITTEN && (ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM));
	CHECK(ibv_wc_read_imm_data(cq) == htobe32(IMMEDIATE));
	for (int n = 0; n < WRITTEN; n++)
		CHECK(memory[AT + n] == (unsigned char)(n + 7));
	ibv_end_poll(cq);
	take(3, IBV_WC_RECV);
	CHECK(ibv_wc_read_byte_len(cq) == 30 && memory[64] == 7 && memory[64 + 29] == 36);
	ibv_end_poll(cq);
	take(4, IBV_WC_RECV);
	CHECK(ibv_wc_read_byte_len(cq) == 4 && !memcmp(memory + 128, "done", 4));
	CHECK((ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_INV) && ibv_wc_read_invalidated_rkey(cq) == key);
	ibv_end_poll(cq);
	memcpy(&word, memory + WORD, sizeof word);
	CHECK(word == 1000);
	rdma_disconnect(id);
	printf("served: all as it should be\n");
}

static void ask(const char *address)
{
	struct remote remote;
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	struct ibv_data_buf parts[] = { { .addr = "he", .length = 2 }, { .addr = "llo", .length = 3 } };
	uint64_t word;
	uint32_t key;

	id = endpoint(address);
	set_up();
	receive(60, BYTES - 64, sizeof key);
	CHECK(!rdma_connect(id, &param));
	memcpy(&remote, id->event->param.conn.private_data, sizeof remote);
	for (int n = 0; n < WRITTEN; n++)
		memory[n] = n + 7;
	uintptr_t own = (uintptr_t)memory;
	struct ibv_sge list[] = { { own, 10, mr->lkey }, { own + 10, 20, mr->lkey } };

	take(60, IBV_WC_RECV);
	memcpy(&key, memory + BYTES - 64, sizeof key);
	ibv_end_poll(cq);

	// What is aborted, or refused in part, is not posted: the peer has no receive for it.
	ibv_wr_start(qp);
	begin(100, IBV_SEND_SIGNALED);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, mr->lkey, own, 8);
	ibv_wr_abort(qp);
	ibv_wr_start(qp);
	begin(101, IBV_SEND_SIGNALED);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, mr->lkey, own, 8);
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, mr->lkey, own + BYTES, 8);
	CHECK(ibv_wr_complete(qp) == EINVAL);
	ibv_wr_start(qp);
	for (int n = 0; n < 4 * DEPTH; n++) {
		begin(102, IBV_SEND_SIGNALED);
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, mr->lkey, own, 8);
	}
	CHECK(ibv_wr_complete(qp) == ENOMEM);
	ibv_wr_start(qp);
	begin(103, IBV_SEND_SIGNALED);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data(qp, memory, 1000);
	CHECK(ibv_wr_complete(qp) == EINVAL);

	ibv_wr_start(qp);
	begin(1, 0);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, parts);
	begin(2, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write_imm(qp, remote.rkey, remote.addr + AT, htobe32(IMMEDIATE));
	ibv_wr_set_sge(qp, mr->lkey, own, WRITTEN);
	begin(3, IBV_SEND_SIGNALED);
	ibv_wr_send(qp);
	ibv_wr_set_sge_list(qp, 2, list);
	CHECK(!ibv_wr_complete(qp));
	take(2, IBV_WC_RDMA_WRITE);
	while (ibv_next_poll(cq) == ENOENT)
		;
	CHECK(cq->status == IBV_WC_SUCCESS && cq->wr_id == 3 && ibv_wc_read_opcode(cq) == IBV_WC_SEND);
	ibv_end_poll(cq);

	ibv_wr_start(qp);
	begin(4, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(qp, remote.rkey, remote.addr + AT);
	ibv_wr_set_sge(qp, mr->lkey, own + 512, WRITTEN);
	begin(5, IBV_SEND_SIGNALED);
	ibv_wr_atomic_fetch_add(qp, remote.rkey, remote.addr + WORD, 2);
	ibv_wr_set_sge(qp, mr->lkey, own + 1024, 8);
	begin(6, IBV_SEND_SIGNALED);
	ibv_wr_atomic_cmp_swp(qp, remote.rkey, remote.addr + WORD, 42, 1000);
	ibv_wr_set_sge(qp, mr->lkey, own + 1032, 8);
	CHECK(!ibv_wr_complete(qp));
	take(4, IBV_WC_RDMA_READ);
	CHECK(!memcmp(memory, memory + 512, WRITTEN));
	ibv_end_poll(cq);
	take(5, IBV_WC_FETCH_ADD);
	memcpy(&word, memory + 1024, sizeof word);
	CHECK(word == 40);
	ibv_end_poll(cq);
	take(6, IBV_WC_COMP_SWAP);
	memcpy(&word, memory + 1032, sizeof word);
	CHECK(word == 42);
	ibv_end_poll(cq);

	ibv_wr_start(qp);
	begin(7, IBV_SEND_SIGNALED);
	ibv_wr_send_inv(qp, key);
	ibv_wr_set_inline_data(qp, "done", 4);
	CHECK(!ibv_wr_complete(qp));
	take(7, IBV_WC_SEND);
	ibv_end_poll(cq);
	rdma_disconnect(id);
	printf("asked: all as it should be\n");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		ask(argv[1]);
	else
		serve();
	return 0;
}
