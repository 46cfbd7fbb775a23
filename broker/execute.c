/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/execute.h"

#include <errno.h>
#include <libnvme.h>

struct em_outcome em_outcome_of_errno(int err)
{
	struct em_outcome outcome = { .answer = EM_ANSWER_HOST_ERROR, .err = err ? err : EIO };

	if (err == ENODEV || err == ENXIO || err == ENOENT) {
		outcome.answer = EM_ANSWER_GONE;
		outcome.err = 0;
	}
	return outcome;
}

/* libnvme 1.3 returns 0, or -1 with errno, or a positive status. The one place that knows. */
static struct em_outcome outcome_from_libnvme(int ret, int err, uint32_t result)
{
	struct em_outcome outcome = { .answer = EM_ANSWER_DONE, .result = result };

	if (ret < 0)
		return em_outcome_of_errno(err);
	/* Wider than a status word: something else than the kernel answered. */
	if (ret > UINT16_MAX)
		return em_outcome_of_errno(EPROTO);
	if (ret > 0) {
		outcome.answer = EM_ANSWER_STATUS;
		outcome.status = (uint16_t)ret;
	}
	return outcome;
}

void em_execute(int fd, struct nvme_passthru_cmd *cmd, struct em_outcome *ret)
{
	uint32_t result = 0;
	int r, err;

	errno = 0;
	r = nvme_submit_admin_passthru(fd, cmd, &result);
	err = errno;
	*ret = outcome_from_libnvme(r, err, result);
}
