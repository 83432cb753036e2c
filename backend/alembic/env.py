"""Alembic's entry. `glisk migrate` brings its database along; `alembic` typed by hand finds the project's own."""

from pathlib import Path

from alembic import context

from glisk import logs, service, settings
from glisk.db import migrate

url = context.config.attributes.get("url")
if url is not None:
    migrate.run_environment(url)
else:
    found = settings.load(Path(__file__).parents[2])
    logs.configure(found)
    with service.database(found) as url:
        migrate.run_environment(url)
