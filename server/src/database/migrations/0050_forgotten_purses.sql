-- From a cap to the runs that draw on it, to tell whether anybody needs it any more.
create index runs_by_cap on runs (org_id, cap_purse_id) where cap_purse_id is not null;
