"""HTML as elements, written and escaped by the standard library."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Child = Element | str | None


def tag(name: str, *children: Child, **attributes: str | None) -> Element:
    """Return an element. `class_` is the attribute class, `data_value` is data-value; None is left out."""
    made = Element(
        name,
        {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None},
    )
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None and len(made):
            made[-1].tail = (made[-1].tail or "") + child
        elif child is not None:
            made.text = (made.text or "") + child
    return made


def text_of(element: Element) -> str:
    """Return the element as HTML."""
    return ElementTree.tostring(element, encoding="unicode", method="html")
