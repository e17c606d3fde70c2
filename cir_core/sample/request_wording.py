"""How people word requests: two independent collections, one to measure with and one to tune on.

Written without regard to the captions of the sample's benchmark and to what the built-in language model reads. A
phrase is a fragment that a frame completes ("with long sleeves", "sleeveless", "in red", "as a dress"), or a whole
sentence, marked by "!". Alternatives are separated by "|", values that one phrase covers by "+". ``{c}`` is a colour,
``{ac}`` the same with its article, ``{old}`` the colour that the reference has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Phrases = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Wording:
    """``values``: group -> value -> phrases that ask for it; ``negated``: phrases that want to be rid of it;
    ``steps``: phrases for "up" and "down" a group's ladder; ``accents``: pattern or trim -> phrases for its colour.
    ``frames``: first word of a fragment ("" for an adjective) -> sentences around the rest of it."""

    colours: Mapping[str, str]
    frames: Mapping[str, tuple[str, ...]]
    doubles: tuple[str, ...]
    values: Phrases
    negated: Phrases
    steps: Phrases
    accents: Mapping[str, str]


MEASURED = Wording(
    colours={
        "black": "black", "white": "white", "grey": "grey", "beige": "beige|cream", "brown": "brown",
        "red": "red|bright red", "pink": "pink", "orange": "orange", "yellow": "yellow",
        "green": "green|emerald green", "teal": "teal|turquoise", "blue": "blue", "navy": "navy blue",
        "purple": "purple|lilac",
    },
    frames={
        "in": ("in {}", "do you have it in {}?", "I'd love this in {}", "same one in {} please", "{} would be nicer",
               "could I see it in {}"),
        "with": ("with {}", "can I have it with {}?", "I'd prefer {}", "same one, with {}", "do you have this with {}?",
                 "it needs {}"),
        "without": ("can I have it without {}?", "same one without {}", "lose {}", "get rid of {}"),
        "as": ("show me this as {}", "do you have it as {}?", "as {} please"),
        "": ("can you make it {}?", "{} please", "I'd want it {}", "same one but {}", "it should be {}"),
    },
    doubles=("{a} and {b}", "I want it {a} and {b}", "same one but {a} and {b}", "could it be {a} and {b}?",
             "{a}, {b} please"),
    values={
        "category": {"dress": "as a dress|! got a dress in this style?",
                     "shirt": "as a shirt|! is there a shirt like it?", "toptee": "as a top|as a blouse"},
        "pattern": {
            "plain": "in one plain colour|! no pattern at all|! just one solid colour",
            "stripes": "with horizontal stripes|with stripes going across",
            "pinstripes": "with vertical stripes|with pinstripes", "dots": "with polka dots|dotted",
            "checks": "with a checked pattern|plaid", "floral": "with flowers on it|with a flower pattern",
            "graphic": "with a print on the chest|with a logo on the front",
            "colourblock": "in two blocks of colour|colour-blocked",
            "stripes+pinstripes": "with stripes|stripy",
        },
        "sleeves": {
            "sleeveless": "sleeveless", "straps": "with spaghetti straps|with skinny straps",
            "short": "with short sleeves|short-sleeved",
            "long": "with long sleeves|long-sleeved|! I'd like the sleeves down to my wrists",
            "elbow": "with sleeves to the elbow|with three-quarter sleeves", "short+elbow+long": "with sleeves",
        },
        "neckline": {
            "crew": "with a round neck", "vneck": "with a V-neck|v-necked", "scoop": "with a scoop neckline",
            "square": "with a square neckline", "turtleneck": "with a turtleneck|with a roll neck",
            "collar": "with a collar|with a proper shirt collar",
        },
        "length": {
            "dress.short": "mini|in a mini length", "dress.medium": "knee-length|! it should end at the knee",
            "dress.long": "floor-length|ankle-length|! I need it to reach the floor", "short": "cropped",
            "medium": "in a normal length", "long": "as long as a tunic|! it should cover my hips, like a tunic",
        },
        "fit": {"slim": "slim-fitting|with a slim cut", "regular": "with a regular cut",
                "loose": "oversized|with a loose cut"},
        "trim": {
            "none": "! no trimmings at all please", "buttons": "with buttons|with buttons all the way down",
            "pocket": "with a pocket|with a breast pocket", "belt": "with a belt|belted",
            "ruffle": "with ruffles|with a ruffle at the bottom", "bow": "with a bow",
            "piping": "with contrasting edges",
        },
    },
    negated={
        "category": {"dress": "! not a dress please", "shirt": "! not a shirt please", "toptee": "! not a top please"},
        "colour": {"*": "not {old}|! anything but {old} please|! no {old}, I have plenty of that"},
        "second_colour": {"*": "without the {old} in it|! I don't like the {old} on it"},
        "pattern": {
            "plain": "not plain|! anything but plain",
            "stripes+pinstripes": "without the stripes|! I'd rather have no stripes",
            "dots": "without the dots|! no polka dots for me", "checks": "without the checks|! I don't wear checks",
            "floral": "without the flowers|! no flowers for me please",
            "graphic": "without the print|! nothing printed on it",
            "colourblock": "! I don't like the colour blocks",
        },
        "sleeves": {"short+elbow+long": "without the sleeves|! no sleeves at all please|! I want my arms bare",
                    "long": "! no long sleeves please",
                    "sleeveless+straps": "not sleeveless", "straps": "without the straps"},
        "neckline": {"collar": "without the collar|! no collar please", "turtleneck": "without the turtleneck",
                     "vneck": "! not a V-neck please", "square": "! not a square neck please"},
        "length": {"dress.long": "not so long", "long": "not so long", "dress.short": "not quite that short",
                   "short": "not cropped"},
        "fit": {"slim": "not so tight", "loose": "not so baggy"},
        "trim": {"buttons": "without the buttons", "pocket": "without the pocket", "belt": "without the belt",
                 "ruffle": "without the ruffles", "bow": "without the bow", "piping": "without the contrasting edges"},
    },
    steps={
        "sleeves": {"up": "with longer sleeves|! the sleeves could be longer",
                    "down": "with shorter sleeves|! the sleeves could be shorter"},
        "length": {"up": "longer|a bit longer", "down": "shorter|a bit shorter"},
        "fit": {"up": "looser|! I need more room in it", "down": "tighter|closer-fitting"},
        "neckline": {"up": "higher at the neck|with a higher neckline",
                     "down": "lower at the neck|with a lower neckline"},
        "colour": {"up": "lighter|in a lighter colour", "down": "darker|in a darker colour"},
    },
    accents={
        "stripes": "with {c} stripes", "pinstripes": "with {c} stripes", "dots": "with {c} dots",
        "checks": "with {c} checks", "floral": "with {c} flowers", "graphic": "with the print in {c}",
        "colourblock": "with {c} for the other half", "buttons": "with {c} buttons", "pocket": "with {ac} pocket",
        "belt": "with {ac} belt", "ruffle": "with {c} ruffles", "bow": "with {ac} bow", "piping": "with {c} edges",
    },
)

TUNING = Wording(
    colours={
        "black": "black|jet black", "white": "white", "grey": "gray|ash grey", "beige": "beige|sand", "brown": "brown",
        "red": "red|ruby red", "pink": "pink|rose pink", "orange": "orange", "yellow": "yellow|lemon yellow",
        "green": "green|grass green", "teal": "teal", "blue": "blue", "navy": "navy|dark blue",
        "purple": "purple|violet",
    },
    frames={
        "in": ("make this {}", "the same but {}", "{}", "show it in {}", "change the colour to {}", "how about {}?"),
        "with": ("give it {}", "add {}", "but with {}", "one that has {}", "let's try {}", "now with {}"),
        "without": ("remove {}", "drop {}", "take off {}", "but without {}"),
        "as": ("turn this into {}", "change it to {}", "give me {} like this"),
        "": ("make it {}", "something {}", "{}", "but {}", "a version that's {}"),
    },
    doubles=("make it {a} and {b}", "but {a} and {b}", "{a}, also {b}", "something {a} and {b}", "the same {a}, {b}"),
    values={
        "category": {"dress": "as a dress|! I'm after a dress like that", "shirt": "as a shirt|! a shirt instead",
                     "toptee": "as a top|! a top would do"},
        "pattern": {
            "plain": "plain|! all in a single colour", "stripes": "horizontally striped|with stripes across",
            "pinstripes": "pinstriped|with thin vertical stripes", "dots": "with dots|polka-dotted",
            "checks": "with checks|in plaid", "floral": "with a floral print|flowery",
            "graphic": "with a graphic|with a picture on the front", "colourblock": "with colour blocks|two-tone",
            "stripes+pinstripes": "striped",
        },
        "sleeves": {
            "sleeveless": "with a sleeveless cut|! make it a sleeveless one", "straps": "with thin straps|strappy",
            "short": "with t-shirt sleeves|with short arms",
            "long": "with full-length sleeves|! sleeves all the way down please",
            "elbow": "with elbow-length sleeves|with half-length sleeves",
            "short+elbow+long": "with some sleeves",
        },
        "neckline": {
            "crew": "with a crew neck", "vneck": "with a v-shaped neck", "scoop": "with a scooped neck",
            "square": "with a square neck", "turtleneck": "with a polo neck|with a high turtleneck",
            "collar": "collared|with a pointed collar",
        },
        "length": {
            "dress.short": "short|above the knee", "dress.medium": "down to the knee|midi",
            "dress.long": "full-length|maxi|! down to the ankles", "short": "in a cropped cut", "medium": "hip-length",
            "long": "tunic-length|! long, over the hips",
        },
        "fit": {"slim": "figure-hugging|with a fitted shape", "regular": "with a straight fit", "loose": "roomy|baggy"},
        "trim": {
            "none": "! no extras on it", "buttons": "buttoned|with a row of buttons", "pocket": "with a chest pocket",
            "belt": "with a sash|! put a belt on it", "ruffle": "with frills|ruffled",
            "bow": "with a ribbon|! put a bow on it", "piping": "with contrast trim|with edges in another colour",
        },
    },
    negated={
        "category": {"dress": "! no dress", "shirt": "! no shirt", "toptee": "! something other than a top"},
        "colour": {"*": "! any colour except {old}|! I don't want {old}|! a different colour, {old} isn't for me"},
        "second_colour": {"*": "! the {old} has to go|! the same with no {old}"},
        "pattern": {
            "plain": "! I don't want it plain", "stripes+pinstripes": "! no stripes|! I hate stripes",
            "dots": "! no dots|! don't want polka dots", "checks": "! no checks|! not checked",
            "floral": "! no floral print|! not flowery", "graphic": "! no graphic|! no logo",
            "colourblock": "! not two-tone",
        },
        "sleeves": {"short+elbow+long": "! cut off the sleeves|! take away the sleeves",
                    "long": "! don't want long sleeves",
                    "sleeveless+straps": "! I do want sleeves", "straps": "! no straps"},
        "neckline": {"collar": "! take away the collar", "turtleneck": "! not a turtleneck", "vneck": "! no v-neck",
                     "square": "! no square neck"},
        "length": {"dress.long": "not that long|less long", "long": "not that long|less long",
                   "dress.short": "not as short|less short", "short": "! no cropped one"},
        "fit": {"slim": "less tight|not as tight", "loose": "less loose|not oversized"},
        "trim": {"buttons": "! no buttons", "pocket": "! no pocket", "belt": "! no belt", "ruffle": "! no ruffles",
                 "bow": "! no bow", "piping": "! no contrast trim"},
    },
    steps={
        "sleeves": {"up": "with sleeves that are longer|longer in the sleeves",
                    "down": "with sleeves that are shorter|shorter in the sleeves"},
        "length": {"up": "a little longer|quite a bit longer", "down": "a little shorter|quite a bit shorter"},
        "fit": {"up": "a looser fit|wider", "down": "a tighter fit|more fitted"},
        "neckline": {"up": "! show less neckline|more closed at the neck",
                     "down": "more open at the neck|low-cut"},
        "colour": {"up": "in a lighter shade|a lighter colour", "down": "in a darker shade|a darker colour"},
    },
    accents={
        "stripes": "with the stripes in {c}", "pinstripes": "with the stripes in {c}", "dots": "with the dots in {c}",
        "checks": "with the checks in {c}", "floral": "with the flowers in {c}", "graphic": "with {ac} print",
        "colourblock": "with the second half {c}", "buttons": "with the buttons in {c}",
        "pocket": "with the pocket in {c}",
        "belt": "with the belt in {c}", "ruffle": "with the ruffles in {c}", "bow": "with the bow in {c}",
        "piping": "with the edges in {c}",
    },
)
