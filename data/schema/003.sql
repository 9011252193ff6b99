-- zwatch history, schema 3: a line of the user's own on a session.
--
-- Not part of the chain, like name and tags: it may be changed later.
CREATE TABLE notes (
	session INTEGER PRIMARY KEY,
	note TEXT NOT NULL
) STRICT;

-- Of new rows the writer keeps the sums itself, once a transaction: a trigger on each took a fifth of
-- the time. Rows that change, which are few, keep theirs.
DROP TRIGGER IF EXISTS socket_events_sum;
DROP TRIGGER IF EXISTS connections_sum;
