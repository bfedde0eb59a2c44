/** What a run says once and for all: read once per process and run, not with every row. */
export const RUN_FACTS = `
select org_id, run_id, sheet_id, revision, actions, cache_enabled, cache_since, continue_on_fail, hops, key_id, price_version
from runs where org_id = $1 and run_id = $2`
