-- zwatch history, schema 1.
--
-- Before this file the writer has set, on the empty file: auto_vacuum INCREMENTAL, journal WAL; on
-- every connection: secure_delete ON, synchronous NORMAL. user_version is the number of the schema.
--
-- Times are UTC, microseconds since 1970. Words are those of src/base/words.def. One row per thing:
-- a connection is one row from its opening to its end, a storm of equal tries is one row with a
-- count. NULL is "not known". Paths and names are bytes as the kernel gave them; argv is masked, with
-- a NUL between arguments; chain is "PID NAME" from the agent down to the parent, NUL between.
--
-- An event's id is session * 2^32 + its number in the session, so that one b-tree keeps the rows of
-- a session together and in order. The number is given when the event becomes known and is what
-- users see. Rows in the tables of events never change their id.

CREATE TABLE meta (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
	id INTEGER PRIMARY KEY AUTOINCREMENT, -- a number is never given twice
	started_us INTEGER NOT NULL,
	ended_us INTEGER,                     -- NULL while it runs
	agent TEXT,
	name TEXT,
	argv BLOB,
	cwd TEXT,
	project TEXT,
	mode TEXT,
	level INTEGER,                        -- of the sandbox
	version TEXT,                         -- of zwatch
	uid INTEGER,
	is_private INTEGER NOT NULL DEFAULT 0,
	exit_status INTEGER,
	how TEXT,                             -- exited, stopped, crashed, ...
	n_lost INTEGER NOT NULL DEFAULT 0,    -- events that could not be kept
	-- which process of zwatch it is, to tell a running session from a crashed one
	zw_pid INTEGER,
	zw_start INTEGER,                     -- clock ticks after boot
	zw_pid_ns INTEGER,
	zw_boot TEXT
) STRICT;
CREATE INDEX sessions_running ON sessions (id) WHERE ended_us IS NULL;

-- Sums of a session, kept by the triggers below, so that a list of sessions reads no event. Tries
-- count in full; up and down are bytes. A table of its own: its rows are small and change often.
CREATE TABLE sums (
	session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
	n_events INTEGER NOT NULL DEFAULT 0,
	n_allow INTEGER NOT NULL DEFAULT 0,
	n_deny INTEGER NOT NULL DEFAULT 0,
	n_auto INTEGER NOT NULL DEFAULT 0,
	n_miss INTEGER NOT NULL DEFAULT 0,
	n_gone INTEGER NOT NULL DEFAULT 0,
	n_fail INTEGER NOT NULL DEFAULT 0,
	n_ask INTEGER NOT NULL DEFAULT 0,
	n_new INTEGER,
	up_b INTEGER NOT NULL DEFAULT 0,
	down_b INTEGER NOT NULL DEFAULT 0,
	last_us INTEGER NOT NULL
) STRICT;

