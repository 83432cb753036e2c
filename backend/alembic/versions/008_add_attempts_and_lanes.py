"""The ledger of paid effects, the lanes that limit them, and the periodic work."""

from alembic import op

revision = "008"
down_revision = "007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # One row per call that costs money or changes the world: inserted before the call, closed once.
    op.execute("""
        CREATE TABLE attempts (
          attempt_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          item_id       bigint NOT NULL, -- of any work table; no foreign key: money spent outlives the row
          step          text NOT NULL,
          epoch         bigint NOT NULL,
          provider      text NOT NULL,
          model         text,
          seed          bigint,
          prompt_sha256 bytea,
          receipt       text,
          outcome       text NOT NULL DEFAULT 'open' CONSTRAINT outcome_is_known
                        CHECK (outcome IN ('open', 'done', 'refused', 'failed', 'cancelled', 'unknown')),
          error_code    text,
          error         text,
          cost          numeric(12, 6) CONSTRAINT cost_is_paid CHECK (cost >= 0),
          worker        text NOT NULL,
          started_at    timestamptz NOT NULL DEFAULT now(),
          finished_at   timestamptz,
          details       jsonb,
          CONSTRAINT open_or_finished CHECK ((outcome = 'open') = (finished_at IS NULL))
        )""")
    op.execute("CREATE INDEX attempts_item ON attempts (item_id, attempt_id)")
    op.execute("CREATE INDEX attempts_spend ON attempts (started_at) WHERE cost > 0")
    # A seed finds the call whose answer was lost, so two calls that are under way must not share one.
    op.execute(
        "CREATE UNIQUE INDEX attempts_seed ON attempts (provider, seed) WHERE outcome = 'open' AND seed IS NOT NULL"
    )
    # "Never paid twice", in the database: there is no second unresolved call.
    op.execute("CREATE UNIQUE INDEX attempts_one_open ON attempts (item_id, step) WHERE outcome = 'open'")
    op.execute("""
        CREATE TABLE lanes (
          lane            text PRIMARY KEY,
          max_concurrency integer NOT NULL CONSTRAINT concurrency_is_counted CHECK (max_concurrency >= 0),
          max_rate        real NOT NULL DEFAULT 1e9 CONSTRAINT max_rate_is_positive CHECK (max_rate > 0),
          rate            real NOT NULL DEFAULT 1e9 CONSTRAINT rate_is_allowed CHECK (rate > 0 AND rate <= max_rate),
          burst           real NOT NULL DEFAULT 1 CONSTRAINT burst_is_one_or_more CHECK (burst >= 1),
          tokens          real NOT NULL DEFAULT 1,
          refilled_at     timestamptz NOT NULL DEFAULT now(),
          open_at         timestamptz NOT NULL DEFAULT '-infinity',
          held_at         timestamptz,
          held_reason     text,
          CONSTRAINT held_has_reason CHECK ((held_at IS NULL) = (held_reason IS NULL))
        ) WITH (fillfactor = 50)""")
    op.execute("CREATE TABLE periodic (name text PRIMARY KEY, next_at timestamptz NOT NULL DEFAULT now())")


def downgrade() -> None:
    for table in ("periodic", "lanes", "attempts"):
        op.execute(f"DROP TABLE {table}")
