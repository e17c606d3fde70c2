"""Words that operate on others, and words of no content, separated by ", ".

Lower case, British spelling, no hyphens.
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, str] = {
    "simpler": "simpler, plainer, less busy, less patterned, more plain, more simple, cleaner, minimal, too busy",
    "not": ("not, no, nothing, isnt, arent, doesnt, dont, never, nor, neither, no longer, not any, lacks, lacking, "
            "minus, wont, shouldnt, hasnt, havent, non, hate, hates, dislike, cant stand, sick of, tired of, "
            "fed up with, no more, other than, apart from, aside from, different from, different to, different than, "
            "not a fan of, not into, not keen on, avoid, avoiding, excluding, besides"),
    "without": ("without, remove, removing, lose, drop, delete, eliminate, take off, get rid of, take away, free of, "
                "omit, skip, leave out, lose the, cut off, chop off, cut out, strip off, ditch, minus the, leave off, "
                "do away with, getting rid of, taking off, cutting off, rid of"),
    "instead": "instead of, rather than, as opposed to, unlike, in place of",
    "replace": "replace, replaced, replacing, swap, swapped, swapping, exchange, switch, substitute, trade",
    "alter": "change, changed, changing, turn, turned, transform, convert, recolour, dye",
    "from": "from",
    "to": "to, into, by",
    "keep": "keep, retain, still, keeping, maintain, leave, kept, leaving, stay, stays, remain, remains",
    "same": "same, similar, identical",
    "except": "except, except for, excepting, bar, save for",
    "other": "different, another, other, new",
    "more": "more",
    "less": "less, fewer",
    "as": "as, so, too, quite, that",
    "much": "much, far, lot, lots, way, considerably",
    "and": "and, &, also, plus, additionally, then",
    "or": "or, either",
    "but": "but, however, though, although, yet",
    "break": ".",
    "with": "with, having, featuring, w, wit, including",
    "in": "in",
    "the": "the, this, its, my, these, those",
    "a": "a, an, some, any, single, few, couple",
    "head": ("garment, piece, item, items, one, ones, clothing, thing, something, outfit, product, version, variant, "
             "idea"),
    "verb": ("is, are, be, being, make, makes, made, has, have, had, add, adding, added, give, should, want, looks, "
             "look, looking, does, do, put, show, find, need, prefer, was, use, using, must, wear, wears"),
    "stop": ("it, of, for, on, i, me, you, we, would, like, please, very, really, slightly, somewhat, bit, little, "
             "just, entirely, completely, totally, all, both, overall, style, styled, kind, type, which, who, and/or, "
             "there, at, front, around, background, base, fabric, cloth, instead, photo, picture of, image, can, "
             "could, will, if, but/and, second, their, they, them, he, she, her, his, your, our, own, search, mostly, "
             "mainly, such, else, now, here, again, exactly, exact, everything, about, anything, much of, than, "
             "rather, up, down, where, while, when, what, s, let, lets, us, get, bottom, on top, only, try, trying, "
             "think, thinking, guess, know, see, getting, go, going, come, comes, ok, okay, yes, yeah, hi, hello, "
             "hey, thanks, thank, am, im, id, ill, ive, were, been, might, may, shall, maybe, perhaps, possibly, "
             "actually, basically, honestly, kinda, sort, pls, plz, nothing on it, nothing else, take, taken, "
             "because, since, after, before, wanna, gonna, hoping, wondering, wish, myself, "
             "someone, person, how, why, out, over, along, "
             "each, every, yourself, itself, love, loving, ideally, preferably, sure, well, idk, hmm, u, ur, t, m, d, "
             "ll, ve, im after, a touch, a tad, a bit more of, instead please, kind of, as well, too please, to be"),
    "away": ("has to go, have to go, must go, needs to go, should go, can go, could go, isnt for me, is not for me, "
             "arent for me, are not for me, not for me, isnt my thing, is not my thing, isnt my colour, "
             "is not my colour, isnt my style, doesnt suit me, dont suit me, does not suit me, doesnt work for me, "
             "looks bad on me, has got to go, is not for us, isnt for us, should be gone, isnt what i want, off, "
             "removed, taken off, taken away, gone, is out, left off"),
    "swap": ("swap the colours, swap colours, swap the two colours, swap both colours, swap its colours, "
             "reverse the colours, reverse colours, invert the colours, invert colours, exchange the colours, "
             "switch the colours, switch colours, exchange colours, flip the colours, colours swapped, "
             "colours reversed, colours the other way round, colours the other way around, the colours swapped, "
             "reversed colours, inverted colours, colours inverted, swapped colours, opposite colours"),
}
"""Words that operate on others, by kind (see ``vocabulary.WordKind``)."""

EXCLUDED_FROM = ("any, any colour, any colours, any shade, any pattern, any print, any neckline, any length, "
                 "anything, any other colour, any other pattern, all colours, every colour, any colour at all, "
                 "any fit, any kind, any trim, anything else, any sleeves")

EXCLUDING = "but, except, except for, other than, besides, apart from, than"
"""Together "any colour but", "anything except": what follows is not wanted."""

ORDINALS = ("first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, last, previous, 1st, 2nd, "
            "3rd, 4th, 5th, original, left, right, middle, top left, top right, bottom left, bottom right, bottom")

POINTED_AT = "one, picture, image, result, photo, option, hit, dress, shirt, suggestion, row, reference"

POINTERS = ("one on the left, one on the right, one in the middle, one at the top, one at the bottom, one above, "
            "one below, one before, one from before, one earlier, back to, go back to, as before, from before, "
            "like before, earlier one, original one, one next to it, first turn, second turn, last turn, "
            "previous turn")
"""Other results and earlier turns: "the second one", "the one on the left"."""

ABBREVIATIONS: dict[str, str] = {
    "slv": "sleeve", "slvs": "sleeves", "slves": "sleeves", "slvless": "sleeveless", "blk": "black", "wht": "white",
    "gry": "grey", "grn": "green", "blu": "blue", "ylw": "yellow", "yel": "yellow", "prpl": "purple", "brn": "brown",
    "pnk": "pink", "orng": "orange", "nvy": "navy", "drk": "dark", "dk": "dark", "lt": "light", "lgt": "light",
    "btn": "button", "btns": "buttons", "nk": "neck", "nkline": "neckline", "lng": "long", "lngr": "longer",
    "shrt": "short", "shrtr": "shorter", "strp": "stripe", "strps": "stripes", "ptrn": "pattern", "clr": "colour",
    "col": "colour", "drs": "dress", "wiht": "with", "whit": "with", "wth": "with", "tite": "tight", "lite": "light",
    "lenght": "length", "lengh": "length", "sleves": "sleeves", "sleve": "sleeve", "colur": "colour",
    "coulour": "colour",
}
"""Short forms and misspellings that are too far off to be guessed."""

INNOCENT = ("asymmetrical, back, bird, birds, blank, bold, bottle, brand, bright, brighter, casual, cats, chest, "
            "colourful, cotton, dark, denim, dollar, dragon, dresses, elegant, formal, grown, halter, heart, hearts, "
            "hood, lace, large, layered, layers, leather, letters, light, line, lined, linen, night, pattern, "
            "pleated, pleats, press, satin, sequin, sequins, sheer, shiny, shirtless, shore, shot, shoulder, "
            "shoulders, silk, small, snow, sport, sporty, stars, store, strapless, street, stress, string, strip, "
            "summer, text, texture, tie, tunnel, velvet, vibrant, waist, while, white, winter, wool, words, zipper, "
            "bigger, thinner, cheaper, women, party, beach, backless, leopard, sexier, modest, wedding, softer, "
            "warmer, smarter, better, nicer, prettier, younger, older, shoes, boots, hat, girl, woman, man, model, "
            "child, kids, sleepy, long-lasting, lemon, match, matching, fancy, fun, flared, flare, slit, split, "
            "sheath, spring, festival, holiday, office, work, plus, size, sizes, scarf, strong, stretch, stretchy, "
            "printing, close, closest, closer, nothing, nearest")
"""Never treated as misspelt garment words, though similar to some."""
