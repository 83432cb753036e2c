"""The events: timeline, outbox and audit log in one, written in the transaction that makes the change."""

from alembic import op

revision = "006"
down_revision = "005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Readers page by (xact, event_id) below pg_snapshot_xmin: a bare serial loses the rows of late commits. So that is the key.
    op.execute("""
        CREATE TABLE events (
          event_id    bigint GENERATED ALWAYS AS IDENTITY,
          xact        xid8 NOT NULL DEFAULT pg_current_xact_id(),
          item_id     bigint,
          workflow    text,
          from_status text,
          to_status   text NOT NULL,
          epoch       bigint,
          at          timestamptz NOT NULL DEFAULT now(),
          actor       text NOT NULL,
          data        jsonb,
          PRIMARY KEY (xact, event_id)
        )""")
    op.execute("CREATE INDEX events_item ON events (item_id, event_id)")


def downgrade() -> None:
    op.execute("DROP TABLE events")
