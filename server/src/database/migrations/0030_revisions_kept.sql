-- Revisions that nobody runs on any more are forgotten. Few runs are stopped, and rows of those may still be in the air.
create index runs_stopped on runs (org_id, sheet_id, revision) where state = 'stopped';
