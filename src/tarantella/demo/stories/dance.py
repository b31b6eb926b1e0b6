"""The dance section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

DANCE = Section(
    key="dance",
    name="The Dance",
    motto="Steps, shoes and the people who wear both out.",
    desk="the dancing desk",
    desk_note=("Two chairs, no table: the desk was pushed to the wall to make room, and nobody has pulled it back."),
    stories=(
        Story(
            "The Step That Begins on the Left Foot",
            (
                "Ask three dancers where the tarantella begins and you will be shown three feet. The old "
                "school by the fish steps has settled the matter with a brass nail in the floor: left "
                "heel on the nail, right foot free, and whoever argues sweeps the hall."
            ),
            "the fish steps",
            "the brass nail",
        ),
        Story(
            "A Wedding in Three Tempos",
            (
                "The first dance was slow because the bride's shoes were new, the second quick because "
                "the rain had started, and the third was danced under a sail held up by eleven cousins. "
                "Guests agree that the third was the only one worth remembering."
            ),
            "the chapel yard",
            "the borrowed sail",
        ),
        Story(
            "Why the Red Ribbon Goes on the Right Wrist",
            (
                "There is a practical reason for the ribbon, whatever the postcards say. In a turning "
                "crowd a partner needs one thing to look at, and a ribbon on the right wrist is the last "
                "thing to leave and the first to return."
            ),
            "the lamp market",
            "the red ribbon",
        ),
        Story(
            "Night School for Stiff Knees",
            (
                "On Tuesdays the net store is swept, the stove is lit, and those who swore never to dance "
                "again come in by the side door. The youngest pupil is fifty-eight. The oldest will not "
                "say, and dances better for it."
            ),
            "the net store",
            "the iron stove",
        ),
        Story(
            "The Floor That Answers Back",
            (
                "Chestnut boards, laid loose over empty jars: the floor of the rope hall is a drum that "
                "people stand on. Since the repair last spring it speaks half a tone higher, and the town "
                "has not stopped discussing it."
            ),
            "the rope hall",
            "the chestnut floor",
        ),
        Story(
            "Forty Handkerchiefs and One Wind",
            (
                "The handkerchief dance needs still air and never gets it. This year the wind took forty "
                "squares of white cotton over the sea wall in one breath, and the dancers, after a short "
                "silence, went on with empty hands."
            ),
            "the sea wall",
            "the white handkerchief",
        ),
        Story(
            "How to Leave a Circle Politely",
            (
                "Anyone can join a ring of dancers; leaving one is an art. The manual of good manners "
                "kept at the town library gives it a whole page, with a drawing of a foot and an arrow "
                "that points, rather sternly, outward."
            ),
            "the town library",
            "the book of manners",
        ),
        Story(
            "The Shoemaker Who Counts in Sixes",
            (
                "In the workshop behind the clock tower each pair of dancing shoes gets thirty-six "
                "stitches a side. Ask why and the hammer stops, taps six times, and goes back to work. It "
                "is the only answer anyone has been given."
            ),
            "the clock tower",
            "the cobbler's hammer",
        ),
        Story(
            "Rehearsal by Ferry",
            (
                "With the hall closed for plaster, the company has been practising on the evening ferry. "
                "The deck tilts, the audience is captive for eleven minutes, and the turn near the buoy "
                "has improved everybody's balance."
            ),
            "the evening ferry",
            "the upper deck",
        ),
        Story(
            "What the Children Dance When Nobody Teaches Them",
            (
                "Between the end of lessons and the first call for supper there is a quarter of an hour "
                "that belongs to no one. In the square of the two wells the children fill it with a dance "
                "that has rules, a referee and a crab."
            ),
            "the square of the two wells",
            "the chalk ring",
        ),
    ),
    paragraphs=(
        (
            "The pace is set by whoever is most tired, which is the custom here and explains why an "
            "evening can last until {hour}. Nobody is asked to keep up. One is only asked not to stop in "
            "the doorway of {place}, where the draught is, and where those coming in have already started "
            "dancing."
        ),
        (
            "Visitors tend to watch the feet. The people of the town watch the shoulders, because a foot "
            "can be taught in a week and a shoulder takes a winter. When {count} dancers turn together "
            "near {place} it is the shoulders that one hears, a sound like a curtain being drawn."
        ),
        (
            "An account book from the society lists what was spent in a good year: lamp oil, rosin, "
            '{count} lemons, and one new plank. Against {thing} there is no price, only the word "again", '
            "underlined by a patient hand."
        ),
        (
            "It would be easy to say that this is an old tradition. It is truer to say that it is "
            "repeated, each time by somebody for whom it is new. Last week a boy of nine looked at "
            "{thing}, then at his own two feet, and asked which of them had been informed."
        ),
        (
            "There was a disagreement, naturally. One side wished to move {thing} a hand's breadth to the "
            "east; the other side wished to be asked. Both have since been seen dancing at {place}, not "
            "with each other, but in the same time, which here counts as a settlement."
        ),
        (
            "When the {wind} comes up, the steps grow shorter and nearer the ground. Those who learned at "
            "{place} say that they can name the weather with their eyes shut, from the heels alone, and "
            "on {count} evenings out of a hundred they are right."
        ),
    ),
    wares=("a pair of rope-soled shoes", "a red wrist ribbon", "a bag of rosin", "a linen handkerchief"),
)
