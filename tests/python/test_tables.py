"""Names in the tables of a profile: short enough to be told apart in a row."""

import pytest

from mallard.commands.tables import brief


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("main", "main"),
        ("cc1plus+0xcb20a0", "cc1plus+0xcb20a0"),
        ("(anonymous namespace)::collect_texts", "collect_texts"),
        ("std::map<int, std::vector<char> >::operator[](int const&)", "std::map::operator[](int const&)"),
        ("planted::make<void* (&)(unsigned long)>", "planted::make"),
        ("operator< <int>(box<int>, box<int>)", "operator< (box, box)"),
        ("pointer<node>::operator->() const", "pointer::operator->() const"),
        ("operator<<(stream<char>&, int)", "operator<<(stream&, int)"),
        ("order::operator<=>(order<int> const&)", "order::operator<=>(order const&)"),
        ("run()::<lambda(int)>", "run()::<lambda(int)>"),
        ("cut<off", "cut<off"),
    ],
)
def test_brief_name_keeps_what_tells_functions_apart(name: str, shown: str) -> None:
    assert brief(name) == shown
