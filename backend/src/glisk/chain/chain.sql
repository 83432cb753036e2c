-- What the listener writes and reads. $n are named in the title of each statement; a part stands only inside of others.
-- Every statement that writes for a contract comes after `move_cursor` or `lock_cursor` in its transaction: one writer at a time.

-- name: create_cursor (chain, contract, start, hash of the block before, first token)
INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, first_token_id, next_token_id)
VALUES ($1, $2, $3::bigint, $3::bigint - 1, $4, $3::bigint - 1, $4, $5::text::numeric, $5::text::numeric) ON CONFLICT DO NOTHING

-- part: cursor ()
epoch, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, safe_no, head_no, first_token_id::text, next_token_id::text, halted, alarm

-- name: sit_down (chain, contract)
-- The new epoch puts out whoever wrote before.
UPDATE chain_cursor SET epoch = epoch + 1, updated_at = now() WHERE chain_id = $1 AND contract_address = $2 RETURNING {cursor}

-- name: read_cursor (chain, contract)
SELECT {cursor} FROM chain_cursor WHERE chain_id = $1 AND contract_address = $2

-- name: lock_cursor (chain, contract)
-- For a repair beside the one who follows: it moves nothing, and waits for its turn.
SELECT epoch FROM chain_cursor WHERE chain_id = $1 AND contract_address = $2 FOR UPDATE

-- name: move_cursor (chain, contract, epoch, tip, its hash, confirmed, its hash, safe, head, next token, halted, alarm)
UPDATE chain_cursor SET tip_no = $4, tip_hash = $5, confirmed_no = $6, confirmed_hash = $7, safe_no = GREATEST(safe_no, $8),
  head_at = CASE WHEN $9 <> head_no THEN now() ELSE head_at END, head_no = $9, next_token_id = $10::text::numeric,
  halted = $11, alarm = $12, updated_at = now()
WHERE chain_id = $1 AND contract_address = $2 AND epoch = $3 RETURNING epoch

-- name: was_looked_at (chain, contract, epoch)
UPDATE chain_cursor SET updated_at = now() WHERE chain_id = $1 AND contract_address = $2 AND epoch = $3

-- name: go_on (chain, contract, block, its hash, next token)
-- After a repair. The epoch tells whoever has the seat to read all of this anew.
UPDATE chain_cursor SET halted = NULL, epoch = epoch + 1, tip_no = $3, tip_hash = $4, confirmed_no = $3, confirmed_hash = $4,
  next_token_id = COALESCE($5::text::numeric, next_token_id), updated_at = now()
WHERE chain_id = $1 AND contract_address = $2

-- name: take_seat (seat)
-- A lock that is freed when its holder's connection ends.
SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS is_ours

-- name: beat (seat)
INSERT INTO chain_seat (seat) VALUES ($1) ON CONFLICT (seat) DO UPDATE SET beat_at = now()

-- name: put_out (seat, silence)
-- One that hangs keeps its connections, and with them the seat, and perhaps rows: the one that writes is called like the seat. What it
-- would still write the epoch forbids.
SELECT pg_terminate_backend(pid) FROM (
  SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  UNION SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1) AS its
WHERE EXISTS (SELECT FROM chain_seat WHERE seat = $1 AND beat_at < now() - $2::interval)

-- name: hot_blocks (chain, contract)
SELECT number, hash, parent_hash, block_at FROM hot_block WHERE chain_id = $1 AND contract_address = $2

-- name: heat (chain, contract, numbers, hashes, parents, times)
INSERT INTO hot_block (chain_id, contract_address, number, hash, parent_hash, block_at)
SELECT $1, $2, v.* FROM unnest($3::bigint[], $4::bytea[], $5::bytea[], $6::timestamptz[]) AS v

-- name: cool (chain, contract, confirmed, tip)
-- Blocks are hot above the confirmed one, up to the tip.
DELETE FROM hot_block WHERE chain_id = $1 AND contract_address = $2 AND (number <= $3 OR number > $4)

-- name: tell (what, actor, data)
INSERT INTO events (to_status, actor, data) VALUES ($1, $2, $3::jsonb)

-- name: knows_some (chain, contract, first block, last block)
SELECT true FROM chain_event WHERE chain_id = $1 AND contract_address = $2 AND block_number BETWEEN $3 AND $4 LIMIT 1

-- part: mints_to_keep ()
INSERT INTO chain_event AS e (chain_id, contract_address, block_number, block_hash, log_index, tx_hash, kind, first_token_id, quantity, minter, author)
SELECT $1, $2, number, hash, log, tx, kind, first, quantity, minter, author
FROM unnest($3::bigint[], $4::bytea[], $5::integer[], $6::bytea[], $7::text[]::numeric[], $8::integer[], $9::text[], $10::text[], $11::text[])
  AS v(number, hash, log, tx, first, quantity, minter, author, kind)

