-- The engine's statements, for every work table: {table}, {row}, {error}, {sets}, … are filled in at load (statements.py).
-- A part is a text that stands inside of others and is never run by itself.
-- Only the database's clock is used. The parameters are named, in order, after each statement's name.
-- The fence of every write is the id and the epoch and nothing else: a further condition on status or lease lets the
-- planner start from the wrong end. Claim, settle, reap and control all bump the epoch, so a settle sent twice because
-- its answer was lost does nothing the second time.

-- name: pick (workflow, waiting, limit)
-- Locks the next rows for the caller's transaction, in the order in which claim would take them.
-- One probe per priority level: a plain ORDER BY priority walks every delayed row of the higher levels.
-- Suspects, which were at work when their process died, twice, are left out unless asked for: they work alone.
SELECT r.id, r.ready_at FROM generate_series(9, 0, -1) AS level(priority) CROSS JOIN LATERAL (
  SELECT id, ready_at FROM {table}
  WHERE workflow = $1 AND status = $2 AND {waits} AND priority = level.priority AND ready_at <= now(){suspects}{floor}
    AND NOT EXISTS (SELECT FROM paused_workflows p WHERE p.workflow = $1)
  ORDER BY ready_at, id LIMIT {limit} FOR UPDATE SKIP LOCKED) r
LIMIT {limit}

-- part: take (workflow, waiting, limit, active, worker, lease)
-- RETURNING comes in no order: the caller sorts, by when they became ready, in seconds: a number is read much faster than a time.
UPDATE {table} t SET status = $4, epoch = t.epoch + 1, leased_by = $5, leased_until = now() + $6,
  not_before = NULL, started_at = now(), updated_at = now()
FROM picked WHERE t.id = picked.id
RETURNING {row}, date_part('epoch', picked.ready_at) AS ready_since

-- name: claim (workflow, waiting, limit, active, worker, lease, floor level, floor)
-- The floor is where the last full claim of a burst ended: what lies below it was taken, and while somebody holds an old
-- snapshot no vacuum removes it from the index, so each claim would walk over all of it again.
-- MATERIALIZED: else the planner may run the LIMIT in a nested loop and update more rows than asked for.
WITH picked AS MATERIALIZED (
{pick})
{take}

-- name: lock_lane (lane)
-- First in the transaction of a laned claim. A statement of its own: the next one needs a snapshot taken after the wait
-- for this lock, or it would not see the leases of the claim it waited for.
SELECT 1 FROM lanes WHERE lane = $1 FOR NO KEY UPDATE

-- part: live (once for each work table, and added up)
-- How many of its rows are at work in the steps. Leases are counted, so nothing drifts. ORDER BY .. LIMIT pins the index; a
-- bare count(*) flips to a scan of the table.
(SELECT count(*) FROM steps s CROSS JOIN LATERAL (
    SELECT FROM {table} WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
    ORDER BY id LIMIT 10000) x)

-- name: claim_in_lane (workflow, waiting, limit, active, worker, lease, lane)
-- The step itself counts wherever the table says it stands: while its lane changes, old workers and new ones disagree. And
-- a lane that was deleted and made anew has lost its steps: each comes back with its next claim.
-- statement_timestamp(), not now(): now() is from before the wait for the lock and would fill the bucket twice.
-- There is always a row that says how many the lane allowed and in how many seconds the bucket holds one more, unless the
-- lane is held or closed. LIMIT $3 once more: what the lane grants the planner cannot know, and expects a tenth of the table.
WITH placed AS (INSERT INTO lane_steps (workflow, active, lane) VALUES ($1, $4, $7) ON CONFLICT DO NOTHING),
steps AS (SELECT workflow, active FROM lane_steps WHERE lane = $7 UNION SELECT $1, $4),
filled AS MATERIALIZED (
  SELECT LEAST(burst, tokens + rate * s)::real AS tokens, LEAST(max_rate, rate + max_rate * 0.02 * s)::real AS rate, max_concurrency
  FROM (SELECT *, GREATEST(0, extract(epoch FROM statement_timestamp() - refilled_at))::float8 AS s FROM lanes
        WHERE lane = $7 AND (held_at IS NULL OR held_until <= statement_timestamp()) AND open_at <= statement_timestamp()) l),
