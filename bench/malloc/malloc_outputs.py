"""Whether programs print under our malloc what they print without it.

    plain       $RUN is env                        |
    preloaded   $RUN is env LD_PRELOAD=...         |  output, exit code: the same? errors in files of a job?
    plain       once more, where they differ       |  then it varies by itself

A job is lines of the shell, run in a folder of its own; $RUN stands in front of the program that it is about.
Clients of servers, and what makes the inputs, run without the malloc. Paths, times and processes are kept out
of the output.
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.table import Table

import programs as tried
from malloc_programs import Program, programs
from programs import AS_NOBODY, CMAKE, NGINX, POSTGRES, PROGRAMS, SQL, shell_file, wait_for

PATIENCE = 900  # s, for any job
SAME, DIFFERENT, VARIES, HANGS = "same", "DIFFERENT", "varies by itself", "never ends"
REPORTS = "ERRORS are reported"
FAILURES = (DIFFERENT, REPORTS)

# What a page makes of itself by script, which --dump-dom prints.
PAGE = """
<!doctype html><title>orders</title><table id="t"></table><script>
const rows = [...Array(2000).keys()].map(n => ({n, town: 'town ' + n % 41, cents: n * 7919 % 10007}));
rows.sort((a, b) => a.cents - b.cents);
document.getElementById('t').innerHTML =
  rows.map(r => `<tr><td>${r.n}<td>${r.town}<td>${JSON.stringify(r)}`).join('');
</script>
"""

REDIS = """
for i = 1, 20000 do
  redis.call('set', 'key' .. i, string.rep('v', i % 300))
  redis.call('rpush', 'list' .. i % 50, i)
  redis.call('sadd', 'set' .. i % 50, i)
  redis.call('hset', 'hash' .. i % 500, 'field' .. i, i)
  redis.call('zadd', 'sorted', i * 7919 % 10007, 'member' .. i)
  if i % 3 == 0 then redis.call('del', 'key' .. i) end
end
return {redis.call('dbsize'), redis.call('lrange', 'list7', 0, -1), redis.call('zrange', 'sorted', 0, 500),
        redis.call('hlen', 'hash7'), redis.call('scard', 'set7'), redis.call('get', 'key4000')}
"""

ASK_NGINX = """
import hashlib, socket
sum = hashlib.sha256()
for number in range(1000):
  s = socket.socket(socket.AF_UNIX); s.connect('nginx.socket')
  path = '/' if number % 3 == 0 else f'/file{number}.html'
  s.sendall(f'GET {path} HTTP/1.0\\r\\nAccept-Encoding: gzip\\r\\n\\r\\n'.encode())
  answer = b''.join(iter(lambda: s.recv(65536), b''))
  sum.update(answer.split(b'\\r\\n\\r\\n', 1)[1])
print(sum.hexdigest())
"""


@dataclass(frozen=True)
class Job:
    """A program, the file and Debian's package that it comes in, and what it is made to do."""

    name: str
    path: str
    package: str
    script: str


@dataclass(frozen=True)
class Outcome:
    """What became of a job."""

    name: str
    verdict: str
    codes: tuple[int, int]  # exit codes, plain and preloaded
    processes: int  # that have reported at their end that the malloc was theirs
    first_difference: str = ""


@dataclass(frozen=True)
class Ran:
    """One run of a job."""

    code: int
    output: bytes


PACKAGES = {
    "python3": "python3",
    "xmllint": "libxml2-utils",
    "lua": "lua5.4",
    "php": "php-cli",
    "node": "nodejs",
    "java": "openjdk-17-jdk-headless",
    "ninja": "ninja-build",
    "nginx": "nginx-light",
    "postgres": "postgresql-15",
    "convert (ImageMagick)": "imagemagick",
    "clang++": "clang-19",
}


