import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RecordInput } from '#contract/records.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { OPERATOR } from '../organisation/store/audit.ts'
import { describeEntity, describeHistory } from './entity.ts'
import { declareSourceOrder } from './source-order.ts'
import { listChangedEntities } from './store/entities.ts'
import { recordsOf } from './testing/records.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)

/** LOAM_RUNS=500 LOAM_SEED=7 runs the property at another size, with other records. */
const RUNS = Number(process.env['LOAM_RUNS'] ?? 10)
const SEED = Number(process.env['LOAM_SEED'] ?? 16)

const SOURCES = ['crm', 'web', 'list', 'workflow']
const DOMAINS = Array.from({ length: 10 }, (_, n) => `c${n}.com`)
const ADDRESSES = Array.from({ length: 6 }, (_, n) => `p${n}@acme.com`)

/** Picks some names. Neighbours make chains of merges as long as the list; others come from anywhere. */
const someOf = (names: readonly string[]) =>
  fc.oneof(
    fc.integer({ min: 0, max: names.length - 2 }).map((at) => names.slice(at, at + 2)),
    fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
  )
const domains = someOf(DOMAINS).map((values) => values.map((value) => ({ kind: 'domain' as const, value })))
const addresses = someOf(ADDRESSES).map((values) =>
  values.map((value) => ({ kind: 'email' as const, value })),
)
const toCompany = (type: string) =>
  fc.array(
    domains.map((identifiers) => ({ type, to: { kind: 'company' as const, identifiers } })),
    { maxLength: 2 },
  )
const about = {
  fields: fc.dictionary(fc.constantFrom('name', 'city', 'size'), fc.constantFrom('x', 'y', 3, true)),
  // Some times are less than a millisecond apart.
  observed_at: fc.constantFrom(
    ...[1, 2, 3, 4].map((day) => `2026-01-0${day}T00:00:00Z`),
    '2026-01-02T00:00:00.0005Z',
    '2026-01-02T01:00:00.0009+01:00',
  ),
  events: fc.array(
    fc.record({
      type: fc.constantFrom('seen', 'called'),
      at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      data: fc.constantFrom({}, { by: 'Ann' }),
    }),
    { maxLength: 2 },
  ),
}
const record: fc.Arbitrary<RecordInput> = fc.oneof(
  fc.record({
    kind: fc.constant('company' as const),
    identifiers: domains,
    relationships: toCompany('partner'),
    ...about,
  }),
  fc.record({
    kind: fc.constant('person' as const),
    identifiers: addresses,
    relationships: toCompany('works_at'),
    ...about,
  }),
)
type Call = { source: string; records: RecordInput[] }
const call: fc.Arbitrary<Call> = fc.record({
  source: fc.constantFrom(...SOURCES),
  records: fc.array(record, { minLength: 1, maxLength: 4 }),
})
const sourceOrder = fc.shuffledSubarray(SOURCES)

