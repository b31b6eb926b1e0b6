"""Numbers and prices as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import partial

from tarantella.domain.locale import UNKNOWN, Locale

MAX_CHARACTERS = 500
LARGEST = 2**63 - 1
_BLANKS = " \u00a0\u2009\u202f"
# Digits with what stands between thousands and before the cents.
_NUMBER = re.compile(
    rf"(?<![\w.,])[+\-−–]?(?:\d{{1,3}}(?:[{_BLANKS}]\d{{3}})+(?:[.,]\d+)?|\d[\d.,'’٬٫]*|[.,]\d+)(?:e[+-]?\d{{1,3}})?(?!\d)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_MANY: Mapping[str, int] = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9, "mn": 10**6, "Mio": 10**6}
_MANY_MARK = re.compile(r"\s?(?:(bn|mn|Mio)\b|(k|K|M|B)(?!\w))")

# How large numbers are counted in East Asia, the smaller unit first: 1億2000万.
_MYRIADS = (
    (re.compile(r"(\d[\d,.]*)[万萬만](\d[\d,]*)?"), 10**4),
    (re.compile(r"(\d[\d,.]*)[億亿억](\d[\d,]*)?"), 10**8),
)
# What stands between full-width digits, and beside them.
_NARROW = str.maketrans("，．＄￡￠\u2007", ",.$£¢\u202f")

# By what prices are marked with. Signs that several countries use are read by the language of the page.
_CODES = frozenset(
    "AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GEL HKD HRK HUF IDR ILS INR ISK JPY KES KRW KWD KZT "
    "LKR MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU VND XAF XOF ZAR".split()
)
_SIGNS: Mapping[str, str] = {
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "￥": "JPY",
    "円": "JPY",
    "元": "CNY",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "원": "KRW",
    "₪": "ILS",
    "₺": "TRY",
    "₴": "UAH",
    "₫": "VND",
    "฿": "THB",
    "₱": "PHP",
    "₦": "NGN",
    "₸": "KZT",
    "us$": "USD",
    "a$": "AUD",
    "au$": "AUD",
    "c$": "CAD",
    "ca$": "CAD",
    "nz$": "NZD",
    "hk$": "HKD",
    "s$": "SGD",
    "r$": "BRL",
    "mx$": "MXN",
    "nt$": "TWD",
    "rs.": "INR",
    "rs": "INR",
    "zł": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "fr.": "CHF",
    "sfr.": "CHF",
    "lei": "RON",
    "лв": "BGN",
    "руб": "RUB",
    "грн": "UAH",
    "tl": "TRY",
    "rp": "IDR",
    "rm": "MYR",
    "$": "USD",
    "kr": "",
}
_DOLLARS: Mapping[str, str] = {
    "CA": "CAD",
    "AU": "AUD",
    "NZ": "NZD",
    "SG": "SGD",
    "HK": "HKD",
    "MX": "MXN",
    "AR": "ARS",
    "CL": "CLP",
    "CO": "COP",
}
_CROWNS: Mapping[str, str] = {
    "sv": "SEK",
    "da": "DKK",
    "no": "NOK",
    "nb": "NOK",
    "nn": "NOK",
    "is": "ISK",
    "SE": "SEK",
    "DK": "DKK",
    "NO": "NOK",
    "IS": "ISK",
}


def _written(sign: str) -> str:
    """How a sign is told from other words; that of Hungary from a foot by how it is written."""
    if not (sign[0].isalpha() and sign[-1].isalpha()):
        return re.escape(sign)
    return rf"(?<!\w){'(?-i:Ft)' if sign == 'ft' else re.escape(sign)}(?!\w)"


_ANY_CODE = "|".join(sorted(_CODES))
_ANY_SIGN = "|".join(map(_written, sorted(_SIGNS, key=len, reverse=True)))
_ANY_WORD = "|".join(sorted({sign.rstrip(".") for sign in _SIGNS if sign.rstrip(".").isalpha()} - {"ft"}))
_MARK = re.compile(rf"(?<![A-Za-z])(?:{_ANY_CODE})(?![A-Za-z])|{_ANY_SIGN}", re.IGNORECASE)
# Hundredths of a dollar. Before a number the same sign is that of a colón or a cedi.
_CENT = "¢"
_MARK_BEHIND = re.compile(f"{_MARK.pattern}|{_CENT}", re.IGNORECASE)
# Letters without a blank before the number: CHF12.50, Rs.1,499.
_GLUED = re.compile(rf"(?<!\w)((?:{_ANY_CODE}|(?i:{_ANY_WORD}))\.?)(?=\d)")
# A sign in the place of the comma: 29€90.
_BETWEEN = re.compile(
    rf"(?<![\d.,€£])(\d{{1,3}}(?:[{_BLANKS}.]\d{{3}})+|\d+)([€£])(\d\d)(?!\w|[.,]\d|[{_BLANKS}]?[%€£])"
)
_FREE = frozenset("free gratis kostenlos gratuit gratuito umsonst".split())


class NotANumber(ValueError):
    """There is no number in the text, or more than one."""


def parse_number(text: str, locale: Locale = UNKNOWN) -> int | float:
    """The one number in a text; whole ones as integers. Raises NotANumber."""
    text = text.strip()
    if _PLAIN.fullmatch(text) and len(text) <= 30 and not _could_be_thousands(text, locale):
        return _valued(text)
    found = list(_NUMBER.finditer(_readable(text)))
    if not found:
        raise NotANumber("there is no number in it")
    values = {_of_match(match, locale) for match in found}
    if len(values) > 1:
        raise NotANumber("there is more than one number in it")
    return values.pop()


def parse_integer(text: str, locale: Locale = UNKNOWN) -> int:
    """The one whole number in a text. Raises NotANumber."""
    number = parse_number(text, locale)
    if isinstance(number, float):
        if not number.is_integer():
            raise NotANumber("it is not a whole number")
        number = _whole(int(number))
    return number


def parse_price(text: str, locale: Locale = UNKNOWN) -> int | float:
    """The price in a text: the first number with a currency beside it, or the only number. Raises NotANumber."""
    text, marked = _marked(text)
    if marked:
        number, mark = marked[0]
        price = _of_match(number, locale, price=True)
        return _rounded(round(price / 100, 9)) if mark == _CENT else price
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        if text.strip(" .!").casefold() in _FREE:
            return 0
        raise NotANumber("there is no price in it")
    values = {_of_match(number, locale, price=True) for number in numbers}
    if len(values) > 1:
        raise NotANumber("there is more than one number in it, and none has a currency")
    return values.pop()


def parse_currency(text: str, locale: Locale = UNKNOWN) -> str:
    """The currency that a text names, as its three letters. Raises NotANumber."""
    text, marked = _marked(text)
    # A word may mean something else (try, cop) where it stands by no number.
    for mark in (*(mark for _, mark in marked), *(found[0] for found in _MARK.finditer(text))):
        if mark.upper() in _CODES and len(mark) == 3:
            return mark.upper()
        sign = mark.casefold()
        if sign in ("$", _CENT):
            return _DOLLARS.get(locale.region, "USD")
        if sign == "kr":
            crown = _CROWNS.get(locale.region) or _CROWNS.get(locale.language)
            if crown:
                return crown
            continue
        if sign in {"¥", "￥"} and (locale.language == "zh" or locale.region == "CN"):
            return "CNY"
        return _SIGNS[sign]
    raise NotANumber("there is no currency in it")


def _marked(text: str) -> tuple[str, list[tuple[re.Match[str], str]]]:
    """A text as it can be read, and its numbers that have a currency beside them."""
    text = _BETWEEN.sub(r"\1,\3 \2", _readable(text))
    marked: list[tuple[re.Match[str], str]] = []
    # Only where nothing else is a price: RM50 could be the name of a thing.
    for readable in (text, _GLUED.sub(r"\1 ", text)):
        marked = [(number, mark) for number in _NUMBER.finditer(readable) if (mark := _mark_beside(readable, number))]
        if marked:
            return readable, marked
    return text, marked


def _mark_beside(text: str, number: re.Match[str]) -> str | None:
    before = text[max(0, number.start() - 6) : number.start()].rstrip(_BLANKS)
    for found in _MARK.finditer(before):
        if found.end() == len(before):
            return found[0]
    behind = text[number.end() : number.end() + 8]
    after = behind.lstrip(_BLANKS + ".-–,")
    following = _MARK_BEHIND.match(after)
    if following is None or (after != behind and after[following.end() : following.end() + 1].isdigit()):
        return None  # or that of the next number: 6 for $3, 6 $3
    return following[0]


def _readable(text: str) -> str:
    text = text[:MAX_CHARACTERS]
    if text.isascii():
        return text
    text = "".join(
        str(unicodedata.decimal(char)) if not char.isascii() and unicodedata.decimal(char, None) is not None else char
        for char in text.translate(_NARROW)
    )
    for pattern, unit in _MYRIADS:
        text = pattern.sub(partial(_counted, unit), text)
    return text


def _counted(unit: int, found: re.Match[str]) -> str:
    """So many times ten thousand, and what stands behind it, as one number."""
    try:
        number = float(found[1].replace(",", "")) * unit + int((found[2] or "0").replace(",", ""))
    except ValueError:
        return found[0]
    return f"{number:.15g}" if number < LARGEST else found[0]


def _could_be_thousands(text: str, locale: Locale) -> bool:
    """Whether 1.234 may be a thousand and more."""
    return locale.decimal_comma and re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) is not None


def _of_match(match: re.Match[str], locale: Locale, *, price: bool = False) -> int | float:
    text = match[0].replace("−", "-").replace("–", "-").replace("٬", "").replace("٫", ".")
    for blank in _BLANKS:
        text = text.replace(blank, "")
    text = text.replace("'", "").replace("’", "").rstrip(".,")
    number = _valued(_with_dot(text, locale, price=price))
    many = _MANY_MARK.match(match.string, match.end())
    if many is None:
        return number
    return _rounded(number * _MANY[many[1] or many[2]])


def _rounded(number: float) -> int | float:
    """The whole number that is meant, where a calculation came so close to it."""
    return _whole(round(number)) if abs(number - round(number)) < 1e-6 else number


def _with_dot(text: str, locale: Locale, *, price: bool) -> str:
    """The same number with a dot before its fraction, and nothing between its thousands."""
    dots, commas = text.count("."), text.count(",")
    if dots and commas:
        decimal = "." if text.rfind(".") > text.rfind(",") else ","
        other = "," if decimal == "." else "."
        if text.count(decimal) > 1:
            raise NotANumber("it is not clear where its fraction begins")
        return text.replace(other, "").replace(decimal, ".")
    if not dots and not commas:
        return text
    mark = "." if dots else ","
    if dots + commas > 1:
        # Only thousands are marked more than once; in India, hundreds of thousands as well.
        if not re.fullmatch(r"[+-]?\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}", text):
            raise NotANumber("it is not clear where its fraction begins")
        return text.replace(mark, "")
    whole, _, fraction = text.partition(mark)
    if len(fraction) == 3 and whole.lstrip("+-") not in ("", "0") and len(whole.lstrip("+-")) <= 3:
        decimal = "," if locale.decimal_comma else "."
        # A page in no known language: three digits are thousands in a price, and behind a comma.
        thousands = mark != decimal if locale.is_known else (price or mark == ",")
        if thousands or (price and not whole.lstrip("+-").startswith("0")):
            return whole + fraction
    return f"{whole}.{fraction}"


def _valued(text: str) -> int | float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise NotANumber("it is too large")
    return _whole(int(text)) if re.fullmatch(r"[+-]?\d+", text) else number


def _whole(number: int) -> int:
    """A whole number that databases and JSON can hold."""
    if not -LARGEST <= number <= LARGEST:
        raise NotANumber("it is too large")
    return number
