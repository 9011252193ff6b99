-- zwatch history, schema 2: a record that shows when it was changed.
--
-- Every session has a chain. A link is written in the same transaction as the row that it seals; a
-- row that changes (a connection that closes) gets another link, and the newest one counts.
--
--   row_hash  SHA-256 over the columns of the row that are not NULL, by name; programs by their path
--   link      SHA-256 over the link before it, session, n, event and row_hash
--
-- The link with the highest n is the head of the session. A column that a later schema adds must be
-- NULL in rows that are there already: then their hashes stay what they are.
CREATE TABLE links (
	session INTEGER NOT NULL,
	n INTEGER NOT NULL,
	event INTEGER NOT NULL,   -- id of the row; 0 = the session as it began, -1 = as it ended
	row_hash BLOB NOT NULL,
	link BLOB NOT NULL,
	PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

-- What was removed on purpose, so that it can be told from what was removed by stealth.
CREATE TABLE tombstones (
	id INTEGER PRIMARY KEY,
	t_us INTEGER NOT NULL,
	session INTEGER NOT NULL,
	event INTEGER,            -- NULL = the whole session
	n_events INTEGER NOT NULL,
	hash BLOB,                -- of a session its head, of an event its newest row_hash; NULL = had none
	why TEXT NOT NULL
) STRICT;
CREATE INDEX tombstones_of ON tombstones (session, event);

-- Words of the user on a session.
CREATE TABLE tags (
	session INTEGER NOT NULL,
	tag TEXT NOT NULL,
	PRIMARY KEY (session, tag)
) STRICT, WITHOUT ROWID;

-- Which event was the first of its kind in a project: what is new there, for marks and reviews.
-- Sockets made inside and names that were only looked up do not count.
CREATE TABLE seen (
	project TEXT NOT NULL,
	kind TEXT NOT NULL,       -- unix, net
	target TEXT NOT NULL,     -- path, or host:port
	event INTEGER NOT NULL,
	PRIMARY KEY (project, kind, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_event ON seen (event);

-- Rows that matter are few among those that do not: found without reading these.
CREATE INDEX socket_events_notable ON socket_events (id) WHERE did <> 'auto';
CREATE INDEX connections_notable ON connections (id) WHERE did NOT IN ('allow', 'auto');
