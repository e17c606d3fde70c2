"""The phrases of the built-in language model, separated by ", ". Lower case, British spelling, no hyphens.

The garment words of :mod:`cir_core.garments.lexicon` are not repeated here.
"""

from __future__ import annotations

SYNONYMS: dict[tuple[str, str], str] = {
    ("category", "dress"): "dress, gown, frock, sundress",
    ("category", "shirt"): "shirt, dress shirt",
    ("category", "toptee"): "top, blouse, tee, t shirt, tshirt, tee shirt",
    ("colour", "grey"): "silver grey, light grey, greyish",
    ("colour", "white"): "off white, snow white",
    ("colour", "beige"): "creme",
    ("colour", "blue"): "light blue, royal blue, bright blue, baby blue",
    ("colour", "pink"): "hot pink, light pink, bright pink",
    ("colour", "red"): "bright red",
    ("colour", "navy"): "midnight blue, darker blue",
    ("pattern", "plain"): ("unpatterned, one colour, single colour, patternless, solid colour, one coloured, "
                           "single coloured, unicolour, uni coloured, same colour all over, all one colour, "
                           "in one solid colour"),
    ("pattern", "stripes"): ("striped, stripy, stripey, horizontal striped, horizontal, horizontally, crosswise, "
                             "breton, striped across, striped horizontally"),
    ("pattern", "pinstripes"): "pinstripe, vertical striped, vertical, vertically, lengthwise, striped vertically",
    ("pattern", "dots"): "dotty, polka dotted, polka, pois, spotty",
    ("pattern", "checks"): "gingham, tartan, chequered, checkerboard, plaided, checky",
    ("pattern", "floral"): "flower patterned, botanical, flowery print, blooming",
    ("pattern", "graphic"): "graphic, with print on the front, printed on the front",
    ("pattern", "colourblock"): ("colour blocked, two toned, colourblock, colourblocked, bicolour, bi colour, "
                                 "two coloured, 2 tone, duotone, half half"),
    ("sleeves", "sleeveless"): ("sleevless, no sleeve, sleeveless cut, arms bare, bare arms, bare armed, "
                                "bare arms please, armless"),
    ("sleeves", "straps"): ("spaghetti strap, thin strap, shoulder straps, spaghetti strapped, strap, spaghettis, "
                            "cami straps, skinny straps, strapped, narrow straps"),
    ("sleeves", "short"): ("short sleeve, cap sleeves, cap sleeved, short sleeves, t shirt sleeves, t shirt sleeve, "
                           "tee sleeves, tshirt sleeves, t shirt style sleeves, short arms, short armed, "
                           "sleeves above the elbow, half arm"),
    ("sleeves", "elbow"): ("three quarter sleeve, three quarter length sleeves, three quarter sleeved, 3/4 sleeves, "
                           "3/4 sleeve, 3/4 length sleeves, elbow sleeves, half sleeves, elbow length sleeve, "
                           "mid length sleeve, quarter sleeves, half sleeved, half length sleeves, "
                           "half length sleeve, half sleeve, elbow sleeved, mid sleeves, medium sleeves, "
                           "medium length sleeves, three quarters sleeves, 3 4 sleeves, three quarter arms, "
                           "sleeves to the elbow"),
    ("sleeves", "long"): ("long sleeve, full sleeves, full length sleeves, full sleeved, full length sleeve, "
                          "full sleeve, long arms, long armed, sleeves all the way down, sleeves down to the hands, "
                          "sleeves to the wrist, wrist length sleeves"),
    ("neckline", "crew"): ("crewneck, crew neckline, round necked, rounded neck, rounded neckline, round collar, "
                           "circular neckline, crew, jewel neck, round neckline, simple round neck, "
                           "round shaped neck"),
    ("neckline", "vneck"): ("vneck, v neckline, v necked, deep v, deep v neck, v cut, plunging neckline, v collar, "
                            "v shaped neck, v shape neck, v shaped, v shape, v shaped collar, plunge neck, vee neck, "
                            "vee"),
    ("neckline", "scoop"): ("scoop neckline, scooped neck, scoopneck, u neck, u neckline, scoop necked, scooped, "
                            "scoop, round low neck, u shaped neck, u shaped neckline"),
    ("neckline", "square"): "square necked, squared neckline, square shaped neck, square collar, squared neck",
    ("neckline", "turtleneck"): ("turtle neck, mock neck, polo neck, high neckline, high collar, high necked, "
                                 "turtlenecked, funnel neck, high turtleneck, rollneck, polo necked, mockneck, "
                                 "roll collar, turtle"),
    ("neckline", "collar"): "pointy collar, collars, with collar, polo collar, button down collar, pointed collars",
    ("length", "short"): ("minidress, above the knee, thigh length, crop, short length, short dress length, "
                          "cropped cut, to the waist, down to the waist, ends at the waist, end at the waist, "
                          "ending at the waist, waist length, shows the midriff, belly free, showing the belly, "
                          "above the waist, above the knees, just above the knee, over the knee"),
    ("length", "medium"): ("midi, knee length, below the knee, to the knee, medium length, normal length, "
                           "calf length, mid calf, midi length, below the knees, just below the knee, "
                           "standard length, covers the knee, covers the knees, covering the knees, usual length, "
                           "tea length"),
    ("length", "long"): ("floor length, ankle length, full length, ankle, long length, to the floor, maxidress, "
                         "over the hips, past the hips, below the hips, over the hip, over the bum, past the knee, "
                         "past the knees, covers the hips, covers the bum, longline"),
    ("fit", "slim"): ("tight fit, tight fitting, form fitting, fitted fit, slim, figure hugging, bodycon, "
                      "close fitting, slim fitting, fitted shape, figure hugging cut, skin tight, skintight, clingy, "
                      "snug, skinny, slim cut, fitted cut, slimfit, narrow fit, hugging, body hugging, close fit, "
                      "tailored"),
    ("fit", "regular"): ("regular fitting, straight cut, normal fit, straight, straight fitting, classic fit, "
                         "standard fit, straight shape, regular cut"),
    ("fit", "loose"): ("baggy, loose fitting, flowy, relaxed fit, relaxed, roomy, billowy, over sized, wide fit, "
                       "wide cut, baggy fit, loose cut, comfy fit, slouchy, boxy, floaty, airy, loosefit, oversize"),
    ("trim", "buttons"): ("button, buttoned, buttons down the front, button down, button up, button front, "
                          "buttons on the front, row of buttons, button placket, buttoned front, buttoned up, "
                          "buttoned down, press studs"),
    ("trim", "pocket"): "pockets, breast pocket, chest pockets, front pocket, pocket on the chest, pocket on the front",
    ("trim", "belt"): ("belted, waist belt, belt at the waist, waistband, sashes, tie at the waist, cinched waist, "
                       "waist tie, belt around the waist"),
    ("trim", "ruffle"): ("ruffle, ruffled, frilly, frill, ruffled hem, frilled, flounce, flounces, ruffly, frill hem, "
                         "ruffles at the hem, volant, volants"),
    ("trim", "bow"): "bows, ribbons, bow at the neck, bow tie, bowtie, bow on the front, pussy bow, bow on it",
    ("trim", "piping"): ("piping, contrasting trim, contrasting edges, contrast piping, edges, edging, "
                         "contrast edging, contrasting edging, coloured edges, edges in another colour, "
                         "edges in a different colour, edges in a second colour, trim in another colour, "
                         "trim in a different colour, contrasting piping, contrast hem, contrast cuffs, "
                         "contrasting hem, contrast borders, coloured trim, edge, borders, "
                         "cuffs and hem in another colour, contrast binding, contrast edge"),
}
"""Synonyms of values."""

