"""The text of an article, told from what stands around it by where it stands and what it is made of.

First what is never part of a text is taken away; then every paragraph gives its length to all that it stands in, which tells
where the text is; then names that mean something else (comments, sharing, related) are taken away, unless most of the text is in
them; then the smallest place that has most of the text is chosen, and cleaned of what is only links or labels.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from turbohtml import Document, Element, Markdown, Node, PlainText, Text

from tarantella.domain.struct import Frozen
from tarantella.extractors.aside_words import APPENDIX, ASIDE_LINE, LAST
from tarantella.extractors.markup_names import Meaning, meaning_of, words_of

_NEVER = (
    "script, style, noscript, template, iframe, svg, canvas, object, embed, video, audio, figure, figcaption, picture, img, button, "
    "input, select, textarea, option, nav, footer, dialog, menu, map, link, meta, amp-ad, amp-img"
)
# Mostly nothing that is read; but some pages are hidden until a script has run.
_HIDDEN = (
    '[hidden], [aria-hidden="true"], [style*="visibility:hidden"], [style*="visibility: hidden"], [style*="display:none"], [style*="display: none"], [role="navigation"], [role="contentinfo"], '
    '[role="dialog"], [role="search"], [role="complementary"], [role="banner"], [role="alertdialog"], [role="menu"], '
    "aside, form, header, fieldset"
)
_STRONG = (
    '[itemprop~="articleBody"], [itemprop~="articlebody"], [property~="articleBody"], [data-testid="article-body"], '
    "[data-article-body], .entry-content, .post-content, .article-body, .articleBody, .article__body, .story-body, .article-content, "
    ".post-body, .article-text, .articletext, #article-body, #articleBody, #storytext, .storytext, .caas-body, .prose"
)
_PLACES = ("article", 'main, [role="main"], #content, #main, .content, #main-content, .main-content, #bodyContent')
_BLOCKS = "p, div, ul, ol, table, section, article, blockquote, pre, h1, h2, h3, h4, h5, h6, dl, li, td, header"
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_DIRECT = frozenset("div td section article main center blockquote li dd body span font pre text".split())
_ENDS = re.compile(r"""[.!?…:;。！？；"”’'»)\]]\s*$""")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TEXT = PlainText(bullet="", table_cell_separator=" ")
_MARKDOWN = Markdown()
_NUMBERED = re.compile(r"\d{1,4}\.\s+")
_SHORT = 25
_SENTENCES = 80  # characters
_MOST_CUTS = 20  # headings that say they are about something else
_INVISIBLE = ("\u00ad", "\u200b", "\u200c", "\u2060", "\ufeff")


class Prose(Frozen):
    """A text, and how sure one can be of it."""

    text: str
    roots: tuple[Element, ...]
    mass: int = 0  # characters in paragraphs that stand where the text is
    total: int = 0  # and in all of the page
    paragraphs: int = 0
    strong: bool = False  # the place has the name of one for texts
    link_share: float = 0.0


class _Masses:
    """How much text each element has, given by its paragraphs."""

    def __init__(self, body: Element) -> None:
        self.of: dict[Element, int] = defaultdict(int)
        self.paragraphs: list[tuple[Element, int]] = []
        for paragraph in body.select("p"):
            text = paragraph.text
            if len(text) > _SHORT:
                self._weigh(paragraph, " ".join(text.split()), whole=True)
        for element in _with_own_text(body):
            if element.closest("p, h1, h2, h3, h4, h5, h6, a") is None:
                own = " ".join(" ".join(n.data for n in element.children if isinstance(n, Text)).split())
                self._weigh(element, own, whole=False)

    def _weigh(self, element: Element, text: str, *, whole: bool) -> None:
        length = len(text)
        if length < 80 and _WIDE.search(text):
            length *= 3
        if length < 40:
            return
        if whole and element.find("a") is not None:
            linked = sum(len(link.text) for link in element.select("a"))
            if linked > 0.5 * len(text):
                return
        self.paragraphs.append((element, length))
        of = self.of
        of[element] += length
        for ancestor in element.ancestors:
            of[ancestor] += length  # type: ignore[index]

    def drop(self, element: Element) -> None:
        """It is taken away, and what it gave to others with it."""
        lost = self.of.get(element, 0)
        if lost:
            for ancestor in element.ancestors:
                self.of[ancestor] -= lost  # type: ignore[index]
            self.of[element] = 0


def _with_own_text(body: Element) -> Iterator[Element]:
    """What has text of its own though it is no paragraph."""
    for element in body.xpath("//*[text()[string-length(.) > 40]]"):  # type: ignore[union-attr]
        if isinstance(element, Element) and element.tag in _DIRECT:
            yield element


