"""The spiders section."""

from __future__ import annotations

from tarantella.demo.stories.section import Section, Story

SPIDERS = Section(
    key="spiders",
    name="The Spiders",
    motto="Eight legs, no luggage: notes on our quietest neighbours.",
    desk="the cobweb desk",
    desk_note="It stands in the corner that is never dusted, on purpose, and files its notes by thread.",
    stories=(
        Story(
            "In Defence of the Spider on the Stairs",
            (
                "She has lived between the fourth and the fifth step of the customs house since the "
                "spring, and has bitten nobody. The cleaners walk round her. The notice asking others to "
                "do the same is now longer than she is."
            ),
            "the customs house",
            "the fifth step",
        ),
        Story(
            "A Web Measured Before Breakfast",
            (
                "Dew is a surveyor's best assistant. At six in the morning the web on the garden gate "
                "showed thirty-one spokes, two repairs and a draughtsman's sense of proportion; by seven "
                "the sun had put the plans away."
            ),
            "the garden gate",
            "the wet web",
        ),
        Story(
            "The Bite That Was Only a Story",
            (
                "Every town keeps one thing to be afraid of, and ours chose a spider the size of a coin. "
                "The doctor's ledger for the last hundred summers records wasp stings, sunstroke and a "
                "swan. Of bites there is not a line."
            ),
            "the old infirmary",
            "the doctor's ledger",
        ),
        Story(
            "Who Mends the Nets of the Net Menders",
            (
                "Above the bench where the nets are mended hangs a second net, finer and better kept. The "
                "menders have never touched it. Twice, when a knot would not come right, somebody has "
                "been seen looking up for advice."
            ),
            "the menders' bench",
            "the upper net",
        ),
        Story(
            "Eight Eyes on the Evening Train",
            (
                "A small grey jumper has been travelling in the third carriage, on the window side. "
                "Passengers report that it faces forward, turns its head at the viaduct, and gets off "
                "with everyone else, in no hurry."
            ),
            "the railway halt",
            "the third carriage",
        ),
        Story(
            "The Ballooners of October",
            (
                "On the first still day of autumn the fields let go of their young. Each climbs a "
                "thistle, lifts a thread and leaves, and for an hour the air above the olive road is full "
                "of travellers without tickets."
            ),
            "the olive road",
            "the tallest thistle",
        ),
        Story(
            "A Census of Corners",
            (
                "Schoolchildren were asked to count the corners at home and then to count the tenants. "
                "The result, drawn on one long roll of paper, has been hung in the corridor, where it has "
                "already been improved by a tenant."
            ),
            "the school corridor",
            "the paper roll",
        ),
        Story(
            "The Wolf Spider Keeps No Web",
            (
                "She hunts on foot, carries her children on her back and digs her own front door. In the "
                "dry fields behind the salt works there may be a thousand such doors, each lined with "
                "silk and each firmly her own affair."
            ),
            "the salt works",
            "the silk-lined door",
        ),
        Story(
            "Silk Stronger Than the Argument",
            (
                "A debate at the reading room, over whether silk is stronger than steel, ended when the "
                "speaker for steel walked into the evidence on his way to the platform. He conceded one "
                "point and combed out the rest."
            ),
            "the reading room",
            "the single thread",
        ),
        Story(
            "How the Tarantella Got Its Name, Told Backwards",
            (
                "First there was the music, then the dancing, then the sweat, and only much later "
                "somebody to explain it all with a spider. Told in this order the tale is calmer, and the "
                "spider comes out of it rather well."
            ),
            "the storytellers' bench",
            "the borrowed name",
        ),
    ),
    paragraphs=(
        (
            "A spider does not chase an answer. It strings a question across the likeliest gap and waits, "
            "and if by {hour} nothing has come it eats the question and strings a better one. The desk "
            "has begun to work the same way, with {place} as its likeliest gap."
        ),
        (
            "Those who want to see for themselves should come to {place} early and stand with the light "
            "in front of them. Look past {thing}, not at it. What seems to be a flaw in the air will, "
            "after a minute, have {count} corners."
        ),
        (
            "The thread is drawn, not pushed; it hardens because it is pulled. Every weaver in town knows "
            "this and every apprentice forgets it. Somebody has written it in pencil beside {thing}, "
            "where it will be read by those who are already on their knees."
        ),
        (
            "There is no need to be brave. One needs a glass, a postcard and a steady hand, and then a "
            "short walk to {place}, where the tenant may be set down in the grass. Most turn round once "
            "before they go, which we take for courtesy."
        ),
        (
            "When the {wind} blows for three days the webs are built lower and closer, with fewer turns. "
            "A reader who has kept count since childhood claims {count} such weeks, and has been wrong "
            "about the rain only when it rained."
        ),
        (
            "In the old cure a whole street would play until the patient stood up. Whatever was wrong "
            "with the patient, it is certain that the street felt better, and that {thing} was afterwards "
            "shown to visitors as proof of something."
        ),
    ),
    wares=("a brass hand lens", "a field notebook", "a jar with a gauze lid", "a postcard of a garden web"),
)
