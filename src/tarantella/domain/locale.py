"""How people write numbers and dates where a page comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Self

# Where a comma stands before the cents; elsewhere it is a dot.
_COMMA = frozenset(
    "af az be bg bs ca cs da de el es et eu fi fo fr gl hr hu hy id is it ka kk ky lt lv mk mn nb nl nn no pl pt ro ru sk "
    "sl sq sr sv tr tt uk uz vi".split()
)
# Parts of those languages' world that write a dot all the same.
_DOT_REGIONS = frozenset("CH LI MX US GT HN NI PA PE PR SV DO".split())
_DOT_IN_SPANISH = frozenset({"es"})
_MONTH_FIRST_REGIONS = frozenset({"US", "PH", "FM", "MH", "PW", "GU", "PR"})
_HOST = re.compile(r"[a-z]+://[^/?#]*?\.([a-z]{2})(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)
# Countries by the end of their hosts' names, and what most of their pages are written in.
_LANGUAGES: Mapping[str, str] = {
    "at": "de", "au": "en", "be": "", "bg": "bg", "br": "pt", "ca": "", "ch": "", "cn": "zh", "cz": "cs", "de": "de", "dk": "da",
    "es": "es", "fi": "fi", "fr": "fr", "gr": "el", "hr": "hr", "hu": "hu", "ie": "en", "in": "en", "it": "it", "jp": "ja",
    "kr": "ko", "mx": "es", "nl": "nl", "no": "nb", "nz": "en", "pl": "pl", "pt": "pt", "ro": "ro", "ru": "ru", "se": "sv",
    "sk": "sk", "tr": "tr", "ua": "uk", "uk": "en", "us": "en", "za": "en",
}  # fmt: skip


class Locale(NamedTuple):
    """A language and, if it is known, a region."""

    language: str = ""
    region: str = ""

    @classmethod
    def of(cls, tag: str | None) -> Self:
        """From a tag like de, de-CH or zh_Hant_TW; nothing is known from what isn't one."""
        parts = (tag or "").strip().replace("_", "-").split("-")
        language = parts[0].lower() if parts[0].isalpha() and 2 <= len(parts[0]) <= 3 else ""
        region = next((part.upper() for part in parts[1:] if len(part) == 2 and part.isalpha()), "") if language else ""
        return cls(language, region)

    def at(self, url: str) -> Locale:
        """The same with what a page's address tells of its country, where that is not known."""
        found = _HOST.match(url)
        country = found[1].lower() if found else ""
        if self.region or country not in _LANGUAGES:
            return self
        region = "GB" if country == "uk" else country.upper()
        return Locale(self.language or _LANGUAGES[country], region)

    @property
    def is_known(self) -> bool:
        return bool(self.language)

    @property
    def decimal_comma(self) -> bool:
        if self.region in _DOT_REGIONS:
            return self.language in _COMMA and self.region not in {"CH", "LI"} and self.language not in _DOT_IN_SPANISH
        return self.language in _COMMA or (self.language == "en" and self.region == "ZA")

    @property
    def month_first(self) -> bool:
        """Whether 3/4 is in March. Plain English is read as most of its pages are written."""
        return self.region in _MONTH_FIRST_REGIONS or (self.language == "en" and not self.region)


UNKNOWN = Locale()