def read_prose(html: Document) -> Prose:
    """The text of the article on a page, which is taken apart for it."""
    body = html.find("body")
    if body is None:
        return Prose("", ())
    body.remove(_NEVER)
    masses = _Masses(body)
    named = _named(html)
    _take_away(body, masses, named)
    roots, strong = _place(body, masses, ", ".join(named[Meaning.BODY]))
    kept = sum(masses.of.get(root, 0) for root in roots)
    linked = sum(len(link.text) for root in roots for link in root.select("a"))
    everything = max(1, sum(len(root.text) for root in roots))
    for root in roots:
        _clean(root, kept)
    text = "\n".join(filter(None, map(_lines, roots)))
    inside = sum(1 for element, _ in masses.paragraphs if not _is_outside(element, roots))
    return Prose(text, tuple(roots), kept, masses.of.get(body, 0), inside, strong, linked / everything)


def _is_outside(element: Element, roots: Sequence[Element]) -> bool:
    return element not in roots and not any(ancestor in roots for ancestor in element.ancestors)


def markdown_of(prose: Prose) -> str:
    """The same text in Markdown."""
    return "\n\n".join(filter(None, (_visible(root.to_markdown(_MARKDOWN)).strip() for root in prose.roots)))


def _take_away(body: Element, masses: _Masses, named: Mapping[Meaning, Sequence[str]]) -> None:
    """What has the name of something else; but no text of which little would be left."""
    for meaning, limit, all_ in ((Meaning.ANSWERS, 0.97, 0.97), (Meaning.OTHER, 0.5, 0.6), (Meaning.LABEL, 0.15, 0.5)):
        if not named[meaning]:
            continue
        left = masses.of.get(body, 0)
        found = [
            element
            for element in body.select(", ".join(named[meaning]))
            if element.tag not in ("article", "main") and masses.of.get(element, 0) <= limit * left
        ]
        outer = _outermost(found)
        lost = sum(masses.of.get(element, 0) for element in outer)
        for element in outer:
            if lost <= all_ * left or not masses.of.get(element, 0):
                masses.drop(element)
                element.extract()
    left = masses.of.get(body, 0)
    for element in body.select(_HIDDEN):
        if masses.of.get(element, 0) <= 0.2 * left:
            masses.drop(element)
            element.extract()


def _outermost(elements: Sequence[Element]) -> list[Element]:
    """Those that stand in none of the others; they are in the order of the page."""
    chosen: set[Element] = set()
    outer = []
    for element in elements:
        if chosen.isdisjoint(element.ancestors):
            chosen.add(element)
            outer.append(element)
    return outer


def _named(html: Document) -> Mapping[Meaning, list[str]]:
    """Selectors for all classes and ids that mean something, by what they mean."""
    named: dict[Meaning, list[str]] = {meaning: [] for meaning in Meaning}
    for attribute in ("class", "id"):
        for name in dict.fromkeys(html.xpath(f"//body//@{attribute}")):  # type: ignore[arg-type]
            meaning = meaning_of(str(name))
            if meaning is not Meaning.NOTHING:
                named[meaning].append(f'[{attribute}="{_quoted(str(name))}"]')
    return named


def _quoted(name: str) -> str:
    return (
        name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\a ").replace("\r", "\\d ").replace("\f", "\\c ")
    )


def _place(body: Element, masses: _Masses, bodies: str) -> tuple[list[Element], bool]:
    """The smallest place that has most of the text."""
    total = masses.of.get(body, 0)
    for strong, selector, share in (
        (True, _STRONG, 0.3),
        (True, bodies, 0.3),
        (False, _PLACES[0], 0.3),
        (False, _PLACES[1], 0.4),
    ):
        if not selector:
            continue
        found = [(masses.of.get(element, 0), element) for element in body.select(selector)]
        most = max((mass for mass, _ in found), default=0)
        if (
            most > 200
            and sum(masses.of[each] for each in _outermost([e for mass, e in found if mass])) >= share * total
        ):
            # In document order the innermost of those that are as good comes last.
            best = [element for mass, element in found if mass >= 0.9 * most][-1]
            if strong and (pieces := _pieces(best, [element for mass, element in found if mass], masses)):
                return pieces, strong
            return [_narrowed(best, masses, 0.9)], strong
    return [_narrowed(body, masses, 0.75)], False


def _pieces(best: Element, found: Sequence[Element], masses: _Masses) -> list[Element]:
    """The parts of a text that stands in several places of the same name; none where one place has it all."""
    if len(found) < 2:
        return []
    outer = _outermost(found)
    most = masses.of[best]
    if most < 0.6 * sum(masses.of[piece] for piece in outer):
        return outer
    name = words_of(best.attr("class") or best.attr("id") or "")
    near = (best.parent, best.parent.parent if best.parent is not None else None)
    beside = [
        piece
        for piece in outer
        if piece is best
        or (
            words_of(piece.attr("class") or piece.attr("id") or "") == name
            and (piece.parent in near or (piece.parent is not None and piece.parent.parent in near))
        )
    ]
    return beside if len(beside) > 1 and best in beside else []


def _narrowed(element: Element, masses: _Masses, share: float) -> Element:
    while True:
        mass = masses.of.get(element, 0)
        best = max(
            (child for child in element.children if isinstance(child, Element)),
            key=lambda child: masses.of.get(child, 0),
            default=None,
        )
        if (
            best is None
            or best.tag in ("p", "li", "blockquote", "span", "tr")
            or masses.of.get(best, 0) < share * mass
            or not mass
        ):
            return element
        element = best