/** Dumps everything known in an organisation, with entities named by identifiers instead of ids. */
async function dump(orgId: string) {
  const db = app.store.org(orgId)
  const all = await listChangedEntities(db, orgId, 0, 1000)
  const roots = all.filter(({ entity_id, root_id }) => entity_id === root_id)
  const described = await Promise.all(roots.map((root) => describeEntity(db, orgId, root)))
  const histories = await Promise.all(roots.map((root) => describeHistory(db, orgId, root)))
  const names = new Map(
    described.map(({ entity_id, identifiers }) => [entity_id, identifiers.map(({ value }) => value).join()]),
  )
  return described
    .map(({ entity_id, kind, identifiers, fields, relationships, events }, at) => ({
      kind,
      identifiers,
      fields,
      events: events.map((event) => JSON.stringify(event)).sort(),
      history: histories[at]?.values,
      relationships: relationships
        .map(({ entity_id: other, ...rest }) => JSON.stringify({ ...rest, other: names.get(other) }))
        .sort(),
      name: names.get(entity_id) ?? '',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Ingests the records in one list, one by one, with nothing concurrent. */
async function ingestOneByOne(orgId: string, calls: readonly Call[]): Promise<void> {
  for (const { source, records } of calls) {
    for (const one of records) await ingest(orgId, source, one)
  }
}

/** Ingests with a separate connection for each caller, as transactions of the pool have. */
async function ingestAtOnce(orgId: string, callers: readonly (readonly Call[])[]): Promise<void> {
  const working = callers.map(async (calls) => {
    for (const { source, records } of calls) await ingest(orgId, source, ...records)
  })
  await Promise.all(working)
}

it('any order of the same ingests, one by one, in batches or by several callers at once, gives the same entities', async () => {
  const stories = fc.array(call, { minLength: 2, maxLength: 8 }).chain((calls) =>
    fc.record({
      calls: fc.constant(calls),
      shuffled: fc.shuffledSubarray(calls, { minLength: calls.length }),
      callers: fc.integer({ min: 2, max: 4 }),
      order: sourceOrder,
      before: sourceOrder,
    }),
  )
  let merges = 0
  await fc.assert(
    fc.asyncProperty(stories, async ({ calls, shuffled, callers, order, before }) => {
      const [one, other] = [await app.makeOrg(), await app.makeOrg()]
      await ingestOneByOne(one.orgId, calls)
      await declareSourceOrder(app.store.org(one.orgId), one.orgId, OPERATOR, order)

      const db = app.store.org(other.orgId)
      await declareSourceOrder(db, other.orgId, OPERATOR, before)
      const shares = Array.from({ length: callers }, (_, caller) =>
        shuffled.filter((_call, at) => at % callers === caller),
      )
      // The order of the sources changes in the middle, and the first caller ingests everything once more.
      await Promise.all([
        ingestAtOnce(other.orgId, [...shares, ...shares.slice(0, 1)]),
        declareSourceOrder(db, other.orgId, OPERATOR, order),
      ])
      const known = await dump(other.orgId)
      expect(known).toEqual(await dump(one.orgId))
      merges += known.filter(({ identifiers }) => identifiers.length > 3).length
    }),
    { numRuns: RUNS, seed: SEED },
  )
  expect(merges).toBeGreaterThan(0)
})

it('a chain of merges of any length ends as one entity, in whatever order its links come, also all at once', async () => {
  const names = Array.from({ length: 25 }, (_, n) => `link${n}.com`)
  const links = names.slice(1).map((name, at): RecordInput => ({
    kind: 'company',
    identifiers: [names[at] ?? '', name].map((value) => ({ kind: 'domain', value })),
    fields: { [`field ${at % 5}`]: at },
    observed_at: `2026-01-0${1 + (at % 4)}T00:00:00Z`,
    relationships: [
      { type: 'partner', to: { kind: 'company', identifiers: [{ kind: 'domain', value: 'partner.com' }] } },
    ],
    events: [{ type: 'seen', at: '2026-01-01T00:00:00Z', data: { at } }],
  }))
  const [forward, backward, atOnce] = [await app.makeOrg(), await app.makeOrg(), await app.makeOrg()]
  for (const link of links) await ingest(forward.orgId, 'crm', link)
  // Every second link first, so that the others join two entities each.
  for (const rest of [1, 0]) {
    for (const [at, link] of [...links.entries()].toReversed()) {
      if (at % 2 === rest) await ingest(backward.orgId, 'crm', link)
    }
  }
  await ingestAtOnce(
    atOnce.orgId,
    links.map((link) => [{ source: 'crm', records: [link] }]),
  )
  const expected = await dump(forward.orgId)
  expect(expected.map(({ identifiers }) => identifiers.length)).toEqual([names.length, 1])
  expect(await dump(backward.orgId)).toEqual(expected)
  expect(await dump(atOnce.orgId)).toEqual(expected)
})
