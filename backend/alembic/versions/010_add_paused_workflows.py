"""Workflows of which nothing is claimed until somebody resumes them."""

from alembic import op

revision = "010"
down_revision = "009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE paused_workflows (
          workflow  text PRIMARY KEY,
          paused_at timestamptz NOT NULL DEFAULT now(),
          actor     text NOT NULL
        )""")


def downgrade() -> None:
    op.execute("DROP TABLE paused_workflows")
