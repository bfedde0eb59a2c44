-- Runs that were stopped a moment ago: a cell that was parked meanwhile is looked for every second.
create index runs_stopped_lately on runs (finished_at) where state = 'stopped';
