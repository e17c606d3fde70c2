"""What is about PostgreSQL alone. Without a server there is nothing here to collect."""

from tests.fakes.databases import ON_SQLITE

collect_ignore_glob = ["*"] if ON_SQLITE else []
