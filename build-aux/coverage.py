#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of how many lines ran, per room; made of what gcov counted in this build directory.

  coverage.py [--files] TOP      --files: a line for each source file too
"""
import json
import os
import subprocess
import sys

TWO_DEEP = ("lib", "daemon")
BATCH = 50


def counters(directory):
    for parent, _, names in os.walk(directory):
        yield from (os.path.join(parent, name) for name in names if name.endswith(".gcda"))


def documents(paths):
    """What gcov says of each object: one JSON document a line."""
    for begin in range(0, len(paths), BATCH):
        done = subprocess.run([os.environ.get("GCOV") or "gcov", "--json-format", "--stdout",
                               *paths[begin:begin + BATCH]],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        for line in done.stdout.splitlines():
            if line.startswith(b"{"):
                yield json.loads(line)


def source_of(name, directory, top):
    """The path inside the source tree, or None for what is not a source of a room."""
    path = os.path.relpath(os.path.realpath(os.path.join(directory, name)), top)
    return None if path.startswith(("..", "tests/")) or "/" not in path else path


def lines_by_file(top):
    """file -> {line: ran}. A file that is built into several programs counts once."""
    seen = {}
    for document in documents(sorted(counters("."))):
        for entry in document["files"]:
            path = source_of(entry["file"], document["current_working_directory"], top)
            if path is None or not os.path.exists(os.path.join(top, path)):
                continue
            lines = seen.setdefault(path, {})
            for line in entry["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return seen


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in TWO_DEEP else parts[0]


def print_row(name, ran, total):
    print(f"{name:<36} {ran:>7} of {total:>7}  {100 * ran / total:5.1f} %")


def main(arguments):
    with_files = "--files" in arguments
    top = os.path.realpath(next((a for a in arguments if not a.startswith("-")), "."))
    files = lines_by_file(top)
    if not files:
        sys.exit("nothing was counted here: configure with --enable-coverage, build, run tests")
    rooms = {}
    for path, lines in sorted(files.items()):
        if not lines:
            continue
        ran = sum(lines.values())
        if with_files:
            print_row(path, ran, len(lines))
        room = rooms.setdefault(room_of(path), [0, 0])
        room[0] += ran
        room[1] += len(lines)
    for name, (ran, total) in sorted(rooms.items()):
        print_row(name, ran, total)
    print_row("all", sum(r for r, _ in rooms.values()), sum(t for _, t in rooms.values()))


main(sys.argv[1:])
