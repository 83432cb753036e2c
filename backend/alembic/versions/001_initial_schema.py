"""Authors and tokens as they stand before image generation (seed 003, with the identity of decision C11)."""

import sqlalchemy as sa
from alembic import op

revision = "001"
down_revision = "000"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "authors",
        sa.Column("author_id", sa.Integer(), sa.Identity(), primary_key=True),
        sa.Column("wallet_address", sa.Text(), nullable=False, unique=True),
        sa.Column("prompt_text", sa.Text()),
        sa.CheckConstraint("wallet_address ~ '^0x[0-9a-f]{40}$'", name="wallet_is_an_address"),
        sa.CheckConstraint("char_length(prompt_text) <= 1000", name="prompt_is_short"),
    )
    op.create_table(
        "tokens_s0",
        sa.Column("chain_id", sa.BigInteger(), primary_key=True),
        sa.Column("contract_address", sa.Text(), primary_key=True),
        sa.Column("token_id", sa.Numeric(78, 0), primary_key=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("detected_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
        sa.Column("author_id", sa.Integer(), sa.ForeignKey("authors.author_id"), nullable=False),
        sa.CheckConstraint("chain_id > 0", name="chain_id_is_positive"),
        sa.CheckConstraint("contract_address ~ '^0x[0-9a-f]{40}$'", name="contract_is_an_address"),
        sa.CheckConstraint("token_id >= 0 AND token_id < 2::numeric ^ 256", name="token_id_is_uint256"),
    )
    op.create_index("ix_tokens_s0_contract_address", "tokens_s0", ["contract_address"])
    op.create_index("ix_tokens_s0_status", "tokens_s0", ["status"])


def downgrade() -> None:
    # Below this there is nowhere to keep them, and a mint must not be lost by going back one step too far.
    op.execute("""
        DO $$ BEGIN
          IF EXISTS (SELECT FROM tokens_s0) THEN
            RAISE EXCEPTION 'there are tokens, which no older schema can hold: delete them first, if that is what you want';
          END IF;
        END $$""")
    op.drop_table("tokens_s0")
    op.drop_table("authors")
