"""The studio: keys of users, what a user may see, their files, requests that are sent twice, and what is left to be deleted."""

from alembic import op

revision = "017"
down_revision = "016"
branch_labels = None
depends_on = None

KEYS = """
    ALTER TABLE api_keys
      ADD user_id text REFERENCES users ON DELETE CASCADE,
      ADD rate integer CONSTRAINT rate_allows_something CHECK (rate > 0),
      ADD daily_limit numeric(12,6) CONSTRAINT daily_limit_is_an_amount CHECK (daily_limit >= 0)"""
PROJECTS = """
    ALTER TABLE projects
      ADD created_at timestamptz NOT NULL DEFAULT now(),
      ADD updated_at timestamptz NOT NULL DEFAULT now(),
      ADD CONSTRAINT project_type_is_known CHECK (project_type IN ('existing', 'new_build', 'architectural_drawing'))"""
# Nobody could have made one with a type over HTTP so far.
UNKNOWN_TYPES = "UPDATE projects SET project_type = NULL WHERE project_type NOT IN ('existing', 'new_build', 'architectural_drawing')"
# A result is not cleaned up while somebody is still being sent it.
JOBS = "ALTER TABLE jobs ADD dispatched_until timestamptz"
# Seed 001's `delayed` and `paused` are how a waiting row is shown; no row is stored so.
SHOWN = """
    CREATE FUNCTION shown(job jobs) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT CASE WHEN job.finished_at IS NOT NULL OR job.leased_by IS NOT NULL THEN job.status
        WHEN job.paused_at IS NOT NULL THEN 'paused'
        WHEN job.dependency_count = 0 AND job.ready_at > now() THEN 'delayed'
        ELSE job.status END
    $$"""
FILES = r"""
    CREATE TABLE files (
      file_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      user_id      text NOT NULL REFERENCES users ON DELETE CASCADE,
      name         text NOT NULL CONSTRAINT file_name_is_plain CHECK (name ~ '^[^/\\[:cntrl:]]{1,200}$' AND name NOT IN ('.', '..')),
      object_key   text NOT NULL,
      mime         text NOT NULL,
      size         bigint NOT NULL CONSTRAINT file_has_bytes CHECK (size > 0),
      created_at   timestamptz NOT NULL DEFAULT now(),
      delivered_at timestamptz,
      CONSTRAINT files_user_name UNIQUE (user_id, name)
    )"""
# What a job was given and must find until it has ended for good.
INPUTS = """
    CREATE TABLE job_inputs (
      item_id    bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
      object_key text NOT NULL,
      PRIMARY KEY (item_id, object_key)
    )"""
# By the key that a client gave its request: sent again, it gets the answer that it has missed.
REQUESTS = """
    CREATE TABLE requests (
      owner          text NOT NULL,
      key            text NOT NULL CONSTRAINT request_key_is_short CHECK (char_length(key) BETWEEN 1 AND 255),
      request_sha256 bytea NOT NULL CONSTRAINT request_hash_is_whole CHECK (octet_length(request_sha256) = 32),
      item_id        bigint NOT NULL REFERENCES jobs ON DELETE CASCADE,
      created_at     timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (owner, key)
    )"""
# Bytes that somebody has let go of. They are deleted by and by, if nobody else has the same.
LEFTOVERS = """
    CREATE TABLE leftovers (
      object_key text PRIMARY KEY,
      since      timestamptz NOT NULL DEFAULT now()
    )"""
LEAVE = """
    CREATE FUNCTION leave_object() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO leftovers (object_key) VALUES (to_jsonb(OLD) ->> TG_ARGV[0]) ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$"""
LEAVERS = {"files": "object_key", "job_inputs": "object_key", "jobs": "output_r2_key"}