LOOSE: dict[tuple[str, str], str] = {
    ("colour", "black"): "ebony, onyx, coal",
    ("colour", "navy"): "indigo, dark denim",
    ("colour", "red"): ("maroon, burgundy, wine, ruby, dark red, cherry, bordeaux, vermilion, brick, raspberry, "
                        "reddish, coral red, rose red"),
    ("colour", "pink"): ("fuchsia, magenta, salmon, blush, dark pink, rosy, pinkish, bubblegum, peach pink, "
                         "coral pink, rose gold"),
    ("colour", "purple"): ("lavender, lilac, plum, light purple, dark purple, mauve, aubergine, eggplant, amethyst, "
                           "purplish"),
    ("colour", "green"): ("olive, mint, lime, emerald, dark green, light green, bright green, sage, moss, pistachio, "
                          "greenish, forest green, khaki green, olive brown"),
    ("colour", "orange"): "coral, peach, rust, apricot, tangerine, terracotta, amber",
    ("colour", "yellow"): "gold, golden, light yellow, bright yellow, lemon, ochre, saffron, canary, yellowish",
    ("colour", "grey"): "silver, charcoal, dark grey, slate, anthracite, graphite",
    ("colour", "white"): "ivory, eggshell, pearl, offwhite, cream white, pearl white, creamy white",
    ("colour", "teal"): ("aqua, cyan, aquamarine, petrol, turquoise blue, sea green, blue green, petrol blue, "
                         "petrol green"),
    ("colour", "blue"): "denim blue, cobalt, azure, bluish, sapphire, cornflower",
    ("colour", "beige"): "khaki, nude, sand, light brown, camel, taupe, ecru, oatmeal, champagne, stone, sand brown",
    ("colour", "brown"): "dark brown, coffee, mocha, chestnut, cognac, hazel",
    ("pattern", "graphic"): "lettering, slogan, illustration, motif, emblem",
}
"""Words mapped to the nearest value, with a note."""

