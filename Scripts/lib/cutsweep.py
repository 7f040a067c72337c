#!/usr/bin/env python3
"""A power cut at every call: a process dies before its n-th call to the disk, and that moment's image is checked.

The same story as crash-live's, on an image of its own for each place. Nothing happens between the death and the cut, so
the copy holds what the disk had at that call and nothing of what was only written. The second copy is made after a
neighbour on the same disk has synced a file of its own: file systems then write down names, also those of files whose
bytes they still hold back.

On two disks, as a watch and a phone are two devices: only the disk of the one that died loses power. The other goes on
with what it was told, until it is at rest, and all that it did is durable. The spool lies on the phone's disk. An ack that
came before the note was durable is found here, where on one disk the watch's deletion would be taken back with it.

With a kill first the process dies once before, at some other call, and only of itself: what it had written and not synced is
there for its next start, and looks durable. The power goes at a call of that start.
"""
import os, random, shutil, signal, threading, time

import medium, pair as lib
from cuts import Cut, Knowledge, MOST_PROBLEMS, Tally, check, numbers, setup
from pair import Pair, Problem


class Story:
    """What every place begins with."""

    def __init__(self, kind, folder, base, has_two_disks, kill_seed):
        self.kind, self.folder, self.base, self.has_two_disks = kind, folder, base, has_two_disks
        self.kill_seed = kill_seed
        self.sources = f"{base}/story"
        os.makedirs(self.sources, exist_ok=True)
        self.link = f"{self.sources}/link.json5"
        with open(self.link, "w") as file:
            file.write(lib.LINK)
        self.bodies = lib.story_sources(self.sources)
        self.empty, self.recorded = f"{folder}/empty", f"{folder}/recorded"
        medium.make_image(self.empty, kind)
        medium.clone(self.empty, self.recorded)
        mount = f"{base}/template"
        recorded = [self.empty, self.recorded] if has_two_disks else [self.recorded]
        medium.mount_disks(recorded, mount, kind)
        told = lib.record_story(Pair(f"{mount}/pair", setup.binaries), self.sources)
        medium.umount_disks(recorded, mount)
        assert [code for code, _ in told] == [0, 0], told
        self.notes, self.future = told[0][1], told[1][1][0]
        self.ids = self.notes + [self.future]


def is_through(pair, story):
    held = pair.container()
    return all(note in held for note in story.notes) and not set(story.notes) & set(pair.recordings()) \
        and [name[:26] for name in pair.staging()] == [story.future]


def come_to_rest(pair):
    """Until the one that is left has done all that it can with what it has: nothing changed for a while."""
    last, since = None, time.monotonic()
    while time.monotonic() - since < 0.03:
        now = (sorted(pair.recordings()), sorted(pair.container()), pair.to_watch())
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.003)


