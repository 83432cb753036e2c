"""The three columns of image generation, as seed 003 gives them."""

import sqlalchemy as sa
from alembic import op

revision = "002"
down_revision = "001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tokens_s0", sa.Column("image_url", sa.Text(), nullable=True))
    op.add_column("tokens_s0", sa.Column("generation_attempts", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("tokens_s0", sa.Column("generation_error", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("tokens_s0", "generation_error")
    op.drop_column("tokens_s0", "generation_attempts")
    op.drop_column("tokens_s0", "image_url")
