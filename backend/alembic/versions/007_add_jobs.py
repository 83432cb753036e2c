"""Jobs: off-chain work that people ask for (seeds 000, 001, 002 and 004), in one table, with whom and what it belongs to."""

from alembic import op

revision = "007"
down_revision = "006"
branch_labels = None
depends_on = None

JOBS = """
CREATE TABLE jobs (
  id               bigint PRIMARY KEY DEFAULT nextval('work_id'),
  workflow         text NOT NULL,
  status           text NOT NULL DEFAULT 'pending',
  priority         smallint NOT NULL DEFAULT 0 CONSTRAINT priority_is_a_digit CHECK (priority BETWEEN 0 AND 9),
  not_before       timestamptz,
  retry_count      smallint NOT NULL DEFAULT 0 CONSTRAINT retries_are_counted CHECK (retry_count >= 0),
  last_retry       timestamptz,
  leased_by        text,
  leased_until     timestamptz,
  epoch            bigint NOT NULL DEFAULT 0,
  reclaims         smallint NOT NULL DEFAULT 0,
  started_at       timestamptz,
  updated_at       timestamptz NOT NULL DEFAULT now(),
  finished_at      timestamptz,
  job_id           uuid NOT NULL DEFAULT new_job_id(),
  name             text,
  user_id          text REFERENCES users ON DELETE CASCADE,
  conversation_id  text REFERENCES conversations ON DELETE CASCADE,
  project_id       uuid REFERENCES projects ON DELETE CASCADE,
  payload          jsonb NOT NULL DEFAULT '{}',
  opts             jsonb,
  result           jsonb,
  result_url       text,
  output_r2_key    text,
  error_message    text CONSTRAINT error_is_short CHECK (char_length(error_message) <= 1000),
  stacktrace       text,
  progress         smallint NOT NULL DEFAULT 0 CONSTRAINT progress_is_a_percentage CHECK (progress BETWEEN 0 AND 100),
  max_attempts     smallint CONSTRAINT attempts_are_allowed CHECK (max_attempts > 0),
  unique_key       text,
  parent_job_id    bigint REFERENCES jobs ON DELETE SET NULL,
  dependency_count integer NOT NULL DEFAULT 0 CONSTRAINT dependencies_are_counted CHECK (dependency_count >= 0),
  has_children     boolean NOT NULL DEFAULT false,
  paused_at        timestamptz,
  delivered_at     timestamptz,
  created_at       timestamptz NOT NULL DEFAULT now(),
  -- Seed 000's column, for its readers; the claim does not use it. A parked `…-failed` is not ready.
  ready smallint GENERATED ALWAYS AS (CASE
    WHEN (status = 'pending' OR status LIKE 'ready-for-%') AND status NOT LIKE '%-failed' THEN 1 ELSE 0 END) STORED,
  -- Seed 000's formula, unless a time was asked for. By way of UTC: adding to a timestamptz is not immutable.
  ready_at timestamptz GENERATED ALWAYS AS (CASE
    WHEN dependency_count > 0 OR paused_at IS NOT NULL THEN 'infinity'
    WHEN not_before IS NOT NULL THEN not_before
    WHEN retry_count = 0 THEN created_at
    ELSE ((last_retry AT TIME ZONE 'UTC') + interval '1 minute' * power(2, LEAST(retry_count, 12))) AT TIME ZONE 'UTC'
    END) STORED,
  CONSTRAINT job_id_holds_id CHECK (substr(uuid_send(job_id), 10, 7) = substr(int8send(id), 2, 7)),
  CONSTRAINT leased_is_whole CHECK ((leased_by IS NULL) = (leased_until IS NULL)),
  CONSTRAINT finished_is_free CHECK (finished_at IS NULL OR leased_by IS NULL),
  CONSTRAINT retried_has_a_time CHECK (retry_count = 0 OR last_retry IS NOT NULL),
  CONSTRAINT failed_has_error
    CHECK ((status <> 'failed' AND status NOT LIKE '%-failed') OR error_message IS NOT NULL)
) WITH (fillfactor = 80)"""


def upgrade() -> None:
    op.execute("CREATE TABLE users (user_id text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now())")
    op.execute("""
        CREATE TABLE conversations (
          conversation_id text PRIMARY KEY,
          type            text NOT NULL CONSTRAINT type_is_known CHECK (type IN ('dm', 'project_channel')),
          user_id         text NOT NULL REFERENCES users ON DELETE CASCADE
        )""")
    op.execute("""
        CREATE TABLE projects (
          project_id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
          user_id              text NOT NULL REFERENCES users ON DELETE CASCADE,
          project_type         text,
          original_image_url   text,
          generated_image_url  text,
          generated_image_urls text[]
        )""")
    # A job's public id carries its key in the last seven bytes, so that it needs no index of its own: an index on random
    # values made every claim, settle and insert a quarter slower. 66 bits of it are random, so it cannot be guessed.
    op.execute("""
        CREATE FUNCTION new_job_id() RETURNS uuid LANGUAGE sql VOLATILE AS $$
          SELECT encode(overlay(uuid_send(gen_random_uuid()) PLACING substr(int8send(currval('work_id')), 2, 7) FROM 10), 'hex')::uuid
        $$""")
    op.execute(JOBS)
    op.execute("CREATE INDEX jobs_open ON jobs (workflow, status, priority, ready_at, id) WHERE finished_at IS NULL")
    op.execute("""
        CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key) WHERE unique_key IS NOT NULL AND finished_at IS NULL""")
    for owner in ("user_id", "conversation_id", "project_id"):
        name = owner.removesuffix("_id")
        op.execute(f"CREATE INDEX jobs_{name} ON jobs ({owner}, created_at) WHERE {owner} IS NOT NULL")
    op.execute("CREATE INDEX jobs_parent ON jobs (parent_job_id, dependency_count) WHERE parent_job_id IS NOT NULL")
    op.execute("""
        CREATE TABLE job_dependencies (
          parent_id   bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
          child_id    bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
          on_failure  text NOT NULL DEFAULT 'fail' CONSTRAINT on_failure_is_known CHECK (on_failure IN ('fail', 'ignore')),
          released_at timestamptz, -- a mark makes the release idempotent; a bare decrement is not
          PRIMARY KEY (parent_id, child_id),
          CONSTRAINT nobody_waits_for_itself CHECK (parent_id <> child_id)
        )""")
    op.execute("CREATE INDEX job_dependencies_child ON job_dependencies (child_id)")
    # A parent that is deleted takes its edges along; whoever waited for it must not wait for ever.
    op.execute("""
        CREATE FUNCTION forget_dependency() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE jobs SET dependency_count = dependency_count - 1 WHERE id = OLD.child_id;
          RETURN NULL;
        END $$""")
    op.execute("""
        CREATE TRIGGER forget_dependency AFTER DELETE ON job_dependencies
        FOR EACH ROW WHEN (OLD.released_at IS NULL) EXECUTE FUNCTION forget_dependency()""")


def downgrade() -> None:
    for table in ("job_dependencies", "jobs", "projects", "conversations", "users"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION forget_dependency")
    op.execute("DROP FUNCTION new_job_id")
