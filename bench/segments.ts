// Measures the cost of a cycle of segments with 1,000, 10,000 and 100,000 members in a store of 1,000,000
// entities: first 1% of the members change between two evaluations, then 1,000 members of each. Compares it
// with the first evaluation, which looks at all entities.
// npm run bench:segments [-- --entities 1000000 --rounds 6]
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { MAX_RECORDS } from '#contract/records.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { evaluateSegments } from '#server/records/segments/evaluate.ts'
import { createSegment, requireSegment } from '#server/records/segments/segments.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: { entities: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '6' } },
})
const ENTITIES = Number(values.entities)
const ROUNDS = Number(values.rounds)
if (ROUNDS % 2 === 1)
  throw new Error('--rounds must be an even number: every other round undoes the one before')
const SIZES = [1000, 10_000, 100_000].filter((size) => size <= ENTITIES / 2)
const SAME_CHANGES = 1000
const FILL_AT_ONCE = 100_000
/** The limit for a cycle with the same changes, in the largest segment against the smallest. */
const FLAT_BAR = 2
/** The limit for a cycle in which 1% of the members change, against looking at all entities. */
const SHARE_BAR = 0.05

const installation = await openInstallation()
try {
  const { orgId } = await installation.makeOrg('Bench')
  const db = installation.store.org(orgId)
  await fillStore()
  const segments: { size: number; id: string; first: number }[] = []
  for (const size of SIZES) {
    const name = `${size} members`
    const filter = [{ conditions: [{ variable: 'rank', operator: 'less than', values: [String(size)] }] }]
    const { segment_id: id } = await createSegment(db, orgId, OPERATOR, { name, kind: 'company', filter })
    const first = await time(() => evaluateSegments(db, orgId, id))
    segments.push({ size, id, first })
    note(`${name}: first evaluation ${(first / 1000).toFixed(1)} s`)
  }
  const cases = segments.flatMap((segment) =>
    [...new Set([segment.size / 100, SAME_CHANGES])].map((changes) => ({
      ...segment,
      changes,
      times: [] as number[],
    })),
  )
  // The cases run in turns, so that other work on the machine affects all of them.
  for (let round = 0; round < ROUNDS; round += 2) {
    for (const { size, id, changes, times } of cases) {
      times.push(
        await timeCycle({ size, id }, changes, round),
        await timeCycle({ size, id }, changes, round + 1),
      )
      note(
        `${size} members, ${changes} changes: ${times
          .slice(-2)
          .map((ms) => ms.toFixed(1))
          .join(' and ')} ms`,
      )
    }
  }
  const rows = cases.map(({ times, ...one }) => ({ ...one, ms: median(times) }))
  print(
    `A cycle in a store of ${ENTITIES} entities, median of ${ROUNDS}`,
    rows.map(({ size, changes, ms, first }) => ({
      members: size,
      'changed entities': changes,
      'cycle, ms': ms.toFixed(1),
      'µs a change': ((ms * 1000) / changes).toFixed(0),
      'everybody, ms': first.toFixed(0),
    })),
  )
  const [smallest, largest] = [segments[0]?.size ?? 0, segments.at(-1)?.size ?? 0]
  const cycle = (size: number, changes: number) =>
    rows.find((row) => row.size === size && row.changes === changes)?.ms ?? Number.NaN
  const same = cycle(largest, SAME_CHANGES) / cycle(smallest, SAME_CHANGES)
  bar(`${SAME_CHANGES} changes: ${largest} members against ${smallest}`, same, FLAT_BAR, 'at most')
  const share = cycle(largest, largest / 100) / (segments.at(-1)?.first ?? Number.NaN)
  bar(`1% of ${largest} members against looking at everybody`, share, SHARE_BAR, 'at most')

  /** Writes entities directly into their tables. Those that change later have identifiers and values too. */
  async function fillStore(): Promise<void> {
    const changing = Math.max(...SIZES) * 2
    for (let from = 0; from < ENTITIES; from += FILL_AT_ONCE) {
      const to = Math.min(from + FILL_AT_ONCE, ENTITIES)
      await db.transaction().execute(async (trx) => {
        await sql`
          insert into record_entities (org_id, entity_id, kind, root_id, fields, provenance, change_no)
          select ${orgId}, id, 'company', id, jsonb_build_object('rank', n, 'industry', 'industry ' || n % 50),
            '{}', n + 1
          from generate_series(${from}::int, ${to - 1}::int) n, lateral (select md5('c' || n)::uuid as id) as made`.execute(
          trx,
        )
        const known = sql`generate_series(${from}::int, ${Math.min(to, changing) - 1}::int) n,
          lateral (select md5('c' || n)::uuid as id) as made`
        await sql`insert into record_identifiers (org_id, kind, identifier_kind, identifier, entity_id)
          select ${orgId}, 'company', 'domain', 'c' || n || '.com', id from ${known}`.execute(trx)
        await sql`insert into record_statements (org_id, entity_id, source, fields_hash, fields, first_seen, last_seen)
          select ${orgId}, id, 'bench', sha256(convert_to(fields::text, 'UTF8')), fields, '2026-01-01', '2026-01-01'
          from ${known}, lateral (select jsonb_build_object('rank', n) as fields) as said`.execute(trx)
      })
      note(`${to} entities`)
    }
    await sql`insert into record_counters (org_id, last_change) values (${orgId}, ${ENTITIES})
      on conflict (org_id) do update set last_change = excluded.last_change`.execute(db)
    await sql`insert into record_fields (org_id, kind, field, type) values (${orgId}, 'company', 'rank', 'number')`.execute(
      db,
    )
    await sql`analyze record_entities, record_identifiers, record_statements`.execute(
      installation.store.system,
    )
  }

  /**
   * Runs a cycle. In each round half of the changed entities leave and the same number enter. Every other
   * round undoes the previous one.
   */
  async function timeCycle(
    { size, id }: { size: number; id: string },
    changes: number,
    round: number,
  ): Promise<number> {
    const half = Math.ceil(changes / 2)
    const leaving = Array.from({ length: half }, (_, n) => ({ place: n, rank: size + n + round * changes }))
    const entering = Array.from({ length: changes - half }, (_, n) => ({ place: size + n, rank: n }))
    await change(round % 2 === 0 ? [...leaving, ...entering] : [...leaving, ...entering].map(undo))
    const before = await requireSegment(db, { org_id: orgId, segment_id: id })
    const ms = await time(() => evaluateSegments(db, orgId, id))
    const after = await requireSegment(db, { org_id: orgId, segment_id: id })
    const found = after.last_seq - before.last_seq
    if (found !== changes) throw new Error(`${found} of ${changes} changes were found`)
    await evaluateSegments(db, orgId)
    return ms
  }
  function undo({ place }: { place: number; rank: number }) {
    return { place, rank: place }
  }

  async function change(places: { place: number; rank: number }[]): Promise<void> {
    const now = new Date()
    const records = places.map(({ place, rank }) => {
      const identifiers = [{ kind: 'domain', value: `c${place}.com` }]
      const checked = checkRecord({ kind: 'company', identifiers, fields: { rank } }, now)
      if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
      return checked.record
    })
    for (let at = 0; at < records.length; at += MAX_RECORDS) {
      const batch = { source: 'bench', actor: 'bench', records: records.slice(at, at + MAX_RECORDS) }
      await ingestRecords(db, orgId, batch)
    }
  }
} finally {
  await installation.close()
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
