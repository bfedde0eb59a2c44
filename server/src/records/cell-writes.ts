import { z } from 'zod'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { type GivenPair, type GivenRecord, readGivenRecord } from './given-record.ts'
import { ingestRecords } from './ingest.ts'
import { findNamed } from './lookup.ts'
import { addCellWrite, type CellRun, findCellWrite } from './store/cell-writes.ts'
import { EntityTooLarge } from './store/entities.ts'

/**
 * The source of statements that a workflow makes when it updates or relates entities. Orders of sources may list it.
 */
export const WORKFLOW_SOURCE = 'workflow'

/** The outcome of a write. If it is refused, `message` says why. */
export type Answer<Value> = { ok: true; value: Value } | { ok: false; message: string }
type Write<Value> = (
  now: Date,
  confirm: (trx: Db, value: Value & object) => Promise<void>,
) => Promise<Answer<Value>>

/**
 * Thrown if another worker has written for the same cell run. The transaction is rolled back, and the answer of the
 * other worker counts.
 */
class WrittenBefore extends Error {
  override name = 'WrittenBefore'
}

/** Writes once for a cell run, however often it is tried. The answer is committed together with the write. */
export async function writeOnce<Value>(
  db: Db,
  orgId: string,
  cell: CellRun,
  { schema, write }: { schema: z.ZodType<Value>; write: Write<Value> },
): Promise<Answer<Value>> {
  const { answer, now } = await findCellWrite(db, orgId, cell)
  if (answer !== undefined) return { ok: true, value: schema.parse(answer) }
  try {
    return await write(now, async (trx, value) => {
      if (!(await addCellWrite(trx, orgId, cell, value))) throw new WrittenBefore()
    })
  } catch (cause) {
    if (cause instanceof EntityTooLarge) return { ok: false, message: cause.message }
    if (!(cause instanceof WrittenBefore)) throw cause
    const { answer: theirs } = await findCellWrite(db, orgId, cell)
    return { ok: true, value: schema.parse(theirs) }
  }
}

const Ingested = z.object({ entity_id: z.string(), created: z.boolean() })
export type Ingested = z.infer<typeof Ingested>
export const readIngested = (answer: unknown): Ingested => Ingested.parse(answer)

/** Ingests what a row says about an entity. */
export function ingestForCell(db: Db, orgId: string, cell: CellRun, given: GivenRecord) {
  return writeOnce(db, orgId, cell, {
    schema: Ingested,
    write: async (now, confirm) => {
      const read = readGivenRecord(given, now)
      if (!read.ok) return read
      const batch = { source: given.source, actor: cell.action, records: [read.record] }
      const { results } = await ingestRecords(db, orgId, batch, (trx, ingested) =>
        confirm(trx, toIngested(ingested.results[0])),
      )
      return { ok: true, value: toIngested(results[0]) }
    },
  })
}

type Result = Awaited<ReturnType<typeof ingestRecords>>['results'][number]

export function toIngested(result: Result | undefined): Ingested {
  if (result === undefined) throw new Error('a record had no result')
  return { entity_id: result.entity_id, created: result.created }
}

const Updated = z.object({ entity_id: z.string(), updated: z.boolean() }).nullable()
export type Update = { kind: EntityKind; identifier: string; fields: readonly GivenPair[] }

/** Thrown if the entity was deleted after it was found. */
class EntityGone extends Error {
  override name = 'EntityGone'
}

/** Sets fields of an existing entity. Returns null if there is none. */
export function updateForCell(db: Db, orgId: string, cell: CellRun, { kind, identifier, fields }: Update) {
  return writeOnce(db, orgId, cell, {
    schema: Updated,
    write: async (now, confirm) => {
      const named = await findNamed(db, orgId, identifier, [kind])
      if (named.kind === 'refused') return { ok: false, message: `identifier: ${named.message}` }
      if (named.kind === 'absent') return { ok: true, value: null }
      const { identifierKind, identifier: value } = named.identifier
      const identifiers = [{ name: identifierKind, value }]
      const read = readGivenRecord({ source: WORKFLOW_SOURCE, kind, identifiers, fields }, now)
      if (!read.ok) return read
      const batch = { source: WORKFLOW_SOURCE, actor: cell.action, records: [read.record] }
      try {
        const { results } = await ingestRecords(db, orgId, batch, async (trx, ingested) => {
          const [result] = ingested.results
          if (result === undefined || result.created) throw new EntityGone()
          await confirm(trx, { entity_id: result.entity_id, updated: result.changed })
        })
        const [result] = results
        return {
          ok: true,
          value: result === undefined ? null : { entity_id: result.entity_id, updated: result.changed },
        }
      } catch (cause) {
        if (cause instanceof EntityGone) return { ok: true, value: null }
        throw cause
      }
    },
  })
}
