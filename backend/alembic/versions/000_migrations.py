"""The ledger of migrations: every execution and every exception (seed 000)."""

from alembic import op

revision = "000"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE _migrations (
          run_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          name        text NOT NULL,
          direction   text NOT NULL CONSTRAINT direction_is_known CHECK (direction IN ('up', 'down')),
          checksum    text NOT NULL,
          started_at  timestamptz NOT NULL,
          finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
          ok          boolean NOT NULL,
          exception   text,
          CONSTRAINT failed_has_exception CHECK (ok = (exception IS NULL))
        )""")


def downgrade() -> None:
    op.execute("DROP TABLE _migrations")
