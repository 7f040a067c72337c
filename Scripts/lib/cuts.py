#!/usr/bin/env python3
"""One power cut: the copy of an image, what was known when it was made, and the check of what the pair makes of it. See the
head of powercut."""
import collections, itertools, json, os, random, subprocess, tempfile, threading, time, traceback

import medium, pair as lib
from pair import Pair, Problem

MOST_PROBLEMS = 3
dice = random.Random()
numbers = itertools.count(1)


class setup:
    """What the command line says."""
    binaries = keep = None


class Knowledge:
    """What the world outside of the disk knows of a round: it has no power cut."""

    def __init__(self):
        self.lock = threading.Lock()
        self.told = []
        self.bodies = {}
        self.all_bodies = set()
        self.asked = set()
        self.done = set()
        self.recording = threading.Event()
        self.recording.set()


class Cut:
    """A copy, and what was known just before it was made. What was asked for may have come in while it was made.

    Of a pair on two disks `source` is the one that lost power, as a copy is; the other is `add`ed once it is at rest.
    """

    def __init__(self, kind, source, knowledge, folder, parent=None):
        self.kind, self.knowledge, self.name = kind, knowledge, f"{folder}/cut-{next(numbers)}"
        with knowledge.lock:
            self.told = parent.told if parent else list(knowledge.told)
            self.done = parent.done if parent else set(knowledge.done)
            self.recording = knowledge.recording
        medium.clone(source, self.name)
        with knowledge.lock:
            self.asked = parent.asked if parent else set(knowledge.asked)
        self.disks = [self.name]
        self.depth = parent.depth + 1 if parent else 1
        self.place = "during the recovery" if parent else "at a random moment"


    def add(self, source, is_watch):
        copy = self.name + ".other"
        medium.clone(source, copy)
        self.disks.insert(1 if is_watch else 0, copy)


class Tally:
    """Of one file system."""

    def __init__(self, kind):
        self.kind, self.lock = kind, threading.Lock()
        self.cuts = self.nested = self.rounds = 0
        self.problems, self.seen = [], collections.Counter()


# MARK: Checking one

def look(pair, cut, seen):
    """What the disk alone says, before anybody repairs it."""
    bodies = cut.knowledge.bodies
    recordings, held = pair.recordings(), pair.container()
    for note, paths in held.items():
        if len(paths) != 1:
            raise Problem(f"P4: {note} is in the container more than once: {paths}")
        found = lib.read(paths[0])
        if found != bodies.get(note) and (note in bodies or found not in cut.knowledge.all_bodies):
            raise Problem(f"P5: {note} has other bytes in the container: {len(found)} bytes")
    for note in cut.told:
        if note in held:
            continue
        whole = lib.read(recordings[note]) if note in recordings else None
        if whole is not None and whole.startswith(bodies[note]) and len(whole) > len(bodies[note]) + lib.SEAL_BYTE_COUNT:
            continue
        if note not in cut.asked:
            raise Problem(f"P1: {note} had been told, and is " + ("nowhere" if whole is None else
                          f"in recordings/ with {len(whole)} bytes, of a body of {len(bodies[note])}") + ": lost")
    for name in pair.to_watch():
        if name.endswith(".ack") and name[31:57] not in held and name[31:57] not in cut.asked:
            raise Problem(f"P3: {name} is there, and the container does not hold it")
    seen["recordings"] += len(recordings)
    seen["final"] += len(held)
    seen["acks"] += len(pair.to_watch())
    seen["entries"] += len(pair.to_phone())
    seen["entries without bytes"] += sum(os.path.getsize(f"{pair.path}/spool/to-phone/{name}") == 0
                                         for name in pair.to_phone())
    seen["staged"] += len(pair.staging())
    seen["temporaries"] += len(pair.partials())


