# Progress of flitwise run on a terminal, and elsewhere. Time is let go by while a run is stopped, so that small runs last long.
. "$(dirname "$0")/program.sh"
python3 - "$FLITWISE" "$FLITWISE_SOURCE_DIR" "$work" <<'P' || failures=$((failures + 1))
import fcntl, json, os, pty, re, select, signal, struct, subprocess, sys, termios, threading, time
program, source, work = sys.argv[1:]
saturated = source + "/configs/checks/saturated.yaml"
failed = []
LONG = ["--set", "workload.requests=20000000"]
TOLD = re.compile(r"(\d+) % of ([\d,]+) requests, [\d.]+ [num]?s simulated(, [\d.]+ (?:s|min|h) left)?$")


def expect(true, what):
    if not true:
        failed.append(what)
        print("FAILED:", what)


def processor_seconds(process):
    """None once it has ended."""
    state, *figures = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return None if state == "Z" else sum(map(int, figures[10:12])) / os.sysconf("SC_CLK_TCK")


def seconds_to_start():
    """What a run of few requests takes of the processor."""
    before = os.times()
    subprocess.run([program, "run", saturated, "--set", "workload.requests=500", "--quiet"], stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


START = max(0.05, 2 * seconds_to_start())


def stop(process, seconds):
    """Once it simulates."""
    while (used := processor_seconds(process)) is not None and used < START:
        time.sleep(0.005)
    expect(used is not None, f"a run that should have lasted ended within {START} s")
    os.kill(process, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process, signal.SIGCONT)


class Run:
    """A run whose stderr, and with `all_on_it` stdout as well, is a terminal of so many columns."""

    def __init__(self, *arguments, config=saturated, columns=80, term="xterm", all_on_it=True):
        self.seen, self.stdout, self.code = "", b"", None
        read, write = os.pipe()
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            if not all_on_it:
                os.dup2(write, 1)
            os.environ["TERM"] = term
            fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execv(program, [program, "run", config, *arguments])
        os.close(write)
        self.out = read

    def read(self, seconds, until=None):
        """Reads for so long, or until the program has ended or a text is seen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and until in self.seen):
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    data = os.read(self.terminal, 65536)
                except OSError:  # the other end is closed
                    break
                if not data:
                    break
                self.seen += data.decode()
        return self

    def stop_for(self, seconds):
        stop(self.child, seconds)
        return self

    def end(self):
        self.read(240)
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        while data := os.read(self.out, 65536):
            self.stdout += data
        return self

    def drawings(self):
        return [text for text in re.split(r"\r\x1b\[K", self.seen)[1:-1] if text]

    def rest(self):
        """What is on the terminal when all is over."""
        return self.seen.rsplit("\r\x1b[K", 1)[-1]


def terminal():
    """A line that is drawn again, and a clean terminal after it; results are as with --quiet."""
    some = ["--set", "workload.requests=1000000", "--json"]
    run = Run(*some, all_on_it=False).stop_for(2).end()
    expect(run.code == 0, f"a run on a terminal ended with {run.code}")
    expect(run.drawings(), f"a run on a terminal told nothing: {run.seen!r}")
    for text in run.drawings():
        expect(TOLD.match(text), f"unexpected text on a terminal: {text!r}")
        expect(len(text) < 80, f"too long for 80 columns: {text!r}")
    total = {TOLD.match(text)[2] for text in run.drawings()}
    expect(total == {f"{1000000 + json.loads(run.stdout)['config']['run']['warmup']:,}"}, f"not of all requests: {total}")
    expect(run.rest() == "", f"left on the terminal: {run.rest()!r}")
    quiet = Run(*some, "--quiet", all_on_it=False).stop_for(2).end()
    expect(quiet.seen == "", f"--quiet told something: {quiet.seen!r}")
    same = [re.sub(rb'"host_seconds": [^,\n]*', b"", one.stdout) for one in (run, quiet)]
    expect(same[0] == same[1] and b"links" in same[0], "progress changes the result")


def interrupt():
    """Ctrl-C: the summary stands on a clean line. At most five drawings a second; the share grows, the time left comes."""
    run = Run(*LONG, "--explain").read(20, until=" left")
    begin, before = time.monotonic(), len(run.drawings())
    run.read(1.5)
    drawn = (len(run.drawings()) - before) / (time.monotonic() - begin)
    expect(0 < drawn <= 6, f"{drawn} drawings a second")
    os.write(run.terminal, b"\x03")
    run.end()
    expect(run.code == 130, f"Ctrl-C ended a run with {run.code}")
    shares = [int(TOLD.match(text)[1]) for text in run.drawings() if TOLD.match(text)]
    expect(shares == sorted(shares) and shares, f"shares do not grow: {shares}")
    expect(" left" in run.drawings()[-2], f"no time left: {run.drawings()[-2:]!r}")
    expect(re.match(r"(Simulated|flitwise: interrupted)", run.rest()), f"what follows Ctrl-C: {run.rest()[:100]!r}")


def narrow_and_short():
    """A narrow terminal does not wrap. A short run tells nothing, nor does one on a dumb terminal draw."""
    run = Run(*LONG, columns=30).read(20, until=" % of").read(0.5)
    os.kill(run.child, signal.SIGTERM)
    run.end()
    expect(run.drawings() and all(len(text) < 30 for text in run.drawings()), f"in 30 columns: {run.drawings()[:2]!r}")
    run = Run("--set", "workload.requests=500", all_on_it=False).end()
    expect(run.seen == "", f"a short run told: {run.seen!r}")
    run = Run(*LONG, term="dumb").read(4)
    os.kill(run.child, signal.SIGTERM)
    run.end()
    expect("\x1b" not in run.seen and " % of" not in run.seen, f"a dumb terminal: {run.seen[:200]!r}")


def deadlock():
    """The report of a run that does not get on begins on a clean line."""
    run = Run("--set", "link.timing.propagation=1us", "--set", "link.timing.replay_timeout=100ns", "--set", "run.deadlock_after=3s",
              config=saturated).stop_for(2).end()
    expect(run.code == 3, f"a machine that does not come up ended with {run.code}")
    expect(run.drawings() and re.match(r"[\d.]+ [num]?s simulated$", run.drawings()[-1]), f"it told: {run.drawings()!r}")
    expect(run.rest().startswith("flitwise: simulation error: "), f"what follows: {run.rest()[:200]!r}")


def elsewhere():
    """No terminal: a plain line every 10 s, none before."""
    plain = [subprocess.Popen([program, "run", saturated, *LONG, *more], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) for more in ([], ["--quiet"])]
    stops = [threading.Thread(target=stop, args=(one.pid, 10)) for one in plain]
    for one in stops:
        one.start()
    for one in stops:
        one.join()
    time.sleep(2)
    for one in plain:
        one.send_signal(signal.SIGINT)
    told = [one.communicate()[1].splitlines() for one in plain]
    expect(len(told[0]) == 2 and TOLD.match(told[0][0]), f"without a terminal: {told[0]!r}")
    expect(told[1] == told[0][1:], f"--quiet without a terminal: {told[1]!r}")


parts = [terminal, interrupt, narrow_and_short, deadlock, elsewhere]
done = []
threads = [threading.Thread(target=lambda part=part: (part(), done.append(part))) for part in parts]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect(len(done) == len(parts), "a part of the test broke")
sys.exit(1 if failed else 0)
P
finish
