"""What lines and headings say that stand beside a text or behind it, and are no part of it."""

from __future__ import annotations

import re

# How lines begin that stand between paragraphs.
ASIDE_LINE = re.compile(
    r"^\W*(?:advert(?:isement|ising)?\b|anzeige\b|publicité|publicidad|pubblicità|reklam[ae]|continue reading|read (?:more|also|next|the full)|see also|"
    r"(?:also|you (?:may|might)) (?:like|read|be interested)|related(?:\s*:| stor| article| post| cover| topic)|recommended|more (?:from|on|stories|about|in)\b|most (?:read|popular)|"
    r"share (?:this|on|via|with)|tweet\b|pin it|email this|print this|follow (?:us|him|her|me|@|the author)|sign up|subscribe|click here|tap here|download (?:the|our)|"
    r"get (?:the|our) (?:latest|best|free)|join (?:our|the|us)|like us on|watch(?::| more| now| the)|listen(?::| to)|photo(?:graph)?s?\s*(?:by|:|credit)|image\s*(?:by|:|credit|source|copyright)|"
    r"getty images|source\s*:|credit\s*:|©|copyright|all rights reserved|posted (?:by|on|in)|published (?:on|by|at|:|\d)|(?:last )?updated?\b\W|filed under|tags?\s*:|categor(?:y|ies)\s*:|"
    r"comments?\b.{0,20}$|leave a (?:reply|comment)|\d+ comments?|skip (?:to|advert)|loading|this (?:article|story|post) (?:was|is|originally|first|has been) |a post shared by|view this post on|[\w.]+ \(@\w+\)|"
    r"lesen sie (?:auch|mehr)|mehr (?:zum|zu|dazu|lesen)|weiterlesen|zum thema|auch interessant|teilen|foto\s*:|bild\s*:|quelle\s*:|lire aussi|à lire|voir aussi|partager|"
    r"leer (?:más|también)|lea también|te puede interesar|compartir|fuente\s*:|leggi anche|condividi|lees (?:ook|meer)|czytaj (?:też|także|więcej)|zobacz|leia (?:mais|também)|läs (?:också|mer)|les også|читайте)",
    re.IGNORECASE,
)
# Headings behind which nothing of the text follows.
_LAST = r"about the authors?|leave a (?:reply|comment)|comments?|kommentare|über (?:den autor|die autorin)"
LAST = re.compile(rf"\W*(?:{_LAST})\W*", re.IGNORECASE)
# Headings of something else. The text can go on behind it.
APPENDIX = re.compile(
    rf"\W*(?:{_LAST}|"
    r"(?:related|similar|more|other|further|recommended|popular|latest|trending|top)\s+(?:articles?|stor(?:y|ies)|posts?|news|reading|content|"
    r"coverage|topics?|links?|from .{2,30}|on .{2,30}|in .{2,30})|you (?:may|might) (?:also )?(?:like|enjoy|be interested in)|read (?:more|next|also)|see also|"
    r".{2,20} recommends|recommended(?: for you)?|related|most (?:read|popular|viewed)|"
    r"share this(?: \w+)?|articles? (?:liés|similaires|associés|connexes)|à lire (?:aussi|également)|lire aussi|sur le même (?:sujet|thème)|voir aussi|"
    r"ähnliche (?:beiträge|artikel|themen)|(?:mehr|weitere)s? (?:zum thema|zu .{2,30}|artikel|themen|beiträge|nachrichten|meldungen)|(?:das )?könnte (?:sie|dich|euch) auch interessieren|"
    r"lesen sie (?:auch|mehr)|auch interessant|zum thema|(?:noticias|artículos|notas|temas) relacionad[oa]s|te puede interesar|"
    r"lea también|lee también|también te puede interesar|más noticias|articoli correlati|leggi anche|potrebbe(?:ro)? interessarti|notícias relacionadas|leia também|"
    r"veja também|gerelateerde? (?:artikelen|berichten)|lees ook|czytaj (?:też|także|również)|zobacz (?:też|także)|powiązane|läs också|relaterat|les også|"
    r"читайте также|по теме|related (?:articles|posts))\W*",
    re.IGNORECASE,
)
