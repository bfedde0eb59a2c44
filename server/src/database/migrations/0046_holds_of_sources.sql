-- What pulls of sources hold is a share of theirs, so that budgets count it.
insert into purse_shares (org_id, purse_id, holder, lasting, granted_millis)
select org_id, org_id, 'source-' || instance_id, true, held_millis from sources where held_millis > 0;
