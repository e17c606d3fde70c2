"""The ``cirque`` command. Each subcommand is a few lines over the same services the web uses."""

from __future__ import annotations

import gc
import sys
import warnings
from collections import UserDict
from functools import cache
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

from cir_core.errors import CirqueError
from cir_core.settings import quiet_threads
from cir_core.version import __version__
from cli.recorded import recorded

_INTERRUPTED = 130  # what typer makes of Ctrl-C
_GIVEN = "cirque.arguments"
_COMMANDS = {     # in the order of the help: what in the module of each is the command, or the group of commands
    "demo": "demo", "serve": "serve", "index": "index", "methods": "list_methods", "reproduce": "reproduce",
    "log": "log", "version": "", "galleries": "app", "evaluate": "app", "audit": "app", "construct": "app",
    "datasets": "app", "sample": "app", "encoders": "app", "captions": "app", "relevance": "app", "models": "app",
    "sessions": "app", "study": "app", "report": "app", "user": "app", "db": "app", "jobs": "app"}


@cache
def _module(command: str) -> ModuleType:
    """Imported here, so that no command waits for what others need."""
    found: ModuleType
    match command:
        case "demo" | "serve":
            from cli.admin import serving as found
        case "index" | "galleries":
            from cli.galleries import galleries as found
        case "methods":
            from cli.admin import methods as found
        case "reproduce":
            from cli.reproduce import command as found
        case "evaluate":
            from cli.evaluate import evaluate as found
        case "audit":
            from cli.evaluate import audit as found
        case "construct":
            from cli.construct import construct as found
        case "datasets":
            from cli.galleries import datasets as found
        case "sample":
            from cli.galleries import sample as found
        case "encoders":
            from cli.galleries import encoders as found
        case "captions":
            from cli.galleries import captions as found
        case "relevance":
            from cli import relevance as found
        case "models":
            from cli.admin import models as found
        case "sessions":
            from cli.admin import sessions as found
        case "study":
            from cli.construct.study_judge import study_judge
            from cli.studies import studies as found
            found.app.command("judge")(study_judge)
        case "report":
            from cli.studies import report as found
        case "user":
            from cli.admin import users as found
        case "db":
            from cli.admin import db as found
        case "jobs":
            from cli.admin import jobs as found
        case "log":
            from cli.admin import log as found
        case _:
            raise KeyError(command)
    return found


class _Loaded(UserDict[str, Any]):
    """Commands by name; None until one is asked for."""

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            found = getattr(_module(name), _COMMANDS[name])
            if not isinstance(found, typer.Typer):
                alone = typer.Typer(add_completion=False)
                alone.command(name)(found)
                self.data[name] = typer.main.get_command(alone)
            else:
                self.data[name] = typer.main.get_group(found)
                self.data[name].name = name
        return self.data[name]


class _Commands(TyperGroup):
    """All commands; long ones keep a record."""

    def __init__(self, *, commands: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Loaded({**dict.fromkeys(_COMMANDS), **commands})

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        given = tuple(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[_GIVEN] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        with recorded(ctx.meta[_GIVEN]):
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands, name="cirque", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="The web workbench for composed image retrieval.")


@app.callback()
def _group() -> None:
    """Makes Typer take the one command that follows for one of several."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"cirque {__version__}")


def run() -> None:
    """Entry point: print expected errors as one sentence, with exit code 1."""
    quiet_threads()
    # Reading tens of thousands of records, Python would otherwise spend half of the time looking for cycles in them.
    gc.set_threshold(50_000, 50)
    if not sys.warnoptions:
        # Notices of libraries about their own future are not for the people who run cirque.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
    try:
        app()
    except CirqueError as error:
        typer.secho(str(error), fg=typer.colors.RED, err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            typer.echo("\nStopped. Run the same command again to continue.", err=True)
        raise


if __name__ == "__main__":
    run()
