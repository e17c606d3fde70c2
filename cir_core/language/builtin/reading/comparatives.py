"""Comparatives of the built-in language model, and where a hem or a sleeve ends. Separated by ", "."""

from __future__ import annotations

STEPS: dict[tuple[str, int], str] = {
    ("shade", 1): ("darker, deeper colour, darker shade, dark coloured, darker colour, darker coloured, darker tone, "
                   "darker hue, deeper shade, deeper tone, less light, less pale, too light, too pale"),
    ("shade", -1): ("lighter, paler, lighter shade, lighter colour, lighter coloured, light coloured, lighter tone, "
                    "lighter hue, paler colour, paler shade, brighter shade, less dark, too dark, more pale"),
    ("length", 1): "longer, lengthier, more length, lower hem, lower hemline, longer hem, lengthen, lengthened",
    ("length", -1): "shorter, less length, higher hem, higher hemline, shorter hem, shorten, shortened, not very long",
    ("sleeves", 1): ("longer sleeves, longer sleeve, longer sleeved, more sleeves, more sleeve, longer arms, "
                     "longer in the sleeves, longer in the arms"),
    ("sleeves", -1): ("shorter sleeves, shorter sleeve, shorter sleeved, less sleeves, less sleeve, shorter arms, "
                      "shorter in the sleeves, shorter in the arms"),
    ("fit", 1): ("looser, baggier, roomier, wider, flowier, less form fitting, less fitting, looser fit, looser cut, "
                 "wider fit, wider cut, less figure hugging, more relaxed, more room, less clingy, less snug, "
                 "comfier fit, loosen, loosened, more loose, less close fitting"),
    ("fit", -1): ("tighter, slimmer, snugger, narrower, more form fitting, more fitting, closer fitting, tighter fit, "
                  "tighter cut, more fitted, slimmer fit, slimmer cut, more figure hugging, closer fit, too wide, "
                  "more snug, more tailored, less wide, closer to the body, closer cut, tighten"),
    ("neckline", 1): ("lower neckline, lower neck, deeper neckline, lower cut, more open neckline, wider neckline, "
                      "wider neck, bigger neckline, more open at the neck, open at the neck, more open neck, "
                      "opener neckline, lower at the neck, deeper neck, more cleavage, more neckline, deeper cut, "
                      "deeper cleavage, larger neckline, deeper, too high at the neck, less closed at the neck, "
                      "less high, less high neckline, less closed, lower"),
    ("neckline", -1): ("higher neckline, higher neck, higher, more closed at the neck, closed at the neck, "
                       "more closed neckline, more closed, less neckline, less cleavage, narrower neckline, "
                       "narrower neck, smaller neckline, higher at the neck, higher cut, less open at the neck, "
                       "less open, less deep neckline, less deep, less low cut, less low, less revealing neckline, "
                       "closer at the neck, less plunging, neckline less deep, too low cut, too open at the neck, "
                       "show less neckline, less low neckline"),
}
"""Comparatives: group and direction."""

OPEN_NECK = ("low cut, low neckline, low neck, open neck, open neckline, wide neckline, wide neck, deep neckline, "
             "deep neck")
"""Any of the low necklines."""

PLACES: dict[tuple[str, str], str] = {
    ("length", "short"): "thigh, thighs, mid thigh, upper thigh, navel, belly button, midriff",
    ("length", "medium"): "knee, knees, calf, calves, mid calf, hip, hips, hipbone, shin, shins",
    ("length", "long"): "ankle, ankles, floor, ground, toes, feet, foot",
    ("sleeves", "elbow"): "elbow, elbows, forearm",
    ("sleeves", "long"): "wrist, wrists, hand, hands",
}
"""Where a hem or a sleeve ends, after a word of :data:`REACHING` or before "length"."""

REACHING = ("to, to the, to my, at the, at my, down to, down to the, down to my, up to the, until the, around the, "
            "reaching, reaching the, reach the, reaches the, reaches my, ending at the, end at the, ends at the, "
            "end at my, ends at my, stop at the, stops at the, stopping at the, hits the, hit the, touching the, "
            "touch the, falls to the, goes to the, go to the, going to the, just to the, all the way to the")
