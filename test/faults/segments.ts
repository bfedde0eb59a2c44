// Segment syncs: members come, leave and return while two workers, which run cycles every second, are killed
// with -9 at random, and PostgreSQL with them, and every connection to it is cut. Under suppress no member
// may be delivered twice, and no member that stays may be lost.
// npm run faults:segments [-- --members 20000 --rounds 20 --seed 1]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { cutConnections, startAnother } from './breaks/interruptions.ts'
import { check, persist, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const MEMBERS = Number(values.members)
const ROUNDS = Number(values.rounds)
const PATIENCE_SECONDS = 240
const INGESTED_AT_ONCE = 500
const SETTINGS = {
  LOAM_SEGMENT_CYCLE_SECONDS: '1',
  LOAM_SEGMENT_FLOOD_MEMBERS: '1000000000',
  LOAM_SEGMENT_REPUSH_PER_DAY: '1000000000',
}
const random = createRandom(Number(values.seed))

const installation = await openInstallation()
const { store } = installation

try {
  const { orgId, key } = await installation.makeOrg('Segments')
  let second = 0
  const put = async (numbers: readonly number[], industry: string): Promise<void> => {
    for (let start = 0; start < numbers.length; start += INGESTED_AT_ONCE) {
      second += 1
      const observed_at = new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString()
      const records = numbers.slice(start, start + INGESTED_AT_ONCE).map((n) => {
        const identifiers = [{ kind: 'domain', value: `c${n}.example` }]
        const fields = { name: `c${n}`, industry }
        const checked = checkRecord({ kind: 'company', identifiers, fields, observed_at }, new Date())
        if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
        return checked.record
      })
      await persist(() => ingestRecords(store.org(orgId), orgId, { source: 'crm', actor: 'faults', records }))
    }
  }
  await put([0], 'none')
  const filter = [{ conditions: [{ variable: 'industry', operator: 'is', values: ['software'] }] }]
  const segment = await createSegment(store.org(orgId), orgId, OPERATOR, {
    name: 'S',
    kind: 'company',
    filter,
  })

  const server = await installation.startServer({ LOAM_ROLES: 'api' })
  const call = callOver(server.url, key)
  const connect = async (body: object) => {
    const sheet = await makeSheet(call, ['who'])
    const field_mapping = { 'input.who': 'name' }
    const workflow_id = sheet.slice(-36)
    const path = `/records/segments/${segment.segment_id}/sync`
    const { data } = await call('POST', path, { workflow_id, field_mapping, ...body })
    return { workflow_id, sync_id: data.sync_id as string }
  }
  const suppressed = await connect({})
  const repushed = await connect({ reentry_mode: 'repush' })

  const startWorker = () => installation.startWorker({ ...SETTINGS, LOAM_CONCURRENCY: '20' })
  const workers: WorkerChild[] = await Promise.all([startWorker(), startWorker()])
  say(`seed ${values.seed}: ${MEMBERS} members in ${ROUNDS} rounds`)

  // Members with even numbers stay. Those with odd numbers leave and return.
  const perRound = Math.ceil(MEMBERS / ROUNDS)
  let kills = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const numbers = Array.from({ length: perRound }, (_, n) => 1 + round * perRound + n)
    const restless = numbers.filter((n) => n % 2 === 1)
    const ingesting = (async () => {
      await put(numbers, 'software')
      await put(restless, 'other')
      await put(restless, 'software')
    })()
    await sleep(random() * 700)
    await cutConnections(store)
    await sleep(random() * 700)
    const victim = round % 2
    workers[victim]?.child.kill('SIGKILL')
    await workers[victim]?.ended
    if (round % 5 === 4) installation.signalPostgres('SIGKILL')
    kills += 1
    await ingesting
    say(`round ${round + 1} of ${ROUNDS}`)
    workers[victim] = await startAnother(startWorker)
  }
  const total = perRound * ROUNDS
  say(`${total} members came, ${kills} kills; now the last ones are delivered`)

  type Rows = { rows: number; members: number; twice: number; delivered: number; failed: number }
  const rowsOf = async (workflowId: string): Promise<Rows> => {
    const text = `select count(*) as rows, count(distinct data ->> '1') as members,
        count(*) - count(distinct data ->> '1') as twice,
        (select delivered from segment_destinations where workflow_id = $1) as delivered,
        (select count(*) from segment_failures) as failed
      from rows where sheet_id = $1`
    const [found] = await persist(() => store.query<Rows>({ text, values: [workflowId] }))
    if (found === undefined) throw new Error('nothing was counted')
    return found
  }
  const isDone = async () => {
    const [one, two] = [await rowsOf(suppressed.workflow_id), await rowsOf(repushed.workflow_id)]
    return one.members >= total && two.members >= total
  }
  // A lost member is detected by the count below, so a timeout here is only printed.
  await until('all are delivered', isDone, PATIENCE_SECONDS).catch((cause: Error) => say(cause.message))

  const once = await rowsOf(suppressed.workflow_id)
  check('suppress: members delivered', once.members, total)
  check('suppress: rows beyond the first of a member', once.twice, 0)
  const often = await rowsOf(repushed.workflow_id)
  check('repush: members delivered', often.members, total)
  const [feed] = await store.query<{ entries: number }>({
    text: `select count(*) as entries from segment_changes where segment_id = $1 and kind <> 'exit'`,
    values: [segment.segment_id],
  })
  check('repush: not more rows than entries', often.rows <= (feed?.entries ?? 0), true)
  const { data: sync } = await call('GET', `/records/syncs/${suppressed.sync_id}`)
  check('state', sync.state, 'active')
  check('suppress: counted as delivered', once.delivered, once.rows)
  check('repush: counted as delivered', often.delivered, often.rows)
  check('failed', often.failed, 0)
  sayVerdict('segments')
} finally {
  await installation.close()
}
