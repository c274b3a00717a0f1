-- Version 7: between which times the history of a queue predicted the start of a run.

ALTER TABLE runs ADD COLUMN wait_low_s REAL; -- NULL: the limits of jobs predicted it, so that no sooner start was wrong
ALTER TABLE runs ADD COLUMN wait_high_s REAL;