def recover(pair, cut, path, later):
    talk = {side: tempfile.TemporaryFile() for side in ("watch", "phone")}
    daemons = {"phone": pair.phone("--understands", "2", talk=talk["phone"]),
               "watch": pair.watch("--until-drained", "--timeout", "30s", talk=talk["watch"])}

    def said(side):
        talk[side].seek(0)
        return talk[side].read()[-400:].decode("utf-8", "replace")

    try:
        if cut.depth == 1 and len(cut.disks) == 1 and dice.random() < 0.25:
            time.sleep(dice.uniform(0, 0.04))
            later.append(Cut(cut.kind, path, cut.knowledge, os.path.dirname(path), parent=cut))
        code = lib.finish(daemons["watch"], 40, "the watch")
        if code != 0:
            raise Problem(f"P6: the watch ended with {code}, keeps {sorted(pair.recordings())}: {said('watch')}")
        give_up = time.monotonic() + 15
        while pair.to_phone() or pair.staging() or lib.names(f"{pair.path}/phone/inbox"):
            if daemons["phone"].poll() is not None or time.monotonic() > give_up:
                raise Problem(f"P6, P7: left: {pair.to_phone()}, staging {pair.staging()}: {said('phone')}")
            time.sleep(0.003)
        lib.stop(daemons["phone"], "the phone")
    finally:
        for daemon in daemons.values():
            if daemon.poll() is None:
                daemon.kill()
                daemon.wait()
        for file in talk.values():
            file.close()


def check(cut, tally):
    """Mounts it, looks, lets the pair recover, and puts what it finds into the tally. The copy is gone afterwards."""
    # What was being recorded has told by now whose bytes are whose.
    cut.recording.wait(10)
    mount = f"{os.path.dirname(cut.name)}/../{os.path.basename(cut.name)}"
    for disk in cut.disks:
        medium.clone(disk, disk + ".cut")
    seen, later = collections.Counter(), []
    try:
        medium.mount_disks(cut.disks, mount, cut.kind)
        try:
            pair = Pair(f"{mount}/pair", setup.binaries)
            look(pair, cut, seen)
            recover(pair, cut, cut.name, later)
            keep = [note for note in cut.told if note not in cut.asked]
            with cut.knowledge.lock:
                bodies = dict(cut.knowledge.bodies)
                bodies.update(enumerate(cut.knowledge.all_bodies))
            pair.check_container(bodies, keep, gone=cut.done)
            pair.check_empty()
            if pair.partials():
                raise Problem(f"P6: temporaries that nobody swept: {pair.partials()}")
            # Nothing was to be drained, and the phone was told to stop before it had made its home: nothing to ask it.
            states = pair.ledger("--understands", "2") if keep or os.path.isdir(f"{pair.path}/phone") else {}
            wrong = {note: states.get(note) for note in keep if states.get(note) != "ingested"}
            if wrong:
                raise Problem(f"P3: not ingested for the ledger: {wrong}")
            for name in pair.quarantine():
                seen["set aside: " + name.split(".")[1]] += 1
        finally:
            medium.umount_disks(cut.disks, mount)
    except Exception as error:
        words = f"{cut.kind}, {cut.place}: " + (str(error) if isinstance(error, Problem) else traceback.format_exc())
        kept = f"{setup.keep}/{cut.kind}-{os.getpid()}-{os.path.basename(cut.name)}"
        os.makedirs(setup.keep, exist_ok=True)
        with tally.lock:
            if len(tally.problems) < MOST_PROBLEMS:
                for number, disk in enumerate(cut.disks):
                    subprocess.run(["cp", "--sparse=always", disk + ".cut", f"{kept}-{number}.img"])
                with open(kept + ".json", "w") as file:
                    json.dump({"problem": words, "told": cut.told, "asked": sorted(cut.asked), "done": sorted(cut.done),
                               "byteCounts": {note: len(body) for note, body in cut.knowledge.bodies.items()}}, file)
                words += f"\n  the image as the cut left it: {kept}-0.img (mount -o loop), what was known: {kept}.json"
            tally.problems.append(words)
        print(f"BROKEN {words}", flush=True)
    finally:
        for disk in cut.disks:
            os.unlink(disk + ".cut")
            os.unlink(disk)
    with tally.lock:
        tally.cuts += 1
        tally.nested += cut.depth > 1
        tally.seen.update(seen)
    for inner in later:
        check(inner, tally)
