#!/usr/bin/env python3
"""Durable, acknowledged queues beside the pair: the same hand-over by two processes, one table.

For every peer: the watch reads a source file and puts it; the phone takes it, compares its SHA-256, writes it durably into an
inbox (write, sync, rename, sync of the directory), puts an ack into the other direction and then lets go of the message; the
watch reads the ack and deletes its source. The clock runs from the first put until the last source is gone. Each peer is set
as durable as it says it can be. The pair's source is the recording on its watch, which `record` made durable before; a second
row has that in the time.

Run by Scripts/peers, which installs what is missing.
"""
import argparse, hashlib, json, multiprocessing, os, shutil, signal, socket, sqlite3, statistics, subprocess, sys, tempfile, time

SIZES = {"1 KiB": (1024, 400), "64 KiB": (65536, 200), "1 MiB": (1 << 20, 48)}
PAIR = "watch-sim and phone-sim"
# The recordings are made in the time: a durable copy of each file that none of the others makes.
PAIR_WITH_RECORD = "the same with `record FILE…` in it"
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/lib/rabbitmq/bin"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_durably(folder, handle, name, data):
    with open(f"{folder}/.{name}", "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{folder}/.{name}", f"{folder}/{name}")
    os.fsync(handle)


class Peer:
    """One queue each way, `notes` and `acks`. `get` answers (token, bytes), or None when nothing is there."""

    def __init__(self, folder):
        self.folder, self.process = folder, None

    def start_server(self, *command, **more):
        log = open(f"{self.folder}/log", "ab")
        self.process = subprocess.Popen([shutil.which(command[0], path=PATH) or command[0], *command[1:]], stdout=log,
                                        stderr=log, start_new_session=True, **more)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"{command[0]} did not come up; see {self.folder}/log")

    def stop(self):
        # The whole session of the server that this started, and nothing else.
        if self.process:
            for number in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(self.process.pid, number)
                    self.process.wait(15)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    pass


class SQLite(Peer):
    title = "SQLite, WAL, synchronous=FULL"

    def start(self):
        for queue in ("notes", "acks"):
            base = sqlite3.connect(f"{self.folder}/{queue}.db")
            base.execute("PRAGMA journal_mode=WAL")
            base.execute("CREATE TABLE q (id INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB)")
            base.commit()

    def connect(self):
        self.base, self.last = {}, {"notes": 0, "acks": 0}
        for queue in self.last:
            self.base[queue] = sqlite3.connect(f"{self.folder}/{queue}.db", isolation_level=None, timeout=30)
            self.base[queue].execute("PRAGMA synchronous=FULL")

    def put(self, queue, data):
        self.base[queue].execute("INSERT INTO q(bytes) VALUES (?)", (data,))

    def get(self, queue):
        row = self.base[queue].execute("SELECT id, bytes FROM q WHERE id > ? ORDER BY id LIMIT 1",
                                       (self.last[queue],)).fetchone()
        if row:
            self.last[queue] = row[0]
        return row

    def done(self, queue, token):
        self.base[queue].execute("DELETE FROM q WHERE id = ?", (token,))


class Beanstalkd(Peer):
    title = "beanstalkd -b -f0"
    module = "greenstalk"

    def start(self):
        self.port = free_port()
        self.start_server("beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", self.folder, "-f", "0",
                          "-z", "4000000")

    def connect(self):
        import greenstalk
        self.empty = greenstalk.TimedOutError
        self.tube = {queue: greenstalk.Client(("127.0.0.1", self.port), encoding=None, use=queue, watch=queue)
                     for queue in ("notes", "acks")}

    def put(self, queue, data):
        self.tube[queue].put(data, ttr=600)

    def get(self, queue):
        try:
            job = self.tube[queue].reserve(timeout=0)
        except self.empty:
            return None
        return job, job.body

    def done(self, queue, token):
        self.tube[queue].delete(token)


