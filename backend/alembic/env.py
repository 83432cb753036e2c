"""Alembic's entry. `glisk migrate` brings its database along; `alembic` typed by hand finds the project's own."""

import sys
from pathlib import Path

from alembic import context

from glisk import logs, service, settings
from glisk.cli.output import complain
from glisk.db import migrate
from glisk.errors import GliskError


def by_hand() -> None:
    try:
        found = settings.load(Path(__file__).parents[2])
        logs.configure(found)
        with service.database(found) as url:
            migrate.run_environment(url)
    except GliskError as error:
        complain(error)
        sys.exit(error.exit_code)


if url := context.config.attributes.get("url"):
    migrate.run_environment(url)
else:
    by_hand()
