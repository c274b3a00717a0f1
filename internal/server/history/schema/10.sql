-- Version 10: how often nodes were slow, by host and hour of the day.

ALTER TABLE runs ADD COLUMN spells BLOB; -- predict.Spells as JSON; NULL: none
