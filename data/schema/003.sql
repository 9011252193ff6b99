-- zwatch history, schema 3: a line of the user's own on a session.
--
-- Not part of the chain, like name and tags: it may be changed later.
CREATE TABLE notes (
	session INTEGER PRIMARY KEY,
	note TEXT NOT NULL
) STRICT;
