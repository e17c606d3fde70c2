"""Of all tests of several parts together. What it imports counts as imported by each of them, so it imports little: see
:mod:`tests.fakes.imported`. Fixtures that some share are in :mod:`tests.integration.homes`."""

from tests.fakes.commands import keep_commands

keep_commands()
