"""The weaving section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

WEAVING = Section(
    key="weaving",
    name="The Loom",
    motto="What is crossed, what is counted, and what comes undone.",
    desk="the loom room",
    desk_note=("It writes one line at a time, from left to right and then back again, and never loses its place."),
    stories=(
        Story(
            "Sea Silk, Very Nearly",
            (
                "The golden thread that grows on a shell has not been gathered here for longer than "
                "anyone remembers. What hangs in the window of the dye house is flax, onion skin and "
                "patience, and in the late sun few can tell."
            ),
            "the dye house",
            "the golden flax",
        ),
        Story(
            "The Loom That Crossed the Bridge",
            (
                "It took nine people, two handcarts and the goodwill of the bridge keeper to move the "
                "great loom to its new room. It was carried with the cloth still on it, because the "
                "weaver was in the middle of a row."
            ),
            "the bridge house",
            "the great loom",
        ),
        Story(
            "A Mistake Kept for Seventy Years",
            (
                "In the altar cloth of the sailors' chapel one bird flies the wrong way. The guide used "
                "to apologise for it. Now the guide says that the other birds are leaving, and leads the "
                "visitors out into the light."
            ),
            "the sailors' chapel",
            "the contrary bird",
        ),
        Story(
            "Blue From the Bottom of the Vat",
            (
                "The cloth comes up yellow, turns green while you hold your breath, and is blue before "
                "you have finished saying so. The dyers have watched it every day for years and still "
                "step back to give it room."
            ),
            "the dyers' lane",
            "the indigo vat",
        ),
        Story(
            "Counting Threads by Ear",
            (
                "The inspector of cloth is losing her sight and has lost none of her precision. She draws "
                "a fingernail across the weave, listens, and gives the number. The counting glass agrees "
                "with her, a little later."
            ),
            "the cloth hall",
            "the counting glass",
        ),
        Story(
            "The Rug With Room for a Cat",
            (
                "Every rug from the hill workshop has one plain square near the edge, without pattern and "
                "slightly softer. Buyers suppose that it is a signature. The cats of the workshop have "
                "never supposed anything else."
            ),
            "the hill workshop",
            "the plain square",
        ),
        Story(
            "Knots for Those Who Must Let Go",
            (
                "A good knot holds; a better one also lets go when it is told. The harbour's rope school "
                "gave a public lesson in the second kind, and sent home a hundred people who now look "
                "differently at their shoes."
            ),
            "the rope school",
            "the slipping knot",
        ),
        Story(
            "A Sail Becomes Eleven Shirts",
            (
                "Canvas that has crossed the gulf for thirty years is soft as a promise. The sail loft "
                "cut the old mainsail into eleven shirts, and wherever two of them meet in the street the "
                "seams very nearly line up."
            ),
            "the sail loft",
            "the old mainsail",
        ),
        Story(
            "The Pattern Nobody Drew",
            (
                "Ask for the pattern of the harvest shawl and you will be handed a song. Each verse is a "
                "row, the refrain is the border, and whoever hums while working will find that the shawl "
                "has come out one verse longer."
            ),
            "the harvest barn",
            "the harvest shawl",
        ),
        Story(
            "Mending Day at the Corn Exchange",
            (
                "Bring what is torn, said the notice, and the town brought curtains, an accordion, two "
                "kites and a map. By evening everything but the map had been mended, and the map, it was "
                "decided, had been right all along."
            ),
            "the corn exchange",
            "the mending table",
        ),
    ),
    paragraphs=(
        (
            "Weaving is the art of going back and forth without repeating oneself. At {place} the day is "
            "measured in rows, and a good one has {count} of them. Whoever comes in to ask the time is "
            "shown the cloth, and usually understands."
        ),
        (
            "The trouble with thread is that it remembers. Fold it wrong once and it will fold there for "
            "ever. That is why {thing} is rolled, never folded, and why the apprentices of {place} are "
            "taught to carry it as one carries soup."
        ),
        (
            "A visitor wished to know how long it takes to learn. The answer, given without looking up, "
            "was that the hands need a season and the ears need longer: a loom that is about to go wrong "
            "says so, somewhere around {hour}, in a lower voice."
        ),
        (
            "Prices have not been raised this year. The desk thinks that they ought to be, having watched "
            "{count} separate movements go into a single finger's width, and having then tried to make "
            "one of them itself."
        ),
        (
            "On days of the {wind} the windows are shut and the fibres lie down. Then the colour of "
            "{thing} can be judged, in the grey light that flatters nothing, and buyers who know their "
            "business come to {place} in the rain."
        ),
        (
            "What is undone is not wasted. Under the bench there is a basket for ends, and out of the "
            "ends come tassels, and out of the tassels, in a bad year, has come the rent. Even {thing} "
            "had its beginning in that basket."
        ),
    ),
    wares=("a hank of indigo yarn", "a boxwood shuttle", "a plain linen towel", "a card of silk ends"),
)
