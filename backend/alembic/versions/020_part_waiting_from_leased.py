"""What waits and what is at work are found along indexes of their own, and a job has room to be claimed and settled on its page."""

from alembic import op

revision = "020"
down_revision = "019"
branch_labels = None
depends_on = None

TABLES = {"tokens": "tokens_s0", "jobs": "jobs"}


def upgrade() -> None:
    for name, table in TABLES.items():
        op.execute(f"""
            CREATE INDEX {name}_waiting ON {table} (workflow, status, priority, ready_at, id)
            WHERE finished_at IS NULL AND leased_by IS NULL""")
        # Short, and in the order of the keys: every claim writes into it. Nothing in it changes with a heartbeat.
        op.execute(f"CREATE INDEX {name}_leased ON {table} (workflow, status, id) WHERE leased_by IS NOT NULL")
        op.execute(f"DROP INDEX {name}_open")
    # An update that finds no room on its page locks the row first, looks for another page and writes more log. A row is
    # updated twice soon after it was inserted, by a claim and by a settle: there is room for one more of each, and what the
    # claim leaves behind makes room for the settle.
    op.execute("ALTER TABLE jobs SET (fillfactor = 45)")


def downgrade() -> None:
    op.execute("ALTER TABLE jobs SET (fillfactor = 80)")
    for name, table in TABLES.items():
        op.execute(f"""
            CREATE INDEX {name}_open ON {table} (workflow, status, priority, ready_at, id) WHERE finished_at IS NULL""")
        op.execute(f"DROP INDEX {name}_leased")
        op.execute(f"DROP INDEX {name}_waiting")
