import { z } from 'zod'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { Keyed, Page } from './pull.ts'

/**
 * The state of a windowed search. Some searches return only a fixed number of results; the next window then starts
 * after the last record.
 */
export type WindowState<Position, Cursor> = {
  /** The position that the window starts after, or null in the first window. */
  after: Position | null
  /** The page within the window, or null at its start. */
  cursor: Cursor | null
  /** The number of records already read in this window. */
  taken: number
}

export function windowState<Position, Cursor>(position: z.ZodType<Position>, cursor: z.ZodType<Cursor>) {
  return z.object({ after: position.nullable(), cursor: cursor.nullable(), taken: z.int().nonnegative() })
}

type Windows<Position, Cursor, Row> = {
  /** The maximum number of results of one search, such as 10,000. */
  size: number
  state: WindowState<Position, Cursor> | null
  /**
   * Reads a page of the records after a position, in order. Use a timestamp with an id as the position: then records
   * that share the timestamp but have a greater id are still found.
   */
  read: (
    after: Position | null,
    cursor: Cursor | null,
  ) => Promise<WindowPage<Position, Cursor, Row> | Refusal>
}

export type WindowPage<Position, Cursor, Row> = {
  /** The records in the order of their positions. */
  records: readonly (Keyed<Row> & { position: Position })[]
  cursor: Cursor | null
  total?: number
}

/** Reads a page of a windowed search. The next scheduled pull starts at the position of the last record. */
export async function readWindow<Position, Cursor, Row>({
  size,
  state,
  read,
}: Windows<Position, Cursor, Row>): Promise<Page<WindowState<Position, Cursor>, Row> | Refusal> {
  const { after, cursor, taken } = state ?? { after: null, cursor: null, taken: 0 }
  const page = await read(after, cursor)
  if ('kind' in page) return page
  const count = taken + page.records.length
  const last = page.records.at(-1)?.position ?? after
  const isFull = count >= size
  const start = { after: last, cursor: null, taken: 0 }
  const next = isFull ? start : page.cursor === null ? null : { after, cursor: page.cursor, taken: count }
  return {
    records: page.records.map(({ key, row }) => ({ key, row })),
    next,
    resume: start,
    ...(page.total === undefined ? {} : { total: page.total }),
  }
}
