/**
 * What a run says once and for all: read once per process and run, not with every row. Runs that nobody asks for count to the owner
 * of the workflow, whoever set them up (M9).
 */
export const RUN_FACTS = `
select r.org_id, r.run_id, r.sheet_id, r.revision, r.actions, r.cache_enabled, r.cache_since, r.continue_on_fail, r.hops, r.key_id,
  r.price_version, r.cap_purse_id, s.workflow_id, r.trigger,
  coalesce(r.member, case when position('@' in r.created_by) > 0
      and (r.trigger not in ('schedule', 'webhook', 'source', 'segment') or w.owner_id is null) then r.created_by
    else (select email from members m where m.org_id = r.org_id and m.member_id = coalesce((select member_id from api_keys k
      where k.org_id = r.org_id and k.key_id = r.key_id), w.owner_id)) end) as member
from runs r
join sheets s on s.org_id = r.org_id and s.sheet_id = r.sheet_id
join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
where r.org_id = $1 and r.run_id = $2`
