-- Version 5: where an application's files are, to find it again after they were edited.

ALTER TABLE runs ADD COLUMN place TEXT NOT NULL DEFAULT ''; -- predict.Place
UPDATE runs SET place = app; -- until now an application was known by the paths of its files
CREATE INDEX runs_by_place ON runs (place, ended_ns);
