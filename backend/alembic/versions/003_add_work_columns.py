"""The columns by which the engine claims, leases, fences and retries a row, and the one index that serves it."""

from alembic import op

revision = "003"
down_revision = "002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE SEQUENCE work_id"
    )  # one id space for every work table, so that the ledgers need no discriminator
    op.execute("""
        ALTER TABLE tokens_s0
          ALTER status SET DEFAULT 'detected',
          ADD id           bigint NOT NULL DEFAULT nextval('work_id') CONSTRAINT tokens_s0_id_key UNIQUE,
          ADD workflow     text NOT NULL DEFAULT 'token' CONSTRAINT workflow_is_token CHECK (workflow = 'token'),
          ADD priority     smallint NOT NULL DEFAULT 0 CONSTRAINT priority_is_a_digit CHECK (priority BETWEEN 0 AND 9),
          ADD not_before   timestamptz,
          ADD retry_count  smallint NOT NULL DEFAULT 0 CONSTRAINT retries_are_counted CHECK (retry_count >= 0),
          ADD last_retry   timestamptz,
          ADD leased_by    text,
          ADD leased_until timestamptz,
          ADD epoch        bigint NOT NULL DEFAULT 0 CONSTRAINT epoch_only_grows CHECK (epoch >= 0),
          ADD reclaims     smallint NOT NULL DEFAULT 0 CONSTRAINT reclaims_are_counted CHECK (reclaims >= 0),
          ADD started_at   timestamptz,
          ADD updated_at   timestamptz NOT NULL DEFAULT now(),
          ADD finished_at  timestamptz,
          ADD ready_at     timestamptz GENERATED ALWAYS AS (COALESCE(not_before, detected_at)) STORED,
          SET (fillfactor = 80)""")  # room for heartbeats to stay on their page; leased_until is in no index for the same reason
    op.execute("UPDATE tokens_s0 SET finished_at = now() WHERE status IN ('revealed', 'failed', 'orphaned')")
    op.execute("""
        CREATE INDEX tokens_open ON tokens_s0 (workflow, status, priority, ready_at, id) WHERE finished_at IS NULL""")
    op.execute("CREATE INDEX tokens_status ON tokens_s0 (status, id)")  # the pages' keyset; serves a bare status too
    op.execute("CREATE INDEX tokens_author ON tokens_s0 (author_id)")
    op.drop_index("ix_tokens_s0_status")
    op.drop_index("ix_tokens_s0_contract_address")  # the primary key finds a collection


def downgrade() -> None:
    op.create_index("ix_tokens_s0_contract_address", "tokens_s0", ["contract_address"])
    op.create_index("ix_tokens_s0_status", "tokens_s0", ["status"])
    op.drop_index("tokens_author")
    op.drop_index("tokens_status")
    op.execute("""
        ALTER TABLE tokens_s0
          ALTER status DROP DEFAULT,
          DROP ready_at, DROP finished_at, DROP updated_at, DROP started_at, DROP reclaims, DROP epoch,
          DROP leased_until, DROP leased_by, DROP last_retry, DROP retry_count, DROP not_before, DROP priority,
          DROP workflow, DROP id,
          RESET (fillfactor)""")
    op.execute("DROP SEQUENCE work_id")
