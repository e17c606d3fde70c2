"""``cirque user``: accounts, roles and invitations."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cir_core.errors import AccessError
from cir_core.settings import Settings, get_settings
from cli.console import open_stores, out

if TYPE_CHECKING:
    from annotation.accounts.service import PeopleService
    from annotation.records import Changed, Invitation

app = typer.Typer(help="Accounts, roles and invitations.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(help="The person's name.")]
_RoleOption = Annotated[str, typer.Option("--role", help="admin, researcher, analyst or annotator.")]
_FromStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]


@app.command()
def add(name: _Name, role: _RoleOption, password_stdin: _FromStdin = False) -> None:
    """Create an account. The first must be an admin; from then on everybody has to sign in."""
    from annotation.accounts.account_names import new_name
    from annotation.accounts.roles import as_role

    with _people() as people:
        wanted, tidy = as_role(role), new_name(name)   # before a password is asked for
        added = people.add(tidy, _password(password_stdin), wanted)
        out.print(f"{added.name} may sign in as {added.role}.")


@app.command("list")
def list_() -> None:
    """List accounts and open invitations."""
    with _people() as people:
        table = Table("name", "role", "active", "since", box=None)
        for one in people.people():
            table.add_row(one.name, one.role, "yes" if one.active else "no", f"{one.created_at:%Y-%m-%d}")
        if table.row_count:
            out.print(table)
        elif people.is_open():   # or raises, where people had accounts
            out.print("No accounts: cirque needs no sign-in and is reachable from this machine only. "
                      "Create one: cirque user add NAME --role admin", soft_wrap=True)
        if found := people.invitations():
            out.print()
            _print_invitations(found)


@app.command()
def role(name: _Name, role: Annotated[str, typer.Argument(help="admin, researcher, analyst or annotator.")]) -> None:
    """Change a person's role. It takes effect within seconds, without a new sign-in."""
    from annotation.accounts.roles import as_role

    with _people() as people:
        changed = people.set_role(name, as_role(role))
        out.print(f"{changed.person.name} now has the role {changed.person.role}.")
        _print_withdrawn(changed)


@app.command()
def password(name: _Name, password_stdin: _FromStdin = False) -> None:
    """Set a person's password and sign them out everywhere."""
    with _people() as people:
        person = people.person(name)   # before a password is asked for
        changed = people.set_password(person.name, _password(password_stdin))
        out.print(f"{changed.name} has a new password.")


@app.command()
def deactivate(name: _Name) -> None:
    """Deactivate an account and withdraw its open invitations. Judgements are kept."""
    with _people() as people:
        changed = people.deactivate(name)
        out.print(f"{changed.person.name} can no longer sign in.")
        _print_withdrawn(changed)


@app.command()
def activate(name: _Name) -> None:
    """Reactivate an account."""
    with _people() as people:
        out.print(f"{people.reactivate(name).name} may sign in again.")


@app.command()
def invite(
    role: _RoleOption,
    days: Annotated[float, typer.Option(help="Days until the link expires.")] = 7,
    uses: Annotated[int, typer.Option(help="People who can use it.")] = 1,
) -> None:
    """Create a link for people to create accounts."""
    from annotation.accounts.account_names import LOCAL
    from annotation.accounts.roles import as_role
    from annotation.accounts.service import link_path

    with _people() as people:
        path = link_path(people.invite(as_role(role), days, uses, LOCAL))
    out.print(f"/{path}", soft_wrap=True)
    out.print("Append this to the address of your cirque. It is shown only once.")
    settings = get_settings()
    if settings.port or settings.public_url:
        out.print(f"With the settings of this terminal: {_address(settings)}/{path}", soft_wrap=True)


@app.command()
def invitations() -> None:
    """List open invitations."""
    with _people() as people:
        if found := people.invitations():
            _print_invitations(found)
        else:
            out.print("No open invitation. Create one: cirque user invite --role annotator")


@app.command()
def withdraw(
    invitation: Annotated[str, typer.Argument(help="Id from `cirque user invitations`.")],
) -> None:
    """Withdraw an invitation. Accounts created with it stay."""
    with _people() as people:
        gone = people.withdraw(invitation)
        out.print(f"Withdrawn: the invitation {gone.handle} ({gone.role}) can no longer be used.")


def _print_withdrawn(changed: Changed) -> None:
    if changed.withdrawn:
        which = "open invitation was" if changed.withdrawn == 1 else f"{changed.withdrawn:,} open invitations were"
        out.print(f"Their {which} withdrawn. Create new ones if needed: cirque user invite", soft_wrap=True)


def _print_invitations(found: Sequence[Invitation]) -> None:
    table = Table("invitation", "role", "people left", "by", "until (UTC)", box=None)
    table.columns[2].justify = "right"
    for one in found:
        table.add_row(one.handle, one.role, f"{one.uses_left:,}", one.created_by, f"{one.expires_at:%Y-%m-%d %H:%M}")
    out.print(table)


@contextmanager
def _people() -> Iterator[PeopleService]:
    from annotation.accounts.service import PeopleService

    with open_stores(without_accounts=True) as stores:
        yield PeopleService(stores.people)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not _at_a_terminal():
        raise AccessError("No terminal to ask for the password. Pipe it in with --password-stdin.")
    entered: str = typer.prompt("Password", hide_input=True, confirmation_prompt="Repeat the password")
    return entered


def _at_a_terminal() -> bool:
    return sys.stdin.isatty()


def _address(settings: Settings) -> str:
    if settings.public_url:
        return settings.public_url
    host = settings.host
    if host in ("0.0.0.0", "::", ""):
        host = socket.gethostname()
    elif ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{settings.port}"
