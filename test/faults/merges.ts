// Merge storms: many writers at once say that records are one. Records that all share one identifier, chains
// whose links come in any order, entities with thousands of identifiers joined again and again, and the same
// two entities merged and taken apart by all writers. No writer may see a deadlock, nothing may be lost, and
// another organisation writes at the same time.
// npm run faults:merges [-- --records 20000 --callers 8 --pairs 2000 --ratio 3 --seed 1]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AppError, reasonOf } from '#server/lib/errors.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { mergeEntities, unmergeEntity } from '#server/records/merge.ts'
import { checkRecord } from '#server/records/record.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The records of each storm. */
    records: { type: 'string', default: '20000' },
    callers: { type: 'string', default: '8' },
    /** The merges of the same two entities. */
    pairs: { type: 'string', default: '2000' },
    /** The largest allowed ratio of the write time of another organisation to its idle time. 0 allows any. */
    ratio: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
  },
})
const RECORDS = Number(values.records)
const CALLERS = Number(values.callers)
const RATIO = Number(values.ratio)
const BATCH = 1000
/** The number of different fields in all records of a storm. */
const FIELDS = 500
const IDENTIFIERS = 10_000
const IDLE_WRITES = 50
const random = createRandom(Number(values.seed))
type Named = { name: string; ids: string[] }

const installation = await openInstallation()
const { store } = installation
const failures: string[] = []

function recordOf({ name, ids }: Named) {
  const identifiers = ids.map((value) => ({ kind: 'external', value: `crm:${value}` }))
  const checked = checkRecord({ kind: 'company', identifiers, fields: { [name]: name } }, new Date())
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  return checked.record
}

async function ingest(orgId: string, named: readonly Named[]): Promise<void> {
  const batch = { source: 'crm', actor: 'faults', records: named.map(recordOf) }
  await ingestRecords(store.org(orgId), orgId, batch).catch((cause: unknown) => {
    failures.push(reasonOf(cause))
  })
}

/** Returns true if the work was done. A refusal because others have done it is not a failure. */
async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (cause) {
    if (!(cause instanceof AppError && cause.status === 409)) failures.push(reasonOf(cause))
    return false
  }
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) {
  const queue = [...items]
  const take = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) await work(next)
  }
  await Promise.all(Array.from({ length: CALLERS }, take))
}

function batchesOf(named: readonly Named[], size = BATCH): Named[][] {
  const shuffled = named.toSorted(() => random() - 0.5)
  return Array.from({ length: Math.ceil(named.length / size) }, (_, n) =>
    shuffled.slice(n * size, (n + 1) * size),
  )
}

type Counts = { entities: number; identifiers: number; homes: number; fields: number }
/** Counts entities and identifiers, with the number of entities that the identifiers lead to. */
async function count(orgId: string): Promise<Counts> {
  const text = `select
      (select count(*) from record_entities where org_id = $1 and root_id = entity_id) as entities,
      (select count(*) from record_identifiers where org_id = $1) as identifiers,
      (select count(distinct e.root_id) from record_identifiers i join record_entities e
        on e.org_id = i.org_id and e.entity_id = i.entity_id where i.org_id = $1) as homes,
      (select count(*) from record_entities e, jsonb_object_keys(e.fields)
        where e.org_id = $1 and e.root_id = e.entity_id) as fields`
  const [found] = await store.query<Counts>({ text, values: [orgId] })
  if (found === undefined) throw new Error('nothing was counted')
  return found
}

/** Returns the times of writes of one record each, one after the other. */
async function timeWrites(orgId: string, isOver: () => boolean): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; times.length < IDLE_WRITES || !isOver(); n += 1) {
    const started = performance.now()
    await ingest(orgId, [{ name: 'name', ids: [`other-${n}`] }])
    times.push(performance.now() - started)
    await sleep(20)
  }
  return times.toSorted((one, other) => one - other)
}
const medianOf = (times: readonly number[]) => times[Math.floor(times.length / 2)] ?? 0

const STORMS: Record<string, (n: number) => Named> = {
  'records that share one identifier': (n) => ({
    name: `f${n % FIELDS}`,
    ids: ['hub', ...Array.from({ length: 19 }, (_, k) => `h${n}-${k}`)],
  }),
  'links of a chain': (n) => ({ name: `f${n % FIELDS}`, ids: [`c${n}`, `c${n + 1}`] }),
}

try {
  const { orgId: other } = await installation.makeOrg('Other')
  const idle = medianOf(await timeWrites(other, () => true))
  let isOver = false
  const beside = timeWrites(other, () => isOver)
  for (const [what, recordAt] of Object.entries(STORMS)) {
    const { orgId } = await installation.makeOrg(what)
    const named = Array.from({ length: RECORDS }, (_, n) => recordAt(n))
    const started = performance.now()
    await inParallel(batchesOf(named), (batch) => ingest(orgId, batch))
    const seconds = (performance.now() - started) / 1000
    say(`${RECORDS} ${what}: ${seconds.toFixed(1)} s, ${Math.round(RECORDS / seconds)} a second`)
    const identifiers = new Set(named.flatMap(({ ids }) => ids)).size
    const found = await count(orgId)
    check(`${what}: entities`, found.entities, 1)
    check(`${what}: identifiers`, found.identifiers, identifiers)
    check(`${what}: entities that they lead to`, found.homes, 1)
    check(`${what}: fields`, found.fields, Math.min(FIELDS, RECORDS))
  }

  const { orgId } = await installation.makeOrg('Pairs')
  const sides = ['left', 'right'].map((side) =>
    Array.from({ length: IDENTIFIERS / 10 }, (_, n) => ({
      name: side,
      ids: [side, ...Array.from({ length: 10 }, (_x, k) => `${side}-${n}-${k}`)],
    })),
  )
  for (const side of sides) for (const batch of batchesOf(side)) await ingest(orgId, batch)
  const before = await count(orgId)
  check('pairs: entities', before.entities, 2)
  const [keptId = '', mergedId = ''] = (
    await store.query<{ entity_id: string }>({
      text: `select entity_id from record_entities where org_id = $1 and root_id = entity_id order by 1`,
      values: [orgId],
    })
  ).map(({ entity_id }) => entity_id)
  const db = store.org(orgId)
  const done = { merged: 0, parted: 0 }
  await inParallel(
    Array.from({ length: Number(values.pairs) }, () => random()),
    async (draw) => {
      if (draw < 0.5) {
        const isDone = await attempt(() => mergeEntities(db, orgId, OPERATOR, { keptId, mergedId }))
        if (isDone) done.merged += 1
      } else if (await attempt(() => unmergeEntity(db, orgId, OPERATOR, mergedId))) done.parted += 1
    },
  )
  isOver = true
  const times = await beside
  const after = await count(orgId)
  say(`the same two were merged ${done.merged} times, and taken apart ${done.parted} times`)
  check('pairs: entities', after.entities, 2 - (done.merged - done.parted))
  check('pairs: identifiers', after.identifiers, before.identifiers)
  check('pairs: fields', after.fields, 2)
  check('failures', [...new Set(failures)].slice(0, 5).join('; '), '')
  const median = medianOf(times)
  say(
    `another organisation wrote ${times.length} times: ${median.toFixed(1)} ms at the median, idle ${idle.toFixed(1)} ms`,
  )
  check(`at most ${RATIO} x its idle time`, RATIO === 0 || median <= RATIO * idle, true)
  sayVerdict('merges')
} finally {
  await installation.close()
}
