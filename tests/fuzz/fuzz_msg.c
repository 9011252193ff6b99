/* SPDX-License-Identifier: MIT
 * Frames between processes: any bytes decode or are refused, and what decodes encodes to the same. */
#include <assert.h>
#include <string.h>

#include "src/ipc/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum zw_role roles[] = {ROLE_SUPER,  ROLE_PANE,  ROLE_PROXY, ROLE_RESOLVER,
					     ROLE_BROKER, ROLE_AUDIT, ROLE_CLIENT};
	union zw_msg_any msg;
	enum zw_msg_id id;

	if (size < 2)
		return 0;
	for (size_t from = 0; from < 7; from++) {
		for (size_t to = 0; to < 7; to++) {
			struct zw_buf again;

			if (zw_msg_decode(data + 1, size - 1, roles[from], roles[to], data[0] & 7,
					  &id, &msg) < 0)
				continue;
			zw_buf_init(&again, ZW_MSG_SIZE_MAX);
			assert(zw_msg_encode(&again, id, &msg) == 0);
			assert(again.len == size - 1 &&
			       memcmp(zw_buf_head(&again), data + 1, size - 1) == 0);
			zw_buf_fini(&again);
		}
	}
	return 0;
}
