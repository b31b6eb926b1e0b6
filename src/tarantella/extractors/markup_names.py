"""What the names in a page's markup say of what they are given to: a text, a label beside it, or something else."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


class Meaning(Enum):
    """What stands in an element, by its name."""

    NOTHING = 0  # the name tells nothing
    BODY = 1  # a text
    LABEL = 2  # something that belongs to a text and is none: who, when, share, caption
    OTHER = 3  # something else: related, tools, advertisements
    ANSWERS = 4  # what readers say, which can be longer than what they read


# Looking up a member of an enumeration takes longer than comparing with it.
_NOTHING, _BODY, _LABEL, _OTHER, _ANSWERS_MEANT = Meaning
# Words that begin so.
_OTHER_STARTS = (
    *("recommend", "outbrain", "taboola", "zergnet", "sidebar", "footer", "cookie", "consent", "newsletter", "subscri"),
    *(
        "signup",
        "signin",
        "login",
        "breadcrumb",
        "paginat",
        "popular",
        "trending",
        "promo",
        "sponsor",
        "advert",
        "banner",
        "popup",
        "modal",
    ),
    *(
        "overlay",
        "lightbox",
        "paywall",
        "donat",
        "navig",
        "carousel",
        "slideshow",
        "teaser",
        "widget",
        "trackback",
        "pingback",
        "relatedp",
    ),
    *("sharedaddy", "addthis", "masthead", "readmore", "mostread", "morestor", "onetrust", "cmp", "gdpr", "noprint"),
)
_OTHER_WORDS = frozenset(
    "related rail pager prev ad ads gpt dfp skip nav navbar menu toc jp feedback survey poll quiz slider hidden "
    "similar upsell crosssell store shop cart hatom similars sociallinks toolbar rss weather stock stocks ticker".split()
)
_OTHER_PAIRS = frozenset(
    "mostread mostpopular mostviewed alsolike alsoread readmore readnext readalso morestories morenews morefrom moreon morearticles nextpost "
    "nextarticle sidebar signup signin sronly screenreader visuallyhidden lireaussi lesensie mehrzum dnone printonly noprint latestnews "
    "latestposts otherstories othernews inread inarticle authorbio aboutauthor backlink topstories editorspicks toppicks youmay".split()
)
_ANSWERS = frozenset(
    "comment comments commentlist respond replies kommentar kommentare commentaires comentarios commenti reacties disqus livefyre viafoura spotim".split()
)
_LABEL_STARTS = (
    "shar",
    "social",
    "byline",
    "author",
    "autor",
    "caption",
    "credit",
    "copyright",
    "disclaim",
    "timestamp",
    "dateline",
    "publish",
    "categor",
    "taglist",
    "keyword",
    "thumb",
    "avatar",
    "follow",
    "reprint",
    "syndicat",
)
_LABEL_WORDS = frozenset(
    "tag tags topics meta metadata legend date datum time posted kicker rubrik tools action actions button buttons icon icons rating vote votes like likes "
    "print email gallery photo bildunterschrift bio vcard cta infobar embed postmetadata byline fecha hora autor crumbs kategorie".split()
)
_LABEL_PAIRS = frozenset("postinfo entryinfo articleinfo readtime readingtime editlink sectionname".split())
_BODY_FIRST = frozenset(
    "article articles story post entry news blog content text single page artikel body main copy rich field prose caas item detail texte contenido nota noticia cuerpo".split()
)
_BODY_SECOND = frozenset("body content text copy main inner article detail richtext story post texte".split())
_BODY_WORDS = frozenset(
    "articlebody articlecontent articletext storybody storytext storycontent entrycontent postcontent postbody posttext newstext "
    "newscontent newsbody bodytext bodycopy maincontent contentbody contenttext richtext artikeltext wysiwyg fulltext singlecontent".split()
)


def words_of(name: str) -> list[str]:
    """The words of a class or an id, in small letters."""
    words = _WORDS.findall(name)
    return words if name.islower() else [word.lower() for word in words]


_PAIRS = {**dict.fromkeys(_LABEL_PAIRS, Meaning.LABEL), **dict.fromkeys(_OTHER_PAIRS, Meaning.OTHER)}


@lru_cache(maxsize=50_000)
def _of_word(word: str) -> Meaning:
    if word in _ANSWERS:
        return Meaning.ANSWERS
    if word in _OTHER_WORDS or word.startswith(_OTHER_STARTS):
        return Meaning.OTHER
    if word in _LABEL_WORDS or word.startswith(_LABEL_STARTS):
        return Meaning.LABEL
    return Meaning.BODY if word in _BODY_WORDS else Meaning.NOTHING


@lru_cache(maxsize=50_000)
def meaning_of(name: str) -> Meaning:
    """What a class or an id says."""
    meaning = _NOTHING
    last = ""
    for word in words_of(name):
        found = _of_word(word)
        if found is _NOTHING:
            if last:
                found = _PAIRS.get(last + word, _NOTHING)
                if found is _NOTHING and word in _BODY_SECOND and last in _BODY_FIRST:
                    found = _BODY
        if found is not _NOTHING:
            if found is _OTHER or found is _ANSWERS_MEANT:
                return found
            if meaning is _NOTHING or found is _LABEL:
                meaning = found
        last = word
    return meaning