class Redis(Peer):
    title = "Redis stream, appendfsync always"
    module = "redis"

    def start(self):
        self.port = free_port()
        self.start_server("redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                          "--appendonly", "yes", "--appendfsync", "always", "--save", "")
        import redis
        client = redis.Redis(port=self.port)
        for queue in ("notes", "acks"):
            client.xgroup_create(queue, "g", id="0", mkstream=True)

    def connect(self):
        import redis
        self.client = redis.Redis(port=self.port)

    def put(self, queue, data):
        self.client.xadd(queue, {"b": data})

    def get(self, queue):
        found = self.client.xreadgroup("g", "one", {queue: ">"}, count=1)
        if not found:
            return None
        entries = found[queue.encode()] if isinstance(found, dict) else found[0][1]
        while entries and isinstance(entries[0], list):
            entries = entries[0]
        return entries[0][0], entries[0][1][b"b"]

    def done(self, queue, token):
        pipe = self.client.pipeline()
        pipe.xack(queue, "g", token)
        pipe.xdel(queue, token)
        pipe.execute()


class RabbitMQ(Peer):
    title = "RabbitMQ quorum queue, confirms"
    module = "pika"

    def start(self):
        self.port, distribution, mapper = free_port(), free_port(), free_port()
        with open(f"{self.folder}/rabbitmq.conf", "w") as file:
            file.write(f"listeners.tcp.1 = 127.0.0.1:{self.port}\nlog.file.level = error\ndisk_free_limit.absolute = 10MB\n")
        with open(f"{self.folder}/plugins", "w") as file:
            file.write("[].")
        os.makedirs(f"{self.folder}/home")
        self.mapper = subprocess.Popen([shutil.which("epmd", path=PATH), "-address", "127.0.0.1", "-port", str(mapper)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.start_server("/usr/lib/rabbitmq/bin/rabbitmq-server", env=dict(
            os.environ, PATH=PATH, HOME=f"{self.folder}/home", RABBITMQ_CONFIG_FILE=f"{self.folder}/rabbitmq.conf",
            RABBITMQ_MNESIA_BASE=f"{self.folder}/mnesia", RABBITMQ_LOG_BASE=f"{self.folder}/logs",
            RABBITMQ_NODENAME="ferry@localhost", RABBITMQ_DIST_PORT=str(distribution), ERL_EPMD_PORT=str(mapper),
            ERL_EPMD_ADDRESS="127.0.0.1", RABBITMQ_ENABLED_PLUGINS_FILE=f"{self.folder}/plugins"))

    def stop(self):
        super().stop()
        if hasattr(self, "mapper"):
            self.mapper.kill()
            self.mapper.wait()

    def connect(self):
        import pika
        self.properties = pika.BasicProperties(delivery_mode=2)
        self.connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.port, heartbeat=0))
        self.channel, self.arrived = {}, {"notes": [], "acks": []}
        for queue in ("notes", "acks"):
            channel = self.channel[queue] = self.connection.channel()
            channel.confirm_delivery()
            channel.basic_qos(prefetch_count=64)
            channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})

    def put(self, queue, data):
        self.channel[queue].basic_publish("", queue, data, self.properties, mandatory=True)

    def get(self, queue):
        if not self.arrived[queue] and not getattr(self, "consumes", None) == queue:
            self.consumes = queue
            self.channel[queue].basic_consume(
                queue, lambda _, method, __, body: self.arrived[queue].append((method.delivery_tag, body)))
        if not self.arrived[queue]:
            self.connection.process_data_events(0)
        return self.arrived[queue].pop(0) if self.arrived[queue] else None

    def done(self, queue, token):
        self.channel[queue].basic_ack(token)


def phone(peer, inbox, count):
    peer.connect()
    handle = os.open(inbox, os.O_RDONLY)
    while count:
        found = peer.get("notes")
        if not found:
            time.sleep(0.0003)
            continue
        token, data = found
        name, digest, body = data[:32].rstrip().decode(), data[32:64], data[64:]
        assert hashlib.sha256(body).digest() == digest, name
        write_durably(inbox, handle, name, body)
        peer.put("acks", name.encode())
        peer.done("notes", token)
        count -= 1


def watch(peer, source, names):
    peer.connect()

    def acks():
        while found := peer.get("acks"):
            os.unlink(f"{source}/{found[1].decode()}")
            peer.done("acks", found[0])
            left.discard(found[1].decode())

    left = set(names)
    for name in names:
        with open(f"{source}/{name}", "rb") as file:
            body = file.read()
        peer.put("notes", name.encode().ljust(32) + hashlib.sha256(body).digest() + body)
        acks()
    while left:
        acks()
        time.sleep(0.0003)


def cross_peer(kind, folder, source, names):
    os.makedirs(f"{folder}/server")
    os.makedirs(f"{folder}/inbox")
    peer = kind(f"{folder}/server")
    try:
        peer.start()
        other = multiprocessing.Process(target=phone, args=(peer, f"{folder}/inbox", len(names)))
        other.start()
        time.sleep(0.5)
        begin = time.monotonic()
        this = multiprocessing.Process(target=watch, args=(peer, source, names))
        this.start()
        this.join(300)
        seconds = time.monotonic() - begin
        other.join(30)
        if this.exitcode != 0 or other.exitcode != 0:
            raise RuntimeError(f"{kind.title} did not hand everything over")
    finally:
        peer.stop()
    assert not os.listdir(source) and len(os.listdir(f"{folder}/inbox")) == len(names)
    return seconds