NOUNS: dict[tuple[str, str], str] = {
    ("pattern", "stripes"): ("stripe, stripes, horizontal stripes, horizontal stripe, stripes across, "
                             "stripes going across, stripes running across, stripes across it, crosswise stripes, "
                             "breton stripes"),
    ("pattern", "pinstripes"): ("vertical stripes, pinstripes, vertical stripe, thin vertical stripes, "
                                "stripes going down, stripes running down, stripes from top to bottom, "
                                "up and down stripes, lengthwise stripes, vertical pinstripes, stripes lengthwise, "
                                "stripes going vertically"),
    ("pattern", "dots"): "polka dots, dots, spots, dot, polka dot, polkas, little dots, small dots",
    ("pattern", "checks"): "checks, plaid checks, checkers, check, squares, plaid pattern, checked squares",
    ("pattern", "floral"): ("flowers, flower, floral print, flower print, floral pattern, florals, roses, "
                            "floral design, blossoms, blooms, rose print, petals, flowers all over, small flowers, "
                            "little flowers"),
    ("pattern", "graphic"): ("graphic print, logo, logos, graphics, picture, graphic design, graphic on the chest, "
                             "graphic on front, printed logo, printed graphic, graphic on the front, "
                             "picture on the front, print on the front, image on the front, drawing on the front, "
                             "print on the chest, picture on the chest, logo on the front, logo on the chest, "
                             "graphic motif, image on it, picture on it"),
    ("pattern", "colourblock"): ("colour blocks, two halves, second half, other half, lower half, upper half, "
                                 "bottom half, top half, blocks of colour, second colour block, one half"),
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

PARTS: dict[str, str] = {
    "sleeves": ("sleeve, sleeves, sleeved, arms, covered shoulders, covers the shoulders, covers my shoulders, "
                "cover the shoulders, cover my shoulders, shoulders covered, covered arms, covers the arms, "
                "covers my arms"),
    "neckline": "neck, neckline, necked, necklines, cleavage, decolletage",
    "colour": "colour, colours, coloured, shade, hue, colouring",
    "pattern": "pattern, patterns, print, prints, design, designs, patterned",
    "length": "length, hem, hemline",
    "fit": "fit, fits, cut, silhouette, shape, width",
    "trim": ("trim, trims, detail, details, decoration, decorations, embellishment, embellishments, extras, extra, "
             "trimming, trimmings, accessories, adornment, frippery, bells and whistles"),
}
"""Names of groups."""

OTHER_GARMENTS = ("skirt, jacket, coat, sweater, jumper, cardigan, hoodie, sweatshirt, jeans, trousers, pants, "
                  "shorts, suit, vest, waistcoat, jumpsuit, romper, blazer, leggings, polo, pullover, kimono, cape, "
                  "poncho, overalls")
"""Garments outside the lexicon's categories."""

TINTS = ("jet, ash, lemon, grass, ruby, rose, forest, olive, sky, baby, royal, cobalt, electric, powder, ice, steel, "
         "brick, blood, cherry, wine, candy, dusty, pastel, neon, hot, bright, pale, deep, rich, soft, vivid, sand, "
         "stone, slate, pearl, snow, cream, canary, mustard, mint, lime, emerald, bottle, sea, sage, moss, hunter, "
         "army, chocolate, coffee, camel, ink, raven, coal, midnight, fire, tomato, sunny, sunshine, petrol, warm, "
         "cool, dull, muted, fluorescent, intense, leaf, apple, denim, ocean, lavender, plum, salmon, coral, "
         "charcoal, burgundy, true, pure, flamingo, tan, honey, butter, fuchsia, khaki, smoky, lilac")
"""Words before a colour that make a shade of it: "jet black", "lemon yellow"."""

UNKNOWN_PHRASES = ("aline, tie dye, tie dyed, off the shoulder, off shoulder, one shoulder, cold shoulder, "
                   "leopard print, animal print, zebra print, snake print, peter pan collar, open back, low back, "
                   "halter neck, boat neck, cowl neck, sweetheart neckline, puff sleeves, puffy sleeves, "
                   "bell sleeves, balloon sleeves, flared sleeves, wrap dress, high waist, high waisted, "
                   "little black dress, side slit, camouflage print, boat neckline, halter neckline, pleated skirt, "
                   "plus size, zip up, butterfly sleeves")
"""Terms of fashion that no attribute of the vocabulary covers, kept in one piece: a boat neck is not just a neck."""
