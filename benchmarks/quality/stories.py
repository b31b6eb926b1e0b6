"""Texts to put into pages: known to the word, in several languages."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tarantella.demo.content import ARTICLES

# Sentences that can follow one another in any order.
_SENTENCES: dict[str, tuple[str, ...]] = {
    "de": (
        "Am frühen Morgen lag der Hafen noch im Nebel, und nur die Möwen wussten, wo das Wasser begann.",
        "Der Bürgermeister sagte, man habe lange genug gewartet und werde nun mit den Arbeiten beginnen.",
        "Niemand konnte sich erinnern, wann die Brücke zum letzten Mal gestrichen worden war.",
        "Die Kosten, so heißt es im Rathaus, belaufen sich auf rund 2,4 Millionen Euro.",
        "„Wir machen das nicht für uns“, erklärte die Meisterin, „sondern für die, die nach uns weben.“",
        "Im Winter stehen die Webstühle still, weil die Finger zu kalt werden für den feinen Faden.",
        "Fachleute halten das für übertrieben, wollen sich aber nicht mit Namen zitieren lassen.",
        "Wer heute durch die Gasse geht, hört wieder das Klappern, das jahrelang gefehlt hat.",
        "Bis zum Herbst soll der erste Abschnitt fertig sein; danach wird neu gerechnet.",
        "Die Nachbarn freuen sich, auch wenn manche den Lärm fürchten und andere die Gäste.",
    ),
    "fr": (
        "Au petit matin, le marché sentait déjà le pain chaud et la laine mouillée.",
        "La mairie assure que les travaux seront terminés avant l'été, sans préciser lequel.",
        "« Nous avons appris à compter avec les doigts », raconte la doyenne de l'atelier.",
        "Le fil d'or, longtemps oublié dans un tiroir, a retrouvé sa place sur le métier.",
        "Selon les habitants, on n'avait pas vu autant de monde depuis la grande foire.",
        "Il aura fallu trois hivers, deux maçons et beaucoup de patience pour relever le mur.",
        "Les enfants, eux, ne retiennent que le bruit des navettes et l'odeur de la cire.",
        "Personne ne sait qui a laissé la porte ouverte, et personne ne veut le savoir.",
        "Le budget, de 340 000 euros, a été voté à l'unanimité moins une voix.",
        "Dès demain, la rue sera fermée aux voitures et rendue aux promeneurs.",
    ),
    "es": (
        "A primera hora de la mañana, el puerto olía a sal, a café y a madera recién cortada.",
        "El alcalde prometió que la plaza volverá a tener sombra antes de que llegue el verano.",
        "«Tejer es como contar un secreto muy despacio», dice la maestra del taller.",
        "Los vecinos recuerdan que el puente se cerró un lunes y nadie supo por qué.",
        "La obra costará 1,2 millones de euros, según el documento que se presentó ayer.",
        "En la calle de los tintoreros todavía se secan los paños al sol, como hace un siglo.",
        "Nadie esperaba que la campana volviera a sonar después de tantos años de silencio.",
        "Los niños corrieron hasta la orilla para ver pasar el barco con la bandera nueva.",
        "Quienes la conocieron aseguran que nunca contó un hilo de más ni uno de menos.",
        "La próxima semana se abrirá la sala donde se guarda el telar más antiguo de la villa.",
    ),
    "ja": (
        "朝早く、港はまだ霧に包まれていて、かもめだけが水の始まりを知っていた。",
        "町長は、工事は夏までに終わると述べたが、どの夏かは言わなかった。",
        "古い織機は橋を渡り、新しい部屋に運ばれて、もう一度音を立て始めた。",
        "住民によると、これほど多くの人が集まったのは大きな市以来だという。",
        "子どもたちは岸まで走って、新しい旗を掲げた船が通るのを見た。",
        "費用はおよそ二億四千万円で、議会は全会一致で認めた。",
        "冬の間、指が冷たくなるので、細い糸を扱う仕事は休みになる。",
        "誰が扉を開けたままにしたのか、誰も知らないし、知りたいとも思っていない。",
    ),
    "ru": (
        "Ранним утром порт ещё лежал в тумане, и только чайки знали, где начинается вода.",
        "Мэр пообещал, что работы закончатся до лета, но не уточнил, до какого именно.",
        "Старый ткацкий станок перенесли через мост, не снимая с него полотна.",
        "Жители говорят, что столько людей на площади не собиралось со времён большой ярмарки.",
        "Стоимость работ составит около 240 миллионов рублей, сообщили в администрации.",
        "Дети добежали до самого берега, чтобы увидеть корабль с новым флагом.",
        "Зимой станки молчат: пальцы мёрзнут, и тонкая нить рвётся чаще обычного.",
        "Никто не знает, кто оставил дверь открытой, и никто не хочет этого знать.",
    ),
}
_TITLES = {
    "de": "Die Brücke bekommt ihre Farbe zurück",
    "fr": "Le métier à tisser retrouve sa rue",
    "es": "El telar más antiguo vuelve a sonar",
    "ja": "古い織機がまた動き出す",
    "ru": "Старый станок снова на своём месте",
}
_NAMES = ("Ann Weaver", "José Marín", "Clara Lindqvist", "Tomasz Nowak", "Mei Tanaka", "Jürgen Adler")


@dataclass(frozen=True, slots=True)
class Told:
    """A story as it stands in a page: what an extractor must find, and what the page says of it."""

    title: str
    author: str
    day: str
    language: str
    paragraphs: tuple[str, ...]
    heads: tuple[str, ...]

    @property
    def text(self) -> str:
        """The truth: what a reader would call the article."""
        parts = list(self.paragraphs)
        step = max(1, len(parts) // (len(self.heads) + 1)) if self.heads else 0
        for at, head in enumerate(self.heads, 1):
            parts.insert(at * step + at - 1, head)
        return "\n".join(parts)


def tell(seed: int, language: str = "en", length: int = 8, heads: int = 2) -> Told:
    """A story; the same for the same seed."""
    luck = random.Random(f"{seed}{language}")
    day = f"20{luck.randint(18, 25)}-{luck.randint(1, 12):02d}-{luck.randint(1, 28):02d}"
    author = luck.choice(_NAMES)
    if language == "en":
        article = ARTICLES[seed % len(ARTICLES)]
        more = [text for each in luck.sample(ARTICLES, 6) for text in each.paragraphs[1:]]
        luck.shuffle(more)
        paragraphs = list(dict.fromkeys([*article.paragraphs, *more]))[:length]
        titles = [each.title for each in luck.sample(ARTICLES, heads)]
        return Told(article.title, author, day, language, tuple(paragraphs), tuple(titles))
    pool = _SENTENCES[language]
    paragraphs = [_paragraph(luck, pool, language) for _ in range(length)]
    return Told(_TITLES[language], author, day, language, tuple(paragraphs), ())


def _paragraph(luck: random.Random, pool: tuple[str, ...], language: str) -> str:
    return ("" if language == "ja" else " ").join(luck.sample(pool, luck.randint(2, 4)))
