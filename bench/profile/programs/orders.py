"""orders.py ROUNDS: builds orders as dictionaries, lists and tuples, and sums them, ROUNDS times."""

import sys


def by_customer(count: int) -> dict[str, list[dict[str, object]]]:
    """Return `count` orders of one to five lines by 900 customers."""
    customers: dict[str, list[dict[str, object]]] = {}
    for number in range(count):
        name = f"customer-{number % 900}"
        lines = [(line, number * line / 7.0) for line in range(number % 5 + 1)]
        customers.setdefault(name, []).append({"id": number, "name": name, "lines": lines})
    return customers


def total(customers: dict[str, list[dict[str, object]]]) -> float:
    """Return the sum of all prices, and of the numbers of orders once more, read from a text."""
    found = 0.0
    for orders in customers.values():
        for order in orders:
            found += sum(price for _, price in order["lines"])  # type: ignore[attr-defined]
        text = ",".join(str(order["id"]) for order in orders)
        found += sum(int(number) for number in text.split(","))
    return found


print(sum(total(by_customer(20_000)) for _ in range(int(sys.argv[1]))))