CREATE TABLE programs (
	id INTEGER PRIMARY KEY,
	exe TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE socket_events (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	source INTEGER NOT NULL,  -- which helper's count seq is
	seq INTEGER NOT NULL,
	t_us INTEGER NOT NULL,
	closed_us INTEGER,
	did TEXT NOT NULL,
	op TEXT NOT NULL,
	target TEXT,
	asked TEXT,
	class TEXT,
	risk TEXT,
	listener_uid INTEGER,
	listener_pid INTEGER,
	listener_exe TEXT,
	by TEXT,
	rule INTEGER,
	reason TEXT,
	note TEXT,
	waited_ms INTEGER NOT NULL DEFAULT 0,
	n_times INTEGER NOT NULL DEFAULT 1,
	up_b INTEGER NOT NULL DEFAULT 0,
	down_b INTEGER NOT NULL DEFAULT 0,
	pid INTEGER,
	program INTEGER REFERENCES programs (id),
	argv BLOB,
	cwd TEXT,
	chain BLOB,
	UNIQUE (session, source, seq)
) STRICT;

CREATE TABLE connections (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	source INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	t_us INTEGER NOT NULL,
	closed_us INTEGER,
	did TEXT NOT NULL,
	via TEXT NOT NULL,
	host TEXT,
	port INTEGER,
	address TEXT,
	by TEXT,
	rule INTEGER,
	reason TEXT,
	note TEXT,
	waited_ms INTEGER NOT NULL DEFAULT 0,
	n_times INTEGER NOT NULL DEFAULT 1,
	up_b INTEGER NOT NULL DEFAULT 0,
	down_b INTEGER NOT NULL DEFAULT 0,
	end TEXT,                 -- how it ended
	pid INTEGER,
	program INTEGER REFERENCES programs (id),
	argv BLOB,
	cwd TEXT,
	chain BLOB,
	UNIQUE (session, source, seq)
) STRICT;

-- A question and one way it ended. One that was missed and answered later has two rows.
CREATE TABLE questions (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	question INTEGER NOT NULL,
	t_us INTEGER NOT NULL,
	about TEXT NOT NULL,      -- net or unix
	risk TEXT,
	class TEXT,
	target TEXT,
	did TEXT NOT NULL,
	scope TEXT,
	by TEXT,
	waited_ms INTEGER NOT NULL DEFAULT 0,
	shown_ms INTEGER NOT NULL DEFAULT 0,
	key TEXT,                 -- the keys that answered
	shown TEXT,               -- the text that was on screen
	n_waiting INTEGER NOT NULL DEFAULT 1,
	pid INTEGER,
	program INTEGER REFERENCES programs (id)
) STRICT;
CREATE INDEX questions_of ON questions (session, question);

-- Modes, notes of the terminal, deaths of helpers, troubles of the store.
CREATE TABLE misc (
	id INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	t_us INTEGER NOT NULL,
	kind TEXT NOT NULL,
	text TEXT
) STRICT;

-- Private sessions keep sums and no events. What is still open is counted here, without a name, a
-- time or a number, and goes when it ends; the sums stay.
CREATE TABLE tallies (
	session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	source INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	did TEXT NOT NULL,
	n_times INTEGER NOT NULL,
	up_b INTEGER NOT NULL,
	down_b INTEGER NOT NULL,
	PRIMARY KEY (session, source, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER socket_events_sum AFTER INSERT ON socket_events BEGIN
	UPDATE sums SET
		n_events = n_events + 1,
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0),
		up_b = up_b + new.up_b,
		down_b = down_b + new.down_b,
		last_us = max(last_us, new.t_us)
	WHERE session = new.session;
END;

CREATE TRIGGER socket_events_resum AFTER UPDATE ON socket_events BEGIN
	UPDATE sums SET
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0) - iif(old.did = 'allow', old.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0) - iif(old.did = 'deny', old.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0) - iif(old.did = 'auto', old.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0) - iif(old.did = 'miss', old.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0) - iif(old.did = 'gone', old.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0) - iif(old.did = 'fail', old.n_times, 0),
		up_b = up_b + new.up_b - old.up_b,
		down_b = down_b + new.down_b - old.down_b,
		last_us = max(last_us, ifnull(new.closed_us, new.t_us))
	WHERE session = new.session;
END;

CREATE TRIGGER connections_sum AFTER INSERT ON connections BEGIN
	UPDATE sums SET
		n_events = n_events + 1,
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0),
		up_b = up_b + new.up_b,
		down_b = down_b + new.down_b,
		last_us = max(last_us, new.t_us)
	WHERE session = new.session;
END;

CREATE TRIGGER connections_resum AFTER UPDATE ON connections BEGIN
	UPDATE sums SET
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0) - iif(old.did = 'allow', old.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0) - iif(old.did = 'deny', old.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0) - iif(old.did = 'auto', old.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0) - iif(old.did = 'miss', old.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0) - iif(old.did = 'gone', old.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0) - iif(old.did = 'fail', old.n_times, 0),
		up_b = up_b + new.up_b - old.up_b,
		down_b = down_b + new.down_b - old.down_b,
		last_us = max(last_us, ifnull(new.closed_us, new.t_us))
	WHERE session = new.session;
END;

