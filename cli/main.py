"""The ``cirque`` command. Each subcommand is a few lines over the same services the web uses."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from cir_core.errors import CirqueError
from cir_core.version import __version__
from cli import relevance
from cli.admin import db, jobs, log, methods, models, serving, sessions, users
from cli.construct import construct, study_judge
from cli.evaluate import audit, evaluate
from cli.galleries import captions, datasets, encoders, galleries, sample
from cli.recorded import recorded
from cli.studies import report, studies

_INTERRUPTED = 130  # what typer makes of Ctrl-C


class _Commands(TyperGroup):
    """All commands; long ones keep a record."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        given = tuple(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[_GIVEN] = given
        return context

    def invoke(self, ctx: Any) -> Any:
        with recorded(ctx.meta[_GIVEN]):
            return super().invoke(ctx)


_GIVEN = "cirque.arguments"
app = typer.Typer(
    cls=_Commands, name="cirque", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="The web workbench for composed image retrieval.")
app.command()(serving.demo)
app.command()(serving.serve)
app.command()(galleries.index)
app.add_typer(galleries.app, name="galleries")
app.command("methods")(methods.list_methods)
app.add_typer(evaluate.app, name="evaluate")
app.add_typer(audit.app, name="audit")
app.add_typer(construct.app, name="construct")
app.add_typer(datasets.app, name="datasets")
app.add_typer(sample.app, name="sample")
app.add_typer(encoders.app, name="encoders")
app.add_typer(captions.app, name="captions")
app.add_typer(relevance.app, name="relevance")
app.add_typer(models.app, name="models")
app.add_typer(sessions.app, name="sessions")
studies.app.command("judge")(study_judge.study_judge)
app.add_typer(studies.app, name="study")
app.add_typer(report.app, name="report")
app.add_typer(users.app, name="user")
app.add_typer(db.app, name="db")
app.add_typer(jobs.app, name="jobs")
app.command()(log.log)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"cirque {__version__}")


def run() -> None:
    """Entry point: print expected errors as one sentence, with exit code 1."""
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
