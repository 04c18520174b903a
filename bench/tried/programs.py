"""The programs that are tried: Debian's, as a user installs them, each with a job of its own.

Every job runs in an empty folder and makes what it needs first. `driver` is what clients do to a server
meanwhile; it ends the server, too. Paths are whole, so that nothing of that name elsewhere is taken for it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RECORDER_PROGRAMS = Path(__file__).resolve().parents[1] / "recorder" / "programs"
POSTGRES = "/usr/lib/postgresql/15/bin"
# postgres refuses to run as root.
AS_NOBODY = (
    ("/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") if os.geteuid() == 0 else ()
)


@dataclass(frozen=True)
class Program:
    """A program, where Debian has it, and what it is made to do."""

    name: str
    path: str
    does: str
    arguments: Sequence[str]
    prepare: str = ""  # by the shell, before each run
    driver: str = ""  # by the shell, while it runs
    user: Sequence[str] = ()  # in front of the recorder
    same_output: bool = True  # whether what it prints is the same each time


JAVASCRIPT = """
const zlib = require('zlib'), crypto = require('crypto');
let total = 0;
for (let i = 0; i < 3000; i++) {
  const order = k => ({id: i * 60 + k, tags: ['a' + k, 'b' + i], price: k / 7});
  const orders = Array.from({length: 60}, (_, k) => order(k));
  const text = Buffer.from(JSON.stringify(orders));
  const back = JSON.parse(zlib.inflateSync(zlib.deflateSync(text)).toString());
  total += back.length + crypto.createHash('sha256').update(text).digest()[0];
}
console.log(total);
"""

PHP = """
$total = 0;
for ($i = 0; $i < 30000; $i++) {
  $orders = [];
  for ($k = 0; $k < 20; $k++)
    $orders["order $i $k"] = ['tags' => ["a$k", "b$i"], 'text' => str_repeat('x', $k * 40)];
  $back = json_decode(json_encode($orders), true);
  usort($back, fn($one, $other) => strcmp($one['text'], $other['text']));
  $total += count($back) + strlen(gzcompress(implode(',', array_keys($orders))));
}
echo $total, PHP_EOL;
"""

RUBY = """
require 'json'
total = 0
6000.times do |i|
  orders = (0...30).map { |k| {id: "order #{i} #{k}", tags: ["a#{k}", "b#{i}"], text: 'x' * (k * 40)} }
  back = JSON.parse(orders.to_json)
  total += back.group_by { |order| order['text'].size % 7 }.values.map(&:size).max
  total += back.to_s.scan(/a\\d+/).size
end
puts total
"""

JAVA = """
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;
public class Orders {
  public static void main(String[] arguments) throws Exception {
    long total = IntStream.range(0, 4000).parallel().mapToLong(i -> {
      Map<String, List<String>> orders = new TreeMap<>();
      for (int k = 0; k < 60; k++) orders.put("order " + i + " " + k, List.of("a" + k, "b" + i));
      Deflater packer = new Deflater();
      packer.setInput(orders.toString().getBytes());
      packer.finish();
      int bytes = packer.deflate(new byte[8192]);
      packer.end();
      return orders.size() + bytes;
    }).sum();
    System.out.println(total);
  }
}
"""

SQL = """
create table purchase (id int primary key, customer int, town text, cents int);
insert into purchase select n, n % 997, 'town ' || n % 41, n * 7919 % 10007 from generate_series(1, 60000) n;
create index by_town on purchase (town);
select town, count(*), sum(cents), string_agg(distinct customer::text, ',') from purchase group by town;
select a.town, count(*) from purchase a join purchase b on b.id = a.id + 1 group by a.town order by 2;
"""

NGINX = """
daemon off; master_process on; worker_processes 2; pid nginx.pid; error_log errors.txt;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t;
  scgi_temp_path t; gzip on; gzip_min_length 1;
  server { listen unix:nginx.socket; root .; default_type text/html; location / { ssi on; autoindex on; } }
}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(orders C CXX)
include(CheckIncludeFile)
foreach(header stdio.h stdlib.h string.h unistd.h sys/mman.h absent.h)
  string(MAKE_C_IDENTIFIER has_${header} name)
  check_include_file(${header} ${name})
endforeach()
foreach(number RANGE 300)
  file(WRITE ${CMAKE_BINARY_DIR}/part${number}.c "int part${number}(void) { return ${number}; }")
  add_library(part${number} STATIC ${CMAKE_BINARY_DIR}/part${number}.c)
endforeach()
"""

VIM = """
call setline(1, map(range(1, 20000), {_, n -> 'line ' . n . ' ' . repeat('x', n % 50)}))
%s/x\\+$/\\=strlen(submatch(0))/
sort! n
g/7$/m0
g/3 /normal! Aend
write! out.txt
quitall!
"""


def shell_file(name: str, text: str) -> str:
    """Return the shell's lines that write a file."""
    return f"cat > {name} <<'END_OF_FILE'{text}END_OF_FILE\n"


def wait_for(condition: str) -> str:
    """Return the shell's line that waits for a server, half a minute at most."""
    return f"for _ in $(seq 300); do {condition} && break; sleep 0.1; done\n"


