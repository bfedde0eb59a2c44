import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Store } from '../store/connection/db.ts'
import { MAX_CLAIMS } from './cells/cell.ts'
import type { Engine } from './engine-context.ts'
import { SPLIT } from './sql/split.ts'
import { walkRow } from './walk.ts'

type Task = (payload: unknown, taken: number) => Promise<void>

/** `b`: how often the row was claimed before it had a job of its own. */
const RowPayload = z.object({ o: Uuid, r: Uuid, t: z.int(), b: z.int().nonnegative().optional() })
const GroupPayload = z.object({ o: Uuid, r: z.array(Uuid), t: z.int() })

/** A job is stored as JSON, which an older version or somebody's hand may have written. */
function readPayload<Payload>(schema: z.ZodType<Payload>, payload: unknown): Payload {
  const read = schema.safeParse(payload)
  if (read.success) return read.data
  const faults = read.error.issues.map(({ path, message }) => `${path.join('.') || 'payload'}: ${message}`)
  throw new Error(`the payload of a job of rows is malformed: ${faults.join('; ')}`)
}

/**
 * Jobs walk one row, or a group of them. A group whose job is taken again has ended its worker, or one of its rows has: it is
 * split, and from then on each of its rows answers for itself.
 */
export function createRowTasks(store: Store, engine: Engine): { row: Task; express: Task; rows: Task } {
  const alone = createTurns()

  const row = async (payload: unknown, taken: number, express = false): Promise<void> => {
    const { b = 0, ...job } = readPayload(RowPayload, payload)
    if (taken + b < MAX_CLAIMS) return walkRow(engine, job, { express, fresh: taken + b === 1 })
    const done = await alone()
    return walkRow(engine, job, { express, onSettled: done }).finally(done)
  }

  async function rows(payload: unknown, taken: number): Promise<void> {
    const { o, t, r } = readPayload(GroupPayload, payload)
    if (taken > 1) {
      await store.query({ name: 'engine-split', text: SPLIT, values: [o, r, t] })
      return
    }
    const walks = await Promise.allSettled(r.map((id) => walkRow(engine, { o, r: id, t }, { fresh: true })))
    const broken = walks.find((walk) => walk.status === 'rejected')
    if (broken !== undefined) throw broken.reason
  }

  return {
    row: (payload, taken) => row(payload, taken),
    express: (payload, taken) => row(payload, taken, true),
    rows,
  }
}

/**
 * Turns for rows that may have ended their process: two are never at the same cell, so that the one that does it is not
 * taken for those that were in the air with it. Answers, when it is one's turn, how to end it.
 */
function createTurns(): () => Promise<() => void> {
  let last = Promise.resolve()
  return async () => {
    const before = last
    const turn = Promise.withResolvers<void>()
    last = turn.promise
    await before
    return turn.resolve
  }
}
