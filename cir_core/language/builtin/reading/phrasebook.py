"""The phrases of the built-in language model, separated by ", ". Lower case, British spelling, no hyphens.

The garment words of :mod:`cir_core.garments.lexicon` are not repeated here.
"""

from __future__ import annotations

SYNONYMS: dict[tuple[str, str], str] = {
    ("category", "dress"): "dress, gown, frock, sundress, maxi gown",
    ("category", "shirt"): "shirt, dress shirt",
    ("category", "toptee"): "top, blouse, tee, t shirt, tshirt, tee shirt",
    ("colour", "grey"): "silver grey, light grey",
    ("colour", "white"): "off white, snow white",
    ("colour", "beige"): "creme",
    ("colour", "blue"): "light blue, royal blue, bright blue, baby blue",
    ("colour", "pink"): "hot pink, light pink, bright pink",
    ("colour", "red"): "bright red",
    ("colour", "navy"): "midnight blue, darker blue",
    ("pattern", "plain"): "unpatterned, one colour, single colour, patternless, solid colour",
    ("pattern", "stripes"): "striped, stripy, stripey, horizontal striped",
    ("pattern", "pinstripes"): "pinstripe, vertical striped",
    ("pattern", "dots"): "dotty, polka dotted",
    ("pattern", "checks"): "gingham, tartan, chequered",
    ("pattern", "floral"): "flower patterned, botanical",
    ("pattern", "graphic"): "graphic",
    ("pattern", "colourblock"): "colour blocked, two toned, colourblock, colourblocked",
    ("sleeves", "sleeveless"): "sleevless, no sleeve",
    ("sleeves", "straps"): "spaghetti strap, thin strap, shoulder straps, spaghetti strapped",
    ("sleeves", "short"): "short sleeve, cap sleeves, cap sleeved, short sleeves",
    ("sleeves", "elbow"): ("three quarter sleeve, three quarter length sleeves, three quarter sleeved, 3/4 sleeves, "
                           "3/4 sleeve, 3/4 length sleeves, elbow sleeves, half sleeves, elbow length sleeve, mid "
                           "length sleeve, quarter sleeves, half sleeved"),
    ("sleeves", "long"): "long sleeve, full sleeves, full length sleeves, full sleeved",
    ("neckline", "crew"): ("crewneck, crew neckline, round necked, rounded neck, rounded neckline, round collar, "
                           "circular neckline"),
    ("neckline", "vneck"): ("vneck, v neckline, v necked, deep v, deep v neck, v cut, plunging neckline, v collar"),
    ("neckline", "scoop"): "scoop neckline, scooped neck, scoopneck, u neck, u neckline, scoop necked",
    ("neckline", "square"): "square necked, squared neckline",
    ("neckline", "turtleneck"): ("turtle neck, mock neck, polo neck, high neckline, high collar, high necked, "
                                 "turtlenecked, funnel neck"),
    ("neckline", "collar"): "pointy collar, collars",
    ("length", "short"): "minidress, above the knee, thigh length, crop, short length, short dress length",
    ("length", "medium"): ("midi, knee length, below the knee, to the knee, medium length, normal length, calf length"),
    ("length", "long"): ("floor length, ankle length, full length, ankle, long length, to the floor, maxidress"),
    ("fit", "slim"): ("tight fit, tight fitting, form fitting, fitted fit, slim, figure hugging, bodycon, close "
                      "fitting, slim fitting"),
    ("fit", "regular"): "regular fitting, straight cut, normal fit",
    ("fit", "loose"): "baggy, loose fitting, flowy, relaxed fit, relaxed, roomy, billowy, over sized",
    ("trim", "buttons"): ("button, buttoned, buttons down the front, button down, button up, button front, buttons on "
                          "the front"),
    ("trim", "pocket"): "pockets, breast pocket",
    ("trim", "belt"): "belted, waist belt, belt at the waist, waistband, sashes",
    ("trim", "ruffle"): "ruffle, ruffled, frilly, frill, ruffled hem, frilled, flounce",
    ("trim", "bow"): "bows, ribbons, bow at the neck",
    ("trim", "piping"): "piping, contrasting trim, contrasting edges, contrast piping",
}
"""Synonyms of values."""