granted AS (SELECT GREATEST(0, LEAST($3, floor(tokens), max_concurrency - ({live})))::int AS n, tokens, rate FROM filled),
picked AS MATERIALIZED (
SELECT * FROM (
{pick}) r LIMIT $3),
claimed AS (
{take}),
spent AS (
  UPDATE lanes l SET tokens = f.tokens - (SELECT count(*) FROM claimed), rate = f.rate, refilled_at = statement_timestamp()
  FROM filled f WHERE l.lane = $7)
SELECT g.n AS granted, GREATEST(0, 1 - (g.tokens - g.n)) / g.rate AS next_in, c.* FROM granted g LEFT JOIN claimed c ON true

-- name: due (workflows, waitings, actives, since, within)
-- How many seconds until the next row that waits for its time is ready, if that is soon; none or less if it became so since
-- the last look.
SELECT min(extract(epoch FROM r.ready_at - now()))::float8 AS seconds
FROM unnest($1::text[], $2::text[], $3::text[]) AS s(workflow, waiting, active) CROSS JOIN generate_series(0, 9) AS level(priority) CROSS JOIN LATERAL (
  SELECT ready_at FROM {table}
  WHERE workflow = s.workflow AND status = s.waiting AND {waits} AND priority = level.priority
    AND ready_at > now() - $4::interval AND ready_at <= now() + $5::interval
  ORDER BY ready_at LIMIT 1) r

-- name: load (workflows, waitings, actives, limit, whose)
-- How much is ready, and how much is at work under names that begin so: counted only as far as it matters, one probe per
-- priority level. The filter by name stays outside of the LIMIT: inside, the planner scans the table.
SELECT s.n, ready.n AS ready, live.n AS live
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS s(workflow, waiting, active, n)
CROSS JOIN LATERAL (
  SELECT count(*)::int AS n FROM (
    SELECT FROM generate_series(9, 0, -1) AS level(priority) CROSS JOIN LATERAL (
      SELECT FROM {table}
      WHERE workflow = s.workflow AND status = s.waiting AND {waits} AND priority = level.priority
        AND ready_at <= now()
      ORDER BY ready_at, id LIMIT $4) r
    LIMIT $4) x) ready
CROSS JOIN LATERAL (
  SELECT count(*)::int AS n FROM (
    SELECT leased_by FROM {table} WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL
    ORDER BY id LIMIT 10000) x WHERE starts_with(leased_by, $5)) live
ORDER BY s.n

-- name: heartbeat (ids, epochs, lease)
-- What does not come back was lost. Stays on its page (HOT), since no index has leased_until. Sorted, like settle: else
-- the two could deadlock.
WITH held AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::bigint[]) v(id, epoch) ORDER BY id)
UPDATE {table} t SET leased_until = now() + $3 FROM held v WHERE t.id = v.id AND t.epoch = v.epoch
RETURNING t.id

-- name: note (id, epoch, actor, event, facts …)
-- A write in the middle of a claim: progress, or "from now on the fallback prompt". The epoch stays, so it may be sent
-- twice; its event, if it has one, is told once.
WITH noted AS (
  UPDATE {table} t SET updated_at = now(){sets}
  FROM (SELECT $1::bigint{scalars}) AS v(id{names}) WHERE t.id = v.id AND t.epoch = $2
  RETURNING t.id, t.workflow, t.status, t.epoch),
told AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
  SELECT id, workflow, status, status, epoch, $3, $4::jsonb FROM noted n WHERE $4::jsonb IS NOT NULL
    AND NOT EXISTS (SELECT FROM events e WHERE e.item_id = n.id AND e.epoch = n.epoch AND e.data = $4::jsonb))
SELECT id FROM noted

-- name: progress (ids, epochs, percents, lease)
-- A heartbeat that says how far the work is.
WITH reached AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::smallint[]) v(id, epoch, progress) ORDER BY id)
UPDATE {table} t SET progress = v.progress, leased_until = now() + $4, updated_at = now()
FROM reached v WHERE t.id = v.id AND t.epoch = v.epoch
RETURNING t.id

