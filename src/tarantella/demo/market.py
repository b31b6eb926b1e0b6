"""The market: a page that is empty until its script has asked for the stalls, part by part, as JSON.

Nothing on the site leads here, because a crawl of the rest has no use for it.
"""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

PATH = "/market"
STALLS_PATH = "/market/stalls.json"
STALLS = 60
PART = 12
_GOODS = ("Anchovies", "Bergamots", "Capers", "Drums", "Figs", "Garlic", "Honey", "Lace", "Nets", "Ropes")
_KEEPERS = ("Assunta", "Biagio", "Carmela", "Donato", "Elvira", "Fausto", "Grazia")

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The market</title></head>
<body><h1>The market</h1><ul id="stalls"></ul><script>
const list = document.getElementById("stalls");
(async () => {
  for (let part = 1; ; part++) {
    const answer = await (await fetch(`/market/stalls.json?part=${part}`)).json();
    for (const stall of answer.stalls) {
      const item = document.createElement("li");
      item.className = "stall";
      item.innerHTML = '<b class="goods"></b>, <i class="keeper"></i>: <span class="price"></span>';
      item.querySelector(".goods").textContent = stall.goods;
      item.querySelector(".keeper").textContent = stall.keeper.name;
      item.querySelector(".price").textContent = stall.lire.toLocaleString("en") + " lire";
      list.append(item);
    }
    if (part >= answer.parts) break;
  }
})();
</script></body></html>"""


def stalls(target: str) -> bytes:
    """Some of the stalls, as the page's script asks for them."""
    asked = parse_qs(urlsplit(target).query).get("part", ["1"])[0]
    part = int(asked) if asked.isdecimal() and len(asked) < 4 else 1
    found = [_stall(number) for number in range((part - 1) * PART + 1, min(part * PART, STALLS) + 1)]
    return json.dumps({"stalls": found, "part": part, "parts": -(-STALLS // PART)}).encode()


def _stall(number: int) -> dict[str, object]:
    goods, keeper = _GOODS[number % len(_GOODS)], _KEEPERS[number % len(_KEEPERS)]
    return {
        "number": number,
        "goods": f"{goods} of stall {number}",
        "keeper": {"name": keeper},
        "lire": number * 250 + 500,
    }