LOOSE: dict[tuple[str, str], str] = {
    ("colour", "red"): "maroon, burgundy, wine, ruby, dark red, cherry",
    ("colour", "pink"): "fuchsia, magenta, salmon, blush, dark pink",
    ("colour", "purple"): "lavender, lilac, plum, light purple, dark purple, mauve",
    ("colour", "green"): "olive, mint, lime, emerald, dark green, light green, bright green",
    ("colour", "orange"): "coral, peach, rust",
    ("colour", "yellow"): "gold, golden, light yellow, bright yellow",
    ("colour", "grey"): "silver, charcoal, dark grey",
    ("colour", "white"): "ivory, eggshell",
    ("colour", "teal"): "aqua, cyan, aquamarine",
    ("colour", "blue"): "denim blue, cobalt",
    ("colour", "beige"): "khaki, nude, sand, light brown",
    ("colour", "brown"): "dark brown, coffee",
    ("pattern", "graphic"): "lettering, slogan",
}
"""Words mapped to the nearest value, with a note."""

NOUNS: dict[tuple[str, str], str] = {
    ("pattern", "stripes"): "stripe, stripes, horizontal stripes, horizontal stripe",
    ("pattern", "pinstripes"): "vertical stripes, pinstripes, vertical stripe",
    ("pattern", "dots"): "polka dots, dots, spots, dot",
    ("pattern", "checks"): "checks, plaid checks, checkers, checkerboard",
    ("pattern", "floral"): ("flowers, flower, floral print, flower print, floral pattern, florals, roses, floral "
                            "design"),
    ("pattern", "graphic"): ("graphic print, logo, logos, graphics, picture, graphic design, graphic on the chest, "
                             "graphic on front, printed logo, printed graphic"),
}
"""Patterns as nouns: a preceding colour is the pattern's own."""

COMPOUNDS: dict[str, tuple[tuple[str, str], ...]] = {
    "tank top": (("category", "toptee"), ("sleeves", "sleeveless")),
    "tank": (("category", "toptee"), ("sleeves", "sleeveless")),
    "crop top": (("category", "toptee"), ("length", "short")),
    "tunic": (("category", "toptee"), ("length", "long")),
    "polo shirt": (("category", "shirt"), ("neckline", "collar")),
    "shirt dress": (("category", "dress"), ("neckline", "collar")),
    "maxi dress": (("category", "dress"), ("length", "long")),
    "mini dress": (("category", "dress"), ("length", "short")),
    "button down shirt": (("category", "shirt"), ("trim", "buttons")),
    "button up shirt": (("category", "shirt"), ("trim", "buttons")),
}
"""Words with two values at once."""

STEPS: dict[tuple[str, int], str] = {
    ("shade", 1): "darker, deeper colour, darker shade, dark coloured, darker colour, darker coloured",
    ("shade", -1): "lighter, paler, lighter shade, lighter colour, lighter coloured, light coloured",
    ("length", 1): "longer, lengthier, more length, lower hem, lower hemline",
    ("length", -1): "shorter, less length, higher hem, higher hemline",
    ("sleeves", 1): "longer sleeves, longer sleeve, longer sleeved, more sleeves, more sleeve",
    ("sleeves", -1): "shorter sleeves, shorter sleeve, shorter sleeved, less sleeves, less sleeve",
    ("fit", 1): "looser, baggier, roomier, wider, flowier, less form fitting, less fitting",
    ("fit", -1): "tighter, slimmer, snugger, narrower, more form fitting, more fitting, closer fitting",
    ("neckline", 1): "lower neckline, lower neck, deeper neckline, lower cut, more open neckline",
    ("neckline", -1): "higher neckline, higher neck",
}
"""Comparatives: group and direction."""

