-- The state of a run as it is now, also for a statement that has waited for a lock since it began: a volatile function looks anew.
create function loam_run_state(org uuid, run uuid) returns text language sql volatile
  as $$ select state from runs where org_id = $1 and run_id = $2 $$;
