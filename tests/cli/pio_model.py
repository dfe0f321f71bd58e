"""A second model of PIO send memory, written from docs/rules/pio.md alone: whole packets and lists, no masks.

pio_model.py trace SEED LINES    a random trace, with fills that have no credits, drops, halts and restarts
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
        self.asks, self.life = asks, life
        self.is_whole = self.is_released = self.is_out = self.is_covered = False


class Context:
    def __init__(self, depth, threshold, early, interrupt):
        self.depth, self.threshold, self.early, self.interrupt = depth, threshold, early, interrupt
        self.force, self.life = False, 0
        self.restart()

    def restart(self):
        self.free = self.returned = self.filled = self.frozen = 0
        self.is_halted = False
        self.life += 1
        self.begun, self.complete, self.unlaunched = [], [], []
        self.slots, self.waiting = [None] * self.depth, [None] * self.depth

    def slots_of(self, packet):
        return [(packet.first + i) % self.depth for i in range(packet.blocks)]

    def fill(self, packet):
        """False where one of its blocks has no room."""
        self.begun.append(packet)
        for slot in self.slots_of(packet):
            self.filled += 1
            owner = self.slots[slot]
            if owner is None:
                self.slots[slot] = packet
            elif owner.is_covered and not owner.is_out and self.waiting[slot] is None:
                self.waiting[slot] = packet
            else:
                return False
        packet.is_whole = True
        self.finish()
        return True

    def finish(self):
        while self.begun:
            packet = self.begun[0]
            if not packet.is_whole or any(self.slots[s] is not packet for s in self.slots_of(packet)):
                break
            self.begun.pop(0)
            self.complete.append(packet)
            self.unlaunched.append(packet)

    def open(self, packet):
        for slot in self.slots_of(packet):
            self.slots[slot], self.waiting[slot] = self.waiting[slot], None

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


class Device:
    def __init__(self):
        self.contexts, self.addresses, self.groups = {}, [0] * CONTEXTS, [0] * 20
        self.fifos, self.leaving = {vl: [] for vl in VLS}, {}
        self.sdma, self.sdma_blocks = [[] for _ in range(16)], [0] * 16
        self.last, self.answers = CONTEXTS + 15, []

    def run(self, line):
        getattr(self, line[0])(*line[1:])

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
        self.answers.append({"addr": self.addresses[first], "qw": words, "ctx": number, "irq": interrupts})

    def fail(self, number, causes=0):
        context = self.contexts[number]
        if not context.is_halted:
            context.is_halted, context.frozen = True, context.free
            self.give_back(number, causes | STATUS | ERROR)

    def context_of(self, packet):
        context = self.contexts.get(packet.source)
        return context if context and context.life == packet.life else None

    def drop(self, packet):
        context = self.context_of(packet)
        if context:
            packet.is_released = packet.is_out = True
            self.fail(packet.source, context.advance())

    def device(self, groups):
        self.groups = groups

    def setup(self, number, _base, depth, threshold, address, early, interrupt):
        self.contexts[number] = Context(depth, threshold, early, interrupt)
        self.addresses[number] = address

    def fill(self, number, blocks, vl, asks):
        context = self.contexts.get(number)
        if context and not context.is_halted:
            if not context.fill(Packet(number, context.filled, blocks, vl, asks, context.life)):
                self.fail(number)

    def sdma_fill(self, engine, blocks, vl):
        self.sdma[engine].append(Packet(CONTEXTS + engine, self.sdma_blocks[engine], blocks, vl))
        self.sdma_blocks[engine] += blocks

    def launch(self):
        for i in range(1, 177):
            source = (self.last + i) % 176
            if source >= CONTEXTS:
                queue = self.sdma[source - CONTEXTS]
            else:
                context = self.contexts.get(source)
                queue = [] if context is None or context.is_halted else context.unlaunched
            if queue:
                packet, self.last = queue.pop(0), source
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
        context = self.context_of(packet) if packet else None
        if context:
            packet.is_released = packet.is_out = True
            if packet.is_covered:
                context.open(packet)
            self.give_back(packet.source, context.advance())
            if not context.is_halted:
                context.finish()

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


def trace(seed, lines):
    draw, device = random.Random(seed), Device()

    def line(*parts):
        device.run(parts)
        return list(parts)

    yield line("device", [draw.randrange(4) for _ in range(20)])
    contexts, base = draw.sample(range(24), draw.randrange(2, 12)), 0
    for number in contexts:
        depth = draw.choice([1, 2, 3, 5, 8, 17, 40, 200, 1024])
        yield line("setup", number, base, depth, draw.choice([0, 1, 2, 3, 8, 50]), 64 * number,
                   draw.random() < 0.5, draw.random() < 0.5)
        base += depth
    for _ in range(lines):
        number = draw.choice(contexts)
        context = device.contexts[number]
        vl = draw.choice([0, 0, 1, 2, 3, 15]) if draw.random() < 0.99 else draw.randrange(16)
        blocks = draw.choice([1, 1, 2, 3, 5]) if draw.random() < 0.98 else draw.randrange(1, 256)
        room = context.depth - (context.filled - context.returned)  # as software knows it
        verb = draw.choices(["fill", "sdma_fill", "launch", "commit", "clear", "force", "set_thr", "restart"],
                            [28, 3, 25, 20, 18, 2, 2, 3 if context.is_halted else 0.1])[0]
        if verb == "fill" and (blocks <= room or draw.random() < 0.02):
            yield line(verb, number, blocks, vl, draw.random() < 0.1)
        elif verb == "sdma_fill":
            yield line(verb, draw.randrange(16), blocks, vl)
        elif verb == "launch":
            yield line(verb)
        elif verb == "commit":
            yield line(verb, vl, draw.random() < 0.99)
        elif verb == "clear":
            yield line(verb, vl)
        elif verb == "force":
            yield line(verb, number, draw.randrange(2))
        elif verb == "set_thr":
            yield line(verb, number, draw.choice([0, 1, 2, 3, 8, 50, 2047]))
        elif verb == "restart":
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
