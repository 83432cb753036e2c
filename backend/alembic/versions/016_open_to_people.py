"""Who may do what over HTTP, what authors have signed, how far the world has been told, and what is in trouble."""

from alembic import op

revision = "016"
down_revision = "015"
branch_labels = None
depends_on = None

# A key itself is shown once and kept nowhere.
API_KEYS = """
    CREATE TABLE api_keys (
      key_id       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name         text NOT NULL CONSTRAINT key_name_is_short CHECK (char_length(name) BETWEEN 1 AND 100),
      key_sha256   bytea NOT NULL UNIQUE CONSTRAINT key_hash_is_whole CHECK (octet_length(key_sha256) = 32),
      scope        text NOT NULL CONSTRAINT scope_is_known CHECK (scope IN ('operator', 'user', 'worker')),
      created_at   timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      revoked_at   timestamptz
    )"""
# By its name a person tells a key from the others, and so does the timeline.
KEY_NAMES = "CREATE UNIQUE INDEX api_keys_live_name ON api_keys (name) WHERE revoked_at IS NULL"
# The nonce is that of the author's last prompt. Each counts once, so that nobody can publish an old one again.
AUTHORS = """
    ALTER TABLE authors
      ADD prompt_nonce bigint NOT NULL DEFAULT 0 CONSTRAINT prompt_nonce_only_grows CHECK (prompt_nonce >= 0)"""
AUTHOR_PROMPTS = """
    CREATE TABLE author_prompts (
      author_id    integer NOT NULL REFERENCES authors (author_id),
      nonce        bigint NOT NULL CONSTRAINT nonce_is_counted CHECK (nonce > 0),
      prompt       text NOT NULL CONSTRAINT signed_prompt_is_short CHECK (char_length(prompt) BETWEEN 1 AND 1000),
      disclosure   text CONSTRAINT signed_disclosure_is_known CHECK (disclosure IN ('now', 'later', 'never')),
      chain_id     bigint,
      contract     text,
      deadline     timestamptz,
      signature    bytea,
      actor        text NOT NULL,
      published_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (author_id, nonce),
      CONSTRAINT signed_is_whole CHECK (num_nulls(chain_id, contract, deadline, signature) IN (0, 4))
    )"""
# Up to which event, in the order of commits, somebody outside has been told.
OUTBOX = """
    CREATE TABLE outbox (
      name     text PRIMARY KEY,
      xact     xid8 NOT NULL,
      event_id bigint NOT NULL,
      tries    integer NOT NULL DEFAULT 0 CONSTRAINT tries_are_counted CHECK (tries >= 0),
      next_at  timestamptz NOT NULL DEFAULT now(),
      error    text CONSTRAINT outbox_error_is_short CHECK (char_length(error) BETWEEN 1 AND 1000)
    )"""
# One row for each cause of trouble that was ever told; when it is over, and that has been told too, the row goes.
ALERTS = """
    CREATE TABLE alerts (
      cause      text PRIMARY KEY,
      kind       text NOT NULL,
      message    text NOT NULL CONSTRAINT alert_is_short CHECK (char_length(message) BETWEEN 1 AND 1000),
      fix        text NOT NULL,
      raised_at  timestamptz NOT NULL DEFAULT now(),
      told_at    timestamptz,
      cleared_at timestamptz
    )"""


# When the work began that ended so: between the event before and this a row waits, from here on it is worked on.
EVENTS = "ALTER TABLE events ADD claimed_at timestamptz"
# What people do is a needle among what workers do, and all of it is to be found without reading the rest.
BY_HAND = """
    CREATE INDEX events_by_hand ON events (xact, event_id)
    WHERE claimed_at IS NULL AND (item_id IS NULL OR from_status IS NOT NULL)"""


# Pictures that cost nothing are counted beside what was paid, without a look at the rows themselves.
FREE_PICTURES = """
    CREATE INDEX attempts_free ON attempts (started_at) INCLUDE (provider, model)
    WHERE step = 'generating' AND outcome = 'done' AND COALESCE(cost, 0) = 0"""


def upgrade() -> None:
    op.execute(API_KEYS)
    op.execute(KEY_NAMES)
    op.execute(AUTHORS)
    op.execute(AUTHOR_PROMPTS)
    op.execute(OUTBOX)
    op.execute(ALERTS)
    # Whose picture is this? Asked for every picture that somebody without a key wants to see.
    op.execute("CREATE INDEX tokens_image ON tokens_s0 (image_key) WHERE image_key IS NOT NULL")
    op.execute(EVENTS)
    op.execute(BY_HAND)
    op.execute("CREATE INDEX attempts_gas ON attempts (started_at) WHERE wei > 0")
    op.execute(FREE_PICTURES)
    # The newest tokens of an author, page after page.
    op.execute("DROP INDEX tokens_author")
    op.execute("CREATE INDEX tokens_author ON tokens_s0 (author_id, id)")


def downgrade() -> None:
    op.execute("DROP INDEX tokens_author")
    op.execute("CREATE INDEX tokens_author ON tokens_s0 (author_id)")
    op.execute("DROP INDEX attempts_free")
    op.execute("DROP INDEX attempts_gas")
    op.execute("ALTER TABLE events DROP claimed_at")
    op.execute("DROP INDEX tokens_image")
    op.execute("DROP TABLE alerts")
    op.execute("DROP TABLE outbox")
    op.execute("DROP TABLE author_prompts")
    op.execute("ALTER TABLE authors DROP prompt_nonce")
    op.execute("DROP TABLE api_keys")
