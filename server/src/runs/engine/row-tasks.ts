import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Store } from '../../database/connection/db.ts'
import { yieldTurn } from '../../lib/timing/yielding.ts'
import type { Engine } from './engine-context.ts'
import { walkGroup } from './fast/fresh-rows.ts'
import { SPLIT } from './sql/split.ts'
import { walkRow } from './walk.ts'

type Task = (payload: unknown, taken: number) => Promise<void>

/** The payload of jobs. `b` says how often the row, or the group, was taken within a larger group before. */
const Payload = z.object({ o: Uuid, t: z.int(), run: Uuid.optional(), b: z.int().nonnegative().optional() })
const RowPayload = Payload.extend({ r: Uuid })
const GroupPayload = Payload.extend({ r: z.array(Uuid) })

/** Parses a payload. A job is stored as JSON, which an older version or a person may have written. */
function readPayload<Payload>(schema: z.ZodType<Payload>, payload: unknown): Payload {
  const read = schema.safeParse(payload)
  if (read.success) return read.data
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.') || 'payload'}: ${message}`)
  throw new Error(`the payload of a job of rows is malformed: ${faults.join('; ')}`)
}

/**
 * Creates the tasks that walk one row or a group of rows. If the job of a group is taken again, the group has ended its
 * worker, or one of its rows has, or neither: the group is split, and from then on each row that was being run is
 * judged by itself.
 */
export function createRowTasks(store: Store, engine: Engine): { row: Task; express: Task; rows: Task } {
  const row = (payload: unknown, taken: number, express = false): Promise<void> => {
    const { b = 0, ...job } = readPayload(RowPayload, payload)
    return walkRow(engine, job, { express, fresh: taken + b === 1 })
  }

  async function rows(payload: unknown, taken: number): Promise<void> {
    // Groups are taken by the hundred.
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
