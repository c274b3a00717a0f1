-- Version 4: how attempts came on.

ALTER TABLE measures ADD COLUMN curves BLOB; -- list of job.Curve as JSON; NULL: none