-- name: settle (ids, epochs, delays, from, to, retry count, final, actor, with parents, facts …)
-- What does not come back was no longer the caller's. Sorted by id, so that two settles cannot deadlock. A finished row that
-- others wait for is passed over unless asked for: its release belongs into the same transaction, and most rows need none.
-- One row comes back, with the ids only if some were left out: hundreds of rows take the caller longer than all the rest.
WITH verdict AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::interval[]{arrays}) AS v(id, epoch, delay{names}) ORDER BY id),
settled AS (
  UPDATE {table} t SET status = $5::text, epoch = t.epoch + 1, retry_count = $6::smallint,
    last_retry = CASE WHEN $6 > t.retry_count THEN now() WHEN $6 > 0 THEN t.last_retry END, not_before = now() + v.delay,
    finished_at = CASE WHEN $7::boolean THEN now() END, leased_by = NULL, leased_until = NULL, reclaims = 0, updated_at = now(){sets}
  FROM verdict v WHERE t.id = v.id AND t.epoch = v.epoch AND ($9::boolean OR NOT ({has_children} AND $7))
  RETURNING t.id, t.workflow, t.epoch, t.{error} AS error, t.started_at, {has_children} AND $7 AS releases),
logged AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data, claimed_at)
  SELECT id, workflow, $4::text, $5, epoch, $8::text, CASE WHEN error IS NOT NULL THEN jsonb_build_object('error', error) END, started_at FROM settled)
SELECT CASE WHEN count(*) < cardinality($1) THEN COALESCE(array_agg(id), '{}') END AS ids,
  array_agg(id) FILTER (WHERE releases) AS releasing FROM settled

-- name: release (finished parents, good statuses)
-- In the settle's transaction, when a settled row says `releases`; repeated with what it fails, since that has children too.
-- A statement of its own: inside settle it would run on the older snapshot and miss a child enqueued while settle waited.
-- Somebody may have let a child go by hand: its count is 0 already.
WITH edge AS (
  UPDATE {edges} d SET released_at = now() FROM {table} p
  WHERE d.parent_id = p.id AND p.id = ANY ($1) AND d.released_at IS NULL
  RETURNING d.child_id, d.on_failure = 'fail' AND p.status <> ALL ($2::text[]) AS broken),
child AS (SELECT child_id, count(*) AS n, bool_or(broken) AS broken FROM edge GROUP BY child_id),
locked AS MATERIALIZED (
  SELECT c.child_id, c.n, c.broken AND t.finished_at IS NULL AS broken, t.status AS was
  FROM {table} t JOIN child c ON c.child_id = t.id ORDER BY t.id FOR UPDATE OF t),
moved AS (
  UPDATE {table} t SET dependency_count = GREATEST(0, t.dependency_count - l.n), updated_at = now(),
    status = CASE WHEN l.broken THEN 'failed' ELSE t.status END,
    {error} = CASE WHEN l.broken THEN 'A job this one waits for failed' ELSE t.{error} END,
    finished_at = CASE WHEN l.broken THEN now() ELSE t.finished_at END
  FROM locked l WHERE t.id = l.child_id
  RETURNING t.id, t.workflow, l.was, t.status, t.epoch, l.broken),
logged AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor)
  SELECT id, workflow, was, status, epoch, 'engine' FROM moved WHERE broken)
SELECT id, workflow, broken FROM moved

-- name: reap (workflows, actives, waitings, budgets, most reclaims, actor)
-- At start-up and on a timer alike: only expired leases. A row whose budget was used up cannot wait again, unless a paid
-- call is still open: then it gets one claim more, to find out what became of the call. A NULL budget is none (LEAST skips it).
-- It is ready at once: it has rested before the claim that was lost, and a job with no time set would rest by its failures again.
WITH expired AS MATERIALIZED (
  SELECT t.id, t.leased_by, s.waiting, s.active, s.budget FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) s(workflow, active, waiting, budget)
  CROSS JOIN LATERAL (
    SELECT id, leased_by FROM {table}
    WHERE workflow = s.workflow AND status = s.active AND leased_by IS NOT NULL AND leased_until < now()
    ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED) t),
judged AS (
  SELECT e.*, CASE
    WHEN t.reclaims >= $5 THEN format('Orphaned %s times', t.reclaims + 1)
    WHEN t.{budget} >= e.budget
      AND NOT EXISTS (SELECT FROM attempts a WHERE a.item_id = t.id AND a.step = e.active AND a.outcome = 'open')
      THEN COALESCE(t.{error}, format('Max retries exceeded (orphaned in %s)', e.active)) END AS doom
  FROM expired e JOIN {table} t ON t.id = e.id),
