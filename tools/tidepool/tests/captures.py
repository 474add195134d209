"""Makes captures as a program would write them that ingests files: a simulation of a thread pool and of what it serves.

    captures.py RECORDS [SEED]    prints one that holds at most so many records

The same numbers give the same capture. A pool that serves a burst of submissions, timers, waits on events, re-arm
chains, i/o, a cleanup group, drains and exceptions; and once, for some 120 ms, nothing wakes its workers.
"""

import heapq
import itertools
import random
import sys

US, MS = 1_000, 1_000_000
HOME = "/home/mira/harbour/src/"
PROCESS = 4711


class Simulation:
    """Time, and generators that yield how long they take, or a condition to wait for."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.now = 0
        self.turn = itertools.count()
        self.agenda = []
        self.waiting = []
        self.records = []
        self.threads = {PROCESS: "harbour"}
        self.addresses = (0x55D0C8A00000 + 0x2C0 * i for i in itertools.count(1))

    def record(self, thread, kind, target, action, values=""):
        self.records.append(f"{self.now} {thread} {kind} {target:#x} {action}" + (f" {values}" if values else ""))
        self.now += self.random.randrange(40, 250)

    def at(self, delay, action):
        heapq.heappush(self.agenda, (self.now + int(delay), next(self.turn), action))

    def run(self, steps, then=lambda: None):
        def step():
            try:
                wanted = next(steps)
            except StopIteration:
                return then()
            if callable(wanted):
                self.waiting.append((wanted, step))
            else:
                self.at(wanted, step)
        step()

    def run_until(self, enough):
        while self.agenda and not enough():
            time, _, action = heapq.heappop(self.agenda)
            self.now = max(self.now, time)
            action()
            for entry in [entry for entry in self.waiting if entry[0]()]:
                self.waiting.remove(entry)
                entry[1]()


class Pool:
    def __init__(self, world, threads, name):
        self.world, self.queue, self.frozen = world, [], False
        self.address = next(world.addresses)
        self.idle = list(threads)
        world.record(PROCESS, "pool", self.address, "created")
        for thread in threads:
            world.threads[thread] = name
            world.record(thread, "worker", self.address, "started")

    def put(self, item):
        self.queue.append(item)
        self.wake()

    def wake(self):
        if self.idle and self.queue and not self.frozen:
            thread = self.idle.pop()
            self.world.at(self.world.random.uniform(4, 45) * US, lambda: self.serve(thread))

    def serve(self, thread):
        if not self.queue:
            self.idle.append(thread)
            return
        item = self.queue.pop(0)
        self.world.run(item.run(thread), lambda: self.serve(thread))
        self.wake()


class Object:
    """Something with callbacks. `body(object, thread)` is a generator."""

    def __init__(self, world, pool, kind, site, body):
        self.world, self.pool, self.kind, self.body = world, pool, kind, body
        self.site = HOME + site
        self.pending = self.running = 0
        self.armed = 0
        self.handle = None
        self.rearm = None
        self.draining = False
        self.address = next(world.addresses)
        if kind != "one-off":
            self.record(PROCESS, "created", f"site={self.site}")

    def record(self, thread, action, values=""):
        self.world.record(thread, self.kind, self.address, action, values)

    def call(self, thread, name):
        self.world.record(thread, "call", self.address + 0x80000000, "enter", f"call={name}")
        self.world.now += self.world.random.randrange(300, 2500)
        self.world.record(thread, "call", self.address + 0x80000000, "leave", f"call={name}")

    def become_due(self):
        self.pending += 1
        self.pool.put(self)

    def submit(self, thread):
        self.record(thread, "submitted")
        if self.kind == "work":
            self.call(thread, "SubmitThreadpoolWork")
        self.become_due()

    def arm(self, thread, after=None, period=None, handle=None):
        self.armed += 1
        token, self.handle = self.armed, handle
        if self.kind == "timer":
            self.record(thread, "armed", f"after_ns={after} window_ms=0")
        elif self.kind == "periodic_timer":
            self.record(thread, "armed", f"after_ns={after} period_ms={period // MS}")
        else:
            self.record(thread, "armed", f"handle={handle.address:#x}" + (f" timeout_ns={after}" if after else ""))
            handle.waits.append((self, token))
        self.call(thread, "SetThreadpoolWait" if self.kind == "wait" else "SetThreadpoolTimer")
        if after is not None:
            self.world.at(after, lambda: self.expire(token, period))

    def expire(self, token, period=None):
        if token != self.armed:
            return
        if self.kind == "periodic_timer":
            self.world.at(period, lambda: self.expire(token, period))
        else:
            self.armed += 1
        if self.kind != "periodic_timer" or self.pending == 0:
            self.become_due()

    def disarm(self, thread):
        self.record(thread, "disarmed")
        self.armed += 1

    def run(self, thread):
        self.pending -= 1
        self.running += 1
        self.record(thread, "enter", f"site={self.site}" if self.kind != "one-off" else "")
        yield from self.body(self, thread)
        self.record(thread, "leave")
        if self.rearm is not None and not self.draining:
            self.record(thread, "rearm-enter")
            self.arm(thread, **self.rearm)
            self.record(thread, "rearm-leave")
        self.rearm = None
        self.running -= 1

    def ask_to_rearm(self, thread, **how):
        self.record(thread, "rearm-requested")
        if self.draining:
            self.record(thread, "rearm-suppressed")
        else:
            self.rearm = how

    def drain(self, thread, cancel=False):
        self.draining = True
        self.record(thread, "drain-begin", f"cancel={int(cancel)}")
        if cancel:
            while self in self.pool.queue:
                self.pool.queue.remove(self)
                self.pending -= 1
        name = {"periodic_timer": "Timer"}.get(self.kind, self.kind.capitalize())
        self.world.record(thread, "call", self.address + 0x80000000, "enter", f"call=WaitForThreadpool{name}Callbacks")
        yield lambda: self.pending == 0 and self.running == 0
        self.world.record(thread, "call", self.address + 0x80000000, "leave", f"call=WaitForThreadpool{name}Callbacks")
        self.record(thread, "drain-end")
        self.draining = False

    def destroy(self, thread, drains=True):
        self.record(thread, "destroy-begin")
        if drains:
            self.armed += 1
            yield from self.drain(thread, cancel=True)
        else:
            self.record(thread, "drain-owed", f"site={self.site}")
        self.record(thread, "closed")
        self.record(thread, "destroyed")


class Event:
    def __init__(self, world):
        self.world, self.waits, self.address = world, [], next(world.addresses) & 0xFFFF | 4
        world.record(PROCESS, "event", self.address, "created")

    def set(self, thread):
        self.world.record(thread, "event", self.address, "set")
        while self.waits:
            wait, token = self.waits.pop(0)
            if wait.armed == token:
                wait.armed += 1
                return wait.become_due()


def harbour(world, records):
    """The program. It ends when there are enough records."""
    enough = lambda: len(world.records) >= records
    rand = world.random
    pool = Pool(world, range(PROCESS + 2, PROCESS + 8), "pool worker")
    slow = Pool(world, range(PROCESS + 9, PROCESS + 11), "pool worker")
    ready, finished = Event(world), Event(world)

    def burn(low, high):
        return rand.uniform(low, high) * (8 if rand.random() < 0.02 else 1)

    def hash_body(work, thread):
        yield burn(30 * US, 400 * US)
        if rand.random() < 0.015:
            world.record(thread, "exception", 0, "thrown", "type=std::system_error")
        if rand.random() < 0.2:
            ready.set(thread)
            yield burn(5 * US, 40 * US)

    def one_off_body(_, thread):
        yield burn(10 * US, 90 * US)

    def store_body(work, thread):
        yield burn(200 * US, 2 * MS)
        finished.set(thread)

    def wait_body(wait, thread):
        yield burn(15 * US, 120 * US)
        wait.ask_to_rearm(thread, handle=ready)
        if rand.random() < 0.5:
            store.submit(thread)
        yield burn(5 * US, 20 * US)

    def finished_body(wait, thread):
        yield burn(5 * US, 30 * US)
        wait.ask_to_rearm(thread, handle=finished, after=50 * MS)

    def retry_body(timer, thread):
        yield burn(20 * US, 200 * US)
        for _ in range(rand.randrange(3)):
            hashes[rand.randrange(len(hashes))].submit(thread)
        timer.ask_to_rearm(thread, after=rand.randrange(2 * MS, 9 * MS))

    def tick_body(_, thread):
        yield burn(20 * US, 300 * US)

    def read_body(io, thread):
        yield burn(20 * US, 250 * US)

    hashes = [Object(world, pool, "work", f"intake.cpp:{41 + 12 * i}", hash_body) for i in range(3)]
    store = Object(world, slow, "work", "store/archive.cpp:118", store_body)
    on_ready = Object(world, pool, "wait", "intake.cpp:87", wait_body)
    on_finished = Object(world, pool, "wait", "store/archive.cpp:140", finished_body)
    retry = Object(world, pool, "timer", "net/retry.cpp:23", retry_body)
    heartbeat = Object(world, pool, "periodic_timer", "main.cpp:55", tick_body)
    file = Object(world, pool, "io", "store/volume.cpp:64", read_body)

    def read(thread):
        request = next(world.addresses)
        file.record(thread, "request-begin", f"request={request:#x}")

        class Handler:
            def run(self, worker):
                file.record(worker, "request-end", f"request={request:#x} error=0 bytes={rand.randrange(1, 65536)}")
                file.pending += 1
                yield from file.run(worker)
        world.at(rand.uniform(80 * US, 1500 * US), lambda: pool.put(Handler()))

    def group_round():
        group = next(world.addresses)
        site = f"site={HOME}net/session.cpp:31"
        world.record(PROCESS, "group", group, "created", site)
        members = [Object(world, pool, kind, f"net/session.cpp:{line}", body) for kind, line, body in
                   (("work", 48, hash_body), ("timer", 52, retry_body), ("work", 57, one_off_body))]
        for member in members:
            world.record(PROCESS, "group", group, "member", f"member={member.address:#x}")
        for _ in range(6):
            members[0].submit(PROCESS)
            members[2].submit(PROCESS)
        members[1].arm(PROCESS, after=300 * US)
        yield rand.uniform(0.5 * MS, 3 * MS)
        members[1].draining = True
        world.record(PROCESS, "group", group, "close-begin", "cancel=1")
        members[1].armed += 1
        for member in members:
            while member in pool.queue:
                pool.queue.remove(member)
                member.pending -= 1
        yield lambda: all(member.running == 0 and member.pending == 0 for member in members)
        world.record(PROCESS, "group", group, "close-end")
        for member in members:
            member.record(PROCESS, "closed")
            member.record(PROCESS, "destroyed")
        world.record(PROCESS, "group", group, "destroyed")

    def main():
        on_ready.arm(PROCESS, handle=ready)
        on_finished.arm(PROCESS, handle=finished, after=50 * MS)
        retry.arm(PROCESS, after=3 * MS)
        heartbeat.arm(PROCESS, after=10 * MS, period=10 * MS)
        for turn in itertools.count():
            if enough():
                break
            for _ in range(rand.randrange(3, 30)):
                rand.choice(hashes).submit(PROCESS)
            if rand.random() < 0.6:
                Object(world, pool, "one-off", "", one_off_body).submit(PROCESS)
            for _ in range(rand.randrange(4)):
                read(PROCESS)
            yield rand.uniform(0.3 * MS, 4 * MS)
            if turn % 25 == 20:
                yield from group_round()
            if turn % 40 == 30:
                yield from rand.choice(hashes).drain(PROCESS)
            if turn % 60 == 45:
                yield 15 * MS
            if turn == 12 or turn % 500 == 200:  # nobody wakes the workers any more
                yield lambda: len(pool.idle) == 6
                pool.frozen = True
                ready.set(PROCESS)
                retry_at = rand.uniform(115 * MS, 125 * MS)
                yield retry_at
                pool.frozen = False
                hashes[0].submit(PROCESS)
                for _ in range(5):
                    pool.wake()
            if turn == 20:
                forgotten = Object(world, pool, "timer", "net/retry.cpp:71", retry_body)
                yield from forgotten.destroy(PROCESS, drains=False)
        heartbeat.disarm(PROCESS)
        yield from heartbeat.drain(PROCESS)
        for each in (*hashes, store, on_ready, on_finished, retry, file):
            yield from each.destroy(PROCESS)

    world.run(main())
    world.run_until(lambda: False)


def text_of(records, *, lost=0, threads=None, held=None, began="1764494032.123456789", ignored=None, end=True):
    """The lines of records as a capture."""
    numbers = sorted({int(record.split(" ", 2)[1]) for record in records})
    lines = ["tidepool capture 1", f"process {PROCESS} /usr/bin/harbour", "system linux", f"began {began}",
             "categories work,timer,wait,io,group,pool,event,delivery,rearm,teardown,syscall,exception,report"]
    lines += [f"ignored {ignored}"] if ignored else []
    lines += [f"held {len(records) if held is None else held}", f"lost {lost}"]
    lines += [f"thread {number} {(threads or {}).get(number, '')}" for number in numbers]
    lines += ["records", *records, *(["end"] if end else [])]
    return ("\n".join(lines) + "\n").encode()


def capture(records, seed=1, whole=False):
    """A believable capture that holds at most `records` records, the newest; or, whole, some more, and all there are."""
    world = Simulation(seed)
    harbour(world, records)
    ordered = sorted(world.records, key=lambda record: int(record.split(" ", 1)[0]))
    kept = ordered if whole else ordered[-records:]
    return text_of(kept, lost=len(ordered) - len(kept), threads=world.threads)


if __name__ == "__main__":
    sys.stdout.buffer.write(capture(int(sys.argv[1]), *map(int, sys.argv[2:])))
