class JournalError(ValueError):
    """Nothing of a journal can be read; the message is one line for the user."""

def summary_json(path: str) -> str:
    """Read the whole journal and return what is known of it as one JSON object."""