-- name: keep_history (chain, contract, numbers, hashes, logs, transactions, first tokens, quantities, minters, authors, kinds)
{mints_to_keep}

-- name: keep_mints (chain, contract, numbers, hashes, logs, transactions, first tokens, quantities, minters, authors, kinds)
-- Returns those that are new to us, were orphaned and are on the chain again, or say something else than before: a node may have
-- spoilt them the first time.
{mints_to_keep}
ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET orphaned_at = NULL, problem = NULL, raw = NULL, kind = EXCLUDED.kind,
  first_token_id = EXCLUDED.first_token_id, quantity = EXCLUDED.quantity, minter = EXCLUDED.minter, author = EXCLUDED.author
WHERE e.orphaned_at IS NOT NULL OR (e.kind, e.first_token_id, e.quantity, e.minter, e.author)
  IS DISTINCT FROM (EXCLUDED.kind, EXCLUDED.first_token_id, EXCLUDED.quantity, EXCLUDED.minter, EXCLUDED.author)
RETURNING block_hash, log_index

-- name: keep_undecodable (chain, contract, numbers, hashes, logs, transactions, problems, raws)
INSERT INTO chain_event AS e (chain_id, contract_address, block_number, block_hash, log_index, tx_hash, kind, problem, raw)
SELECT $1, $2, number, hash, log, tx, 'undecodable', problem, raw
FROM unnest($3::bigint[], $4::bytea[], $5::integer[], $6::bytea[], $7::text[], $8::text[]::jsonb[]) AS v(number, hash, log, tx, problem, raw)
ON CONFLICT (chain_id, block_hash, log_index) DO UPDATE SET orphaned_at = NULL WHERE e.orphaned_at IS NOT NULL
RETURNING block_number

-- name: know_authors (wallets)
-- In order, so that two who write the same authors never wait for each other; and those we know use up no id.
INSERT INTO authors (wallet_address)
SELECT DISTINCT wallet FROM unnest($1::text[]) AS wallet
WHERE NOT EXISTS (SELECT FROM authors WHERE wallet_address = wallet) ORDER BY wallet
ON CONFLICT DO NOTHING

-- part: minted ()
unnest($3::bigint[], $4::bytea[], $5::integer[], $6::bytea[], $7::text[]::numeric[], $8::integer[], $9::text[], $10::text[])
  AS v(number, hash, log, tx, first, quantity, minter, author)
JOIN authors a ON a.wallet_address = v.author CROSS JOIN LATERAL generate_series(0, v.quantity - 1) AS n

-- name: bear_tokens (chain, contract, numbers, hashes, logs, transactions, first tokens, quantities, minters, authors, workflow, actor)
WITH born AS (
  INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, prompt, minter, mint_block, mint_block_hash, mint_tx, mint_log)
  SELECT $1, $2, v.first + n, a.author_id, a.prompt_text, v.minter, v.number, v.hash, v.tx, v.log FROM {minted}
  ORDER BY v.number, v.log, n
  ON CONFLICT (chain_id, contract_address, token_id) DO NOTHING
  RETURNING id, status, epoch),
told AS (INSERT INTO events (item_id, workflow, to_status, epoch, actor) SELECT id, $11, status, epoch, $12 FROM born ORDER BY id)
SELECT count(*) AS n FROM born

-- name: misread (chain, contract, hashes, logs, first tokens, quantities)
-- Tokens that a log was said to have minted, and that it does not name: a node spoilt it the first time.
SELECT t.id, t.status, t.generation_error AS error
FROM unnest($3::bytea[], $4::integer[], $5::text[]::numeric[], $6::integer[]) AS v(hash, log, first, quantity)
JOIN chain_event e ON e.chain_id = $1 AND e.block_hash = v.hash AND e.log_index = v.log AND e.kind <> 'undecodable'
JOIN tokens_s0 t ON t.chain_id = $1 AND t.contract_address = $2 AND t.token_id BETWEEN e.first_token_id AND e.first_token_id + e.quantity - 1
  AND t.mint_block_hash = e.block_hash AND t.mint_log = e.log_index
WHERE t.status <> 'orphaned' AND NOT t.token_id BETWEEN v.first AND v.first + v.quantity - 1
ORDER BY t.id FOR UPDATE OF t

-- name: unminted (chain, contract, token ids)
-- Of those that are named: no log on the chain tells of the mint they have.
SELECT id, status, generation_error AS error FROM tokens_s0 t
WHERE chain_id = $1 AND contract_address = $2 AND token_id = ANY ($3::text[]::numeric[]) AND status <> 'orphaned' AND NOT EXISTS (
  SELECT FROM chain_event e WHERE e.chain_id = t.chain_id AND e.block_hash = t.mint_block_hash AND e.log_index = t.mint_log
    AND e.orphaned_at IS NULL AND t.token_id BETWEEN e.first_token_id AND e.first_token_id + e.quantity - 1)
