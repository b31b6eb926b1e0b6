"""The kitchen section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

TABLE = Section(
    key="table",
    name="The Table",
    motto="Bread, salt, and opinions about both.",
    desk="the kitchen desk",
    desk_note="It is floured every morning, and whatever is left on it after noon is considered published.",
    stories=(
        Story(
            "The Loaf That Is Shaped Like a Knee",
            (
                "It is a round loaf with a fold, and it was made, they say, for dancers to sit on. The "
                "crust takes the weight. The baker on the corner of the customs stairs sells forty a day, "
                "and eats the one that sighs."
            ),
            "the customs stairs",
            "the folded loaf",
        ),
        Story(
            "Salt, Fine and Coarse and Argued Over",
            (
                "The fine salt is for the table, the coarse for the fish and the grey for arguments. At "
                "the salt stall a pinch of each is laid on the back of your hand, and you are watched "
                "while you make up your mind."
            ),
            "the salt stall",
            "the grey salt",
        ),
        Story(
            "Orecchiette by the Yard",
            (
                "A thumb, a knife and a board: that is all the machinery on the street of the little "
                "ears. On Saturday the finished pasta was laid end to end for charity and reached the "
                "tram stop, where it was eaten."
            ),
            "the street of little ears",
            "the worn board",
        ),
        Story(
            "A Soup for the Night Shift",
            (
                "At two in the morning the kitchen by the dry dock serves one dish, in one size, at one "
                "price. It is never the same soup twice, and the welders, who are particular, have not "
                "sent back a bowl since the winter."
            ),
            "the dry dock",
            "the night soup",
        ),
        Story(
            "The Lemon Tree in the Bank",
            (
                "It was a present to the old manager and has outgrown four of them. Customers who are "
                "refused a loan may take a lemon, and the tellers, being kind, have been known to point "
                "out the riper side."
            ),
            "the savings bank",
            "the lemon tree",
        ),
        Story(
            "Almonds Before Rain",
            (
                "The orchard above the quarry blossomed on a Wednesday and was in everybody's hair by "
                "Friday. There will be almonds, the growers say, if it does not rain, and umbrellas, say "
                "the others, if it does."
            ),
            "the quarry orchard",
            "the first blossom",
        ),
        Story(
            "How to Open an Oyster in Company",
            (
                "Wrap the hand, find the hinge, and keep talking. It is the pause that leads to "
                "accidents. The course at the fishmongers' guild lasts one evening and ends with a dinner "
                "that nobody is in a condition to describe."
            ),
            "the fishmongers' guild",
            "the short knife",
        ),
        Story(
            "Coffee at the Speed of the Ferry",
            (
                "The ferry leaves at ten past, the coffee is ready at nine minutes past, and the bar on "
                "the landing has never in living memory caused anybody to miss a boat or to finish a cup "
                "sitting down."
            ),
            "the landing bar",
            "the long-handled pan",
        ),
        Story(
            "The Feast of the Burnt Pot",
            (
                "Once in the year every house brings out the dish that went wrong. They are set on one "
                "table, tasted with ceremony and forgiven. First prize went to a risotto that could be "
                "lifted by its spoon."
            ),
            "the long table",
            "the blackened pot",
        ),
        Story(
            "Figs and the Arithmetic of Neighbours",
            (
                "The trunk stands in one garden and the branches in three. Each August the fruit is "
                "counted, divided and carried round on plates, and each August the plates come back with "
                "something else on them."
            ),
            "the three gardens",
            "the shared fig tree",
        ),
    ),
    paragraphs=(
        (
            "The recipe, as given to this desk: take what there is, and less of it than you think. Let it "
            "stand until {hour}. If somebody comes in from {place} and asks what smells so good, it is "
            "ready; if nobody comes, it needs salt."
        ),
        (
            "We counted {count} people at table and {count} opinions, though not, on inspection, one "
            "each. Some had brought two. The matter of {thing} was put to a vote, and the vote was put "
            "off until after the cheese."
        ),
        (
            "Nothing here is measured. There is a cup with a broken handle at {place}, and everything is "
            "a cup, a half, or what stays in the bottom. When it was replaced by a new one for a week, "
            "the whole street tasted of haste."
        ),
        (
            "In the season of the {wind} one cooks with the shutters closed and eats with them open. "
            "Smoke goes its own way. Cooks who trained at {place} say that a fire has manners if it is "
            "introduced properly, with dry vine and no hurry."
        ),
        (
            "Children are sent to fetch things: bread, a borrowed sieve, news. The longest errand on "
            "record took a girl from noon to {hour}, past {thing} and back, and she returned with none of "
            "what was asked for and a better idea."
        ),
        (
            "Leftovers have a shelf of their own and a rank. First come those that improve, then those "
            "that keep, then those that are given to the cat. {Count} visitors have asked to which of "
            "these {thing} belongs. The cat was not consulted."
        ),
    ),
    wares=(
        "a round loaf with a fold",
        "a bag of grey salt",
        "a string of dried figs",
        "a short oyster knife",
    ),
)
