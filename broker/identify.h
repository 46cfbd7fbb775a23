/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * identify - where the broker's recorder looks in the Identify pages (NVMe base specification 2.0,
 * figures 275 and 97 of the NVM command set). What readings need is in the tables of lib/nvme,
 * which the broker does not know.
 */

/* Identify Controller. */
#define EM_ID_VID	  0
#define EM_ID_SERIAL	  4
#define EM_ID_SERIAL_SIZE 20
#define EM_ID_VER	  80
#define EM_ID_CNTRLTYPE	  111
#define EM_ID_FGUID	  112
#define EM_ID_OACS	  256
#define EM_ID_LPA	  261
#define EM_ID_ELPE	  262
#define EM_ID_SANICAP	  328
#define EM_ID_NN	  516
#define EM_ID_SUBNQN	  768
#define EM_ID_SUBNQN_SIZE 256

/* Identify Namespace. */
#define EM_NS_NSZE  0
#define EM_NS_FLBAS 26
#define EM_NS_NGUID 104
#define EM_NS_EUI64 120
#define EM_NS_LBAF  128

#define EM_GUID_SIZE  16
#define EM_EUI64_SIZE 8