ORDER BY id FOR UPDATE

-- name: lock_tokens (chain, contract, first tokens, quantities)
-- Before they are read: a worker that settles one in between would leave it in a status nobody expects.
SELECT t.id FROM unnest($3::text[]::numeric[], $4::integer[]) AS v(first, quantity)
CROSS JOIN LATERAL generate_series(0, v.quantity - 1) AS n
JOIN tokens_s0 t ON t.chain_id = $1 AND t.contract_address = $2 AND t.token_id = v.first + n
ORDER BY t.id FOR UPDATE OF t

-- name: minted_before (chain, contract, numbers, hashes, logs, transactions, first tokens, quantities, minters, authors)
-- Tokens that are there with another mint. The last one counts, if it comes after the one we know, or if that one left the chain; and
-- one of the same transaction that knows more than a transfer, or knows it better.
SELECT DISTINCT ON (t.id) t.id, t.status, t.generation_error AS error, t.author_id = a.author_id AS is_same, a.author_id, v.number, v.hash, v.log, v.tx, v.minter,
  num_nulls(t.image_url, t.image_key) = 0 AS is_drawn, num_nulls(t.image_cid, t.metadata_cid) = 0 AS is_pinned,
  t.status = 'orphaned' AND 'review' = (
    SELECT from_status FROM events WHERE item_id = t.id AND to_status = 'orphaned' ORDER BY event_id DESC LIMIT 1) AS was_in_review
FROM {minted}
JOIN tokens_s0 t ON t.chain_id = $1 AND t.contract_address = $2 AND t.token_id = v.first + n
LEFT JOIN chain_event e ON e.chain_id = $1 AND e.block_hash = t.mint_block_hash AND e.log_index = t.mint_log
WHERE t.status = 'orphaned' OR e.block_hash IS NULL OR e.orphaned_at IS NOT NULL OR (v.number, v.log) > (t.mint_block, t.mint_log)
  OR (v.hash, v.log) = (t.mint_block_hash, t.mint_log) AND t.author_id <> a.author_id
  OR (v.hash, v.tx) = (t.mint_block_hash, t.mint_tx) AND v.log <> t.mint_log AND e.kind = 'transfer'
ORDER BY t.id, v.number DESC, v.log DESC

-- name: attach (ids, numbers, hashes, logs, transactions, minters)
UPDATE tokens_s0 t SET mint_block = v.number, mint_block_hash = v.hash, mint_log = v.log, mint_tx = v.tx, minter = v.minter
FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::integer[], $5::bytea[], $6::text[]) AS v(id, number, hash, log, tx, minter)
WHERE t.id = v.id

-- name: archive (ids, actor)
INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor, data)
SELECT t.id, t.workflow, t.status, t.status, t.epoch, $2, jsonb_build_object('archived', jsonb_strip_nulls(jsonb_build_object(
  'author', a.wallet_address, 'prompt', t.prompt, 'prompt_source', t.prompt_source, 'image_url', t.image_url, 'image_key', t.image_key,
  'image_sha256', encode(t.image_sha256, 'hex'), 'image_cid', t.image_cid, 'metadata_cid', t.metadata_cid)))
FROM tokens_s0 t JOIN authors a USING (author_id) WHERE t.id = ANY ($1::bigint[])

-- name: give_up (ids)
-- Whoever took the order for the old picture is not asked again: it may have been paid, and stays so in the ledger.
UPDATE attempts SET outcome = 'unknown', finished_at = now(), error = 'The token was mined again, for another author'
WHERE item_id = ANY ($1::bigint[]) AND outcome = 'open'

-- name: hand_over (ids, authors)
UPDATE tokens_s0 t SET author_id = v.author, prompt = a.prompt_text
FROM unnest($1::bigint[], $2::integer[]) AS v(id, author) JOIN authors a ON a.author_id = v.author WHERE t.id = v.id

-- name: left_behind (chain, contract, first block, last block)
-- Tokens whose mint left the chain and did not come back.
SELECT t.id, t.status, t.generation_error AS error FROM chain_event e
JOIN tokens_s0 t ON t.chain_id = e.chain_id AND t.contract_address = e.contract_address
  AND t.token_id BETWEEN e.first_token_id AND e.first_token_id + e.quantity - 1
  AND t.mint_block_hash = e.block_hash AND t.mint_log = e.log_index
