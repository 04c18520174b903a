"""Which strategy would pay, where and how much: found by replaying each part of a program against candidates.

journal --Program--> parts --Replays--> candidates --> Advice --as_document--> JSON        docs/advice.md
"""

from mallard.advise.advice_model import Advice, Options, as_document
from mallard.advise.advisor import advised

__all__ = ["Advice", "Options", "advised", "as_document"]
