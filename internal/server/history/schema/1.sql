-- Version 1: runs and what was measured in them.

CREATE TABLE runs (
  id          TEXT PRIMARY KEY,  -- the job's id
  name        TEXT NOT NULL,
  kind        TEXT NOT NULL,     -- bag, mapreduce
  app         TEXT NOT NULL,     -- identity of the application
  node_type   TEXT NOT NULL,
  state       TEXT NOT NULL,     -- done, failed, cancelled
  started_ns  INTEGER NOT NULL,  -- since the Unix epoch
  ended_ns    INTEGER NOT NULL,
  tasks       INTEGER NOT NULL,  -- bag tasks or maps
  reduces     INTEGER NOT NULL,
  input_bytes INTEGER NOT NULL,
  nodes       INTEGER NOT NULL,
  cpus        INTEGER NOT NULL,  -- a node
  low_s       REAL,              -- predicted bounds; NULL: there was no prediction
  up_s        REAL,
  source      TEXT NOT NULL,     -- of the prediction
  actual_s    REAL NOT NULL
) STRICT;

CREATE INDEX runs_by_app ON runs (app, node_type, ended_ns);
CREATE INDEX runs_by_end ON runs (ended_ns);

CREATE TABLE measures (
  run         TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  part        TEXT NOT NULL,     -- phase:map, task:map, …
  samples     INTEGER NOT NULL,
  sum_s       REAL NOT NULL,
  sum_sq_s    REAL NOT NULL,     -- of squares
  min_s       REAL NOT NULL,
  max_s       REAL NOT NULL,
  bytes_in    INTEGER NOT NULL,  -- sums
  bytes_out   INTEGER NOT NULL,
  records_in  INTEGER NOT NULL,
  records_out INTEGER NOT NULL,
  cpu_s       REAL NOT NULL,     -- core-seconds, summed
  mem_sum     REAL NOT NULL,     -- bytes, peaks summed
  mem_max     INTEGER NOT NULL,
  in_sq       REAL NOT NULL,     -- sum of bytes_in²
  in_time     REAL NOT NULL,     -- sum of bytes_in × seconds
  histogram   BLOB NOT NULL,     -- of durations; predict.Histogram
  PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;