def _clean(root: Element, mass: int) -> None:
    """Take away what is only links, labels and calls to do something."""
    for heading in root.select("h1"):
        heading.extract()
    _cut_appendix(root)
    for listing in root.select("ul, ol, dl, table"):
        length = len(listing.text.strip())
        if length == 0:
            listing.extract()
        elif listing.find("a") is not None and length < 0.5 * max(mass, 1):
            linked = sum(len(link.text.strip()) for link in listing.select("a"))
            if linked > 0.6 * length:
                listing.extract()
    for block in root.select(
        "p, div, section, span, li, td, h2, h3, h4, h5, h6, blockquote, strong, a, em, time, small, center, font"
    ):
        tag = block.tag
        if block.parent is None or (tag in _INLINE and not _stands_alone(block)) or block.closest("pre") is not None:
            continue
        if tag not in _INLINE and tag not in _LEAVES and block.select_one(_BLOCKS) is not None:
            continue
        text = " ".join(block.text.split())
        if text and _is_aside(block, tag, text):
            block.extract()


def _cut_appendix(root: Element) -> None:
    """Take away what stands under a heading that says it is about something else, if that is little."""
    whole = len(root.text)
    cuts = 0
    for heading in root.select("h2, h3, h4, h5, h6, strong, b, p, div, span"):
        text = heading.text
        if cuts >= _MOST_CUTS:
            break
        if len(text) > 60 or not APPENDIX.fullmatch(" ".join(text.split())) or heading.parent is None:
            continue
        top: Element = heading
        while isinstance(top.parent, Element) and top.parent is not root and _is_first(top):
            top = top.parent
        cuts += 1
        if top is root:
            continue
        below = list(top.next_siblings)
        rest = [top, *(below if LAST.fullmatch(" ".join(text.split())) else _before_the_text_goes_on(below))]
        if sum(len(node.text) for node in rest) <= 0.4 * whole:
            for node in rest:
                node.extract()


def _before_the_text_goes_on(nodes: Sequence[Node]) -> Sequence[Node]:
    """Those before two paragraphs of a text: a pointer to something else can stand in the middle of one."""
    paragraphs = [at for at, node in enumerate(nodes) if _is_paragraph(node)]
    return nodes[: paragraphs[0]] if len(paragraphs) > 1 else nodes


def _is_paragraph(node: Node) -> bool:
    if not isinstance(node, Element) or node.tag != "p":
        return False
    length = len(node.text)
    return length >= _SENTENCES and sum(len(link.text) for link in node.select("a")) < 0.5 * length


def _is_first(element: Element) -> bool:
    return not any(isinstance(node, Element) or node.text.strip() for node in element.previous_siblings)


_INLINE = frozenset({"span", "strong", "a", "em", "time", "small", "font"})
_CONTAINERS = frozenset({"div", "section", "article", "main", "header", "center", "body"})
_LEAVES = frozenset({"p", "h2", "h3", "h4", "h5", "h6"})


def _stands_alone(element: Element) -> bool:
    """Whether an inline element is a block of its own, among blocks."""
    parent = element.parent
    if not isinstance(parent, Element) or parent.tag not in _CONTAINERS:
        return False
    return not any(isinstance(node, Text) and node.data.strip() for node in parent.children)


def _is_aside(block: Element, tag: str, text: str) -> bool:
    length = len(text)
    if length < 200 and ASIDE_LINE.match(text):
        return True
    linked = 0
    if tag == "a":
        linked = length
    elif block.find("a") is not None:
        linked = sum(len(link.text.strip()) for link in block.select("a"))
    if linked > 0.8 * length and length < 250 and tag not in ("li", "td"):
        return True
    if tag in _HEADINGS:
        return False
    # A few words that are no sentence: a date, a name, a label.
    return (
        tag not in ("p", "li", "td", "blockquote")
        and length < _SHORT * 2
        and not _ENDS.search(text)
        and not _WIDE.search(text)
    )


def _lines(root: Element) -> str:
    numbered = {" ".join(item.text.split())[:20] for item in root.select("ol > li")}
    headings = {" ".join(heading.text.split()) for heading in root.select("h2, h3, h4, h5, h6")}
    lines = [line.strip() for line in _visible(root.to_text(_TEXT)).split("\n")]
    lines = [_unnumbered(line, numbered) if numbered else line for line in lines if line]
    while lines and lines[-1] in headings:
        lines.pop()
    return "\n".join(lines)


def _visible(text: str) -> str:
    """Without the characters that only say where a word may be broken."""
    if not text.isascii():
        for char in _INVISIBLE:
            text = text.replace(char, "")
    return text


def _unnumbered(line: str, items: set[str]) -> str:
    """A line without the number that a list has given it: nobody wrote that."""
    found = _NUMBERED.match(line)
    return line[found.end() :] if found and line[found.end() : found.end() + 20].strip() in items else line