def jobs(inputs: Path, history: Path) -> list[Job]:
    """Return all of them, on these folders of inputs."""
    ours = [of_program(each, inputs) for each in programs()]
    taken = {each.name for each in ours}
    java = next(each for each in PROGRAMS if each.name == "java")
    others = [
        Job(
            each.name,
            each.path,
            PACKAGES.get(each.name, each.name),
            f"INPUTS={shlex.quote(str(history))}\n{each.prepare}\n$RUN {command_of(each)}",
        )
        for each in PROGRAMS
        if each.same_output and each.name not in taken
    ]
    project = shell_file("CMakeLists.txt", CMAKE)
    configure = "/usr/bin/cmake -S . -B build -G Ninja -D CMAKE_BUILD_TYPE=Release"
    sums = "find build -name '*.a' -o -name build.ninja | sort | xargs sha256sum\n"
    nginx = "/usr/sbin/nginx -e errors.txt -p . -c nginx.conf"
    user = shlex.join(AS_NOBODY)
    return [
        *ours,
        *others,
        Job("cmake", "/usr/bin/cmake", "cmake", project + f"$RUN {configure}\n" + sums),
        Job(
            "ninja",
            "/usr/bin/ninja",
            PACKAGES["ninja"],
            project + f"{configure} >/dev/null\n$RUN /usr/bin/ninja -j 1 -C build\n" + sums,
        ),
        Job(
            "java",
            java.path,
            PACKAGES["java"],
            f"{java.prepare}\n$RUN {shlex.join((java.path, *java.arguments))}",
        ),
        Job(
            "redis-server",
            "/usr/bin/redis-server",
            "redis-server",
            shell_file("job.lua", REDIS)
            + "$RUN /usr/bin/redis-server --port 0 --unixsocket redis.socket --save '' >server.txt &\n"
            + wait_for("redis-cli -s redis.socket ping >/dev/null")
            + "redis-benchmark -s redis.socket -q -n 10000 -t set,get,lpush,sadd,hset >load.txt\n"
            "redis-cli -s redis.socket flushall\nredis-cli -s redis.socket --eval job.lua\n"
            "redis-cli -s redis.socket shutdown nosave\nwait $!\n",
        ),
        Job(
            "postgres",
            f"{POSTGRES}/postgres",
            PACKAGES["postgres"],
            f"chmod 777 .\n{user} {POSTGRES}/initdb -D data -U tried --no-sync >initdb.txt\n"
            + shell_file("job.sql", SQL)
            + f"{user} $RUN {POSTGRES}/postgres -D data -k . -c listen_addresses= >server.txt 2>&1 &\n"
            + wait_for(f"{POSTGRES}/pg_isready -q -h $PWD/data")
            + "psql -h $PWD/data -U tried -d postgres -q -f job.sql\n"
            f"{user} {POSTGRES}/pg_ctl -D data -m fast stop >stop.txt\nwait $!\n",
        ),
        Job(
            "nginx",
            "/usr/sbin/nginx",
            PACKAGES["nginx"],
            "mkdir -p t pages; seq 1000 | while read n; do echo $n >pages/file$n.html; done\n"
            "touch -d 2020-02-02 pages/*; chmod 755 . pages\n"
            + shell_file("nginx.conf", NGINX.replace("root .;", "root pages;"))
            + shell_file("ask.py", ASK_NGINX)
            + f"$RUN {nginx} &\n"
            + wait_for("[ -S nginx.socket ] && [ -s nginx.pid ]")
            + "/usr/bin/python3 ask.py\nkill -QUIT $(cat nginx.pid)\nwait $!\n",
        ),
        Job(
            "chromium",
            "/usr/bin/chromium",
            "chromium",
            shell_file("page.html", PAGE)
            + "$RUN /usr/bin/chromium --headless --no-sandbox --disable-gpu --user-data-dir=$PWD/profile"
            " --dump-dom file://$PWD/page.html 2>errors.txt\n",
        ),
    ]


def command_of(program: tried.Program) -> str:
    """Return the command line of a program that is tried."""
    return shlex.join((program.path, *program.arguments))


def names() -> list[str]:
    """Return the names of all jobs."""
    return [job.name for job in jobs(Path(), Path())]


def of_program(program: Program, inputs: Path) -> Job:
    """Return a program of ./dev malloc as a job."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in program.environment.items())
    return Job(
        program.name,
        shutil.which(program.command[0]) or str(inputs.absolute() / program.command[0]),
        PACKAGES.get(program.name, program.name),
        f"cd {shlex.quote(str(inputs))}\n$RUN {variables} {shlex.join(program.command)}",
    )


def compare(job: Job, library: str, folder: Path) -> Outcome:
    """Run a job in both ways."""
    told = folder / "told"
    shutil.rmtree(told, ignore_errors=True)
    told.mkdir(parents=True)
    told.chmod(0o777)
    plain = run(job, "env", folder)
    preloaded = run(job, f"env LD_PRELOAD={library} MALLARD_MALLOC_STATS={told}/%p.txt", folder)
    verdict = HANGS if plain.code == -signal.SIGKILL else SAME
    report = first_report(folder / "work")
    if report:
        verdict = REPORTS
    elif preloaded != plain:
        verdict = DIFFERENT if run(job, "env", folder) == plain else VARIES
    return Outcome(
        job.name,
        verdict,
        (plain.code, preloaded.code),
        len(list(told.iterdir())),
        report or first_difference(plain.output, preloaded.output),
    )


def first_report(place: Path) -> str:
    """Return the first line by which a malloc has reported an error into a file of a job, or nothing."""
    for file in sorted(place.glob("*.txt")):
        for line in file.read_text(errors="replace").splitlines():
            if line.startswith("mallard: "):
                return f"{file.name}: {line}"
    return ""


def run(job: Job, front: str, folder: Path, passed: Sequence[int] = ()) -> Ran:
    """Run a job in a folder that is made anew, with some open files, and end what it leaves behind."""
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    printed = folder / "printed"  # no pipe, which a server that is left would keep open
    with (
        printed.open("wb") as file,
        subprocess.Popen(
            ["sh", "-e", "-c", job.script],
            cwd=place,
            env=os.environ | {"LC_ALL": "C.UTF-8", "RUN": front},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=passed,
        ) as shell,
    ):
        try:
            shell.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            file.write(f"does not end within {PATIENCE} s\n".encode())
        finally:
            end_session(shell.pid)
    return Ran(shell.returncode, printed.read_bytes())


def end_session(leader: int) -> None:
    """End what a job has left, a server whose client has failed."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def first_difference(one: bytes, other: bytes) -> str:
    """Return the first lines that differ, or nothing."""
    lines = one.decode(errors="replace").splitlines(), other.decode(errors="replace").splitlines()
    for left, right in zip_longest(*lines, fillvalue=""):
        if left != right:
            return f"{left[:100]!r} became {right[:100]!r}"
    return ""


def show(console: Console, outcomes: Sequence[Outcome], missing: Sequence[Job]) -> None:
    """Print a line for each program."""
    table = Table("program", "output", "exit code", "under it", "processes", box=None, pad_edge=False)
    for each in outcomes:
        plain, preloaded = each.codes
        table.add_row(each.name, each.verdict, str(plain), str(preloaded), str(each.processes))
    for job in missing:
        table.add_row(job.name, f"not installed: apt install {job.package}", "-", "-", "-")
    console.print(table)
    for each in outcomes:
        if each.verdict != SAME:
            console.print(f"{each.name}: {each.first_difference or 'the exit code'}", markup=False)
    console.print()
