// R4: two processes both start due work, one with a clock that is far ahead, one with a clock that is far
// behind. Schedules, pulls of sources, cycles of segment syncs and delayed rows must use the clock of the
// database: nothing may start twice, too early or never.
// npm run faults:r4 [-- --rounds 20 --sheets 10 --members 500 --skew-hours 9600]
import { parseArgs } from 'node:util'
import { timeOfId } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { setSchedule } from '#server/runs/schedules.ts'
import { queuePull } from '#server/sources/pulls/jobs.ts'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The number of times that everything becomes due. */
    rounds: { type: 'string', default: '20' },
    sheets: { type: 'string', default: '10' },
    members: { type: 'string', default: '500' },
    'skew-hours': { type: 'string', default: '9600' },
  },
})
const ROUNDS = Number(values.rounds)
const SHEETS = Number(values.sheets)
const MEMBERS = Number(values.members)
const SKEW_MS = Number(values['skew-hours']) * 3_600_000
const ROWS = 3
const ITEMS = 20
const PAIRS = 10
const REST_SECONDS = 3
const PATIENCE_SECONDS = 300
/** A schedule that starts by itself only once a year, so that all other starts are caused by this program. */
const YEARLY = '0 0 1 1 *'

const called = await serveProvider(5)
const listed = await serveProvider(0, {
  items: Array.from({ length: ITEMS }, (_, n) => ({ id: n, name: `Item ${n}` })),
})
const installation = await openInstallation()
const { store } = installation
const preload = new URL('breaks/skewed-clock.ts', import.meta.url).href
const startSkewed = (skewMs: number) =>
  installation.startServer({
    NODE_OPTIONS: `--import ${preload}`,
    FAULT_CLOCK_SKEW_MS: String(skewMs),
    LOAM_SEGMENT_CYCLE_SECONDS: '1',
    LOAM_SEGMENT_FLOOD_MEMBERS: '1000000000',
  })
const count = async (text: string, given: unknown[] = []): Promise<number> => {
  const [found] = await store.query<{ count: number }>({ text, values: given })
  return found?.count ?? 0
}

