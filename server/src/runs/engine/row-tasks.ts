import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Store } from '../../database/connection/db.ts'
import { yieldTurn } from '../../lib/timing/yielding.ts'
import type { Engine } from './engine-context.ts'
import { SPLIT } from './sql/split.ts'
import { walkGroup } from './walk-group.ts'
import { walkRow } from './walk.ts'

type Task = (payload: unknown, taken: number) => Promise<void>

/** `b`: how often the row, or the group, was taken up with a larger group before. */
const Payload = z.object({ o: Uuid, t: z.int(), run: Uuid.optional(), b: z.int().nonnegative().optional() })
const RowPayload = Payload.extend({ r: Uuid })
const GroupPayload = Payload.extend({ r: z.array(Uuid) })

/** A job is stored as JSON, which an older version or somebody's hand may have written. */
function readPayload<Payload>(schema: z.ZodType<Payload>, payload: unknown): Payload {
  const read = schema.safeParse(payload)
  if (read.success) return read.data
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.') || 'payload'}: ${message}`)
  throw new Error(`the payload of a job of rows is malformed: ${faults.join('; ')}`)
}

/**
 * Jobs walk one row, or a group of them. A group whose job is taken again has ended its worker, or one of its rows has, or
 * neither: it is taken apart, and from then on each of the rows that were being run answers for itself.
 */
export function createRowTasks(store: Store, engine: Engine): { row: Task; express: Task; rows: Task } {
  const row = (payload: unknown, taken: number, express = false): Promise<void> => {
    const { b = 0, ...job } = readPayload(RowPayload, payload)
    return walkRow(engine, job, { express, fresh: taken + b === 1 })
  }

  async function rows(payload: unknown, taken: number): Promise<void> {
    // They are taken by the hundred.
    await yieldTurn()
    const { r, b = 0, ...shared } = readPayload(GroupPayload, payload)
    const { o, t } = shared
    if (taken > 1) {
      await store.query({ name: 'engine-split', text: SPLIT, values: [o, r, t, b > 0] })
      return
    }
    await walkGroup(
      engine,
      r.map((id) => ({ ...shared, r: id })),
    )
  }

  return {
    row: async (payload, taken) => row(payload, taken),
    express: async (payload, taken) => row(payload, taken, true),
    rows,
  }
}