reaped AS (
  UPDATE {table} t SET epoch = t.epoch + 1, reclaims = LEAST(t.reclaims, $5) + 1, leased_by = NULL, leased_until = NULL, updated_at = now(),
    not_before = now(),
    status = CASE WHEN j.doom IS NULL THEN j.waiting ELSE 'failed' END,
    {budget} = CASE WHEN j.doom IS NULL THEN LEAST(t.{budget}, j.budget - 1) ELSE t.{budget} END,
    {error} = COALESCE(j.doom, t.{error}),
    finished_at = CASE WHEN j.doom IS NOT NULL THEN now() END
  FROM judged j WHERE t.id = j.id
  RETURNING t.id, t.workflow, j.active, j.leased_by, t.status, t.epoch, t.{error} AS error, t.started_at, {has_children} AND j.doom IS NOT NULL AS releases),
logged AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data, claimed_at)
  SELECT id, workflow, active, status, epoch, $6, jsonb_build_object('error', error, 'lost_by', leased_by), started_at FROM reaped)
SELECT id, workflow, status, releases FROM reaped

-- name: suspects (workflows, waitings, actives)
-- Whether there are any that can be had: nobody need stand aside for one that is paused, or whose lane lets nothing through.
SELECT EXISTS (
  SELECT FROM unnest($1::text[], $2::text[], $3::text[]) AS s(workflow, waiting, active) CROSS JOIN LATERAL (
    SELECT FROM {table} t WHERE t.workflow = s.workflow AND t.status = s.waiting AND finished_at IS NULL AND reclaims >= 2
      AND ready_at <= now() LIMIT 1) x
  WHERE NOT EXISTS (SELECT FROM paused_workflows p WHERE p.workflow = s.workflow)
    AND NOT EXISTS (
      SELECT FROM lane_steps p JOIN lanes l USING (lane) WHERE p.workflow = s.workflow AND p.active = s.active
        AND (l.open_at > now() OR l.held_at IS NOT NULL AND (l.held_until IS NULL OR l.held_until > now())))) AS any

-- name: statuses ()
-- In which statuses rows wait and in which they are at work. The index of what waits is walked from one status to the next: a
-- million rows have a dozen. What is at work is few.
WITH RECURSIVE waiting AS (
  (SELECT workflow, status FROM {table} WHERE {waits} ORDER BY workflow, status LIMIT 1)
  UNION ALL
  SELECT n.workflow, n.status FROM waiting w CROSS JOIN LATERAL (
    SELECT workflow, status FROM {table} WHERE {waits} AND (workflow, status) > (w.workflow, w.status)
    ORDER BY workflow, status LIMIT 1) n)
SELECT workflow, status, false AS leased FROM waiting
UNION SELECT workflow, status, true FROM {table} WHERE leased_by IS NOT NULL

-- name: bring_in (workflow, status, to, ends, error, actor)
-- Rows that lie where no claim finds them: what waits in such a status, or has a lease there that has expired.
WITH stray AS MATERIALIZED (
  SELECT * FROM (
    SELECT id FROM {table} WHERE workflow = $1 AND status = $2 AND {waits}
    ORDER BY priority, ready_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED) waiting
  UNION ALL SELECT * FROM (
    SELECT id FROM {table} WHERE workflow = $1 AND status = $2 AND leased_by IS NOT NULL AND leased_until < now()
    ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED) leased),
moved AS (
  UPDATE {table} t SET status = $3, finished_at = CASE WHEN $4 THEN now() END, {error} = COALESCE($5, t.{error}),
    epoch = t.epoch + 1, leased_by = NULL, leased_until = NULL, updated_at = now()
  FROM stray WHERE t.id = stray.id
  RETURNING t.id, t.workflow, t.status, t.epoch, t.{error} AS error, {has_children} AND $4 AS releases),
logged AS (
  INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
  SELECT id, workflow, $2, status, epoch, $6, CASE WHEN error IS NOT NULL THEN jsonb_build_object('error', error) END FROM moved)
SELECT id, workflow, $2 AS was, status, releases FROM moved

