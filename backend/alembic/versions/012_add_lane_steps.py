"""In which lane each step stands: known to all workers, whatever processors each of them has loaded."""

from alembic import op

revision = "012"
down_revision = "011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE lane_steps (
          workflow text NOT NULL,
          active   text NOT NULL,
          lane     text REFERENCES lanes ON DELETE CASCADE, -- none: it goes through no lane (any more)
          PRIMARY KEY (workflow, active)
        )""")


def downgrade() -> None:
    op.execute("DROP TABLE lane_steps")