def ask_nginx(times: int) -> str:
    """Return a line of Python that fetches a page so often."""
    return (
        "import socket\n"
        f"for number in range({times}):\n"
        "  s = socket.socket(socket.AF_UNIX); s.connect('nginx.socket')\n"
        "  s.sendall(b'GET / HTTP/1.0\\r\\nAccept-Encoding: gzip\\r\\n\\r\\n')\n"
        "  while s.recv(65536): pass\n"
    )


PROGRAMS = [
    Program("node", "/usr/bin/node", "JSON, zlib and hashes of 3,000 lists of orders", ("-e", JAVASCRIPT)),
    Program(
        "git",
        "/usr/bin/git",
        "git log --stat of 4,000 commits",
        ("--git-dir=history.git", "log", "--stat", "main"),
        prepare="git init -q --bare history.git\n"
        "git --git-dir=history.git fast-import --quiet < $INPUTS/history\n",
    ),
    Program(
        "cmake",
        "/usr/bin/cmake",
        "configures a project of 300 libraries, with checks that compile",
        ("-S", ".", "-B", "build"),
        prepare=shell_file("CMakeLists.txt", CMAKE) + "rm -rf build\n",
        same_output=False,
    ),
    Program("php", "/usr/bin/php8.2", "JSON, sorting and zlib of 30,000 lists of orders", ("-r", PHP)),
    Program(
        "ruby", "/usr/bin/ruby3.1", "JSON and regular expressions over 6,000 lists of orders", ("-e", RUBY)
    ),
    Program(
        "redis-server",
        "/usr/bin/redis-server",
        "redis-benchmark: 30,000 each of set, get, lpush, sadd, hset, mset",
        ("--port", "0", "--unixsocket", "redis.socket", "--save", "", "--loglevel", "warning"),
        driver=wait_for("redis-cli -s redis.socket ping")
        + "redis-benchmark -s redis.socket -q -n 30000 -r 5000 -t set,get,lpush,sadd,hset,mset\n"
        "redis-cli -s redis.socket shutdown nosave\n",
        same_output=False,
    ),
    Program(
        "postgres",
        f"{POSTGRES}/postgres",
        "fills a table of 60,000 rows, makes an index, groups and joins; with its helpers",
        ("-D", "data", "-k", ".", "-c", "listen_addresses=", "-c", "logging_collector=off"),
        prepare=f"rm -rf data; {POSTGRES}/initdb -D data -U tried --no-sync > initdb.txt\n"
        + shell_file("job.sql", SQL),
        driver=wait_for(f"{POSTGRES}/pg_isready -q -h $PWD/data")
        + "psql -h $PWD/data -U tried -d postgres -q -f job.sql > rows.txt\n"
        f"{POSTGRES}/pg_ctl -D data -m fast stop > stop.txt\n",
        user=AS_NOBODY,
        same_output=False,
    ),
    Program(
        "nginx",
        "/usr/sbin/nginx",
        "serves a listed folder 3,000 times, compressed, with two workers",
        ("-e", "errors.txt", "-p", ".", "-c", "nginx.conf"),
        prepare="mkdir -p t; seq 500 | while read n; do : > file$n.html; done\n"
        + shell_file("nginx.conf", NGINX),
        driver=wait_for("[ -S nginx.socket ] && [ -s nginx.pid ]")
        + shell_file("ask.py", "\n" + ask_nginx(3000))
        + "python3 ask.py\nkill -QUIT $(cat nginx.pid)\n",
        same_output=False,
    ),
    Program(
        "java",
        "/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
        "maps, strings and zlib on all cores",
        ("-XX:+UseG1GC", "-cp", ".", "Orders"),
        prepare=shell_file("Orders.java", JAVA)
        + "/usr/lib/jvm/java-17-openjdk-amd64/bin/javac Orders.java\n",
        same_output=False,
    ),
    Program(
        "convert (ImageMagick)",
        "/usr/bin/convert-im6.q16",
        "draws 2,000 circles on a picture, turns and resizes it, writes PNG",
        (
            *("-size", "600x600", "gradient:red-blue"),
            *(
                word
                for n in range(2000)
                for word in ("-draw", f"circle {n % 600},{n % 577} {n % 590},{n % 571}")
            ),
            *("-rotate", "30", "-resize", "50%", "png:out.png"),
        ),
    ),
    Program(
        "gdb",
        "/usr/bin/gdb",
        "debugs a C++ program: a breakpoint met 40 times, with stacks and types",
        ("--batch", "-nx", "-x", "job.gdb", "./churn"),
        prepare=f"[ -x churn ] || g++ -std=c++20 -g -O0 -pthread -o churn {RECORDER_PROGRAMS}/churn.cpp\n"
        + shell_file(
            "job.gdb",
            "\nset width 0\nbreak main\nrun 100\nptype std::vector<std::string>\n"
            "python\nfor i in range(40):\n  gdb.execute('next', to_string=True)\n"
            "  gdb.execute('info types string', to_string=True)\nend\nkill\n",
        ),
        same_output=False,
    ),
    Program(
        "clang++",
        "/usr/bin/clang++-19",
        "checks a source file of templates",
        ("-std=c++20", "-fsyntax-only", f"{RECORDER_PROGRAMS}/catalogue.cpp"),
    ),
    Program(
        "vim",
        "/usr/bin/vim.basic",
        "substitutes, sorts and moves 20,000 lines",
        ("-es", "-u", "NONE", "-i", "NONE", "-N", "-S", "job.vim"),
        prepare=shell_file("job.vim", VIM),
    ),
]
