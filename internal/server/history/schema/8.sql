-- Version 8: what rented machines cost, beside what was predicted.

ALTER TABLE runs ADD COLUMN cost_pred REAL; -- NULL: no machines were rented for it, or it was not predicted
ALTER TABLE runs ADD COLUMN cost      REAL; -- NULL: no machines were rented for it