WHERE e.chain_id = $1 AND e.contract_address = $2 AND e.orphaned_at IS NOT NULL AND e.block_number BETWEEN $3 AND $4
  AND e.kind <> 'undecodable' AND t.status <> 'orphaned'
ORDER BY t.id FOR UPDATE OF t

-- name: still_minted (chain, contract, ids)
-- Of those: the last mint on the chain as it is. An id may have been burned and minted again.
SELECT DISTINCT ON (t.id) e.block_number, e.block_hash, e.log_index, e.tx_hash, t.token_id::text, 1 AS quantity, e.minter, e.author
FROM tokens_s0 t JOIN chain_event e ON e.chain_id = $1 AND e.contract_address = $2 AND e.orphaned_at IS NULL AND e.kind <> 'undecodable'
  AND t.token_id BETWEEN e.first_token_id AND e.first_token_id + e.quantity - 1
WHERE t.id = ANY ($3::bigint[])
ORDER BY t.id, e.block_number DESC, e.log_index DESC

-- name: known_mints (chain, contract, above)
SELECT kind, block_number, block_hash, tx_hash, log_index, first_token_id::text AS first_token_id, quantity, minter, author
FROM chain_event
WHERE chain_id = $1 AND contract_address = $2 AND block_number > $3 AND orphaned_at IS NULL AND kind <> 'undecodable'

-- name: leave (chain, contract, above)
-- The blocks above were replaced.
WITH gone AS (
  UPDATE chain_event SET orphaned_at = now() WHERE chain_id = $1 AND contract_address = $2 AND block_number > $3 AND orphaned_at IS NULL
  RETURNING COALESCE(quantity, 0) AS quantity)
SELECT COALESCE(sum(quantity), 0)::bigint AS tokens FROM gone

-- name: leave_all_but (chain, contract, first block, last block, hashes, first tokens, quantities)
-- Of these blocks the chain has just the mints that are named.
UPDATE chain_event e SET orphaned_at = now()
WHERE chain_id = $1 AND contract_address = $2 AND block_number BETWEEN $3 AND $4 AND orphaned_at IS NULL AND kind <> 'undecodable'
  AND NOT EXISTS (
    SELECT FROM unnest($5::bytea[], $6::text[]::numeric[], $7::integer[]) AS v(hash, first, quantity)
    WHERE v.hash = e.block_hash AND e.first_token_id >= v.first AND e.first_token_id + e.quantity <= v.first + v.quantity)

-- name: blocks_below (chain, contract, block)
-- The next ones whose hash we know.
SELECT DISTINCT block_number, block_hash FROM chain_event
WHERE chain_id = $1 AND contract_address = $2 AND block_number < $3 AND orphaned_at IS NULL
ORDER BY block_number DESC LIMIT 20

-- name: held (chain, contract, first block, last block, first tokens, quantities)
-- Tokens that were minted in these blocks, as far as we know, and those that are named, wherever they were minted.
SELECT t.token_id::text, t.mint_block AS number, t.mint_block_hash AS hash, t.mint_log AS log, a.wallet_address AS author
FROM tokens_s0 t JOIN authors a USING (author_id)
WHERE chain_id = $1 AND contract_address = $2 AND status <> 'orphaned' AND mint_block IS NOT NULL AND (mint_block BETWEEN $3 AND $4
  OR token_id IN (SELECT first + n FROM unnest($5::text[]::numeric[], $6::integer[]) AS v(first, quantity), generate_series(0, quantity - 1) AS n))

-- part: counted ()
FROM tokens_s0 WHERE chain_id = $1 AND contract_address = $2 AND status <> 'orphaned' AND mint_block <= $3

-- name: count_tokens (chain, contract, confirmed, next token)
-- How many, and how many of them the contract has not minted.
SELECT count(*) AS n, count(*) FILTER (WHERE token_id >= $4::text::numeric) AS beyond {counted}

-- name: gaps (chain, contract, confirmed, first token, next token, first block)
-- Between which ids none is there, and in which blocks their neighbours were minted.
WITH ids AS (
  SELECT token_id, mint_block {counted} AND token_id >= $4::text::numeric AND token_id < $5::text::numeric
  UNION ALL SELECT $4::text::numeric - 1, $6::bigint
  UNION ALL SELECT $5::text::numeric, $3),
pairs AS (
  SELECT token_id, mint_block, lead(token_id) OVER by_id AS next_id, lead(mint_block) OVER by_id AS next_block
  FROM ids WINDOW by_id AS (ORDER BY token_id))
SELECT (token_id + 1)::text AS first, (next_id - 1)::text AS last, LEAST(mint_block, next_block) AS from_block,
  GREATEST(mint_block, next_block) AS to_block
FROM pairs WHERE next_id > token_id + 1 ORDER BY token_id LIMIT 1000