# Whoever acts as `glisk_user` sees the rows of one user alone, whatever the API's own code lets through. Everybody else, such as
# workers who are not the tables' owner, sees what they were granted.
ROLE = "current_user <> 'glisk_user' OR "
OWN = "user_id = current_setting('glisk.user_id', true)"
OF_THEIR_JOBS = "EXISTS (SELECT FROM jobs WHERE jobs.id = item_id)"
SEEN = {
    **dict.fromkeys(("users", "conversations", "projects", "jobs", "files"), OWN),
    "events": OF_THEIR_JOBS,
}
# A function, since a restored database is without its grants. A role belongs to the whole server: another database may have
# made it already, or is just making it. Who may not make roles is told so when somebody wants to use it.
OPEN = """
    CREATE FUNCTION open_to_users() RETURNS void LANGUAGE plpgsql AS $$ DECLARE seen regclass; BEGIN
      BEGIN
        CREATE ROLE glisk_user NOLOGIN NOBYPASSRLS;
      EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
      END;
      IF to_regrole('glisk_user') IS NULL THEN RETURN; END IF;
      BEGIN
        IF NOT pg_has_role('glisk_user', 'MEMBER') THEN EXECUTE format('GRANT glisk_user TO %I', current_user); END IF;
      EXCEPTION WHEN insufficient_privilege THEN NULL;
      END;
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO glisk_user', current_schema());
      FOR seen IN SELECT oid FROM pg_class WHERE relrowsecurity AND relnamespace = current_schema()::regnamespace LOOP
        EXECUTE format('GRANT SELECT ON %s TO glisk_user', seen);
      END LOOP;
    END $$"""
CLOSE = """
    DO $$ BEGIN
      IF to_regrole('glisk_user') IS NOT NULL THEN
        EXECUTE 'REVOKE ALL ON ALL TABLES IN SCHEMA ' || quote_ident(current_schema()) || ' FROM glisk_user';
        EXECUTE 'REVOKE ALL ON SCHEMA ' || quote_ident(current_schema()) || ' FROM glisk_user';
      END IF;
    END $$"""


def upgrade() -> None:
    op.execute(KEYS)
    # A key of a user whom nobody had named before belongs to one of its own name.
    op.execute("INSERT INTO users (user_id) SELECT name FROM api_keys WHERE scope = 'user' ON CONFLICT DO NOTHING")
    op.execute("UPDATE api_keys SET user_id = name WHERE scope = 'user'")
    op.execute(
        "ALTER TABLE api_keys ADD CONSTRAINT user_key_has_a_user CHECK ((scope = 'user') = (user_id IS NOT NULL))"
    )
    op.execute("CREATE INDEX api_keys_user ON api_keys (user_id) WHERE user_id IS NOT NULL")
    op.execute(UNKNOWN_TYPES)
    op.execute(PROJECTS)
    op.execute("CREATE INDEX projects_user ON projects (user_id, created_at)")
    op.execute("CREATE INDEX conversations_user ON conversations (user_id)")
    op.execute(JOBS)
    op.execute(SHOWN)
    # Whose picture is this, and does anybody else have it? What was delivered is soon deleted.
    op.execute("CREATE INDEX jobs_output ON jobs (output_r2_key) WHERE output_r2_key IS NOT NULL")
    op.execute("CREATE INDEX jobs_delivered ON jobs (delivered_at) WHERE delivered_at IS NOT NULL")
    for table in (FILES, INPUTS, REQUESTS, LEFTOVERS):
        op.execute(table)
    op.execute("CREATE INDEX files_object ON files (object_key)")
    op.execute("CREATE INDEX files_delivered ON files (delivered_at) WHERE delivered_at IS NOT NULL")
    op.execute("CREATE INDEX job_inputs_object ON job_inputs (object_key)")
    op.execute("CREATE INDEX requests_item ON requests (item_id)")
    op.execute(LEAVE)
    for table, key in LEAVERS.items():
        op.execute(f"""
            CREATE TRIGGER leave_object AFTER DELETE ON {table}
            FOR EACH ROW WHEN (OLD.{key} IS NOT NULL) EXECUTE FUNCTION leave_object('{key}')""")
    for table, condition in SEEN.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY own_rows ON {table} USING ({ROLE}{condition})")
    op.execute(OPEN)
    op.execute("SELECT open_to_users()")


def downgrade() -> None:
    op.execute(CLOSE)
    op.execute("DROP FUNCTION open_to_users")
    for table in SEEN:
        op.execute(f"DROP POLICY own_rows ON {table}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    for table in LEAVERS:
        op.execute(f"DROP TRIGGER leave_object ON {table}")
    op.execute("DROP FUNCTION leave_object")
    for table in ("leftovers", "requests", "job_inputs", "files"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP INDEX jobs_delivered")
    op.execute("DROP INDEX jobs_output")
    op.execute("DROP FUNCTION shown")
    op.execute("ALTER TABLE jobs DROP dispatched_until")
    op.execute("DROP INDEX conversations_user")
    op.execute("DROP INDEX projects_user")
    op.execute("ALTER TABLE projects DROP CONSTRAINT project_type_is_known, DROP updated_at, DROP created_at")
    op.execute("ALTER TABLE api_keys DROP CONSTRAINT user_key_has_a_user, DROP daily_limit, DROP rate, DROP user_id")
