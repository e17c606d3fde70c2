"""Rewording before the words are matched: what hyphens, colons and other signs say, and adjectives that a colour
separates from their noun."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.vocabulary import phrases


def plain_text(text: str) -> str:
    """``text`` with what hyphens, colons and other signs say in words: "white-trimmed" is "with white piping"."""
    for pattern, plainer in _patterns():
        text = pattern.sub(plainer, text)
    return text


_ONE = r"(?: (?:one|dress|shirt|top|blouse|tee|garment|thing|look|style|cut))?"
_THIS = rf"(?:this|it|that|everything|all){_ONE}"
_ALL_STAYS = re.compile(
    rf"\b(?:keep|leave|like|love|want|take) {_THIS}(?: as (?:it )?is)?,? (?:but|only|just|except)\b"
    rf"|^(?:ok(?:ay)?,? |exactly |just )*(?:{_THIS},? but|(?:the )?same{_ONE},? (?:but|only|just|except|in)) "
    r"|\b(?:same|unchanged|as it is|as is|fine|perfect|good) otherwise\b"
    r"|\botherwise (?:the )?(?:same|unchanged|perfect|fine)\b"
    r"|\b(?:rest|everything else|all else)\b[^.;]{0,16}\b(?:same|stays?|unchanged|as (?:it |they )?(?:is|are)|perfect"
    r"|fine|good)\b|\bkeep (?:the rest|everything else|all else)\b"
    r"|\b(?:do not|don['\u2019]?t) (?:change|touch) (?:anything|the rest)\b|\b(?:change )?nothing else\b",
    re.IGNORECASE)


def says_all_stays(text: str) -> bool:
    """Whether ``text`` (English) says that all else stays: "keep this but long", "loose, the same otherwise"."""
    return _ALL_STAYS.search(text) is not None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), plainer) for pattern, plainer in (*_of_things(), *_of_opinions()))


def _colour() -> str:
    return f"(?:{'|'.join(sorted(_colour_words(), key=len, reverse=True))})"


def _shaded() -> str:
    return rf"((?:(?:dark|light|pale|bright)[- ])?{_colour()})"


def _any_of(name: str) -> str:
    """The words of that name in the table of constructions."""
    return "|".join(listed(table("constructions")[name]))


def _of_things() -> list[tuple[str, str]]:
    """What is where, in which colour, and how it runs."""
    colour, shaded, owner = _colour(), _shaded(), "|".join(_owner_words())
    edged, portions, touches, fruit, up, down = map(_any_of, (
        "edged", "portions", "touches", "fruit", "above", "below"))
    edges = r"\b(edges|edging|hems|cuffs|trim) (?:(?:is|are|were) )?(?:set off|picked out|done|finished|outlined) in "
    lines = r"\b(?:stripes|lines|bands),? (?:the (?:ones|kind|sort) )?"
    half = r"(?:half|part|bit|section|portion) (?:(?:is|in|should be|to be|made|being) )*(?:in )?"
    is_ = r"(?:['\u2019]s| is| are|['\u2019]re)"
    goes = r"(?:(?:should|must|can|could|to|be|become|becomes|go|turn|in|into|made|changed|please|rather|now) )+"
    runs = r"(?:that |which )?(?:(?:run|runs|running|go|goes|going|are|set|laid) )?(?:from )?(?:the )?"
    saggy = (r"\b(?:this|it|this one|that|that one|the whole thing)(?:['\u2019]s| is| looks| feels| hangs)(?: \w+)? "
             r"like a (?:potato )?(?:sack|tent|bag|curtain|blanket)\b")
    return [
        (rf"\b(no|without|nothing) ({colour}) and (?={colour}(?: *$| *[,.;!?]| (?:too|either|please)\b))",
         r"\1 \2 or "),
        (rf"\b(skip|drop|lose|forget|scrap|ditch) the ((?:{owner}|{colour})s?), (?=(?:{owner}|{colour})s?\W*$)",
         r"no \2, but "),
        (rf"^((?:the )?(?:{owner}|{colour}|sleeve|collar)s?),? (?:i['\u2019]?d|i would|we['\u2019]?d|we would) "
         r"(?:rather )?(?:leave out|skip|avoid|lose|drop|do without|not have|not wear)\b", r"no \1"),
        (r"\b(?:greeny|greenish|green)[- ]blue\b|\b(?:bluey|bluish|blueish)[- ]green\b", "teal"),
        (rf"\bcolours? of (?:a |an |the |ripe |fresh )*({fruit})s\b", r"colour of \1"),
        (edges + r"(?:another|a different|a contrasting|a second) colou?r\b", r"contrast \1"),
        (rf"{edges}({colour})\b", r"\2 \1"),
        (rf"\b({colour}) and ({colour}) are (?:both )?(?:out|off|banned|no good|not for me)\b", r"without \1 or \2"),
        (rf"\b((?:normal|regular|straight|slim|fitted|tight) (?:fit|cut))\b([^.]{{1,20}}?){saggy}", r"\1\2"),
        (saggy, "it is too loose"),
        (rf"{lines}{runs}(?:top to (?:bottom|toe|hem)|up and down|downwards?|lengthwise|lengthways|"
         r"neck to hem|shoulder to hem|head to toe)\b", "vertical stripes"),
        (rf"{lines}{runs}(?:side to side|left to right|sideways|across|round the body)\b",
         "horizontal stripes"),
        (rf"\b{shaded},? where(?:ver)? (?:it|they|there){is_}(?: now)? {shaded}\b", r"\1 instead of \2"),
        (rf"\bwhere(?:ver)? (?:it|they|there){is_} {shaded}(?: now| at the moment)?,? (?:{goes})?{shaded}\b",
         r"\2 instead of \1"),
        (rf"\b(?:all |everything |the ){{0,3}}(?:{portions}|things|places)? ?(?:that|which){is_}(?: now)? {shaded},? "
         rf"{goes}{shaded}\b", r"\2 instead of \1"),
        (rf"\b(?:all )?(?:the )?{shaded} (?:{portions}|things|places) {goes}{shaded}\b", r"\2 instead of \1"),
        (rf"\b(that|which){is_} not {shaded} but {shaded}\b", r"\1 is \3"),
        (rf"(?<!blue )(?<!green )\b(?:(?:with|an|a|some|small|little) ){{0,4}}(?:{touches}) (?:of|in) {shaded}\b"
         "(?! in)",
         r"with \1 as the second colour"),
        (rf"\b{shaded} (?:top|upper half|top half)\b(.{{1,6}}?)\b{shaded} (?:bottom|lower half|bottom half)\b",
         r"half \1, half \3"),
        (rf"\b{shaded}[- ](?:{edged})\b(?! (?:in|with)\b)", r"with \1 piping,"),
        *((rf"\b{shaded}-(?:{'|'.join(listed(texts))})\b", rf"with \1 {thing},")
          for thing, texts in table("constructions")["things"].items()),
        (rf"\b((?:{colour} and )*{colour})[- ](?:on|over)[- ]({colour})\b(?![- ](?:sleeve|collar|cuff|hem))",
         r"\2 with \1"),
        (r" > ", " instead of "),
        (rf"\b{shaded} (?:{up})\b(.{{1,12}}?)\b{shaded} (?:{down})\b", r"half \1, half \3"),
        (rf"\b(?:the )?(?:top|upper) {half}{shaded}\b(.{{1,12}}?)\b(?:the )?(?:bottom|lower) {half}{shaded}\b",
         r"half \1, half \3"),
    ]


def _of_opinions() -> list[tuple[str, str]]:
    """What is thought of it, and what the person does not say plainly."""
    colour, shaded, owner = _colour(), _shaded(), "|".join(_owner_words())
    severed, praised, qualities, flattering, subjects = map(_any_of, (
        "severed", "praised", "qualities", "flattering", "subjects"))
    asked = _any_of("asked").replace("'", "['\u2019]?")
    not_ = (r"\b(?:would not|wouldn['\u2019]?t|will not|won['\u2019]?t|can['\u2019]?t|cannot|could not"
            r"|couldn['\u2019]?t) ")
    not_there = r"(?:is not|isn['\u2019]?t|are not|aren['\u2019]?t|has not|hasn['\u2019]?t|does not|doesn['\u2019]?t)"
    lacks = rf"(?:(?:has )?no|{not_there}(?: it| this)?(?: got| have)?(?: an?| any)?|not(?: have)?(?: an?| any)?) "
    lament = (r"\b(?:how come|why(?: on earth| the hell)?|too bad|what a (?:shame|pity)|such a shame|it['\u2019]?s a "
              r"(?:crime|shame|pity|scandal)(?: that)?|the only thing (?:wrong|missing)(?: here)? is(?: that)?)\b,? ")
    return [
        (rf"{lament}(?:(?:it|this|that|there|is|does|are|it['\u2019]s|the \w+) ){{0,2}}{lacks}", "with "),
        (r"\b(?:do not|don['\u2019]?t|never) forget (?:about )?(?=(?:the|an?|my|some)\b)", "with "),
        (r"^(?:is not|isn['\u2019]?t|would not|wouldn['\u2019]?t) (an? [\w -]{3,20}?) (?:be )?"
         r"(?:nicer|better|prettier|cuter|lovely|nice|smarter)\b", r"\1"),
        (r"\bnot even (?=[^.,;]{3,25}? (?:is|are) (?:ok|okay|fine|allowed)\b)", "no "),
        (r"^(no|without) ([\w -]{3,25}?) (?:is|are) (?:also )?(?:fine|ok|okay|good|great|allowed)(?: too| as well)?\b",
         r"\1 \2"),
        (rf"\bnothing (?={colour}\b)", "no "),
        (r"^(no|nope|nah|not really) (?=(?:i|i['\u2019](?:d|ll|m)|we|let|lets|let['\u2019]s|make|give|show|actually"
         r"|rather)\b)", r"\1. "),   # "no I want green"
        (r"\b(loose|baggy|wide|big|shapeless),? like (?:an? )?(?:tent|sack|bag|curtain|blanket|parachute|pyjamas)\b",
         r"\1"),
        (r"\b(stay|stays|remain|remains|keep|leave) (?:exactly|just|precisely|absolutely|totally) "
         r"(?=(?:as|like|how|the)\b)",
         r"\1 "),
        (rf"\b(the (?:{owner})s?) (?:(?:can|should|must|may) )?(?:stay|stays|remain|remains|keep|keeps)(?: in)? "
         r"the(?:ir)? colou?rs?(?: (?:they|it)(?: already)? (?:are|is|have|has))?\b", r"keep the colour of \1"),
        (rf"\b(?:keep|leave) (?:{_THIS}|the{_ONE}) in (?:this|that|the same|its) colou?r\b", "keep the colour"),
        (rf"\b(?:leave|keep) (the (?:{owner})s?) the colou?rs? (?:they|it)(?: already)? (?:are|is|have|has)\b",
         r"keep the colour of \1"),
        (rf"\b(the (?:{owner})s?) (?:on|of|in) (?:it|this|that|there)(?: one)?\b", r"\1"),
        (r"\b(?:is|are) not (?:at all )?bad\b(?: at all)?", "is nice"),
        (r"\b(?:is|are) (?:not|n['\u2019]t) (?:just|only) for\b", "suits"),
        (r"\b(?:too |so |very )?(?:naked|boring|incomplete|dull|bare|empty|unfinished|no deal|useless|pointless) "
         r"without (?:an? |any )?", "with "),
        (r"^no ([\w -]{3,20}?),? no (?:purchase|deal|sale|money|buy|party)\b", r"with \1"),
        (rf"\bif (?:it|this|there) {lacks}([\w -]{{3,20}}?),? (?:i['\u2019]?m not|i am not|i won['\u2019]?t|no)\b"
         r"[^.!?]{0,20}", r"with \1 "),
        (r"\b(?:there['\u2019]?s no such thing as|(?:you |one )?can['\u2019]?t (?:ever )?have|(?:i )?never have) "
         r"(?:too many|too much|enough)\b", "with"),
        (r"\bis(?: not|n['\u2019]?t) (?:too )?much to ask\b", "please"),
        (r"\b(?:something|anything) else than\b", "not"),
        (r"\b(more|less) of an? (?=(?:[\w-]+ )?(?:fit|cut|neckline|neck|shape|length|look)\b)", r"a \1 "),
        (r"\ba more (?=(?:snug|tight|slim|loose|relaxed|regular|fitted|straight) (?:fit|cut)\b)", "a "),
        (r"\bhugs? (?:the|my|your|her|his) (?:figure|body|curves|shape)\b(?! more)", "figure hugging"),
        (not_ + r"(?:ever )?(?:say no to|object to|mind seeing|refuse|turn down|resist|be opposed to|be against"
         r"|get enough of|(?:live|do|go|be) without)\b", "would like"),
        (r"\b(?:would|could|will|['\u2019]d) (?:be (?:so |really )?(?:sick|dope|fire|lit|wicked|killer|insane|ace)"
         r"|(?:really |nicely )?(?:finish|round|set) (?:it|this|them|everything|the look) off(?: \w+ly)?)\b", "please"),
        (r"\b(no|nothing|not|without|never|hate) ([^.!?;]{2,80}?)[,;]? (?:and |nor )?(?:i['\u2019]?d say |i say )?"
         r"(?:the )?same (?:goes |applies |is true )?(?:for|to|of|with) (?!the (?:sleeves|colour|rest)\b)",
         r"\1 \2, no "),
        (r"\bas (it|they) (?:was|were) (?:on|in|with|for|at) the (?:very )?(?:first|original) "
         r"(?:one|picture|photo|image)\b",
         r"as \1 was at first"),
        (r"\b(?:i )?(?:do not|don['\u2019]?t|no longer) (?:really )?(?:care|mind) how (long|short|tight|loose) it is"
         r"(?: any ?more| now)?\b", r"forget the \1 bit"),
        (r"\b(?:that |which |it )?(?:would|will|could|'d) (?:really )?make (?:my (?:day|week|year|evening|summer)|"
         r"(?:me|us|him|her|them|someone|everyone|everybody|my \w+|an? [\w ]{2,15}?) (?:very |so |really |extremely )?"
         r"(?:happy|proud|smile|glad))\b", "please"),
        (r"\b(like|love|liked|loved|seen|saw) (?:the|this|that|your) (?:picture|photo|image)\b(?! (?:of|on)\b)",
         r"\1 this"),
        (rf"(^|[\s,;])[-\u2212\u2013](?=(?:{owner})s?\b)", r"\1without "),   # "-bow +belt"
        (rf"^ ?[-\u2212\u2013] (?=(?:{owner}|sleeve|collar|pocket)s?\W*$)", "without "),
        (rf"\b(?:{severed})(?: off)? (?:the|those|these|that|its|both) ([\w -]{{3,20}}?) off\b(?! (?:a|some|an|the)\b)",
         r"remove the \1"),
        (rf"\b(?:{severed}) off (?=(?:the|those|these|that|its|both) (?:{owner}|sleeve|collar)s?\b)", "remove "),
        (r"\b(forget|scrap|ditch|cancel|undo) ((?:the|that|those) [\w-]+(?: [\w-]+)?),? and "
         r"((?:the|that|those) [\w -]{3,20})(?=$|[.;!?])", r"\1 \2 and \1 \3"),
        (r"^((?:[\w']+ ){0,3}?)(an? [\w -]{3,25}?) (?:would be|would look|might be|is|looks) "
         r"(?:nicer|better|prettier|cuter|smarter) than (?:the|this|that|those|an?) ([\w -]{3,25})(?=$|[.;!?])",
         r"\1\2 instead of the \3"),
        (r"\b(?:(?:so|and|but|please),? ){0,3}(?:do not|don['\u2019]?t|never) (?:touch|change|alter|modify|mess with) "
         r"(?:that|it|this|those|them|anything else|the rest|any of that)\b", ""),
        (r"\b(?:(?:would |will |['\u2019]d )?makes? me|,? ?i(?:['\u2019]?d| would)?) (?:look|feel) like "
         rf"(?:an? |the )?(?:\w+ )?(?:{flattering})\b", " please"),
        (r"\b(?:my|the) [\w ]{2,20} (?:aren|isn)['\u2019]?t what (?:they|it) (?:were|was|used to be)\b", ""),
        (r"\b(?:too|a bit|a little|rather|far too) old (?:to|for) (?:\w+ ){0,4}(?:with|in|wearing) ", "no "),
        (r"\bif (?:only )?(?:it|this) (?:didn['\u2019]?t|did not) (hang|cling|swamp|drown|squeeze|flap)\b", r"it \1s"),
        (r"\b(?:so )?that['\u2019]?s (?:them|those|it|these) (?:off the list|off my list|out|gone)\b", "without them"),
        (r"\b(?:had|['\u2019]d) better be\b", "should be"),
        (r"\b(should|must|has to|have to|to) be the (short|long)\b(?! (?:one|sleeve))", r"\1 be \2"),
        (rf"\b{shaded} it is\b(?! (?:not|too|but)\b)", r"make it \1"),
        (r"\b(?:what|how) (?:would|will|does|might) (?:it|this|that) look(?: like)? (?=with|in)", "show it "),
        (rf"\b({colour}|(?:{owner}|sleeve|collar|turtleneck)s?) and (?:i|me)(?: have|['\u2019]ve)? (?:just )?"
         r"(?:(?:never|don['\u2019]?t|do not|didn['\u2019]?t)(?: really)? "
         r"(?:(?:got|get|gotten) (?:on|along)|agree|mix|been friends"
         r"|clicked|seen eye to eye)|parted ways|fallen out|broken up|split up)\b", r"no \1"),
        (r"\b(the [\w-]+) (?:is|are) (?:in )?(?:the|a) wrong (?:colour|color|shade)[,.;]?(?: and| so)? (?:it|they) "
         r"(?:should|must|ought to|needs? to|has to|have to|could)(?: be)?\b", r"\1 should be"),
        (r"\b(?:the|falling|autumn) leaves\b(?! (?:me|my|the|a|it)\b)", ""),   # "match the leaves": nothing leaves
        (r"\b(?:i['\u2019]d|we['\u2019]d|i would|we would) (?:rather|prefer|prefer it if|like it if|love it if) "
         r"(the [\w-]+|its [\w-]+) (?:was|were|is|are|be)\b(?! not\b)",
         r"make \1"),
        (r"\bsame (colour|color|pattern|print|length|fit|neckline|neck|sleeves) as (?:this|that|it|here)(?: one)?\b"
         r"(?! but)", r"same \1"),
        *((rf"\b(?:my |her |the |with )?arms? (?:(?:(?:should|must|to|need to|have to|can) be|are|be|stay|left) )?"
           rf"(?:(?:completely|totally|fully|entirely|all) )?(?:{how})\b(?! (?:to|down|up)\b)", sleeves)
          for how, sleeves in (("bare|uncovered|naked|exposed", "no sleeves"), ("covered|hidden", "long sleeves"))),
        (r"\b(do not|don['\u2019]?t|never) (?:touch|mess with|tamper with) (?=(?:the|its|my)\b)", r"\1 change "),
        (r"^(?:i|we|i['\u2019]?ll|i (?:want|would like) to) take back ((?:the|that|those) [\w -]{3,20})$",
         r"forget \1"),
        (r"\b(?:strip|free|relieve|rid) (?:it|this|them) of\b", "remove"),
        (r"\b(?:the |a |an |another )?([\w -]{3,25}?) (?:is|are|was|would be) (?:really )?the (?:very )?last thing "
         r"(?:(?:that )?i|we|she|he|anyone|anybody)(?:['\u2019]d| would)?"
         r" (?:wants?|needs?|wears?|likes?|choose|pick|buy|go for)\b", r"no \1"),
        (r"\bno (details?|extras?|trim|decorations?|trimmings?|embellishments?|add-ons)(?: at all)?,? (?:like|such as) "
         r"[^.;!?]{3,60}", r"no \1"),
        (rf"(^|[,.;!?] *|\b(?:and|so|but|ok|okay|yes) )(?:the |its |this |that )?({qualities})(?:['\u2019]s| is| are)"
         rf" (?:(?:just|already|absolutely|really|so|pretty|quite) )*(?:{praised})\b"
         rf"(?= *(?:$|[,.;!?]|(?:but|so|and|now|only|just)\b))", r"\1keep the \2"),
        (rf"\b(?:the )?((?:{owner})s?) ?[:=] *(?={colour}\b)", r"the \1 in "),
        (r"\bwhere the ([\w -]{3,30}?) (?:is|was|are|were|sits|sit)(?: now)?\b", r"instead of the \1"),
        (r"\b(it|this|this one|this dress|this shirt|this top) (?:still )?(?:lacks|misses|is lacking|is missing)\b",
         r"\1 needs"),
        (r"\b(?:i(?:['\u2019]m| am)? miss(?:ing)?|what(?:['\u2019]s| is) missing is)\b(?! (?:out|you)\b)", "i want"),
        (rf"(^|[,.;:!?] *|\b(?:so|and|but|hi|hello) )(?:{asked}) (?=(?:{subjects})\b)",
         r"\1could "),
        (r"\bde-(?=[^\W\d_]{3})", "without "),
        (r"\b(?:picture|imagine|visuali[sz]e|envision) (?=(?:it|this|that|them|me|her|him)\b)", "show "),
        (rf"\b(?:keeps?|kept) (?!(?:{'|'.join(_things_in_ing())})\b)(?=[^\W\d_]{{2,}}ing\b)", "always "),
    ]


@cache
def _colour_words() -> frozenset[str]:
    return frozenset(words[0] for words, sense in phrases().items()
                     if len(words) == 1 and sense.kind == "value" and sense.pairs[0][0] == "colour")


@cache
def _owner_words() -> tuple[str, ...]:
    """Words for what has a colour of its own."""
    values = {words[0].removesuffix("s") for words, sense in phrases().items() if len(words) == 1 and sense.is_noun
              and sense.kind == "value" and sense.pairs[0][0] in ("pattern", "trim")}
    return tuple(sorted(values | {"print", "pattern", "trim", "ground", "background", "base"}, key=len, reverse=True))


@cache
def _things_in_ing() -> tuple[str, ...]:
    """What can be kept although it looks like a verb: "keep piping"."""
    return (*sorted(words[0] for words, sense in phrases().items() if len(words) == 1 and words[0].endswith("ing") and (
        sense.kind == "part" or (sense.kind == "value" and sense.pairs[0][0] in ("pattern", "trim")))), *_KEPT)


_KEPT = ("anything", "clothing", "everything", "looking", "matching", "nothing", "something", "string", "wearing")
_WORN = frozenset({"dress", "shirt", "top", "blouse"})
_NO_ADJECTIVES = frozenset({"with", "one", "two", "single", "second"})   # "with red print on the front"


def adjectives_beside_nouns(words: Sequence[str]) -> list[str]:
    """``words`` with a colour before the adjective and the noun that make a phrase: "thin white stripes"."""
    found, place = list(words), 0
    while place < len(found):
        end = _colours_end(found, place + 1)
        if end > place + 1 and found[place] not in _colour_words() | _NO_ADJECTIVES and (
                _is_thing_phrase(found, place, end)):
            found[place:end] = [*found[place + 1 : end], found[place]]
            place = end
        elif found[place + 2 : place + 3] == ["length"] and found[place + 1] in _WORN and (
                found[place], "length") in phrases():
            found[place : place + 2] = [found[place + 1], found[place]]   # "normal shirt length"
        place += 1
    return found


def _colours_end(words: Sequence[str], place: int) -> int:
    end = place
    while end < min(len(words), place + 3) and (
            words[end] in _colour_words() or (end > place and words[end] == "and" and end + 1 < len(words)
                                              and words[end + 1] in _colour_words())):
        end += 1
    return end


def _is_thing_phrase(words: Sequence[str], place: int, end: int) -> bool:
    """Whether the word at ``place`` and those from ``end`` on are a pattern or trim of their own."""
    for length in range(min(4, len(words) - end), 0, -1):
        rest = tuple(words[end : end + length])
        whole, alone = phrases().get((words[place], *rest)), phrases().get(rest)
        if whole is not None and alone is not None and whole.kind == "value" and (
                whole.pairs[0][0] in ("pattern", "trim")) and whole != alone:
            return True
    return False
