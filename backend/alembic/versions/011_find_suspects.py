"""Rows that were at work when their process died, twice: found without a walk over all that waits."""

from alembic import op

revision = "011"
down_revision = "010"
branch_labels = None
depends_on = None

TABLES = {"tokens_suspect": "tokens_s0", "jobs_suspect": "jobs"}


def upgrade() -> None:
    for name, table in TABLES.items():
        op.execute(f"CREATE INDEX {name} ON {table} (workflow, status) WHERE finished_at IS NULL AND reclaims >= 2")


def downgrade() -> None:
    for name in TABLES:
        op.execute(f"DROP INDEX {name}")
