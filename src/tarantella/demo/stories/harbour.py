"""The harbour section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

HARBOUR = Section(
    key="harbour",
    name="The Harbour",
    motto="Arrivals, departures and those who only came to look.",
    desk="the harbour desk",
    desk_note="It is an upturned crate with a good view. Its reports are dry, unlike its reporters.",
    stories=(
        Story(
            "Low Water at the Small Sea",
            (
                "Twice this month the small sea has stepped back and shown what it keeps: mooring stones, "
                "a bicycle, and a staircase that leads down from nowhere to nothing. The staircase has "
                "been swept, in case it is needed."
            ),
            "the small sea",
            "the drowned staircase",
        ),
        Story(
            "The Bridge Opens at Four",
            (
                "When the swing bridge turns, the town becomes an island for eleven minutes. Errands are "
                "forgiven, lovers have an excuse, and the baker on the far side reduces the price of "
                "whatever will not last."
            ),
            "the swing bridge",
            "the great hinge",
        ),
        Story(
            "A Lighthouse Learns to Blink",
            (
                "For a century the light stood still and ships did the blinking. The new lamp turns, "
                "which has pleased the pilots and unsettled the hens on the point, who now wake every "
                "nine seconds and lay accordingly."
            ),
            "the lighthouse point",
            "the new lamp",
        ),
        Story(
            "Mussels Have No Monday",
            (
                "The mussel rafts are tended on every day that has a morning. At five the first boats go "
                "out with coffee in a bottle, and the ropes come up heavy, black and clicking like a "
                "roomful of typists."
            ),
            "the mussel rafts",
            "the black rope",
        ),
        Story(
            "The Pilot Who Reads the Gulls",
            (
                "There are instruments on the pilot boat, and they are switched on. But the pilot's eyes "
                "go up and to the left, where the gulls stand in the air over the shoal as plainly as a "
                "painted board."
            ),
            "the pilot station",
            "the painted board",
        ),
        Story(
            "Lost Property of the Ferry Company",
            (
                "One oar. Four left gloves. A tuba, claimed and then left again. The shelf of the ferry "
                "company tells the story of a people who board with full arms and step ashore with their "
                "minds on supper."
            ),
            "the ferry office",
            "the abandoned tuba",
        ),
        Story(
            "Ice for the Morning Auction",
            (
                "Before there can be fish there must be ice, and it comes down the chute at half past "
                "three with a noise like applause. Those who live above the auction say that they sleep "
                "through it, and keep their own hours."
            ),
            "the auction hall",
            "the ice chute",
        ),
        Story(
            "Painting the Boat's Other Name",
            (
                "Each boat has the name on its bow and another that is used. Once a year, when the hulls "
                "are painted, the second name is written where the water will cover it, so that only the "
                "sea and the owner know."
            ),
            "the slipway",
            "the hidden name",
        ),
        Story(
            "Fog, Hour by Hour",
            (
                "At six one could see the crane. At seven one could hear it. By eight the harbour had "
                "been folded up and put away, and the bell on the mole was ringing for a town that had to "
                "be taken on trust."
            ),
            "the mole",
            "the fog bell",
        ),
        Story(
            "The Crane That Lifts Nothing",
            (
                "It has not moved a crate since the new quay was built, yet every Saturday its engine is "
                "started, its arm is swung across the basin and back, and its driver climbs down with the "
                "face of someone who has been away."
            ),
            "the new quay",
            "the idle crane",
        ),
    ),
    paragraphs=(
        (
            "The tide tables give high water at {hour}, and the harbour agrees to within a cigarette. "
            "What they don't give is the mood: whether {place} will smell of tar or of rain, and whether "
            "the boats will lie head to the wind or turn their backs on it."
        ),
        (
            "There were {count} vessels in the basin when this was written, counting the dinghy that is "
            "also a flower bed. None of them was in a hurry. A harbour is a place for waiting, and "
            "{place} has been improved for that purpose by a bench."
        ),
        (
            "Salt gets into everything, and the records are no exception. The page on which {thing} is "
            "first mentioned has to be read at an angle, by candle, and then it says only that all went "
            "well and that the {wind} had dropped."
        ),
        (
            "Old hands give the same advice to all newcomers: one hand for the ship, one for yourself, "
            "and neither for {thing}. It is good advice, and there is a dent at {place} that marks the "
            "last time it was neglected."
        ),
        (
            "A stranger asked where the two seas meet. {Count} people pointed, in almost as many "
            "directions, and all were right; it depends on the hour and on the {wind}. The stranger "
            "bought an ice cream and stayed until both had come."
        ),
        (
            "Towards {hour} the lamps are lit from the far end, one after the other, at the speed of a "
            "man on a bicycle. By the time he reaches {place} the water has already copied out the first "
            "of them, and got it slightly wrong."
        ),
    ),
    wares=("a coil of tarred rope", "a kilo of mussels", "a printed tide table", "an oilskin hat"),
)
