"""Plans: which calling context, or which owner's instance, of an unmodified program gets which heap.

journal --planner--> Plan <--plan_file--> plan.toml, for people        docs/plan.md
                      `----plan_image---> image, for libmallard-malloc.so
"""

from mallard.plan.plan_file import read_plan
from mallard.plan.plan_image import image_of
from mallard.plan.plan_model import Context, Frame, Module, Plan, Rule, Witness
from mallard.plan.plan_text import plan_text

__all__ = [
    "Context",
    "Frame",
    "Module",
    "Plan",
    "Rule",
    "Witness",
    "image_of",
    "plan_text",
    "read_plan",
]
