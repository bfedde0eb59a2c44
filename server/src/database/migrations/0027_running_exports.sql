-- How many exports an organisation has under way is counted each time it asks for another.
create index exports_running on exports (org_id) where status = 'running';
