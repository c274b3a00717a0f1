-- Version 9: how far off the ends were that were expected of running tasks.

ALTER TABLE runs ADD COLUMN ends BLOB; -- predict.Ends as JSON; NULL: none
