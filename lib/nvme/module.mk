# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/nvme/libember-nvme.a
lib_nvme_libember_nvme_a_SOURCES = \
	lib/nvme/field.c \
	lib/nvme/field.h \
	lib/nvme/fw_slot.c \
	lib/nvme/identify_ctrl.c \
	lib/nvme/identify_ns.c \
	lib/nvme/page.c \
	lib/nvme/page.h \
	lib/nvme/self_test.c \
	lib/nvme/smart.c \
	lib/nvme/status.c \
	lib/nvme/status.h \
	lib/nvme/tables.h
