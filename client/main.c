/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "client/client.h"

int main(int argc, char **argv)
{
	return em_client_main(argc, argv, stdout, stderr);
}
