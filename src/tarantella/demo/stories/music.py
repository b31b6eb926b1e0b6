"""The music section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

MUSIC = Section(
    key="music",
    name="The Music",
    motto="Six beats to the bar, and a seventh for the neighbours.",
    desk="the bandstand desk",
    desk_note=("It is open to the weather on all sides and has a good roof, which is more than most desks can say."),
    stories=(
        Story(
            "A Tambourine Is a Small Weather",
            (
                "Shake it and it rains; strike it and there is thunder; let it hang on its nail and the "
                "jingles tell you that somebody has opened a door. The maker in the potters' quarter "
                "sells them with a forecast."
            ),
            "the potters' quarter",
            "the goatskin tambourine",
        ),
        Story(
            "The Accordion With a Missing Note",
            (
                "One button gives only air. Its owner has built eleven tunes round the gap, and listeners "
                "who have heard it for years no longer notice a silence there but a kind of breath that "
                "everybody takes at once."
            ),
            "the tram shelter",
            "the silent button",
        ),
        Story(
            "Six Beats to the Bar, Seven to the Staircase",
            (
                "The music school's stairs have seven steps to a flight, and the tarantella has six "
                "beats. It takes the beginners until Christmas to stop falling up them, and the masters "
                "until retirement to stop minding."
            ),
            "the music school",
            "the seventh step",
        ),
        Story(
            "The Brass Band Goes Fishing",
            (
                "An outing of the harbour band to the breakwater yielded no fish, one new march, and "
                "proof that a euphonium floats bell upward. The rehearsal is moved to Friday, when the "
                "instruments will be dry."
            ),
            "the breakwater",
            "the floating euphonium",
        ),
        Story(
            "Strings Cut to the Length of a Street",
            (
                "For the feast a single string was stretched from the bakery to the baths and bowed with "
                "a broom. It gave one very low note, felt rather than heard, and every window in the "
                "street hummed the octave."
            ),
            "the street of the baths",
            "the long string",
        ),
        Story(
            "A Concert for People Who Are Late",
            (
                "The programme was printed backwards: the encore at eight, the great piece at half past, "
                "the tuning at ten. Those who came on time had the best of it, and those who came late "
                "thought that they had."
            ),
            "the summer theatre",
            "the backward programme",
        ),
        Story(
            "The Bell Founder's Wrong Bell",
            (
                "It was meant to be an A and came out of the earth as something between two notes that "
                "has no name. The founder offered to melt it. The town asked for a day to think, hung it, "
                "and has been thinking ever since."
            ),
            "the bell tower",
            "the nameless bell",
        ),
        Story(
            "Humming in the Post Office",
            (
                "Nobody knows who starts it. By mid-morning the queue has found a key, by noon there are "
                "parts, and on pension day there was a canon in four voices that had to be stopped so "
                "that somebody could buy a stamp."
            ),
            "the post office",
            "the brass counter",
        ),
        Story(
            "Lullabies in Quick Time",
            (
                "In most places children are rocked slowly. Here they are put to sleep at a hundred and "
                "sixty beats a minute by grandmothers who see no contradiction, and who are usually the "
                "first to nod off."
            ),
            "the courtyard of figs",
            "the rocking chair",
        ),
        Story(
            "The Archive of Unfinished Tunes",
            (
                'Four bars and a blot; a fine opening and the word "supper". The archive behind the '
                "bandstand keeps every tune that was begun in this town and left lying about, and lends "
                "them to whoever promises an ending."
            ),
            "the bandstand",
            "the drawer of beginnings",
        ),
    ),
    paragraphs=(
        (
            "One should not arrive before {hour}. The players are there, but they are eating, and a "
            "musician who is watched while eating plays carefully all night. Better to wait outside "
            "{place} and to judge by the laughter when the plates have been cleared."
        ),
        (
            "The tune has {count} known verses and a last one that is made up on the spot. It must "
            "mention the weather, somebody present and {thing}. Cruelty is allowed if it scans. Those who "
            "were sung about last time come early, to see it happen to another."
        ),
        (
            "What a stranger hears first is the speed. What stays is the small delay before the third "
            "beat, no longer than a blink, in which the whole of {place} seems to hang from a nail. It "
            "can't be written down, and {count} attempts to do so are in the library."
        ),
        (
            "With the {wind} behind it the drum is heard on the far shore, and is answered. The answer "
            "comes back late and from the wrong direction, so that two parties have been playing together "
            "for years without having agreed on where to begin."
        ),
        (
            "Repairs to {thing} were paid for by a collection: coins, a hen, a promise to paint. The hen "
            "has since been seen at {place} during rehearsals. She leaves at the slow movements, and the "
            "conductor has begun to take the hint."
        ),
        (
            "By {hour} the windows are open and people have stopped pretending to be on their way "
            "somewhere. This, says the desk, is the moment for which {thing} was made: when nobody is "
            "performing any more and nobody is listening."
        ),
    ),
    wares=(
        "a goatskin tambourine",
        "a set of gut strings",
        "a reed for the shawm",
        "a songbook with blank pages",
    ),
)