-- name: open_attempt (item, step, epoch, provider, model, seed, prompt hash, worker, prompt, prompt source, cost)
-- Committed before the call. attempts_one_open refuses a second unresolved one: the caller then resumes what is open. The
-- cost is what it will probably be, so that a budget knows of it.
INSERT INTO attempts (item_id, step, epoch, provider, model, seed, prompt_sha256, worker, prompt, prompt_source, cost)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (item_id, step) WHERE outcome = 'open' DO UPDATE SET epoch = EXCLUDED.epoch, worker = EXCLUDED.worker
RETURNING attempt_id, provider, seed, prompt, prompt_source, receipt, started_at, now() - started_at AS age, xmax <> 0 AS resumed

-- name: record_attempt (attempt, outcome, receipt, cost, error code, error, details)
-- `open` only stores the receipt. Not fenced: what was paid is true, whoever writes it.
UPDATE attempts SET outcome = $2, receipt = COALESCE($3, receipt), cost = COALESCE($4, cost), error_code = $5, error = $6,
  details = COALESCE($7::jsonb, details),
  finished_at = CASE WHEN $2 <> 'open' THEN now() END
WHERE attempt_id = $1 AND outcome = 'open'
RETURNING attempt_id

-- name: limited_since (item, step)
-- Since when this row has been told to come back later, and nothing else. NULL: it has not.
SELECT now() - min(started_at) AS lasted FROM attempts
WHERE item_id = $1 AND step = $2 AND error_code IN ('429', 'unreachable') AND attempt_id > COALESCE(
  (SELECT max(attempt_id) FROM attempts WHERE item_id = $1 AND step = $2 AND outcome <> 'open' AND COALESCE(error_code, '') NOT IN ('429', 'unreachable')), 0)

-- name: spent_today ()
-- And what open calls will probably cost, and how much is left of the day, which is one of UTC.
WITH today AS (SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS began)
SELECT COALESCE(sum(cost) FILTER (WHERE outcome <> 'open'), 0) AS spent, COALESCE(sum(cost) FILTER (WHERE outcome = 'open'), 0) AS ordered,
  min(began) + interval '24 hours' - now() AS rest
FROM today LEFT JOIN attempts ON cost > 0 AND started_at >= began

-- name: left_open (provider, step, item)
-- Calls that are open though their row has ended, by whatever end. Of one row, or of all.
SELECT a.attempt_id, a.item_id, a.seed, a.prompt, a.receipt, now() - a.started_at AS age FROM attempts a
JOIN {table} t ON t.id = a.item_id
WHERE a.outcome = 'open' AND a.provider = $1 AND a.step = $2 AND t.finished_at IS NOT NULL AND ($3::bigint IS NULL OR a.item_id = $3)
ORDER BY a.attempt_id LIMIT 100

-- name: make_lane (lane, concurrency, rate)
-- What is there already is left alone: the operator's setting stands. A bucket holds what a second fills.
INSERT INTO lanes (lane, max_concurrency, max_rate, rate, burst, tokens)
VALUES ($1, $2, $3, $3, GREATEST(1, $3::real), GREATEST(1, $3::real))
ON CONFLICT (lane) DO NOTHING
RETURNING lane

-- name: place_steps (workflows, actives, lanes)
-- A step stands in one lane at a time, or in none; the word of whoever started last counts. Sorted, so that two who start
-- at once cannot deadlock.
INSERT INTO lane_steps (workflow, active, lane)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS s(workflow, active, lane) ORDER BY workflow, active
ON CONFLICT (workflow, active) DO UPDATE SET lane = EXCLUDED.lane
RETURNING workflow

-- name: slow_lane (lane, retry after)
-- A 429 closes the lane and halves its rate, once, however many calls in flight report it.
UPDATE lanes SET open_at = GREATEST(open_at, now() + $2), tokens = 0,
  rate = CASE WHEN open_at <= now() THEN LEAST(max_rate, GREATEST(0.01, rate / 2)) ELSE rate END
WHERE lane = $1
RETURNING lane

-- name: hold_lane (lane, reason, for how long, actor)
-- Until a person resumes it, or for a while. A hold that is over is none.
WITH held AS (
  UPDATE lanes SET held_at = now(), held_reason = $2, held_until = now() + $3::interval
  WHERE lane = $1 AND (held_at IS NULL OR held_until <= now())
  RETURNING lane, held_reason AS reason)
INSERT INTO events (to_status, actor, data) SELECT 'lane held', $4, to_jsonb(held) FROM held
RETURNING event_id

