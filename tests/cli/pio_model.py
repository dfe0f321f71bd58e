"""A second model of PIO send memory, written from docs/rules/pio.md alone: sets of QWs and lists of packets.

pio_model.py trace SEED LINES    a random trace: packets by pieces, whole, by stores and by rings of SDMA, some hostile, halts and restarts
pio_model.py answer TRACE        what a script has to print for it
"""
import json
import random
import sys

VLS = [0, 1, 2, 3, 4, 5, 6, 7, 15]
CONTEXTS = 160
STATUS, PBC, THRESHOLD, ERROR, FORCE = (1 << bit for bit in range(11, 16))


class Packet:
    def __init__(self, source, first, blocks, vl, asks=False, life=0):
        self.source, self.first, self.blocks, self.vl = source, first, blocks, vl
        self.asks, self.life, self.ring = asks, life, None
        self.is_released = self.is_out = self.is_covered = False


class Slot:
    """One block: the packet that holds it, or the QWs that have come, and those that wait."""

    def __init__(self):
        self.packet, self.qws, self.sop, self.pbc = None, set(), None, 0

    def add(self, qws, sop, pbc):
        """False where these QWs do not fit those that are here."""
        if self.qws & qws or (self.qws and self.sop != sop):
            return False
        self.qws, self.sop = self.qws | qws, sop
        self.pbc = pbc if 0 in qws else self.pbc
        return True


