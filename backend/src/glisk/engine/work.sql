-- The engine's statements, for every work table: {table}, {error} and {facts} are filled in at load (statements.py).
-- Only the database's clock is used. The parameters are named, in order, after each statement's name.
-- The fence of every write is the id and the epoch and nothing else: a further condition on status or lease lets the
-- planner start from the wrong end. Claim and settle both bump the epoch, so a settle sent twice does nothing the second time.

-- name: pick (workflow, waiting, limit)
-- Locks the next rows for the caller's transaction, in the order in which claim would take them.
-- One probe per priority level: a plain ORDER BY priority walks every delayed row of the higher levels.
SELECT r.id FROM generate_series(9, 0, -1) AS level(priority) CROSS JOIN LATERAL (
  SELECT id FROM {table}
  WHERE workflow = $1 AND status = $2 AND finished_at IS NULL AND priority = level.priority AND ready_at <= now()
  ORDER BY ready_at, id LIMIT $3 FOR UPDATE SKIP LOCKED) r
LIMIT $3

-- name: claim (workflow, waiting, limit, active, worker, lease)
-- MATERIALIZED: else the planner may run the LIMIT in a nested loop and update more rows than asked for.
-- RETURNING comes in no order: the caller sorts.
WITH picked AS MATERIALIZED (
  SELECT r.id FROM generate_series(9, 0, -1) AS level(priority) CROSS JOIN LATERAL (
    SELECT id FROM {table}
    WHERE workflow = $1 AND status = $2 AND finished_at IS NULL AND priority = level.priority AND ready_at <= now()
    ORDER BY ready_at, id LIMIT $3 FOR UPDATE SKIP LOCKED) r
  LIMIT $3)
UPDATE {table} t SET status = $4, epoch = t.epoch + 1, leased_by = $5, leased_until = now() + $6,
  not_before = NULL, started_at = now(), updated_at = now()
FROM picked WHERE t.id = picked.id
RETURNING t.*

-- name: settle (ids, epochs, from, to, retry counts, delays, finals, facts, actor)
-- Any mix of outcomes at once; what does not come back was no longer the caller's. Sorted by id, so that two settles cannot deadlock.
-- jsonb_populate_record keeps the columns that the facts do not name.
WITH verdict AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::smallint[], $6::interval[], $7::boolean[], $8::jsonb[])
    AS v(id, epoch, was, status, retry_count, delay, final, facts) ORDER BY id),
settled AS (
  UPDATE {table} t SET status = v.status, epoch = t.epoch + 1, retry_count = v.retry_count,
    last_retry = CASE WHEN v.retry_count > 0 THEN now() END, not_before = now() + v.delay,
    finished_at = CASE WHEN v.final THEN now() END, leased_by = NULL, leased_until = NULL, reclaims = 0, updated_at = now(),
    ({facts}) = (SELECT {facts} FROM jsonb_populate_record(t, v.facts))
  FROM verdict v WHERE t.id = v.id AND t.epoch = v.epoch
  RETURNING t.id, t.workflow, v.was, t.status, t.epoch, t.{error} AS error),
logged AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
  SELECT id, workflow, was, status, epoch, $9, CASE WHEN error IS NOT NULL THEN jsonb_build_object('error', error) END FROM settled)
SELECT id FROM settled
