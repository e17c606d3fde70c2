"""The error that a person is shown for a request that was not answered: what is wrong, and what to do."""

from __future__ import annotations

import openai

from cir_core.errors import ImagesRefused, LanguageModelError, LanguageModelRefused, LanguageModelUnavailable
from cir_core.language.openai.replies.complaints import Complaint, Dropped, Fault, Kind, complaint_of
from cir_core.language.openai.server import Server

_SHOWN = 300  # characters of a server's message that are shown
_SERVER = "The language model's server"   # not where it is: searchers read this too, and turns keep it
_ADDRESS = "Check CIRQUE_LLM_BASE_URL; for most servers it ends in /v1."


class ImagesTooLarge(Exception):
    """A request whose images the server rejects; the text is the server's."""


def explained(error: Fault, complaint: Complaint, server: Server, tries: int) -> LanguageModelError:
    """The error for the user. It contains no key, and no cause that does."""
    short, tried, host = _short(complaint, server), _tried(tries), _SERVER
    said = short if not short or short[-1] in ".!?…" else f"{short}."    # another sentence follows
    match complaint.kind:
        case Kind.POLICY:
            return LanguageModelRefused(f"{host} rejected the request by its content policy{_status(complaint)}: "
                                        f"{said} Word the request differently, or take another image.")
        case Kind.KEY:
            key = "refuses CIRQUE_LLM_API_KEY" if server.key else "requires an API key, and CIRQUE_LLM_API_KEY is empty"
            return LanguageModelError(f"{host} {key}{_status(complaint)}. Check the key and its permissions.")
        case Kind.CREDIT:
            return LanguageModelUnavailable(f"{host} reports that the account has no credit. Check its billing.")
        case Kind.RATE:
            return LanguageModelUnavailable(f"{host} is rate-limiting requests{_status(complaint)}{tried}: {said} "
                                            "Wait a little, or lower CIRQUE_LLM_CONCURRENCY.")
        case Kind.QUOTA:
            return LanguageModelUnavailable(f"One request is more than the account at the server may use: {said} Lower "
                                            "CIRQUE_LLM_IMAGE_EDGE, or raise the account's limit.")
        case Kind.MODEL:
            return LanguageModelError(f"{host} has no model '{server.model}' at this address"
                                      f"{_status(complaint, short)}. Check CIRQUE_LLM_MODEL and {_ADDRESS[6:]}")
        case Kind.ADDRESS:
            return LanguageModelError(f"{host} did not return a chat completion{_status(complaint, short)}. {_ADDRESS}")
        case Kind.EMPTY:
            return LanguageModelUnavailable(f"{host} sent no answer ({short}){tried}. Look at the server's log.")
        case Kind.BUSY:
            return LanguageModelUnavailable(f"{host} failed{_status(complaint, short)}{tried}. Look at the server's "
                                            "log or status page.")
        case Kind.UNREADABLE:
            return LanguageModelUnavailable(f"{host} sent a reply that cirque stopped reading: {error}. Check that "
                                            "CIRQUE_LLM_BASE_URL is a chat server's address, and look at the server's "
                                            "log.")
        case Kind.LOST:
            return LanguageModelUnavailable(f"{host} {_silence(error, short, server)}{tried}.{_advice(error)}")
        case kind:
            made = ImagesRefused if kind is Kind.NO_IMAGES else LanguageModelError
            return made(f"{host} refuses the request{_status(complaint)}: {said} {_remedy(kind, server)}")


def out_of_time(error: Fault | None, server: Server, seconds: float) -> LanguageModelUnavailable:
    """The error for a call that timed out; ``error`` is the last request's fault."""
    why = "" if error is None else f" (last: {_short(complaint_of(error), server)})"
    return LanguageModelUnavailable(f"{_SERVER} did not answer within {seconds:.0f} s{why}. Check how busy it is, "
                                    "or raise CIRQUE_LLM_TIMEOUT.")


def refused_size(said: str, server: Server) -> LanguageModelError:
    return LanguageModelError(f"{_SERVER} rejects the request as too large: {_cut(server.redacted(said))} Shorten "
                              "what you typed, or raise the limit of the server.")


def refused_images(said: str, server: Server, edge: int) -> LanguageModelError:
    return LanguageModelError(f"{_SERVER} does not accept images of {edge} pixels either: "
                              f"{_cut(server.redacted(said))} Lower CIRQUE_LLM_IMAGE_EDGE, or raise the limit of the "
                              "server.")


def _remedy(kind: Kind, server: Server) -> str:
    if kind is Kind.CONTEXT:
        return "Give the model a longer context, or show it fewer images (lower CIRQUE_LLM_IMAGE_EDGE)."
    if kind is Kind.NO_IMAGES and server.sees:
        return "If the model does not see images, set CIRQUE_LLM_SEES=false."
    return "Check that the model suits the request: 'cirque models check' tries it."


def _silence(error: Fault, said: str, server: Server) -> str:
    # The client wraps its transport's errors; only their names distinguish an unreachable server from a silent one.
    cause = type(error.__cause__).__name__
    if cause == "ConnectTimeout":
        return f"did not accept a connection within {server.connect_timeout:g} s"
    if isinstance(error, openai.APITimeoutError):
        return f"sent nothing for {server.timeout:g} s"
    if cause == "ConnectError":
        return "cannot be reached"
    if isinstance(error, openai.APIConnectionError | Dropped):
        return "closed the connection"
    return f"failed midway ({said})"


def _advice(error: Fault) -> str:
    if isinstance(error, openai.APITimeoutError) and type(error.__cause__).__name__ != "ConnectTimeout":
        return " Check how busy it is, or raise CIRQUE_LLM_TIMEOUT."
    return " Check that it runs, that it can be reached from here, and CIRQUE_LLM_BASE_URL."


def _tried(tries: int) -> str:
    return f", {tries} times in a row" if tries > 1 else ""


def _status(complaint: Complaint, said: str = "") -> str:
    """In brackets, where there is anything to say."""
    http = f"HTTP {complaint.status}" if complaint.status else ""
    inside = ": ".join(filter(None, (http, said)))
    return f" ({inside})" if inside else ""


def _short(complaint: Complaint, server: Server) -> str:
    return _cut(server.redacted(complaint.words))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + " …"