CREATE TRIGGER tallies_sum AFTER INSERT ON tallies BEGIN
	UPDATE sums SET
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0),
		up_b = up_b + new.up_b,
		down_b = down_b + new.down_b
	WHERE session = new.session;
END;

CREATE TRIGGER tallies_resum AFTER UPDATE ON tallies BEGIN
	UPDATE sums SET
		n_allow = n_allow + iif(new.did = 'allow', new.n_times, 0) - iif(old.did = 'allow', old.n_times, 0),
		n_deny = n_deny + iif(new.did = 'deny', new.n_times, 0) - iif(old.did = 'deny', old.n_times, 0),
		n_auto = n_auto + iif(new.did = 'auto', new.n_times, 0) - iif(old.did = 'auto', old.n_times, 0),
		n_miss = n_miss + iif(new.did = 'miss', new.n_times, 0) - iif(old.did = 'miss', old.n_times, 0),
		n_gone = n_gone + iif(new.did = 'gone', new.n_times, 0) - iif(old.did = 'gone', old.n_times, 0),
		n_fail = n_fail + iif(new.did = 'fail', new.n_times, 0) - iif(old.did = 'fail', old.n_times, 0),
		up_b = up_b + new.up_b - old.up_b,
		down_b = down_b + new.down_b - old.down_b
	WHERE session = new.session;
END;

CREATE TRIGGER questions_sum AFTER INSERT ON questions BEGIN
	UPDATE sums SET
		n_events = n_events + 1,
		n_ask = n_ask + NOT EXISTS (SELECT 1 FROM questions
			WHERE session = new.session AND question = new.question AND id <> new.id),
		last_us = max(last_us, new.t_us)
	WHERE session = new.session;
END;

CREATE TRIGGER misc_sum AFTER INSERT ON misc BEGIN
	UPDATE sums SET n_events = n_events + 1, last_us = max(last_us, new.t_us)
	WHERE session = new.session;
END;

-- Every event of every kind in one shape, for readers and for the sqlite3 shell:
--   SELECT no, kind, did, target FROM events WHERE session = 42 ORDER BY id;
CREATE VIEW events AS
	SELECT e.id, 0 AS tbl, e.session, e.id & 0xffffffff AS no, t_us, closed_us, 'unix' AS kind, did, op,
		target, asked, NULL AS port, NULL AS address, class, risk, listener_uid, listener_pid,
		listener_exe, by, rule, reason, note, waited_ms, n_times, up_b, down_b, NULL AS end, pid,
		(SELECT exe FROM programs WHERE programs.id = e.program) AS exe, argv, cwd, chain, NULL AS scope,
		NULL AS key, 0 AS shown_ms, NULL AS question, NULL AS text
	FROM socket_events AS e
	UNION ALL
	SELECT e.id, 1, e.session, e.id & 0xffffffff, t_us, closed_us, iif(via = 'dns', 'dns', 'net'), did, via,
		host, NULL, port, address, NULL, NULL, NULL, NULL, NULL, by, rule, reason, note, waited_ms, n_times,
		up_b, down_b, end, pid, (SELECT exe FROM programs WHERE programs.id = e.program), argv, cwd, chain,
		NULL, NULL, 0, NULL, NULL
	FROM connections AS e
	UNION ALL
	SELECT e.id, 2, e.session, e.id & 0xffffffff, t_us, NULL, 'question', did, about, target, NULL, NULL,
		NULL, class, risk, NULL, NULL, NULL, by, NULL, NULL, NULL, waited_ms, n_waiting, 0, 0, NULL, pid,
		(SELECT exe FROM programs WHERE programs.id = e.program), NULL, NULL, NULL, scope, key, shown_ms,
		question, shown
	FROM questions AS e
	UNION ALL
	SELECT e.id, 3, e.session, e.id & 0xffffffff, t_us, NULL, kind, NULL, NULL, NULL, NULL, NULL, NULL,
		NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 0, 0, NULL, NULL, NULL, NULL, NULL,
		NULL, NULL, NULL, 0, NULL, text
	FROM misc AS e;
