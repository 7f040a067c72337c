#!/usr/bin/env python3
"""Loop devices, mounts and images for powercut: Linux, root. Everything lies below one folder in a mount namespace of this
process, on loop devices that let go of their file by themselves: however this process ends, the kernel takes it all away.
"""
import contextlib, ctypes, errno, fcntl, os, shutil, struct, subprocess, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x1000, 0x4000, 1 << 18, 2
LOOP_SET_STATUS64, LOOP_GET_STATUS64, LOOP_CONFIGURE, LOOP_CTL_GET_FREE = 0x4C04, 0x4C05, 0x4C0A, 0x4C82
LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO = 4, 16
# struct loop_info64: device, inode, rdevice, offset, sizelimit, number, encrypt type, key size, flags, names, key, init.
LOOP_INFO = "QQQQQIIII64s64s32sQQ"
FICLONE = 0x40049409
# Both levels speak in blocks of this size, so that direct I/O is always aligned, also on shared extents.
BLOCK_BYTE_COUNT = 4096
# xfs makes no smaller ones; the images are sparse.
IMAGE_BYTE_COUNT = 320 << 20

MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096", "-N", "8192", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f", "-s", "size=4096"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
PACKAGES = {"ext4": "e2fsprogs", "xfs": "xfsprogs", "btrfs": "btrfs-progs"}
# A copy of an xfs that is mounted has its UUID.
OPTIONS = {"ext4": "", "xfs": "nouuid", "btrfs": ""}


class Unable(Exception):
    """This machine cannot do it; the text says what is missing."""


def call_mount(source, target, kind, flags=0, data=""):
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} at {target}: {os.strerror(number)}")


def call_umount(target, flags=0):
    # A process that another thread starts has copies of this one's files until it runs its program: busy for a moment.
    give_up = time.monotonic() + 5
    while libc.umount2(target.encode(), flags) != 0:
        number = ctypes.get_errno()
        if number != errno.EBUSY or time.monotonic() > give_up:
            raise OSError(number, f"umount {target}: {os.strerror(number)}")
        time.sleep(0.005)


def own_namespace():
    """From here on, what is mounted is seen by this process and its children only, and goes with them."""
    if libc.unshare(CLONE_NEWNS) != 0:
        raise Unable(f"no mount namespace of its own: {os.strerror(ctypes.get_errno())}")
    call_mount("none", "/", "none", MS_REC | MS_PRIVATE)


def need(tool, package):
    """Whether a program is there, after a try to install it."""
    if shutil.which(tool):
        return True
    if shutil.which("apt-get"):
        print(f"powercut: installing {package} …", file=sys.stderr)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], stdout=sys.stderr, env=environment)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], stdout=sys.stderr,
                       env=environment)
    return shutil.which(tool) is not None


@contextlib.contextmanager
def loop_device(path):
    """A device over a file, with direct I/O: a write that it has answered is in the file, nothing is held back. Mount it
    inside; the last to let go of it clears it."""
    with open("/dev/loop-control", "rb+", buffering=0) as control, open(path, "rb+", buffering=0) as file:
        for _ in range(100):
            number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
            try:
                device = os.open(f"/dev/loop{number}", os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                # Nobody makes device nodes in this container.
                with contextlib.suppress(FileExistsError):
                    os.mknod(f"/dev/loop{number}", 0o60600, os.makedev(7, number))
                continue
            info = struct.pack(LOOP_INFO, 0, 0, 0, 0, 0, 0, 0, 0, LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
                               os.path.basename(path)[:63].encode(), b"", b"", 0, 0)
            try:
                fcntl.ioctl(device, LOOP_CONFIGURE, struct.pack("II", file.fileno(), BLOCK_BYTE_COUNT) + info + bytes(64))
            except OSError as error:
                os.close(device)
                # Another process took that number meanwhile.
                if error.errno == errno.EBUSY:
                    continue
                raise
            break
        else:
            raise Unable("no loop device is free")
    try:
        state = bytearray(struct.calcsize(LOOP_INFO))
        fcntl.ioctl(device, LOOP_GET_STATUS64, state)
        if not struct.unpack(LOOP_INFO, state)[8] & LO_FLAGS_DIRECT_IO:
            raise Unable("the loop device does not do direct I/O, so it may hold writes back")
        yield f"/dev/loop{number}"
    finally:
        os.close(device)


# The kernel finds btrfs by its id; two unknown copies of one must not be looked at in the same moment.
mounting_btrfs = threading.Lock()


def mount_image(path, target, kind):
    os.makedirs(target, exist_ok=True)
    with loop_device(path) as device, mounting_btrfs if kind == "btrfs" else contextlib.nullcontext():
        call_mount(device, target, kind, 0, OPTIONS[kind])


def mount_disks(disks, target, kind):
    """A pair's disk at `target`; where there are two, `target`/pair/watch leads to the watch's own."""
    mount_image(disks[0], target, kind)
    if len(disks) > 1:
        try:
            mount_image(disks[1], target + "-watch", kind)
            for folder in (f"{target}-watch/home", f"{target}/pair/watch"):
                os.makedirs(folder, mode=0o700, exist_ok=True)
            call_mount(f"{target}-watch/home", f"{target}/pair/watch", "none", MS_BIND)
        except BaseException:
            umount_disks(disks, target)
            raise


def umount_disks(disks, target):
    if len(disks) > 1:
        for path in (f"{target}/pair/watch", f"{target}-watch"):
            if os.path.ismount(path):
                call_umount(path)
        if os.path.isdir(f"{target}-watch"):
            os.rmdir(f"{target}-watch")
    call_umount(target)
    os.rmdir(target)


def sync_disk(path):
    """All that was written below a mount is on the medium when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        if libc.syncfs(handle) != 0:
            raise OSError(ctypes.get_errno(), f"syncfs {path}")
    finally:
        os.close(handle)


def make_image(path, kind):
    with open(path, "wb") as file:
        file.truncate(IMAGE_BYTE_COUNT)
    made = subprocess.run([*MAKE[kind], path], capture_output=True, text=True)
    if made.returncode != 0:
        raise Unable(f"{MAKE[kind][0]}: {made.stderr.strip()}")


def clone(path, copy):
    with open(path, "rb") as source, open(copy, "wb") as target:
        fcntl.ioctl(target, FICLONE, source.fileno())


def make_medium(base, byte_count):
    """An xfs with shared extents, in memory, at `base`/medium: where all images lie."""
    call_mount("tmpfs", base, "tmpfs", 0, f"size={byte_count},mode=0700")
    file = f"{base}/backing"
    with open(file, "wb") as backing:
        backing.truncate(byte_count)
    made = subprocess.run(["mkfs.xfs", "-q", "-f", "-s", "size=4096", "-m", "reflink=1", file], capture_output=True,
                          text=True)
    if made.returncode != 0:
        raise Unable(f"mkfs.xfs: {made.stderr.strip()}")
    os.makedirs(f"{base}/medium")
    with loop_device(file) as device:
        call_mount(device, f"{base}/medium", "xfs", 0, "discard")
    return f"{base}/medium"
