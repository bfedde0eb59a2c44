-- Which rows a schedule runs: all, or only those that a selector names (D78).
alter table schedules add column only_rows text check (only_rows in ('unfinished', 'failed'));
