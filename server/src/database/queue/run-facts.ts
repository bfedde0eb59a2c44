/** The facts of a run that never change. All its flights share them. */
export type RunFacts = Readonly<{
  org_id: string
  run_id: string
  sheet_id: string
  revision: number
  actions: readonly string[]
  cache_enabled: boolean
  /**
   * Cached results from before this moment are not used. In milliseconds since 1970; never later than the start of the run
   * (D85).
   */
  fresh_since: number | null
  continue_on_fail: boolean
  /** The number of times that rows were sent on from sheet to sheet before this run. */
  hops: number
  /** The API key that started the run; null if nobody started it. */
  key_id: string | null
  trigger: string
  workflow_id: string
  /** The email of the person who started the run; if nobody did, of the workflow's owner. */
  member: string | null
  /** The version of the prices when the run was enqueued. */
  price_version: number
  /** The limit of the cap that the run shares with everything else that the same request started; null without a cap. */
  cap_purse_id: string | null
}>

/**
 * Selects the facts of the runs `r`. A run that nobody requested counts to the owner of the workflow, no matter who set it up
 * (M9).
 */
export const RUN_FACTS = `
select r.org_id, r.run_id, r.sheet_id, r.revision, r.actions, r.cache_enabled, r.continue_on_fail, r.hops, r.key_id,
  case when r.cache_since is not null
    then floor(date_part('epoch', least(r.cache_since at time zone 'UTC', r.created_at)) * 1000)::bigint end as fresh_since,
  r.price_version, r.cap_purse_id, s.workflow_id, r.trigger,
  coalesce(r.member, case when position('@' in r.created_by) > 0
      and (r.trigger not in ('schedule', 'webhook', 'source', 'segment') or w.owner_id is null) then r.created_by
    else (select email from members m where m.org_id = r.org_id and m.member_id = coalesce((select member_id from api_keys k
      where k.org_id = r.org_id and k.key_id = r.key_id), w.owner_id)) end) as member
from runs r
join sheets s on s.org_id = r.org_id and s.sheet_id = r.sheet_id
join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id`
