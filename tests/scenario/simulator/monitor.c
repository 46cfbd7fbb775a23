/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor - what a program on sd-device sees: monitors first, enumerates, says "ready", then prints
 * each event until it has seen as many as asked for.
 *
 *   monitor COUNT [SECONDS [SUBSYSTEM]]      of nvme, and SUBSYSTEM besides
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-device.h>
#include <systemd/sd-event.h>

static const char *property(sd_device *device, const char *name)
{
	const char *value = NULL;

	return sd_device_get_property_value(device, name, &value) < 0 ? "-" : value;
}

static int on_event(sd_device_monitor *monitor, sd_device *device, void *data)
{
	int *left = data;
	const char *name = "?", *node = "-";

	sd_device_get_sysname(device, &name);
	sd_device_get_devname(device, &node);
	printf("event %s %s %s aen=%s event=%s\n", property(device, "ACTION"), name, node,
	       property(device, "NVME_AEN"), property(device, "NVME_EVENT"));
	fflush(stdout);
	if (--*left == 0)
		sd_event_exit(sd_device_monitor_get_event(monitor), 0);
	return 0;
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *data)
{
	(void)usec;
	(void)data;
	return sd_event_exit(sd_event_source_get_event(source), 1);
}

static int enumerate(const char *subsystem)
{
	sd_device_enumerator *all = NULL;
	int r = sd_device_enumerator_new(&all);

	if (r >= 0)
		r = sd_device_enumerator_add_match_subsystem(all, subsystem, 1);
	if (r < 0)
		return r;
	for (sd_device *d = sd_device_enumerator_get_device_first(all); d;
	     d = sd_device_enumerator_get_device_next(all)) {
		const char *name = "?", *path = "?", *node = "-", *serial = "-", *pci = "-";
		sd_device *parent = NULL;

		sd_device_get_sysname(d, &name);
		sd_device_get_syspath(d, &path);
		sd_device_get_devname(d, &node);
		sd_device_get_sysattr_value(d, "serial", &serial);
		if (sd_device_get_parent_with_subsystem_devtype(d, "pci", NULL, &parent) >= 0)
			sd_device_get_sysname(parent, &pci);
		printf("device %s %s %s initialized=%d pci=%s serial=%s\n", name, node, path,
		       sd_device_get_is_initialized(d), pci, serial);
	}
	sd_device_enumerator_unref(all);
	return 0;
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : 1, seconds = argc > 2 ? atoi(argv[2]) : 10, r;
	sd_device_monitor *monitor = NULL;
	sd_event *event = NULL;

	if ((r = sd_event_default(&event)) < 0 || (r = sd_device_monitor_new(&monitor)) < 0 ||
	    (r = sd_device_monitor_filter_add_match_subsystem_devtype(monitor, "nvme", NULL)) < 0 ||
	    (argc > 3 && (r = sd_device_monitor_filter_add_match_subsystem_devtype(monitor, argv[3],
										   NULL)) < 0) ||
	    (r = sd_device_monitor_attach_event(monitor, event)) < 0 ||
	    (r = sd_device_monitor_start(monitor, on_event, &left)) < 0 ||
	    (r = enumerate("nvme")) < 0 || (r = enumerate("block")) < 0 ||
	    (r = sd_event_add_time_relative(event, NULL, CLOCK_MONOTONIC,
					    (uint64_t)seconds * 1000000, 0, on_timeout, NULL)) <
		    0) {
		fprintf(stderr, "monitor: %s\n", strerror(-r));
		return 2;
	}
	printf("ready\n");
	fflush(stdout);
	r = left > 0 ? sd_event_loop(event) : 0;
	sd_device_monitor_unref(monitor);
	sd_event_unref(event);
	return r;
}