class Context:
    def __init__(self, number, depth, threshold, early, interrupt):
        self.number, self.depth, self.threshold = number, depth, threshold
        self.early, self.interrupt = early, interrupt
        self.force, self.life = False, 0
        self.restart()

    def restart(self):
        self.free = self.returned = self.filled = self.done = self.frozen = 0
        self.is_halted = False
        self.life += 1
        self.complete, self.unlaunched = [], []
        self.slots = [Slot() for _ in range(self.depth)]
        self.waiting = [Slot() for _ in range(self.depth)]

    def slots_of(self, first, blocks):
        return [(first + i) % self.depth for i in range(min(blocks, self.depth))]

    def write(self, number, qws, sop, pbc):
        """False where the write, or a packet that it shows, is an error."""
        slot = self.slots[number]
        if slot.packet:
            is_draining = slot.packet.is_covered and not slot.packet.is_out
            return is_draining and self.waiting[number].add(qws, sop, pbc)
        return slot.add(qws, sop, pbc) and self.finish()

    def fill(self, blocks, vl, asks):
        pbc = min(blocks * 16, 4095) | vl << 12 | asks << 25
        self.filled = max(self.filled, self.done)
        for i in range(blocks):
            number = self.filled % self.depth
            self.filled += 1
            if not self.write(number, set(range(8)), i == 0, pbc if i == 0 else 0):
                return False
        return True

    def finish(self):
        while True:
            head = self.slots[self.done % self.depth]
            if head.packet or not head.qws:
                return True
            if not head.sop:
                return False
            if 0 not in head.qws:
                return True
            blocks = -(-(head.pbc & 0xfff) // 16)
            span = [self.slots[n] for n in self.slots_of(self.done, blocks)]
            if blocks == 0 or any(s.sop for s in span[1:] if s.qws and not s.packet):
                return False
            if blocks > self.depth or any(s.packet or len(s.qws) < 8 for s in span):
                return True
            packet = Packet(self.number, self.done, blocks, head.pbc >> 12 & 15, head.pbc >> 25 & 1, self.life)
            for slot in span:
                slot.packet = packet
            self.complete.append(packet)
            self.unlaunched.append(packet)
            self.done += blocks

    def open(self, packet):
        for number in self.slots_of(packet.first, packet.blocks):
            self.slots[number] = Slot()

    def write_waiting(self, packet):
        for number in self.slots_of(packet.first, packet.blocks):
            waits, self.waiting[number] = self.waiting[number], Slot()
            if waits.qws and not self.write(number, waits.qws, waits.sop, waits.pbc):
                return False
        return True

    def advance(self):
        """Covers what is free in order; the causes of a return."""
        causes, before = 0, self.free
        while self.complete and self.complete[0].is_released:
            packet = self.complete.pop(0)
            self.free += packet.blocks
            packet.is_covered = True
            causes |= PBC if packet.asks else 0
            if packet.is_out:
                self.open(packet)
        return causes | (THRESHOLD if self.free > before and self.meets_threshold() else 0)

    def meets_threshold(self):
        return 0 < self.threshold <= self.free - self.returned


class Fragments:
    """A packet that an SDMA engine reads: its bytes by their place, and how many have not come."""

    def __init__(self):
        self.bytes, self.size, self.missing, self.count = {}, 0, 0, 0
        self.is_whole = self.asks = self.interrupts = self.is_sent = self.is_out = False
        self.end = 0

    def blocks(self, more=0):
        return -(-(self.size + more) // 64)


class Ring:
    def __init__(self, base, entries, head, blocks):
        self.base, self.entries, self.head, self.room = base, entries, head, blocks
        self.tail = self.fetched = self.begun = self.done = self.flights = 0
        self.here, self.packets, self.is_halted = {}, [], False
        self.owes = self.owes_interrupt = False

    def set_tail(self, index):
        more = (index - self.tail) % self.entries
        if index >= self.entries or self.tail + more - self.done >= self.entries:
            self.is_halted = True
        elif not self.is_halted:
            self.tail += more

    def is_wrong(self, descriptor, packet):
        _address, size, is_first, _last, round_, _asks, _interrupts = descriptor
        return (round_ != self.begun // self.entries % 4 or is_first == (packet is not None)
                or (packet and packet.count == 64) or size == 0
                or (packet.size if packet else 0) + size > min(16383, 64 * self.room))

    def next_read(self):
        if self.is_halted or self.flights == 16:
            return None
        words = self.here.get(self.begun)
        if words:
            packet = self.packets[-1] if self.packets and not self.packets[-1].is_whole else None
            if self.is_wrong(words, packet):
                self.is_halted = True
                return None
            address, size, _first, last, _round, asks, interrupts = words
            used = sum(other.blocks() for other in self.packets if other is not packet)
            if used + (packet or Fragments()).blocks(size) <= self.room:
                if packet is None:
                    packet = Fragments()
                    self.packets.append(packet)
                place = packet.size
                packet.size, packet.missing, packet.count = place + size, packet.missing + size, packet.count + 1
                packet.is_whole, packet.asks = last, packet.asks or asks
                packet.interrupts = packet.interrupts or interrupts
                del self.here[self.begun]
                self.begun += 1
                packet.end = self.begun
                self.flights += 1
                return self, packet, place, address, size
        end = min(self.tail, self.begun + 64, self.fetched // 4 * 4 + 4)
        if end == self.fetched:
            return None
        begin, self.fetched = self.fetched, end
        self.flights += 1
        return self, None, begin, self.base + begin % self.entries * 16, (end - begin) * 16

    def take(self, packet, place, data):
        if packet:
            packet.missing -= len(data)
            packet.bytes.update(enumerate(data, place))
            return
        for i in range(len(data) // 16):
            low, high = (int.from_bytes(data[16 * i + 8 * n:16 * i + 8 * n + 8], "little") for n in (0, 1))
            self.here[place + i] = (low % (1 << 48), low >> 48 & 0x3fff, low >> 63 == 1, low >> 62 & 1 == 1,
                                    high >> 2 & 3, high & 1 == 1, high >> 1 & 1 == 1)

    def complete(self):
        """The next packet that can be launched: its blocks and VL."""
        packet = next((one for one in self.packets if not one.is_sent), None)
        if self.is_halted or packet is None or not packet.is_whole or packet.missing:
            return None
        pbc = sum(packet.bytes.get(i, 0) << 8 * i for i in range(8))
        if packet.size < 8 or packet.size != 4 * (pbc & 0xfff):
            self.is_halted = True
            return None
        packet.is_sent = True
        return packet, packet.blocks(), pbc >> 12 & 15

    def leave(self, packet):
        packet.is_out = True
        while self.packets and self.packets[0].is_out:
            packet = self.packets.pop(0)
            self.done = packet.end
            self.owes, self.owes_interrupt = self.owes or packet.asks, self.owes_interrupt or packet.interrupts


class Line:
    """A block of a store buffer: QWs by their place, and the threads that stored them."""

    def __init__(self, address):
        self.address, self.qws, self.threads = address, {}, set()

    def runs(self):
        begin = 0
        while begin < 8:
            end = begin
            while end in self.qws:
                end += 1
            if end > begin:
                yield self.address + 8 * begin, "".join(self.qws[i] for i in range(begin, end))
            begin = end + 1


class Core:
    def __init__(self, blocks=12, window=0):
        self.blocks, self.window, self.turn = blocks, window, 0
        self.held, self.queues, self.is_fenced = [], [[], []], [False, False]

    def is_idle(self, thread):
        return not self.is_fenced[thread] and not self.queues[thread]

    def put(self, thread, address, text):
        """False where the store has no block."""
        line = next((one for one in self.held if one.address == address // 64 * 64), None)
        if len(line.qws) == 8 if line else len(self.held) == self.blocks:
            return False
        if line is None:
            line = Line(address // 64 * 64)
            self.held.append(line)
        line.threads.add(thread)
        line.qws.update((address % 64 // 8 + i, text[16 * i:16 * i + 16]) for i in range(len(text) // 16))
        return True

    def issue(self, thread, what):
        """A store, or a fence where there is none; false where the window is full."""
        if self.is_idle(thread) and (what is None or self.put(thread, *what)):
            self.is_fenced[thread] = what is None
            return True
        if len(self.queues[thread]) == self.window:
            return False
        self.queues[thread].append([what, False])
        if what is not None:
            self.go_on(thread)
        return True

    def go_on(self, thread):
        queue = self.queues[thread]
        if self.is_fenced[thread]:
            return
        for entry in queue:
            if entry[0] is None:
                break
            entry[1] = entry[1] or self.put(thread, *entry[0])
        while queue and queue[0][1]:
            queue.pop(0)
        if queue and queue[0][0] is None:
            queue.pop(0)
            self.is_fenced[thread] = True

    def next_line(self):
        full = [line for line in self.held if len(line.qws) == 8]
        fenced = [line for line in self.held if any(self.is_fenced[thread] for thread in line.threads)]
        return (full + fenced + [None])[0]

    def release(self, line):
        self.held.remove(line)
        for thread in (self.turn, 1 - self.turn):
            self.go_on(thread)
        self.turn = 1 - self.turn


class Device:
    def __init__(self):
        self.cores, self.credits = [Core() for _ in range(16)], {}  # credits: depth, F, S, next block
        self.memory, self.rings, self.shares, self.reads = {}, [None] * 16, [256] * 16, [[] for _ in range(16)]
        self.set_ups, self.launched_blocks = [None] * 16, [0] * 16
        self.contexts, self.addresses, self.groups = {}, [0] * CONTEXTS, [0] * 20
        self.fifos, self.leaving = {vl: [] for vl in VLS}, {}
        self.sdma, self.sdma_blocks = [[] for _ in range(16)], [0] * 16
        self.last, self.answers = CONTEXTS + 15, []

    def run(self, line):
        getattr(self, line[0])(*line[1:])
        for engine, ring in enumerate(self.rings):
            while ring:
                read = ring.next_read()
                if read is None:
                    break
                self.reads[engine].append(read)
                self.answers.append({"sdma_read": [engine, read[3], read[4]]})
            if ring and ring.owes:
                self.answers.append({"sdma_head": [engine, ring.head, ring.done % ring.entries, int(ring.owes_interrupt)]})
                ring.owes = ring.owes_interrupt = False

    def write_out(self, core, line):
        for run in line.runs():
            self.write(*run)
        core.release(line)

    def settle(self, core):
        while core.next_line():
            self.write_out(core, core.next_line())

    def core(self, number, blocks, window):
        self.cores[number] = Core(blocks, window)

    def store(self, thread, address, text):
        core = self.cores[thread // 2]
        if not core.issue(thread % 2, (address, text)):
            self.answers.append({"event": "pio_stall", "thread": thread, "addr": hex(address)})
        self.settle(core)

    def sfence(self, thread):
        core = self.cores[thread // 2]
        if not core.issue(thread % 2, None):
            self.answers.append({"event": "pio_stall", "thread": thread})
        self.settle(core)

    def ack(self, thread):
        core = self.cores[thread // 2]
        if core.is_fenced[thread % 2] and not any(thread % 2 in line.threads for line in core.held):
            core.is_fenced[thread % 2] = False
            core.go_on(thread % 2)
            self.settle(core)

    def evict(self, number):
        core = self.cores[number]
        if core.held:
            self.write_out(core, core.held[0])
            self.settle(core)

    def send(self, thread, number, blocks, vl, asks, size):
        depth, filled, shadow, block = self.credits[number]
        available = max(0, depth - (filled - shadow) % 2048)
        core, threshold = self.cores[thread // 2], self.contexts[number].threshold
        if blocks > available:
            needs_force = blocks <= depth and (threshold == 0 or blocks > depth - (threshold - 1))
            self.answers.append({"event": "pio_wait", "ctx": number, "blocks": blocks, "available": available,
                                 "needs_force": needs_force})
            return
        if not core.is_idle(thread % 2) or len(core.held) == core.blocks:
            self.answers.append({"event": "pio_stall", "thread": thread, "addr": hex(number << 16 | block * 64)})
            return
        pbc = blocks * 16 | vl << 12 | asks << 25
        for i in range(blocks):
            text = "".join(bytes([(i * 8 + qw) % 256] * 8).hex() for qw in range(8))
            text = pbc.to_bytes(8, "little").hex() + text[16:] if i == 0 else text
            address = (i == 0) << 24 | number << 16 | (block + i) % depth * 64
            for byte in range(0, 64, size):
                core.issue(thread % 2, (address + byte, text[2 * byte:2 * (byte + size)]))
            self.settle(core)
        self.credits[number][1:] = [(filled + blocks) % 2048, self.credits[number][2], (block + blocks) % depth]

    def poke(self, address, text):
        self.memory.update(enumerate(bytes.fromhex(text), address))

    def sdma_buffer(self, engine, blocks):
        self.shares[engine] = blocks

    def begin_ring(self, engine, ring):
        self.rings[engine] = ring
        self.sdma[engine].clear()
        self.sdma_blocks[engine] = self.launched_blocks[engine]

    def sdma_ring(self, engine, base, entries, head):
        self.set_ups[engine] = (base, entries, head, self.shares[engine])
        self.begin_ring(engine, Ring(*self.set_ups[engine]))

    def sdma_restart(self, engine):
        if self.set_ups[engine]:
            self.begin_ring(engine, Ring(*self.set_ups[engine]))

    def sdma_disable(self, engine):
        self.begin_ring(engine, None)

    def sdma_tail(self, engine, index):
        if self.rings[engine]:
            self.rings[engine].set_tail(index)

    def sdma_answer(self, engine, number, is_good):
        if number >= len(self.reads[engine]):
            return
        ring, packet, place, address, size = self.reads[engine].pop(number)
        if ring is not self.rings[engine]:
            return
        ring.flights -= 1
        if not is_good:
            ring.is_halted = True
            return
        ring.take(packet, place, bytes(self.memory.get(address + i, 0) for i in range(size)))
        while True:
            complete = ring.complete()
            if complete is None:
                return
            self.sdma_fill(engine, *complete[1:])
            self.sdma[engine][-1].ring = (ring, complete[0])

    def give_back(self, number, causes):
        context, size = self.contexts[number], self.groups[number // 8]
        if not causes or (context.is_halted and not causes & ERROR):
            return
        first, words, interrupts = number >> size << size, [0] * 8, []
        for member in range(first, first + (1 << size)):
            other = self.contexts.get(member)
            if other is None:
                continue
            shown = other.frozen if other.is_halted else other.free
            has_moved = shown != other.returned
            other.returned = shown
            words[member % 8] = shown % 2048 | (STATUS | ERROR if other.is_halted else 0)
            words[member % 8] |= causes if member == number else 0
            if other.interrupt and (member == number or has_moved):
                interrupts.append(576 + member)
            self.credits[member][2] = words[member % 8] % 2048
        self.answers.append({"addr": self.addresses[first], "qw": words, "ctx": number, "irq": interrupts})

    def fail(self, number, causes=0):
        context = self.contexts[number]
        if not context.is_halted:
            context.is_halted, context.frozen = True, context.free
            self.give_back(number, causes | STATUS | ERROR)

    def context_of(self, packet):
        context = self.contexts.get(packet.source)
        return context if context and context.life == packet.life else None

    def leave_ring(self, packet):
        if packet.ring and packet.ring[0] is self.rings[packet.source - CONTEXTS]:
            packet.ring[0].leave(packet.ring[1])

    def drop(self, packet):
        self.leave_ring(packet)
        context = self.context_of(packet)
        if context:
            packet.is_released = packet.is_out = True
            self.fail(packet.source, context.advance())

    def device(self, groups):
        self.groups = groups

    def setup(self, number, _base, depth, threshold, address, early, interrupt):
        self.contexts[number] = Context(number, depth, threshold, early, interrupt)
        self.addresses[number] = address
        self.credits[number] = [depth, 0, 0, 0]

    def fill(self, number, blocks, vl, asks):
        context = self.contexts.get(number)
        if context and not context.is_halted and not context.fill(blocks, vl, asks):
            self.fail(number)

    def write(self, address, text):
        number, block, byte = address >> 16 & 255, address % 65536 // 64, address % 64
        context, size = self.contexts.get(number), len(text) // 2
        if context is None or context.is_halted:
            return
        has_shape = byte % 8 == 0 and size % 8 == 0 and byte + size <= 64
        pbc = int.from_bytes(bytes.fromhex(text[:16]), "little")
        if not has_shape or block >= context.depth or not context.write(
                block, set(range(byte // 8, (byte + size) // 8)), address >> 24 & 1 == 1, pbc):
            self.fail(number)

    def sdma_fill(self, engine, blocks, vl):
        self.sdma[engine].append(Packet(CONTEXTS + engine, self.sdma_blocks[engine], blocks, vl))
        self.sdma_blocks[engine] += blocks

    def launch(self):
        for i in range(1, 177):
            source = (self.last + i) % 176
            if source >= CONTEXTS:
                ring = self.rings[source - CONTEXTS]
                queue = [] if ring and ring.is_halted else self.sdma[source - CONTEXTS]
            else:
                context = self.contexts.get(source)
                queue = [] if context is None or context.is_halted else context.unlaunched
            if queue:
                packet, self.last = queue.pop(0), source
                if source >= CONTEXTS:
                    self.launched_blocks[source - CONTEXTS] += packet.blocks
                if packet.vl not in VLS or packet.blocks > 162:
                    self.drop(packet)
                else:
                    self.fifos[packet.vl].append(packet)
                return

    def commit(self, vl, is_intact):
        if not self.fifos.get(vl) or vl in self.leaving:
            return
        packet = self.fifos[vl].pop(0)
        if not is_intact:
            self.drop(packet)
            return
        self.leaving[vl] = packet
        self.answers.append({"wire": [vl, packet.source, packet.first % 2048]})
        context = self.context_of(packet)
        if context and context.early:
            packet.is_released = True
            self.give_back(packet.source, context.advance())

    def clear(self, vl):
        packet = self.leaving.pop(vl, None)
        if packet:
            self.leave_ring(packet)
        context = self.context_of(packet) if packet else None
        if context:
            packet.is_released = packet.is_out = True
            if packet.is_covered:
                context.open(packet)
            self.give_back(packet.source, context.advance())
            if not context.is_halted and not context.write_waiting(packet):
                self.fail(packet.source)

    def force(self, number, is_on):
        context = self.contexts.get(number)
        if context:
            if is_on and not context.force:
                self.give_back(number, FORCE | (THRESHOLD if context.meets_threshold() else 0))
            context.force = is_on

    def set_thr(self, number, blocks):
        if number in self.contexts:
            self.contexts[number].threshold = blocks

    def restart(self, number):
        if number in self.contexts:
            self.contexts[number].restart()
            self.credits[number] = [self.credits[number][0], 0, 0, 0]


def host_lines(draw, device, numbers, left):
    """What cores do: packets by software that counts credits to one context, single stores to another."""
    sent, stored = (device.contexts[number] for number in numbers)
    core = draw.randrange(2)
    thread = 2 * core + draw.randrange(2)
    verb = draw.choices(["send", "store", "sfence", "ack", "evict", "restart", "core"], [10, 40, 4, 8, 3, 5, 0.1])[0]
    blocks, vl = draw.choice([1, 1, 2, 3, 5, 40]), draw.choice([0, 0, 1, 2, 3, 15])
    if verb == "send":
        yield verb, thread, sent.number, blocks, vl, draw.random() < 0.1, draw.choice([8, 16, 32, 64])
    elif verb == "store" and left:
        before = len(device.answers)
        yield verb, thread, *left[-1]
        if not any(answer.get("event") == "pio_stall" for answer in device.answers[before:]):
            left.pop()
    elif verb == "store" and blocks <= stored.depth - (max(stored.filled, stored.done) - stored.returned):
        for _, address, text in writes_of(draw, stored, blocks, vl):
            left.extend((address + 8 * i, text[16 * i:16 * i + 16]) for i in range(len(text) // 16))
        draw.shuffle(left)
    elif verb in ("sfence", "ack"):
        yield verb, thread
    elif verb == "evict":
        yield verb, core
    elif verb == "core":
        yield verb, core, draw.choice([1, 2, 5, 12]), draw.choice([0, 1, 4, 30])
    elif verb == "restart":
        for context in (sent, stored):
            if context.is_halted:
                if context is stored:
                    left.clear()
                yield verb, context.number


def writes_of(draw, context, blocks, vl):
    """The writes of one packet behind all others, cut and shuffled."""
    place, lines = max(context.filled, context.done), []
    for i in range(blocks):
        slot, qw = (place + i) % context.depth, 0
        pbc = max(1, blocks * 16 - draw.randrange(16)) | vl << 12 if i == 0 else 0
        text = pbc.to_bytes(8, "little").hex() + "5a" * 56
        while qw < 8:
            count = draw.choice([1, 2, 8, 8]) if qw == 0 else draw.randrange(1, 9)
            end = min(8, qw + count)
            address = (i == 0) << 24 | context.number << 16 | slot * 64 + qw * 8
            lines.append(["write", address, text[16 * qw:16 * end]])
            qw = end
    draw.shuffle(lines)
    return lines


class RingTrace:
    """Software of one SDMA engine: the descriptors that it has written, some of them wrong."""

    def __init__(self, draw, engine):
        self.draw, self.engine = draw, engine
        self.entries, self.count = draw.choice([4, 8, 64, 2048]), 0
        self.base, self.data = 0x100000 * (engine + 1), 0x100000 * (engine + 1) + 0x10000

    def set_up(self):
        self.count = 0
        yield "sdma_buffer", self.engine, self.draw.choice([2, 5, 16, 256])
        yield "sdma_ring", self.engine, self.base, self.entries, 8 * self.engine

    def packet(self, ring, vl):
        """A packet and its descriptors where the ring has room."""
        draw = self.draw
        pieces = draw.choice([1, 1, 2, 3, 7]) if draw.random() < 0.98 else 66
        if self.count + pieces - ring.done >= self.entries:
            return
        sizes = [4 * draw.randrange(2, 20)] + [draw.choice([4, 4, 60, 64, 132]) for _ in range(pieces - 1)]
        dws = sum(sizes) // 4 + (draw.random() < 0.02)
        yield "poke", self.data, (dws | vl << 12).to_bytes(8, "little").hex()
        place = self.data
        for i, size in enumerate(sizes):
            size = size if draw.random() < 0.995 else draw.choice([0, 3, 16383])
            is_first, is_last = (i == 0) ^ (draw.random() < 0.003), i == pieces - 1
            round_ = (self.count // self.entries + (draw.random() < 0.003)) % 4
            low, high = place | size << 48 | is_last << 62 | is_first << 63, round_ << 2 | draw.randrange(4)
            yield ("poke", self.base + self.count % self.entries * 16,
                   (low | high << 64).to_bytes(16, "little").hex())
            place += size
            self.count += 1
        tail = self.count % self.entries
        yield "sdma_tail", self.engine, tail if draw.random() < 0.995 else draw.randrange(2 * self.entries)

    def lines(self, device, vl):
        draw, ring, flights = self.draw, device.rings[self.engine], device.reads[self.engine]
        if ring is None or draw.random() < (0.1 if ring.is_halted else 0.002):
            yield from self.set_up()
        elif draw.random() < (0.1 if ring.is_halted else 0.002):
            self.count = 0
            yield draw.choice(["sdma_restart", "sdma_restart", "sdma_disable"]), self.engine
        elif flights and draw.random() < 0.7:
            yield "sdma_answer", self.engine, draw.randrange(len(flights)), draw.random() < 0.997
        else:
            yield from self.packet(ring, vl)


def trace(seed, lines):
    draw, device, waiting = random.Random(seed), Device(), {}

    def line(*parts):
        device.run(parts)
        return list(parts)

    yield line("device", [draw.randrange(4) for _ in range(20)])
    contexts, base = draw.sample(range(24), draw.randrange(4, 12)), 0
    for number in contexts:
        depth = draw.choice([1, 2, 3, 5, 8, 17, 40, 200, 1024])
        yield line("setup", number, base, depth, draw.choice([0, 1, 1, 2, 3, 8]), 64 * number,
                   draw.random() < 0.5, draw.random() < 0.5)
        base += depth
    engines = [RingTrace(draw, engine) for engine in draw.sample(range(16), 3)]
    for core in range(2):
        yield line("core", core, draw.choice([1, 2, 5, 12]), draw.choice([0, 1, 4, 30]))
    hosted, stores = [contexts.pop(), contexts.pop()], []
    for _ in range(lines):
        number = draw.choice(contexts)
        context, left = device.contexts[number], waiting.setdefault(number, [])
        vl = draw.choice([0, 0, 1, 2, 3, 15]) if draw.random() < 0.99 else draw.randrange(16)
        blocks = draw.choice([1, 1, 2, 3, 5]) if draw.random() < 0.98 else draw.randrange(1, 256)
        # What software knows of room; now and then it does not care.
        room = context.depth - (max(context.filled, context.done) - context.returned)
        fits = (blocks <= room and not left) or draw.random() < 0.005
        verb = draw.choices(["fill", "write", "sdma_fill", "launch", "commit", "clear", "force", "set_thr", "restart",
                             "ring", "host"], [10, 60, 3, 25, 20, 20, 2, 2, 5 if context.is_halted else 0.1, 30, 60])[0]
        if verb == "fill" and fits:
            yield line(verb, number, blocks, vl, draw.random() < 0.1)
        elif verb == "write" and not left and fits and blocks < 100:
            left.extend(writes_of(draw, context, blocks, vl))
        elif verb == "write" and left:
            _, address, text = left.pop()
            if draw.random() < 0.004:  # hostile
                address ^= 1 << draw.choice([2, 3, 6, 7, 12, 24])
            if draw.random() < 0.002:
                text = draw.choice(["00" * 8 + text[16:], text[:8], text * 2])
            yield line(verb, address, text)
        elif verb == "sdma_fill":
            yield line(verb, draw.randrange(16), blocks, vl)
        elif verb == "ring":
            for parts in draw.choice(engines).lines(device, vl):
                yield line(*parts)
        elif verb == "host":
            for parts in host_lines(draw, device, hosted, stores):
                yield line(*parts)
        elif verb == "launch":
            yield line(verb)
        elif verb == "commit":
            yield line(verb, vl, draw.random() < 0.99)
        elif verb == "clear":
            yield line(verb, vl)
        elif verb == "force":
            yield line(verb, number, draw.randrange(2))
        elif verb == "set_thr":
            yield line(verb, number, draw.choice([0, 1, 1, 2, 3, 8, 2047]))
        elif verb == "restart":
            left.clear()
            yield line(verb, number)


def main(what, *arguments):
    if what == "trace":
        answers = trace(int(arguments[0]), int(arguments[1]))
    else:
        device = Device()
        with open(arguments[0], encoding="utf-8") as lines:
            for line in lines:
                device.run(json.loads(line))
        answers = device.answers
    for answer in answers:
        print(json.dumps(answer, separators=(",", ":")))


main(*sys.argv[1:])
