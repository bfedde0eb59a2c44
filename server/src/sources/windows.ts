import { z } from 'zod'
import type { Refusal } from '../catalog/provider/reply.ts'
import type { Keyed, Page } from './pull.ts'

/** Some searches end at a fixed number of results, whatever there is: then the next window starts behind the last record. */
export type WindowState<Position, Cursor> = {
  /** The window holds what comes after it; null in the first. */
  after: Position | null
  /** The page within the window; null at its start. */
  cursor: Cursor | null
  /** Records of this window that were read. */
  taken: number
}

export function windowState<Position, Cursor>(position: z.ZodType<Position>, cursor: z.ZodType<Cursor>) {
  return z.object({ after: position.nullable(), cursor: cursor.nullable(), taken: z.int().nonnegative() })
}

type Windows<Position, Cursor, Row> = {
  /** How many results a search shows at most, such as 10,000. */
  size: number
  state: WindowState<Position, Cursor> | null
  /**
   * Reads a page of what comes after a position, in its order. Let the position be a timestamp with an id: of many records
   * that share one timestamp, those behind the id are still found.
   */
  read: (
    after: Position | null,
    cursor: Cursor | null,
  ) => Promise<WindowPage<Position, Cursor, Row> | Refusal>
}

export type WindowPage<Position, Cursor, Row> = {
  /** In the order of their positions. */
  records: readonly (Keyed<Row> & { position: Position })[]
  cursor: Cursor | null
  total?: number
}

/** A page of a search that is read window by window. The next scheduled pull starts at the last record's position. */
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