-- name: resume_lane (lane, actor)
WITH resumed AS (
  UPDATE lanes SET held_at = NULL, held_reason = NULL, held_until = NULL, open_at = '-infinity' WHERE lane = $1 RETURNING lane)
INSERT INTO events (to_status, actor, data) SELECT 'lane resumed', $2, to_jsonb(resumed) FROM resumed
RETURNING event_id

-- name: limit_lane (lane, concurrency, rate, actor)
-- Without a rate, that stays as it is. The bucket as make_lane makes it; what is in it stays, as far as it fits.
WITH limited AS (
  UPDATE lanes SET max_concurrency = $2, max_rate = COALESCE($3::real, max_rate), rate = COALESCE($3, rate),
    burst = GREATEST(1, COALESCE($3, burst)), tokens = LEAST(tokens, GREATEST(1, COALESCE($3, burst)))
  WHERE lane = $1
  RETURNING lane, max_concurrency AS concurrency, NULLIF(max_rate, 1e9) AS rate)
INSERT INTO events (to_status, actor, data) SELECT 'lane limited', $4, to_jsonb(limited) FROM limited
RETURNING event_id

-- name: every_lane ()
SELECT lane, CASE WHEN held_at IS NOT NULL AND (held_until IS NULL OR held_until > now()) THEN 'held' WHEN open_at > now() THEN 'closed' ELSE 'open' END AS state,
  max_concurrency, NULLIF(rate, 1e9) AS rate, NULLIF(max_rate, 1e9) AS max_rate, NULLIF(open_at, '-infinity') AS open_at,
  held_at, held_until, held_reason
FROM lanes ORDER BY lane

-- name: control (ids, epochs, status, ends, error, actor, was, reason, facts …)
-- What a person does to rows: it ends open ones, or sends on those that have ended, or those in just one status. One in review
-- is not open, whether it has ended or not: only a person moves it on. Where epochs are given, a row that has changed since the
-- person saw it is left. The new epoch puts a holder out at once.
WITH old AS MATERIALIZED (
  SELECT t.id, t.status, t.finished_at IS NULL AND t.status <> 'review' AS is_open
  FROM {table} t JOIN unnest($1::bigint[], $2::bigint[]) AS v(id, epoch) ON t.id = v.id AND t.epoch = COALESCE(v.epoch, t.epoch)
  ORDER BY t.id FOR UPDATE OF t),
moved AS (
  UPDATE {table} t SET status = $3, epoch = t.epoch + 1, leased_by = NULL, leased_until = NULL, retry_count = 0, last_retry = NULL,
    reclaims = 0, not_before = now(), finished_at = CASE WHEN $4 THEN now() END, {error} = $5, updated_at = now(){sets}
  FROM old CROSS JOIN (SELECT true{scalars}) AS v(given{names})
  WHERE t.id = old.id AND CASE WHEN $7::text IS NULL THEN old.is_open = $4 ELSE old.status = $7 END
  RETURNING t.id, t.workflow, old.status AS was, t.status, t.epoch)
INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
SELECT id, workflow, was, status, epoch, $6, CASE WHEN $8::text IS NOT NULL THEN jsonb_build_object('reason', $8) END FROM moved
RETURNING item_id AS id

-- name: pause_workflow (workflow, actor)
-- Nothing of it is claimed from now on; what is at work goes on.
WITH paused AS (INSERT INTO paused_workflows (workflow, actor) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING workflow)
INSERT INTO events (workflow, to_status, actor) SELECT workflow, 'paused', $2 FROM paused
RETURNING workflow

-- name: resume_workflow (workflow, actor)
WITH resumed AS (DELETE FROM paused_workflows WHERE workflow = $1 RETURNING workflow)
INSERT INTO events (workflow, to_status, actor) SELECT workflow, 'resumed', $2 FROM resumed
RETURNING workflow

-- name: paused_workflows ()
SELECT workflow, paused_at, actor FROM paused_workflows ORDER BY workflow

-- name: tick (name, every)
-- One scheduler wins.
UPDATE periodic SET next_at = GREATEST(next_at + $2, now()) WHERE name = $1 AND next_at <= now() RETURNING name

