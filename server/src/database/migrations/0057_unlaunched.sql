-- What is left to launch of a run of all rows of a large sheet: {after, until, launched, base, weight, at}, null for all others. Rows
-- with a number after `after`, up to `until`, have no flight yet; `at` is when somebody last went on with it.
alter table runs add column unlaunched jsonb;
create index runs_unlaunched on runs (org_id, sheet_id) where unlaunched is not null;