def cut_at(story, victim, number, tally):
    """Answers whether the place was reached. The cuts are checked, and what is broken stands in the tally."""
    name = f"place-{next(numbers)}"
    image, mount = f"{story.folder}/{name}", f"{story.base}/{name}"
    medium.clone(story.empty if victim == "record" or story.has_two_disks else story.recorded, image)
    disks = [image]
    if story.has_two_disks:
        disks.append(image + ".watch")
        medium.clone(story.recorded, disks[1])
    knowledge, cuts, daemons = Knowledge(), [], {}
    knowledge.bodies = dict(zip(story.ids, story.bodies))
    knowledge.all_bodies = set(story.bodies)
    arguments = ["--die-at", str(number)]
    place = f"{victim} before call {number}"
    medium.mount_disks(disks, mount, story.kind)
    try:
        pair = Pair(f"{mount}/pair", setup.binaries)
        if victim == "record":
            told = lib.record_story(pair, story.sources, *arguments)
            knowledge.bodies = dict(zip(told[0][1], story.bodies)) | dict(zip(told[1][1], story.bodies[3:]))
            knowledge.told = list(knowledge.bodies)
            is_dead = any(code == -signal.SIGKILL for code, _ in told)
        else:
            knowledge.told = list(story.ids)
            kill_at = random.Random(f"{story.kill_seed} {victim} {number}").randint(1, 250)
            first = ["--die-at", str(kill_at)] if story.kill_seed is not None else arguments
            for side in ("phone", "watch"):
                daemons[side] = getattr(pair, side)("--link", story.link, *(first if side == victim else []))
            give_up = time.monotonic() + 15
            if story.kill_seed is not None:
                place += f", killed before call {kill_at} first"
                while daemons[victim].poll() is None and not is_through(pair, story):
                    time.sleep(0.002)
                daemons[victim].kill()
                daemons[victim].wait()
                daemons[victim] = getattr(pair, victim)("--link", story.link, *arguments)
            # A start that has nothing to do makes calls all the same, until it waits.
            idle_since = time.monotonic()
            while daemons[victim].poll() is None and (
                    not is_through(pair, story) or story.kill_seed is not None and time.monotonic() - idle_since < 0.1):
                if time.monotonic() > give_up:
                    raise Problem(f"P6: not through within 15 s without any death: {sorted(pair.recordings())}")
                time.sleep(0.002)
            is_dead = daemons[victim].poll() == -signal.SIGKILL
        if is_dead:
            dark = disks[-1] if victim == "watch" else image
            lost = f"{mount}-watch" if story.has_two_disks and victim == "watch" else mount
            cuts.append(Cut(story.kind, dark, knowledge, story.folder))
            with open(f"{lost}/neighbour", "wb") as file:
                file.write(bytes(5_000))
                file.flush()
                os.fsync(file.fileno())
            cuts.append(Cut(story.kind, dark, knowledge, story.folder))
            if story.has_two_disks:
                come_to_rest(pair)
                other = "phone" if victim == "watch" else "watch"
                daemons[other].kill()
                daemons[other].wait()
                medium.sync_disk(f"{mount}-watch" if other == "watch" else mount)
                for cut in cuts:
                    cut.add(disks[1] if other == "watch" else image, is_watch=other == "watch")
    finally:
        for daemon in daemons.values():
            daemon.kill()
            daemon.wait()
        medium.umount_disks(disks, mount)
        for disk in disks:
            os.unlink(disk)
    for index, cut in enumerate(cuts):
        cut.place = place + (", after a neighbour's sync" if index else "")
        check(cut, tally)
    return is_dead


def sweep(kind, folder, base, jobs, stride, has_two_disks, kill_seed, stopping):
    """Every place of `record` and of both daemons. With two disks, or a kill first, of the two daemons only."""
    story, tally, began = Story(kind, folder, base, has_two_disks, kill_seed), Tally(kind), time.monotonic()
    for victim in ("watch", "phone") if has_two_disks or kill_seed is not None else ("record", "watch", "phone"):
        state = {"next": 1, "unreached": 0, "reached": 0, "last": 0}

        def work():
            while True:
                with tally.lock:
                    if state["unreached"] >= lib.ENOUGH_UNREACHED or len(tally.problems) >= MOST_PROBLEMS \
                            or stopping.is_set():
                        return
                    number = state["next"]
                    state["next"] += stride
                try:
                    is_reached = cut_at(story, victim, number, tally)
                except Exception as error:
                    with tally.lock:
                        tally.problems.append(f"{victim} before call {number}: {error}")
                    print(f"BROKEN {kind}, {victim} before call {number}: {error!r}", flush=True)
                    is_reached = True
                with tally.lock:
                    if is_reached:
                        state["reached"] += 1
                        state["unreached"] = 0
                        state["last"] = max(state["last"], number)
                    else:
                        state["unreached"] += 1

        workers = [threading.Thread(target=work) for _ in range(jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(f"{kind}: {victim}, before call 1 to {state['last']}: {state['reached']} reached", flush=True)
    for image in (story.empty, story.recorded):
        os.unlink(image)
    shutil.rmtree(story.sources)
    seconds = time.monotonic() - began
    print(f"{kind}: {tally.cuts} power cuts at places in {seconds:.1f} s, {tally.cuts / seconds:.1f} a second; "
          f"{len(tally.problems)} broken", flush=True)
    print("  at the cuts: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.seen.items())), flush=True)
    return tally
