"""Makes what the programs read: the same bytes in every run, from generators with fixed seeds."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

ORDERS_JSON = "orders.json"
CATALOG_XML = "catalog.xml"
SHOP_SQL = "shop.sql"
ROSTER_SMT2 = "roster.smt2"
HISTORY = "history"  # a stream for git fast-import

SYLLABLES = ("ka", "lo", "mi", "ran", "tes", "vu", "dor", "pel", "shi", "gon")


def make(folder: Path, scale: float) -> None:
    """Write the inputs into `folder`; `scale` 1 is their full size."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ORDERS_JSON).write_text(json.dumps(orders(int(24_000 * scale)), indent=1), encoding="utf-8")
    (folder / CATALOG_XML).write_text("".join(catalog(int(60_000 * scale))), encoding="utf-8")
    (folder / SHOP_SQL).write_text("".join(shop(int(50_000 * scale), int(4_000 * scale))), encoding="utf-8")
    (folder / ROSTER_SMT2).write_text("".join(roster(max(8, int(60 * scale)))), encoding="utf-8")
    (folder / HISTORY).write_bytes(b"".join(history(int(10_000 * scale))))


def phrase(random: Random, words: int) -> str:
    """Words of one to five syllables."""
    return " ".join("".join(random.choices(SYLLABLES, k=random.randint(1, 5))) for _ in range(words))


def price(random: Random) -> float:
    """Between 1 and 1000, in cents."""
    return random.randint(100, 99_999) / 100


def day(random: Random) -> str:
    """Some day of a year."""
    return f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def orders(count: int) -> list[dict[str, object]]:
    """Orders of one to six lines by 900 customers."""
    random = Random(1)
    return [
        {
            "id": number,
            "customer": f"customer-{random.randrange(900):04}",
            "placed": day(random),
            "open": random.random() < 0.1,
            "lines": [
                {
                    "article": f"A-{random.randrange(5000)}",
                    "count": random.randint(1, 9),
                    "price": price(random),
                }
                for _ in range(random.randint(1, 6))
            ],
        }
        for number in range(count)
    ]


def catalog(count: int) -> Iterator[str]:
    """Articles with a name, a price, up to three tags and a description."""
    random = Random(2)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<catalog>\n'
    for number in range(count):
        yield f'  <item id="i{number}" group="g{random.randrange(40)}">\n'
        yield f"    <name>{phrase(random, 2)} &amp; {phrase(random, 1)}</name>\n"
        yield f'    <price currency="EUR">{price(random)}</price>\n'
        for _ in range(random.randrange(4)):
            yield f"    <tag>tag-{random.randrange(300)}</tag>\n"
        yield f"    <description>{phrase(random, random.randint(3, 12))}</description>\n  </item>\n"
    yield "</catalog>\n"


def shop(purchases: int, look_ups: int) -> Iterator[str]:
    """A dump of two tables as `.dump` writes it, a row a statement; then what an application asks of it."""
    random = Random(3)
    yield "create table customer(id integer primary key, name text, town text);\n"
    yield "create table purchase(id integer primary key, customer integer, placed text, amount real,"
    yield " note text);\n"
    yield "create index by_customer on purchase(customer);\nbegin;\n"
    for number in range(2000):
        yield f"insert into customer values({number},'{phrase(random, 2)}','town {random.randrange(200)}');\n"
    for number in range(purchases):
        yield f"insert into purchase values({number},{random.randrange(2000)},'{day(random)}',"
        yield f"{price(random)},'{phrase(random, random.randrange(6))}');\n"
    yield "commit;\n"
    for _ in range(look_ups):
        yield (
            "select count(*), sum(amount), max(placed) from purchase"
            f" where customer = {random.randrange(2000)};\n"
        )
    for part in range(18):
        yield (
            "select c.town, substr(p.placed, 1, 7) as month, count(*), sum(p.amount), group_concat(p.note)"
            " from purchase p join customer c on c.id = p.customer"
            f" where c.id % 18 = {part} group by c.town, month order by 4 desc;\n"
        )


def roster(people: int) -> Iterator[str]:
    """A rota as a formula for z3: shifts of each person, apart from each other, sums within bounds."""
    random = Random(4)
    yield "(set-logic QF_LIA)\n"
    for person in range(people):
        for day in range(7):
            yield f"(declare-const s{person}_{day} Int)\n"
            yield f"(assert (and (<= 0 s{person}_{day}) (<= s{person}_{day} 3)))\n"
        total = " ".join(f"s{person}_{day}" for day in range(7))
        yield f"(assert (and (<= 5 (+ {total})) (<= (+ {total}) 12)))\n"
    for day in range(7):
        yield f"(assert (>= (+ {' '.join(f's{person}_{day}' for person in range(people))}) {people}))\n"
    for _ in range(12 * people):
        one, other, on = random.randrange(people), random.randrange(people), random.randrange(7)
        if one != other:
            yield f"(assert (or (not (= s{one}_{on} s{other}_{on})) (= s{one}_{on} 0)))\n"
    yield "(check-sat)\n"


def history(commits: int) -> Iterator[bytes]:
    """Commits to 400 files in 20 folders, one to three files each."""
    random = Random(5)
    yield b"reset refs/heads/main\n"
    for number in range(1, commits + 1):
        message = f"Change {phrase(random, 3)}\n\n{phrase(random, random.randint(2, 20))}\n".encode()
        who = f"author{random.randrange(30)} <author@example.org> {1_600_000_000 + 600 * number} +0000"
        yield f"commit refs/heads/main\nmark :{number}\ncommitter {who}\ndata {len(message)}\n".encode()
        yield message
        for _ in range(random.randint(1, 3)):
            text = f"{phrase(random, 40)}\n".encode()
            place = f"folder{random.randrange(20)}/file{random.randrange(20)}"
            yield f"M 100644 inline {place}\ndata {len(text)}\n".encode() + text
