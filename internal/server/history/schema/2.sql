-- Version 2: what was predicted of the whole way from submission to end, beside what came.

ALTER TABLE runs ADD COLUMN median_s        REAL;     -- predicted run time; NULL: there was no prediction
ALTER TABLE runs ADD COLUMN wait_pred_s     REAL;     -- predicted; NULL: there was no queue to look at
ALTER TABLE runs ADD COLUMN turnaround_pred_s REAL;   -- predicted; NULL: likewise, or no profile
ALTER TABLE runs ADD COLUMN wait_s          REAL;     -- from submission to the first attempt; NULL: none began, or not known
ALTER TABLE runs ADD COLUMN turnaround_s    REAL;     -- from submission to the end; NULL: not done, or not known
ALTER TABLE runs ADD COLUMN asked_nodes     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN asked_s         REAL NOT NULL DEFAULT 0;    -- wall time; 0: unlimited
ALTER TABLE runs ADD COLUMN allocs          INTEGER NOT NULL DEFAULT 0; -- allocations that it had
ALTER TABLE runs ADD COLUMN plans           INTEGER NOT NULL DEFAULT 0; -- plans that were made for it