try {
  const { orgId, key } = await installation.makeOrg('Clocks')
  const db = store.org(orgId)
  const [ahead, behind] = [await startSkewed(SKEW_MS), await startSkewed(-SKEW_MS)]
  const calls = [callOver(ahead.url, key), callOver(behind.url, key)] as const
  const [call] = calls

  const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: called.url } }
  const made: Date[] = []
  for (let n = 0; n < SHEETS; n += 1) {
    const sheet = await makeSheet(calls[n % 2] ?? call, ['name'], [step])
    await addRows(call, sheet, ROWS)
    made.push(timeOfId(sheet.slice(-36)))
    await setSchedule(db, OPERATOR, { org_id: orgId, sheet_id: sheet.slice(-36) }, { cron: YEARLY })
  }
  const apart = Math.abs(Number(made[0]) - Number(made[1]))
  check('both have clocks of their own', apart > SKEW_MS, true)
  const [year] = await store.query<{ next: Date }>({ text: 'select min(next_run_at) as next from schedules' })

  const target = await makeSheet(call, ['id'])
  const body = { name: 'Items', url: listed.url, items_path: 'items', schedule: YEARLY }
  const { source_instance_id } = (await call('POST', '/sources/import_from_api', body)).data
  const field_mapping = { 'input.id': 'id' }
  await call('POST', `/sources/${source_instance_id}/sync`, { workflow_id: target.slice(-36), field_mapping })
  const source = { org_id: orgId, instance_id: source_instance_id as string }
  const pulled = () =>
    count(
      'select count(*) from sources where instance_id = $1 and next_pull_at > now() and claimed_until is null',
      [source_instance_id],
    )
  await until('the source is pulled', async () => (await pulled()) === 1, PATIENCE_SECONDS)
  const callsPerPull = listed.stats.calls

  const ingest = async (industry: string) => {
    const observed = await count(`select (extract(epoch from clock_timestamp()) * 1000)::bigint as count`)
    const records = Array.from({ length: MEMBERS }, (_, n) => {
      const identifiers = [{ kind: 'domain', value: `c${n}.example` }]
      const fields = { name: `c${n}`, industry }
      const given = { kind: 'company', identifiers, fields, observed_at: new Date(observed).toISOString() }
      const checked = checkRecord(given, new Date())
      if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
      return checked.record
    })
    await ingestRecords(db, orgId, { source: 'crm', actor: 'faults', records })
  }
  await ingest('none')
  const filter = [{ conditions: [{ variable: 'industry', operator: 'is', values: ['software'] }] }]
  const segment = await createSegment(db, orgId, OPERATOR, { name: 'S', kind: 'company', filter })
  const members = await makeSheet(call, ['who'])
  await call('POST', `/records/segments/${segment.segment_id}/sync`, {
    workflow_id: members.slice(-36),
    field_mapping: { 'input.who': 'name' },
  })
  await ingest('software')

  // The first row of each pair rests. The second waits for its result, in whichever process checks next.
  const rest = { action_id: 'delay_step', inputs: { time: '{{input.rest}}' } }
  const name = { action_id: 'normalize_domain', inputs: { value: '{{input.name}}' } }
  const columns = ['{{normalize_domain_1.domain}}']
  const dedupe = { action_id: 'auto_dedupe_rows', inputs: { auto_dedupe_columns: columns } }
  const pairs = await makeSheet(call, ['name', 'rest'], [rest, name, dedupe])
  const half = (seconds: number) =>
    addRows(call, pairs, PAIRS, (n) => ({ name: `pair${n}.example`, rest: String(seconds) }))
  await half(REST_SECONDS)
  await half(0)
  const ranFrom = Date.now()
  await call('POST', `${pairs}/run-all`)

  for (let round = 1; round <= ROUNDS; round += 1) {
    await store.query({ text: 'update schedules set next_run_at = now()' })
    await db.transaction().execute(async (trx) => {
      await trx
        .updateTable('sources')
        .set({ next_pull_at: new Date(0) })
        .execute()
      await queuePull(trx, source)
    })
    const isTaken = async () =>
      (await count('select count(*) from schedules where next_run_at <= now()')) === 0 &&
      (await pulled()) === 1
    await until('what is due is started', isTaken, PATIENCE_SECONDS)
    const landed = async () => (await count('select count(*) from flights')) === 0
    // Rows in flight are not enqueued again, so a run ends before the next is due.
    await until('all rows land', landed, PATIENCE_SECONDS)
    say(
      `round ${round}: ${await count(`select count(*) from runs where trigger = 'schedule'`)} scheduled runs`,
    )
  }
  const seconds = ((Date.now() - ranFrom) / 1000).toFixed(1)
  const delivered = () => count('select count(*) from rows where sheet_id = $1', [members.slice(-36)])
  await until('all members are delivered', async () => (await delivered()) >= MEMBERS, PATIENCE_SECONDS)

  say(`clocks ${values['skew-hours']} hours ahead and behind, ${ROUNDS} rounds in ${seconds} s`)
  check(
    'scheduled runs',
    await count(`select count(*) from runs where trigger = 'schedule'`),
    SHEETS * ROUNDS,
  )
  check('every row of theirs was called', called.stats.calls >= SHEETS * ROUNDS * ROWS, true)
  const [next] = await store.query<{ next: Date }>({
    text: 'select min(next_run_at) as next from schedules having min(next_run_at) = max(next_run_at)',
  })
  check('the next tick of all is that of the database', next?.next.toISOString(), year?.next.toISOString())
  check('calls of pulls', listed.stats.calls, callsPerPull * (ROUNDS + 1))
  check(
    'rows that the source delivered',
    await count('select count(*) from rows where sheet_id = $1', [target.slice(-36)]),
    ITEMS,
  )
  check('rows that the segment delivered', await delivered(), MEMBERS)
  const { data } = await call('POST', `${pairs}/rows/list`, { page_size: 2 * PAIRS })
  const verdicts = (from: number) => [...new Set(data.rows.slice(from, from + PAIRS).map(verdictOf))].join()
  check('first of each pair', verdicts(0), 'unique')
  check('second of each pair', verdicts(PAIRS), 'duplicate')
  check('both processes run', [ahead, behind].filter(({ child }) => child.exitCode === null).length, 2)
  sayVerdict('R4')
} finally {
  called.close()
  listed.close()
  await installation.close()
}

type Row = { cells: Record<string, { outputs?: { value_type?: string } | null }> }
function verdictOf(row: Row): string {
  return row.cells['auto_dedupe_rows_1']?.outputs?.value_type ?? 'none'
}
