"""What waits and what is at work have an index each, and a job has room to be claimed and settled on its page."""

from alembic import op

revision = "020"
down_revision = "019"
branch_labels = None
depends_on = None

OPEN = {"tokens_open": "tokens_s0", "jobs_open": "jobs"}
WAITING = {"tokens_waiting": "tokens_s0", "jobs_waiting": "jobs"}
LEASED = {"tokens_leased": "tokens_s0", "jobs_leased": "jobs"}
BY_TIME = "(workflow, status, priority, ready_at, id)"


def upgrade() -> None:
    for name, table in WAITING.items():
        op.execute(f"CREATE INDEX {name} ON {table} {BY_TIME} WHERE finished_at IS NULL AND leased_by IS NULL")
    for name, table in LEASED.items():
        op.execute(f"CREATE INDEX {name} ON {table} (workflow, status, id) WHERE leased_by IS NOT NULL")
    for name in OPEN:
        op.execute(f"DROP INDEX {name}")
    # An update that finds no room on its page locks the row first, looks for another page and writes more log. Soon after it
    # was inserted a row is updated by a claim and by a settle: there is room for both.
    op.execute("ALTER TABLE jobs SET (fillfactor = 45)")


def downgrade() -> None:
    op.execute("ALTER TABLE jobs SET (fillfactor = 80)")
    for name, table in OPEN.items():
        op.execute(f"CREATE INDEX {name} ON {table} {BY_TIME} WHERE finished_at IS NULL")
    for name in (*LEASED, *WAITING):
        op.execute(f"DROP INDEX {name}")
