-- Version 3: what phases took of the resources of their nodes.

ALTER TABLE measures ADD COLUMN use BLOB; -- predict.PhaseUse; NULL: not measured
