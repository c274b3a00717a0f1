-- Version 6: how much memory tasks used.

ALTER TABLE measures ADD COLUMN memory BLOB; -- predict.MarshalMemory; NULL: none