-- name: enqueue (workflows, statuses, payloads, priorities, names, users, conversations, projects, options, most attempts, delays, unique keys, channel)
-- With its notifications, so that it needs no transaction around it. A duplicate key gives the old row's id. DO UPDATE of nothing that matters: DO NOTHING would return no row for it.
WITH made AS (
INSERT INTO {table} (workflow, status, payload, priority, name, user_id, conversation_id, project_id, opts, max_attempts, not_before, unique_key)
SELECT workflow, status, payload, priority, name, user_id, conversation_id, project_id, opts, max_attempts, now() + delay, key
FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::uuid[], $9::jsonb[], $10::smallint[],
            $11::interval[], $12::text[]) WITH ORDINALITY
  AS v(workflow, status, payload, priority, name, user_id, conversation_id, project_id, opts, max_attempts, delay, key, n) ORDER BY n
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL AND finished_at IS NULL DO UPDATE SET unique_key = EXCLUDED.unique_key
RETURNING id, job_id, xmax = 0 AS created)
SELECT id, job_id, created, (SELECT count(pg_notify($13, w)) FROM (SELECT DISTINCT unnest($1::text[]) AS w) d) AS told FROM made

-- name: depend (child, parents, on failure)
-- In the enqueueing transaction. Touching the parents makes a settle that races us see has_children. A parent that has
-- already ended well holds nobody up; one that has not ended well, or does not exist, is returned for the caller to judge.
-- Parents are locked in the order of their ids, as everywhere.
WITH open AS MATERIALIZED (SELECT id FROM {table} WHERE id = ANY ($2::bigint[]) AND finished_at IS NULL ORDER BY id FOR UPDATE),
waits AS (UPDATE {table} t SET has_children = true FROM open WHERE t.id = open.id RETURNING t.id),
edge AS (INSERT INTO {edges} (parent_id, child_id, on_failure) SELECT id, $1, $3 FROM waits RETURNING parent_id),
child AS (
  UPDATE {table} SET dependency_count = dependency_count + (SELECT count(*) FROM edge),
    parent_job_id = (SELECT id FROM {table} WHERE id = ($2::bigint[])[1])
  WHERE id = $1)
SELECT parent_id FROM edge

-- name: depended (child, parents, on failure)
-- Those that had ended before: nobody waits for them, but whoever is made from them finds them. A statement of its own, so that
-- it also sees one that ended while depend waited for it.
INSERT INTO {edges} (parent_id, child_id, on_failure, released_at)
SELECT id, $1, $3, now() FROM {table} WHERE id = ANY ($2::bigint[]) AND finished_at IS NOT NULL
ON CONFLICT DO NOTHING

-- name: pause (ids, paused, actor)
WITH open AS MATERIALIZED (
  SELECT id FROM {table} WHERE id = ANY ($1::bigint[]) AND finished_at IS NULL AND (paused_at IS NULL) = $2 ORDER BY id FOR UPDATE),
moved AS (
  UPDATE {table} t SET paused_at = CASE WHEN $2 THEN now() END, updated_at = now() FROM open WHERE t.id = open.id
  RETURNING t.id, t.workflow, t.status, t.epoch)
INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
SELECT id, workflow, status, status, epoch, $3, jsonb_build_object('paused', $2) FROM moved
RETURNING item_id AS id

-- name: prune (age, limit)
-- A row goes with its events and with the calls for which nothing was paid; what was paid, or may have been, stays in the
-- ledger. It stays itself while one that waited for it is open: that one may still read its result.
WITH old AS MATERIALIZED (
  SELECT id FROM {table} t WHERE finished_at < now() - $1::interval
    AND NOT EXISTS (SELECT FROM {edges} d JOIN {table} c ON c.id = d.child_id WHERE d.parent_id = t.id AND c.finished_at IS NULL)
    AND NOT EXISTS (SELECT FROM {table} c WHERE c.parent_job_id = t.id AND c.finished_at IS NULL)
  ORDER BY id LIMIT $2 FOR UPDATE OF t SKIP LOCKED),
gone AS (DELETE FROM {table} t USING old WHERE t.id = old.id RETURNING t.id),
untold AS (DELETE FROM events e USING gone WHERE e.item_id = gone.id),
unpaid AS (
  DELETE FROM attempts a USING gone WHERE a.item_id = gone.id
    AND outcome IN ('refused', 'failed', 'cancelled') AND receipt IS NULL AND COALESCE(cost, 0) = 0)
SELECT id FROM gone
