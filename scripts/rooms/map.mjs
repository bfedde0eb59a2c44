// Where each file goes when the source is sorted into rooms by subject. `apply.mjs` moves them in one commit and rewrites imports and
// mentions; `check.mjs` shows collisions, `layers.mjs` imports that would go upward in `order.mjs`. Afterwards `import-rules.txt` replaces
// the table of test/guards/import-rules.test.ts and `rooms.txt` the folders of ARCHITECTURE.md, and this folder is deleted.
// Old path -> new path. Rules: [pattern, replacement]; the first that matches counts.
const S = '^server/src/'
const names = (list) => `(${list.trim().split(/\s+/).join('|')})`
const T = '((?:\\.test)?\\.ts)$'
export const RULES = [
  // process
  [`${S}(server|work|workspace|running-server)${T}`, 'server/src/process/$1$2'],
  [`${S}main\\.ts$`, 'server/src/main.ts'],
  // database
  [`${S}store/connection/tables/`, 'server/src/database/tables/'],
  [`${S}store/sheets/${names('sheet-key selection')}${T}`, 'server/src/database/tables/$1$2'],
  [`${S}store/sheets/row-locks${T}`, 'server/src/database/connection/row-locks$1'],
  [`${S}store/runs/run-facts${T}`, 'server/src/database/queue/run-facts$1'],
  [`${S}store/connection/`, 'server/src/database/connection/'],
  [`${S}store/embedded/`, 'server/src/database/embedded/'],
  [`${S}store/embedded((?:\\.test)?\\.ts)$`, 'server/src/database/embedded/embedded$1'],
  [`${S}store/testing/`, 'server/src/database/testing/'],
  [`${S}store/migrations/`, 'server/src/database/migrations/'],
  [`${S}store/queue/`, 'server/src/database/queue/'],
  [`${S}store/backup/`, 'server/src/database/backup/sql/'],
  [`${S}backup/`, 'server/src/database/backup/'],
  // catalog
  [`${S}chain/`, 'server/src/catalog/chain/'],
  // money
  [`${S}store/purses/`, 'server/src/money/store/purses/'],
  [
    `${S}store/organisation/${names('budget-messages budgets credits ledger price-versions usage provider-tallies')}${T}`,
    'server/src/money/store/$1$2',
  ],
  [`${S}org/${names('budget-alerts budgets prices usage')}${T}`, 'server/src/money/$1$2'],
  [`${S}estimates/`, 'server/src/money/estimates/'],
  [`${S}runs/caps${T}`, 'server/src/money/caps$1'],
  [`${S}api/routes/credits/`, 'server/src/money/routes/'],
  // sheets
  [`${S}store/sheets/`, 'server/src/sheets/store/'],
  [`${S}rows/`, 'server/src/sheets/rows/'],
  [
    `${S}org/${names('action-layout action-outputs actions chain-edit configuration-environment definition-restores inputs sheets target-sheets workflow-copies workflows')}${T}`,
    'server/src/sheets/$1$2',
  ],
  [`${S}api/routes/workflows/`, 'server/src/sheets/routes/workflows/'],
  [`${S}api/routes/actions/`, 'server/src/sheets/routes/actions/'],
  [`${S}api/routes/rows/`, 'server/src/sheets/routes/rows/'],
  [
    `${S}api/internal/${names('definition-restores sheet-layouts sheet-views workflow-list workflow-settings row-edits row-search')}${T}`,
    'server/src/sheets/routes/screens/$1$2',
  ],
  // runs
  [`${S}store/runs/`, 'server/src/runs/store/'],
  [`${S}store/webhooks/`, 'server/src/runs/webhooks/store/'],
  [`${S}runs/${names('webhook-intake webhook-sweep')}${T}`, 'server/src/runs/webhooks/$1$2'],
  [`${S}org/webhooks${T}`, 'server/src/runs/webhooks/webhooks$1'],
  [`${S}org/${names('schedules run-environment lane-sweep')}${T}`, 'server/src/runs/$1$2'],
  [`${S}engine/`, 'server/src/runs/engine/'],
  [`${S}api/routes/runs/dry-runs${T}`, 'server/src/money/routes/dry-runs$1'],
  [`${S}api/routes/runs/`, 'server/src/runs/routes/'],
  [`${S}api/routes/webhooks/`, 'server/src/runs/webhooks/routes/'],
  [`${S}api/internal/run-failures${T}`, 'server/src/runs/routes/run-failures$1'],
  // files
  [`${S}store/files/`, 'server/src/files/store/'],
  [`${S}org/exports${T}`, 'server/src/files/exports/start-export$1'],
  [`${S}api/routes/files/`, 'server/src/files/routes/'],
  [`${S}api/internal/${names('file-previews import-rejects')}${T}`, 'server/src/files/routes/$1$2'],
  // sources
  [`${S}store/sources/`, 'server/src/sources/store/'],
  [
    `${S}source-pulls/${names('inbox-job inbox-outcome inbox reception visitor-sweep visitors')}${T}`,
    'server/src/sources/pulls/inbox/$1$2',
  ],
  [`${S}source-pulls/`, 'server/src/sources/pulls/'],
  [`${S}api/routes/sources/`, 'server/src/sources/routes/'],
  [`${S}api/internal/source-types${T}`, 'server/src/sources/routes/source-types$1'],
  [`${S}sources/definitions/`, 'server/src/sources/definitions/'],
  [
    `${S}sources/${names('airtable attio boards companies files fireflies google-sheets http hubspot intent linkedin notion people pipedrive places postgres s3 sales-navigator salesforce slack snowflake theirstack typeform visitors website x')}/`,
    'server/src/sources/systems/$1/',
  ],
  // records
  [`${S}store/records/`, 'server/src/records/store/'],
  [`${S}store/segments/`, 'server/src/records/segments/store/'],
  [`${S}store/segment-syncs/`, 'server/src/records/syncs/store/'],
  [`${S}segments/`, 'server/src/records/segments/'],
  [`${S}segment-syncs/`, 'server/src/records/syncs/'],
  [`${S}api/routes/records/`, 'server/src/records/routes/'],
  [`${S}api/internal/records${T}`, 'server/src/records/routes/screens/records$1'],
  [`${S}api/internal/segments${T}`, 'server/src/records/routes/screens/segments$1'],
  // shortcuts, agent
  [`${S}store/shortcuts/`, 'server/src/shortcuts/store/'],
  [`${S}api/routes/shortcuts/`, 'server/src/shortcuts/routes/'],
  [
    `${S}api/internal/${names('shortcut-versions shortcuts')}${T}`,
    'server/src/shortcuts/routes/screens/$1$2',
  ],
  [`${S}store/agent/`, 'server/src/agent/store/'],
  [`${S}api/routes/agent/`, 'server/src/agent/routes/'],
  // organisation
  [`${S}store/organisation/`, 'server/src/organisation/store/'],
  [`${S}org/`, 'server/src/organisation/'],
  [`${S}api/routes/organisation/`, 'server/src/organisation/routes/'],
  [
    `${S}api/internal/${names('connections environment invitations keys members organisation sessions settings sign-in-choices sign-in sign-in-mail')}${T}`,
    'server/src/organisation/routes/screens/$1$2',
  ],
  // api
  [
    `${S}api/http/${names('early-refusal overload request-owners request-turns address-limit foresight')}${T}`,
    'server/src/api/load/$1$2',
  ],
  [`${S}api/internal/`, 'server/src/api/screens/'],
  [`${S}api/routes/`, 'server/src/api/'],
  // tests and benches
  [
    `^test/${names('decisions dependencies docs-commands docs fetchers import-rules start outside-calls plural-texts')}\\.test\\.ts$`,
    'test/guards/$1.test.ts',
  ],
  [
    `^test/${names('imports leak-guard outside-guard outside-calls ssrf-addresses ssrf-urls')}\\.ts$`,
    'test/guards/$1.ts',
  ],
  [`^test/${names('copied-cells time-zones')}\\.test\\.ts$`, 'test/dashboard/$1.test.ts'],
  [
    `^test/${names('transaction-pooler loopback-identity loopback-server mail-server name-answers name-server oidc-provider.d openid-provider provider')}\\.ts$`,
    'test/doubles/$1.ts',
  ],
  [
    `^test/${names('catalogue large-file large-sheet organisation-records rows sheets seeded-random waterfall-model')}\\.ts$`,
    'test/builders/$1.ts',
  ],
  [`^test/([^/]+)\\.ts$`, 'test/plumbing/$1.ts'],
  [
    `^test/faults/${names('load floods feed-floods fleet caller-thread health-watch process-use')}\\.ts$`,
    'test/faults/load/$1.ts',
  ],
  [
    `^test/faults/${names('interruptions kills skewed-clock small-disk bad-provider crm-server outside fuzz-world generated-values described-answers worst-pages worst-shapes')}\\.ts$`,
    'test/faults/breaks/$1.ts',
  ],
  [`^test/faults/thread-watch\\.mjs$`, 'test/faults/load/thread-watch.mjs'],
  [`^test/faults/${names('acknowledged-rows money-books installation')}\\.ts$`, 'test/faults/checks/$1.ts'],
  [`^bench/engine-`, 'bench/engine/engine-'],
  [`^bench/grid-`, 'bench/grid/grid-'],
  [`^bench/${names('bare-insert bare-reads bare-webhooks')}\\.ts$`, 'bench/peers/$1.ts'],
  [
    `^bench/${names('company-row cpu-time in-turns outside-server process-metrics provider-server report server-group')}\\.ts$`,
    'bench/parts/$1.ts',
  ],
]
const compiled = RULES.map(([a, b]) => [new RegExp(a), b])
export function mapPath(path) {
  for (const [pattern, replacement] of compiled)
    if (pattern.test(path)) return path.replace(pattern, replacement)
  return path
}