PARTS: dict[str, str] = {
    "sleeves": "sleeve, sleeves, sleeved, arms",
    "neckline": "neck, neckline, necked",
    "colour": "colour, colours, coloured, shade, hue, colouring",
    "pattern": "pattern, patterns, print, prints, design, designs, patterned",
    "length": "length, hem, hemline",
    "fit": "fit, fits, cut, silhouette",
    "trim": "trim, trims, detail, details, decoration, decorations, embellishment, embellishments",
}
"""Names of groups."""

FUNCTION_WORDS: dict[str, str] = {
    "simpler": "simpler, plainer, less busy, less patterned, more plain, more simple, cleaner, minimal",
    "not": ("not, no, isnt, arent, doesnt, dont, never, nor, neither, no longer, not any, lacks, lacking, minus, wont, "
            "shouldnt, hasnt, non"),
    "without": ("without, remove, removing, lose, drop, delete, eliminate, take off, get rid of, take away, free of, "
                "omit, skip, leave out, lose the"),
    "instead": "instead of, rather than, as opposed to, unlike",
    "replace": "replace, replaced, replacing, swap, swapped, exchange, switch, substitute",
    "alter": "change, changed, turn, transform, convert",
    "from": "from",
    "to": "to, into, by",
    "keep": "keep, same, retain, still, keeping, similar, identical, maintain, leave",
    "other": "different, another, other",
    "more": "more",
    "less": "less, fewer",
    "as": "as, so, too, quite, that",
    "much": "much, far, lot, lots, way, considerably",
    "and": "and, &, also, plus, additionally, then",
    "or": "or",
    "but": "but, however, though, although, except, only",
    "break": ".",
    "with": "with, having, featuring, w, wit",
    "in": "in",
    "the": "the, this, its, my, these, those",
    "a": "a, an, some, any, single, few, couple",
    "head": "garment, piece, item, items, one, ones, clothing, thing, something, outfit, "
            "product, version, variant, idea",
    "verb": ("is, are, be, being, make, makes, made, has, have, had, add, adding, added, give, should, want, looks, "
             "look, looking, does, do, put, show, find, need, prefer, was, use, using"),
    "stop": ("it, of, for, on, i, me, you, we, would, like, please, very, really, slightly, somewhat, bit, little, "
             "just, entirely, completely, totally, all, both, overall, style, styled, kind, type, which, who, and/or, "
             "there, at, front, around, background, base, fabric, instead, being, photo, picture of, image, can, "
             "could, will, if, but/and, second, their, they, them, he, she, her, his, your, our, own, search, mostly, "
             "mainly, such, else, now, here, again, exactly, exact, everything, about, anything, much of, than, "
             "rather, up, down, where, while, when, what, s, let, lets, us, get, bottom, on top"),
}
"""Words that operate on others, by kind (see ``vocabulary.Kind``)."""

OTHER_GARMENTS = ("skirt, jacket, coat, sweater, jumper, cardigan, hoodie, sweatshirt, jeans, trousers, pants, shorts, "
                  "suit, vest, waistcoat, jumpsuit, romper, blazer, leggings, polo, pullover, kimono, cape, poncho, "
                  "overalls")
"""Garments outside the lexicon's categories."""

INNOCENT = ("asymmetrical, back, bird, birds, blank, bold, bottle, brand, bright, brighter, casual, cats, chest, "
            "colourful, cotton, dark, denim, dollar, dragon, dresses, elegant, formal, grown, halter, heart, hearts, "
            "hood, lace, large, layered, layers, leather, letters, light, line, lined, linen, night, pattern, pleated, "
            "pleats, press, satin, sequin, sequins, sheer, shiny, shirtless, shore, shot, shoulder, shoulders, silk, "
            "small, snow, sport, sporty, stars, store, strapless, street, stress, string, strip, summer, text, "
            "texture, tie, tunnel, velvet, vibrant, waist, while, white, winter, wool, words, zipper")
"""Never treated as misspelt garment words, though similar to some."""
