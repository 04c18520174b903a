"""Names of functions in short, and without arguments."""

import pytest

from mallard.analysis.function_names import own_name, qualified_name, short_name

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
ROWS = f"std::map<{STRING}, int, std::less<{STRING} >, std::allocator<std::pair<{STRING} const, int> > >"


@pytest.mark.parametrize(
    ("function", "short", "qualified"),
    [
        ("main", "main", "main"),
        ("cc1plus+0x12ab", "cc1plus+0x12ab", "cc1plus+0x12ab"),
        ("", "", ""),
        ("shop::parse_orders(char const*, int)", "shop::parse_orders", "shop::parse_orders"),
        ("void shop::shelf<int>::add(int const&) const", "shop::shelf<int>::add", "shop::shelf::add"),
        ("shop::(anonymous namespace)::secret()", *["shop::(anonymous namespace)::secret"] * 2),
        ("operator new(unsigned long)", "operator new", "operator new"),
        ("shop::order::operator()(int)", "shop::order::operator()", "shop::order::operator()"),
        ("shop::order::operator->() const", "shop::order::operator->", "shop::order::operator->"),
        ("shop::order::operator bool() const", *["shop::order::operator bool"] * 2),
        (
            "std::ostream& std::operator<< <char>(std::ostream&, char)",
            "std::operator<<<char>",
            "std::operator<<",
        ),
        ("operators(int)", "operators", "operators"),
        ("main::{lambda(int)#1}::operator()(int) const", *["main::{lambda}::operator()"] * 2),
        ("f(int) const::{lambda()#2}::operator()() const", *["f::{lambda}::operator()"] * 2),
        ("std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<int>::push_back", None),
        (f"{ROWS}::operator[]({STRING}&&)", "std::map<std::string, int>::operator[]", "std::map::operator[]"),
        (f"shelf<{ROWS}, {ROWS} >::add()", "shelf<...>::add", "shelf::add"),
        (f"{STRING}::_M_create(unsigned long&, unsigned long)", "std::string::_M_create", None),
        ("name[abi:cxx11](int)", "name", "name"),
        ("decltype(auto) call<int>(int)", "call<int>", "call"),
        ("<alloc::vec::Vec<T> as core::Drop>::drop", *["<alloc::vec::Vec<T> as core::Drop>::drop"] * 2),
        ("decltype (::new ((void*)(0)) box(1)) std::construct_at<box>(box*)", None, "std::construct_at"),
        ("std::enable_if<(1>2), int>::type app::f<int>(int)", "app::f<int>", "app::f"),
        ("less<(1 < 2)>::test()", "less<(1 < 2)>::test", "less::test"),
        ("(", "(", "("),
        ("broken<", None, "broken"),
    ],
)
def test_names(function: str, short: str | None, qualified: str | None) -> None:
    assert short is None or short_name(function) == short
    assert qualified is None or qualified_name(function) == qualified


@pytest.mark.parametrize(
    ("function", "own"),
    [
        ("main", "main"),
        ("cc1plus+0xcb20a0", "cc1plus+0xcb20a0"),
        ("(anonymous namespace)::collect_texts(int)", "collect_texts"),
        ("app::(anonymous namespace)::reader::next()", "reader::next"),
        ("nlohmann::v3::basic_json<std::map, int>::push_back(int&&)", "basic_json::push_back"),
        (f"{ROWS}::operator[]({STRING}&&)", "map::operator[]"),
        ("app::run()::{lambda(app::order&)#1}::operator()(app::order&) const", "{lambda}::operator()"),
        ("std::operator<< <char>(std::ostream&, char)", "std::operator<<"),
    ],
)
def test_tables_have_room_for_the_function_and_its_class(function: str, own: str) -> None:
    assert own_name(function) == own