def cross_pair(binaries, folder, source, names, with_record):
    quiet = ["--pair", folder, "--quiet"]
    record = [f"{binaries}/watch-sim", "record", "--pair", folder, "--duration", "1s",
              *(f"{source}/{name}" for name in names)]
    if not with_record:
        # A recording is the pair's source, durable before the clock starts, as the files are that the others send.
        subprocess.run(record, check=True, stdout=subprocess.DEVNULL)
        os.sync()
    phone = subprocess.Popen([f"{binaries}/phone-sim", "run", *quiet])
    time.sleep(0.5)
    begin = time.monotonic()
    daemon = subprocess.Popen([f"{binaries}/watch-sim", "run", *quiet])
    if with_record:
        subprocess.run(record, check=True, stdout=subprocess.DEVNULL)
    while os.listdir(f"{folder}/watch/recordings"):
        time.sleep(0.001)
    seconds = time.monotonic() - begin
    for process in (daemon, phone):
        process.terminate()
        process.wait()
    held = sum(len(files) for _, _, files in os.walk(f"{folder}/phone/container"))
    assert held == len(names), f"{held} of {len(names)}"
    return seconds


def main():
    parser = argparse.ArgumentParser(prog="Scripts/peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", default=tempfile.gettempdir())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--binaries", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = []
    for kind in (Beanstalkd, RabbitMQ, Redis, SQLite):
        program = {Beanstalkd: "beanstalkd", Redis: "redis-server", RabbitMQ: "rabbitmq-server"}.get(kind)
        try:
            if module := getattr(kind, "module", None):
                __import__(module)
            if program and not shutil.which(program, path=PATH):
                raise ImportError(f"no {program}")
            kinds.append(kind)
        except ImportError as problem:
            print(f"SKIPPED: {kind.title}: {problem}", file=sys.stderr)
    base = tempfile.mkdtemp(prefix="watchferry-peers.", dir=options.dir)
    if shutil.which("chattr"):
        # On ext4 deleted inodes slow later creates in their block group: each fresh folder gets another one.
        subprocess.run(["chattr", "+T", base], stderr=subprocess.DEVNULL)
    rates = {}
    try:
        for number in range(options.repeat):
            for size, (byte_count, count) in SIZES.items():
                for kind in [PAIR, PAIR_WITH_RECORD, *kinds]:
                    folder = tempfile.mkdtemp(dir=base)
                    source = f"{folder}/source"
                    os.makedirs(source)
                    names = [f"rec{index:06d}.ogg" for index in range(count)]
                    for name in names:
                        with open(f"{source}/{name}", "wb") as file:
                            file.write(os.urandom(byte_count))
                    os.sync()
                    title = kind if isinstance(kind, str) else kind.title
                    try:
                        seconds = (cross_pair(options.binaries, folder, source, names, kind == PAIR_WITH_RECORD)
                                   if isinstance(kind, str) else cross_peer(kind, folder, source, names))
                    except (RuntimeError, AssertionError) as problem:
                        print(f"SKIPPED: {title}, {size}: {problem}", file=sys.stderr)
                        continue
                    rates.setdefault(title, {}).setdefault(size, []).append(count / seconds)
                    print(f"{number + 1}/{options.repeat} {title}, {size}: {count / seconds:.0f}/s", file=sys.stderr)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    medians = {title: {size: statistics.median(found) for size, found in sizes.items()} for title, sizes in rates.items()}
    print("| notes a second, median | " + " | ".join(SIZES) + " |\n|---" + "|--:" * len(SIZES) + "|")
    for title, sizes in medians.items():
        print(f"| {title} | " + " | ".join(f"{sizes[size]:.0f}" if size in sizes else "–" for size in SIZES) + " |")
    pairs = {title: medians.pop(title, {}) for title in (PAIR, PAIR_WITH_RECORD)}
    best = {size: max((sizes.get(size, 0) for sizes in medians.values()), default=0) for size in SIZES}
    for title, pair in pairs.items():
        print(f"| {title}, as a multiple of the best of the others | "
              + " | ".join(f"{pair[size] / best[size]:.1f}" if pair.get(size) and best[size] else "–" for size in SIZES)
              + " |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rates, file, indent=2)


if __name__ == "__main__":
    main()
