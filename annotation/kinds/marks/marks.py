"""What people are asked about a query's candidates. SoFT's stage 1 asks a language model the same."""

from __future__ import annotations

from cir_core.errors import StudyError
from cir_core.support.texts import quoted

PROTOCOL = "soft-targets/1"
"""Of studies with these marks. A version that people have answered is never changed."""
MARKS = ("yes", "no", "unsure")
INTRO = ("Somebody looks at the reference image and says in a text what should be different. Mark each image below: "
         "does it answer the query? Several images may, or none.")
GUIDE = (
    ("Yes", "The image shows what the text asks for, and otherwise what the text does not mention is still like the "
            "reference. Somebody who searched for this would accept it."),
    ("No", "Something that the text asks for is missing or contradicted, or the image has nothing to do with the "
           "reference."),
    ("Unsure", "You cannot tell: the image shows too little, or the text can be read in two ways. It counts neither as "
               "yes nor as no."),
    ("Each image for itself", "Do not choose the best one, and do not expect a certain number. An image that is the "
                              "reference itself answers the query only if the text changes nothing."),
)


def check_protocol(protocol: str) -> None:
    """Raises ``StudyError`` for a protocol of another version."""
    if protocol != PROTOCOL:
        raise StudyError(f"There are no marks {quoted(protocol)} here, only {quoted(PROTOCOL)}. Use a version of "
                         "cirque that has them: the one the study was created with, or a later one.")
