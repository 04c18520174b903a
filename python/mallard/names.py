"""Names of files as text: what opens a file has its bytes (os.fsencode), what shows one must be UTF-8."""


def shown(name: str) -> str:
    """Return the name with U+FFFD for each byte that is no text; it can be written anywhere."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
