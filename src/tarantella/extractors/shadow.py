"""Shadow roots that a page declares: people see what is in them, and in their slots what stands in their host."""

from __future__ import annotations

from collections.abc import Iterable

import turbohtml
from turbohtml import Document, Element, Node, Text

# Where HTML lets one be, beside elements with a name of their own.
_HOSTS = frozenset("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split())
MOST = 5_000  # roots of one page, and slots


def parse(page: bytes | str, encoding: str | None = None) -> Document:
    """A page in which they are part of their hosts. The parser's own roots are no part of it, and closed ones are lost."""
    html = turbohtml.parse(page, encoding=encoding, positions=False, allow_declarative_shadow_roots=False)
    if html.find("template") is not None and (templates := html.select("template[shadowrootmode]")):
        _show_all(html, templates[:MOST])
    return html


def _show_all(html: Document, templates: Iterable[Element]) -> None:
    slots: dict[Node, list[Element]] = {}
    for slot in html.find_all("slot")[:MOST]:
        if (root := slot.closest("template")) is not None:
            slots.setdefault(root, []).append(slot)
    filled: list[Element] = []
    for template in templates:
        host = template.parent
        if isinstance(host, Element) and _may_have_one(host, template):
            _show(host, template, slots.get(template, ()))
            filled += slots.get(template, ())
    for slot in filled:
        # Only now: one that stands in a host within its own root goes into a slot there, by a name of its own.
        if slot.parent is not None:
            slot.unwrap()


def _may_have_one(host: Element, template: Element) -> bool:
    return (template.attr("shadowrootmode") or "").lower() in ("open", "closed") and (
        "-" in host.tag or host.tag in _HOSTS
    )


def _show(host: Element, template: Element, slots: Iterable[Element]) -> None:
    """Put what the host has into the slots of its root, and the root into its host."""
    given: dict[str, list[Node]] = {}
    for node in list(host.children):
        if node != template and isinstance(node, Element | Text):
            name = (node.attr("slot") or "") if isinstance(node, Element) else ""
            given.setdefault(name, []).append(node)
    for slot in slots:
        if nodes := given.pop(slot.attr("name") or "", None):
            _detach(slot.children)
            for node in nodes:
                slot.append(node)
    for nodes in given.values():
        _detach(nodes)
    # Not unwrapped: what stands in a template would stay in a document of its own.
    template.replace_with(*(node for content in template.children for node in content.children))


def _detach(nodes: Iterable[Node]) -> None:
    for node in list(nodes):
        node.extract()
