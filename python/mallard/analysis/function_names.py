"""Names of functions as people read them, from names as the demangler writes them.

    void app::shelf<int, std::allocator<int> >::add(int const&) const
        short_name          app::shelf<int>::add
        qualified_name      app::shelf::add
        own_name            shelf::add

Names of C, and placeholders for a missing name, stay as they are.
"""

import re
from collections.abc import Callable
from functools import lru_cache

# What a name is made of; the second kind of operator converts to a type.
TOKEN = re.compile(
    r"(?P<operator>\boperator\s*(?:\(\)|\[\]|new\[\]|delete\[\]|new\b|delete\b"
    r"|<=>|->\*?|<<=?|>>=?|\+\+|--|&&|\|\||[-+*/%^&|~!=<>,]=?)(?:\s(?=<))?|\boperator [^(]+)"
    r"|(?P<plain>\(anonymous namespace\)|[^\s<>(){}\[\]]+?(?=\boperator\b|[\s<>(){}\[\]]|$))"
    r"|(?P<bracket>[<({\[])"
    r"|(?P<space>\s)"
)
UNNAMED = "(anonymous namespace)"
# Between what is named, but not inside a lambda's or an operator's.
SCOPES = re.compile(r"::(?![^{]*\})")
BRACKET = re.compile(r"[<>(){}\[\]]")
CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
DEDUCED = re.compile(r"\bdecltype ?\(")  # a return type
BEHIND_PARAMETERS = re.compile(r"(?: const| volatile| noexcept| &&?)*(?=::)")
# Arguments that containers have without anybody asking for them.
DEFAULT = re.compile(r"std::(?:allocator|char_traits|less|hash|equal_to|default_delete)<")
LONGEST_ARGUMENTS = 32


@lru_cache(maxsize=1 << 16)
def qualified_name(function: str) -> str:
    """Return the name with its namespaces and classes, without arguments of any kind."""
    return outline(function, lambda arguments: "") or function


@lru_cache(maxsize=1 << 16)
def short_name(function: str) -> str:
    """Return the name without parameters, and with the template arguments that tell something."""
    return plain_string(outline(function, short_arguments) or function)


@lru_cache(maxsize=1 << 16)
def own_name(function: str) -> str:
    """Return the function and the innermost named class or namespace: what a table has room for."""
    parts = [part for part in SCOPES.split(qualified_name(function)) if part != UNNAMED]
    return "::".join(parts[-2:])


def plain_string(name: str) -> str:
    """Return the name with the standard's string as everybody calls it."""
    return name.replace("std::__cxx11::", "std::").replace("std::basic_string<char>", "std::string")


def outline(function: str, template: Callable[[str], str]) -> str:
    """Leave out return type and parameters; template arguments become what `template` makes of them."""
    name, at = "", 0
    while token := TOKEN.match(function, at):
        at = token.end()
        if token["space"]:
            name = ""  # it was the return type
            continue
        if deduced := DEDUCED.match(function, token.start()):
            at = closing(function, deduced.end() - 1) + 1
            continue
        if not token["bracket"]:
            name += token[0].rstrip()
            continue
        end = closing(function, token.start())
        inside, at = function[token.end() : end], end + 1
        if token[0] == "{":
            name += "{" + inside.partition("(")[0] + "}"  # a lambda, its parameters left out
        elif token[0] == "<":
            name += template(inside) if name and not name.endswith("::") else f"<{inside}>"
        elif token[0] == "(":
            behind = BEHIND_PARAMETERS.match(function, at)
            if not behind:
                break
            at = behind.end()  # of a function around the one that is named
    return name


def closing(text: str, opening: int) -> int:
    """Return where the bracket that opens there is closed, the end of the text if it is not."""
    expected: list[str] = []
    for found in BRACKET.finditer(text, opening):
        bracket, at = found[0], found.start()
        if bracket in CLOSING:
            expected.append(CLOSING[bracket])
        elif bracket == ">" and (text[at - 1] == "-" or expected[-1:] not in ([">"], [])):
            pass  # an arrow, or "greater than"
        elif bracket in expected:
            while expected.pop() != bracket:
                pass  # "less than" looks like a bracket
            if not expected:
                return at
    return len(text)


def short_arguments(arguments: str) -> str:
    """Return the template arguments that a reader wants, in angle brackets."""
    wanted = (part for part in split_arguments(arguments) if not DEFAULT.match(part))
    text = plain_string(", ".join(short_type(part) for part in wanted))
    if len(text) > LONGEST_ARGUMENTS:
        return "<...>"
    return f"<{text}>" if text else ""


def short_type(name: str) -> str:
    """Return a type with its own template arguments made short."""
    begin = name.find("<")
    end = closing(name, begin) if begin >= 0 else len(name)
    if end == len(name):
        return name
    return name[:begin] + short_arguments(name[begin + 1 : end]) + name[end + 1 :]


def split_arguments(arguments: str) -> list[str]:
    """Return what stands between the commas that are in no bracket."""
    parts, begin, at = [], 0, 0
    while at < len(arguments):
        if arguments[at] == ",":
            parts.append(arguments[begin:at].strip())
            begin = at + 1
        elif arguments[at] in CLOSING:
            at = closing(arguments, at)
        at += 1
    return [*parts, arguments[begin:].strip()]
