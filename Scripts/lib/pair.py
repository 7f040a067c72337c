#!/usr/bin/env python3
"""What crash-live, kill-storm and powercut share: a pair of real daemons in a folder, notes whose bytes are known, and the
census of what lies on its disks, compared with what was told. Reads files only; asks no daemon.
"""
import json, os, random, re, signal, subprocess, sys, time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
SEAL_BYTE_COUNT = 64
# Nothing waits longer than it must: a crash is what is tried here, not patience.
WAITS = ["--retry-first", "10ms", "--retry-cap", "80ms", "--patience", "200ms"]

# The story that dies at every place: three recordings, of which one fits into one write, one takes some, one many, and one
# of a future version. The first ack of the first is lost, the second is delivered twice.
BODY_BYTE_COUNTS = (900, 20_000, 150_000, 1_500)
LINK = "{ seed: 1, toWatch: { only: [{ note: 1, try: 1, drop: true }] }, " \
    "toPhone: { only: [{ note: 2, try: 1, duplicate: 1 }] } }"
# So many runs in a row have to end without reaching their place: counts differ from run to run with who is faster.
ENOUGH_UNREACHED = 8


def find_binaries(given):
    """The folder of the executables: the one that was named, or the release build, made first."""
    if given:
        return os.path.abspath(given)
    for product in ("watch-sim", "phone-sim"):
        subprocess.run(["swift", "build", "-c", "release", "--product", product], cwd=root, check=True,
                       stdout=sys.stderr)
    return subprocess.run(["swift", "build", "-c", "release", "--show-bin-path"], cwd=root, check=True,
                          capture_output=True, text=True).stdout.strip()


class Problem(Exception):
    """The pair broke a promise. The text says which, and with what."""


def names(path):
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []


def read(path):
    """The bytes, or None when it is gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class Pair:
    # Of its processes; this one's where it is None.
    environment = None

    def __init__(self, path, binaries):
        self.path, self.binaries = path, binaries

    def start(self, tool, *arguments, talk=subprocess.DEVNULL, output=subprocess.DEVNULL):
        return subprocess.Popen([f"{self.binaries}/{tool}", *arguments], stdin=subprocess.DEVNULL, stdout=output,
                                stderr=talk, close_fds=False, env=self.environment)

    def watch(self, *arguments, talk=subprocess.DEVNULL):
        return self.start("watch-sim", "run", "--pair", self.path, "--quiet", "--die-with", str(os.getpid()), *WAITS,
                          *arguments, talk=talk)

    def phone(self, *arguments, talk=subprocess.DEVNULL):
        return self.start("phone-sim", "run", "--pair", self.path, "--quiet", "--die-with", str(os.getpid()),
                          *arguments, talk=talk)

    def record(self, *arguments):
        """Starts it; `told` of what it wrote are the ids that it has promised."""
        return self.start("watch-sim", "record", "--pair", self.path, *arguments, output=subprocess.PIPE,
                          talk=subprocess.PIPE)

    # What lies there.

    def recordings(self):
        return {name[:26]: f"{self.path}/watch/recordings/{name}" for name in names(f"{self.path}/watch/recordings")
                if name.endswith(".note")}

    def container(self):
        """Every path that holds an id, by id."""
        held = {}
        for month in names(f"{self.path}/phone/container"):
            for name in names(f"{self.path}/phone/container/{month}"):
                if ULID.match(name) and not name.endswith(".part"):
                    held.setdefault(name[:26], []).append(f"{self.path}/phone/container/{month}/{name}")
        return held

    def staging(self):
        return names(f"{self.path}/phone/staging")

    def to_phone(self):
        return names(f"{self.path}/spool/to-phone")

    def to_watch(self):
        return names(f"{self.path}/spool/to-watch")

    def quarantine(self):
        return names(f"{self.path}/watch/quarantine") + names(f"{self.path}/phone/quarantine")

    def partials(self):
        found = []
        for folder, _, files in os.walk(self.path):
            found += [f"{folder}/{name}" for name in files if name.endswith(".part")]
        return found

    def ledger(self, *arguments):
        """State by subject, as `phone-sim list` tells it."""
        listed = subprocess.run([f"{self.binaries}/phone-sim", "list", "--json", "--pair", self.path, *arguments],
                                capture_output=True, text=True)
        if listed.returncode != 0:
            raise Problem(f"phone-sim list ended with {listed.returncode}: {listed.stderr.strip()}")
        return {row["id"]: row["state"] for row in map(json.loads, listed.stdout.splitlines())}

    def journal(self, side):
        """The events in the order of writing. The last line before a death may be cut short."""
        events = []
        for name in names(f"{self.path}/{side}/journal"):
            for line in (read(f"{self.path}/{side}/journal/{name}") or b"").splitlines():
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict):
                    events.append(event)
        return sorted(events, key=lambda event: event.get("monotonicNs", 0))

    # What is promised.

    def check_container(self, bodies, keep, may_go=(), gone=()):
        """P1, P4, P5 of a pair that has drained. `keep`: ids that must be there; `may_go`: may be there or not; `gone`:
        must not be there. All others that are there were recorded and not told: their bytes must be known."""
        held = self.container()
        for note in keep:
            if note not in held:
                raise Problem(f"P1: {note} was recorded and is nowhere: lost")
        for note, paths in held.items():
            if note in gone:
                raise Problem(f"P4: {note} was deleted or vetoed for good and is there: {paths}")
            if len(paths) != 1:
                raise Problem(f"P4: {note} is there more than once: {paths}")
            found = read(paths[0])
            if note in bodies:
                if found != bodies[note]:
                    raise Problem(f"P5: {note} has other bytes ({len(found)} of {len(bodies[note])}): {paths[0]}")
            elif found not in bodies.values():
                raise Problem(f"P5: {note} has bytes that nobody recorded ({len(found)}): {paths[0]}")
        unknown = [note for note in gone if note in keep]
        assert not unknown, unknown

    def check_empty(self, waiting=()):
        """P6, P7 of a pair that has drained: only the future waits, once, and on the watch too."""
        left = sorted(self.recordings())
        if left != sorted(waiting):
            raise Problem(f"P6: the watch keeps {left}, and should keep {sorted(waiting)}")
        staged = [name[:26] for name in self.staging()]
        if staged != sorted(waiting):
            raise Problem(f"P7: in staging lie {self.staging()}, and should lie {sorted(waiting)}")
        for folder in (f"{self.path}/phone/inbox", f"{self.path}/spool/to-phone"):
            others = [name for name in names(folder) if not any(note in name for note in waiting)]
            if others:
                raise Problem(f"P6: {folder} holds {others}")

    def check_journals(self):
        """P2, P3 as far as journals tell: what was deleted was acked before, what was acked was final before. An event
        that death kept out of the journal is none that was seen; so only `did` counts against, and `intends` for."""
        final, acked, deleted_at = {}, {}, {}
        for event in self.journal("phone"):
            note, when = event.get("id"), event.get("monotonicNs", 0)
            if event.get("event") in ("ingested", "vetoed", "userDeleted", "duplicate"):
                final.setdefault(note, when)
            elif event.get("event") == "acked" and event.get("phase") == "did":
                acked.setdefault(note, when)
        received = {}
        for event in self.journal("watch"):
            note, when = event.get("id"), event.get("monotonicNs", 0)
            if event.get("event") == "ackReceived":
                received.setdefault(note, when)
            elif event.get("event") == "deleted" and event.get("phase") == "did":
                deleted_at.setdefault(note, when)
        for note, when in acked.items():
            if final.get(note, when + 1) > when:
                raise Problem(f"P3: {note} was acked before it was final")
        for note, when in deleted_at.items():
            if received.get(note, when + 1) > when:
                raise Problem(f"P2: {note} was deleted without an ack")


def ids(output):
    """Whole ids at whole lines: a kill may have cut the last."""
    return [line for line in output.decode("ascii", "replace").split("\n")[:-1] if ULID.fullmatch(line)]


def finish(process, seconds=10.0, what="it"):
    """Waits for its end. One that hangs is killed and is a problem."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Problem(f"P6: {what} did not end within {seconds:g} s")


def stop(process, what):
    """SIGTERM; a process that has not taken its signals over yet just ends."""
    process.send_signal(signal.SIGTERM)
    code = finish(process, what=what)
    if code not in (143, -signal.SIGTERM):
        raise Problem(f"{what} was told to stop and ended with {code}")


def bytes_of(seed, count):
    return random.Random(seed).randbytes(count)


def story_sources(folder):
    """Writes the story's recordings there, and answers their bodies."""
    bodies = [bytes_of(index, count) for index, count in enumerate(BODY_BYTE_COUNTS)]
    for index, body in enumerate(bodies):
        with open(f"{folder}/source-{index}", "wb") as file:
            file.write(body)
    return bodies


def record_story(pair, sources, *more):
    """The three, then the one of the future. Answers of both processes how they ended and what they told."""
    told = []
    for version, first, files in (("1", "1", (0, 1, 2)), ("2", "4", (3,))):
        process = pair.record("--duration", "1s", "--run-seed", "9", "--first-ordinal", first, "--payload-version",
                              version, *more, *[f"{sources}/source-{index}" for index in files])
        output, _ = process.communicate(timeout=10)
        told.append((process.returncode, ids(output)))
    return told
