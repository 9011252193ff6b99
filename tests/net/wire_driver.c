/* SPDX-License-Identifier: MIT
 * Questions to a real name server in clear text, and the replies through the codec of
 * zwatch-resolver: what was understood, for wire.sh to hold against another program's reading.
 *
 *   wire_driver PORT udp|tcp {NAME TYPE}...
 *
 * Prints for each "rcode N", then a line for each record: its number of a type, its owner, its data in hex; or
 * "refused". Exit 1: a part of the reply, or the reply to another question, was taken for all of it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/dnsmsg.h"
#include "proxy/resolver/wire.h"
#include "src/base/io.h"
#include "src/base/mem.h"

static uint8_t msg[65536];
static struct res_reply reply;

static bool read_all(int fd, uint8_t *p, size_t len)
{
	while (len > 0) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

/* Returns the length of the reply in msg. */
static size_t ask(uint16_t port, bool is_tcp, const uint8_t *q, size_t len)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	uint8_t head[2] = {(uint8_t)(len >> 8), (uint8_t)len};
	int fd = socket(AF_INET, (is_tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	size_t n = 0;

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (is_tcp && zw_write_all(fd, head, sizeof(head)) < 0) || zw_write_all(fd, q, len) < 0)
		zw_fatal("nobody to ask at %u", port);
	if (!is_tcp) {
		ssize_t got = read(fd, msg, sizeof(msg));

		n = got > 0 ? (size_t)got : 0;
	} else if (read_all(fd, head, sizeof(head))) {
		n = (size_t)head[0] << 8 | head[1];
		n = read_all(fd, msg, n) ? n : 0;
	}
	close(fd);
	return n;
}

static void print_hex(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", p[i]);
	printf("\n");
}

static void print_record(const struct res_rr *rr)
{
	uint8_t name[PX_DNS_NAME_WIRE_MAX];

	printf("%u %s. ", rr->type, rr->owner);
	if (rr->type == RES_TYPE_A || rr->type == RES_TYPE_AAAA)
		print_hex(rr->addr.b, rr->type == RES_TYPE_A ? 4 : 16);
	else if (rr->type == RES_TYPE_CNAME)
		print_hex(name, (size_t)px_dns_name_write(rr->target, name));
	else
		print_hex(reply.data + rr->data_off, rr->data_len);
}

static int read_reply(size_t len, const char *name, enum res_type type)
{
	return res_wire_reply(msg, len, name, type, 0, &reply);
}

static void one(uint16_t port, bool is_tcp, const char *name, enum res_type type)
{
	uint8_t q[RES_WIRE_QUERY_MAX];
	int n = res_wire_query(name, type, q);

	if (n < 0)
		zw_fatal("no question can be made of %s", name);
	size_t len = ask(port, is_tcp, q, (size_t)n);
	for (size_t part = 0; part < len; part++)
		if (read_reply(part, name, type) == 0)
			zw_fatal("%s %d: %zu of %zu bytes were taken for all", name, type, part,
				 len);
	if (read_reply(len, "another.test", type) == 0)
		zw_fatal("the reply to another question was taken");
	if (read_reply(len, name, type) < 0) {
		printf("refused\n");
		return;
	}
	printf("rcode %u\n", reply.rcode);
	for (size_t i = 0; i < reply.n_rrs; i++)
		print_record(&reply.rrs[i]);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		zw_fatal("wire_driver PORT udp|tcp {NAME TYPE}...");
	for (int i = 3; i + 1 < argc; i += 2)
		one((uint16_t)atoi(argv[1]), strcmp(argv[2], "tcp") == 0, argv[i],
		    (enum res_type)atoi(argv[i + 1]));
	return 0;
}
