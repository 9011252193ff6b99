-- zwatch history, schema 4: rare values are found without reading every row.
--
-- Where a host, a socket or a program occurs, by blocks of 16384 numbers: one row for a value in a
-- block, however often it stands there. An index over all rows would cost each of them an entry.
-- Sessions that were begun before this schema have none: meta places_from is the first that has.
CREATE TABLE IF NOT EXISTS places (
	kind INTEGER NOT NULL,    -- 0 host of a connection, 1 path of a socket, 2 program
	value TEXT NOT NULL,      -- in small letters (ASCII); of a program its number in programs
	block INTEGER NOT NULL,   -- id >> 14
	PRIMARY KEY (kind, value, block)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO meta SELECT 'places_from', ifnull(max(id), 0) + 1 FROM sessions;
