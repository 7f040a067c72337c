#!/usr/bin/env python3
"""Faults for powercut to find: a library, loaded before the C library, that answers a sync without making one.

A bench that has never failed proves nothing. Each of these takes away one of the syncs that Docs/Spool.md counts.
"""
import os, subprocess

# What is not synced: a kind of call (F: of a file, D: of a directory, S: of the whole disk), and a part of the path.
PLANTS = {
    "no-syncs": "FDS:",
    "recording-content": "FS:/watch/recordings",
    "recordings-directory": "D:/watch/recordings",
    "container-and-staging": "D:/phone/container,D:/phone/staging",
    "note-content": "FS:/phone/staging",
    "ledger": "FS:/phone/ledger",
}

SOURCE = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_planted(int file, char kind) {
    char link[64], path[4096], plant[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    snprintf(plant, sizeof plant, "%s", getenv("WATCHFERRY_PLANT"));
    for (char *one = strtok(plant, ","); one; one = strtok(NULL, ",")) {
        char *part = strchr(one, ':');
        *part++ = 0;
        if (strchr(one, kind) && (kind == 'S' || strstr(path, part))) return 1;
    }
    return 0;
}

static char kind_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISDIR(status.st_mode) ? 'D' : 'F';
}

int fsync(int file) { return is_planted(file, kind_of(file)) ? 0 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return is_planted(file, kind_of(file)) ? 0 : syscall(SYS_fdatasync, file); }
int syncfs(int file) { return is_planted(file, 'S') ? 0 : syscall(SYS_syncfs, file); }
"""


def environment(name, folder):
    """For the daemons of a run with this plant. The library lies in `folder`."""
    library = f"{folder}/plant.so"
    subprocess.run(["clang", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SOURCE.encode(), check=True)
    return {**os.environ, "LD_PRELOAD": library, "WATCHFERRY_PLANT": PLANTS[name]}
