import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Keyed, Page } from './pull.ts'
import { readWindow, type WindowState, windowState } from './windows.ts'

type Position = { at: number; id: number }
type Row = { name: string }
type State = WindowState<Position, number>

const WINDOW = 100
const PAGE = 30

/** Returns a search in the order of (at, id) that shows no more than one window. */
function searchOver(records: Position[]) {
  const sorted = records.toSorted((a, b) => a.at - b.at || a.id - b.id)
  return async (after: Position | null, cursor: number | null) => {
    const isBehind = ({ at, id }: Position) =>
      after === null || at > after.at || (at === after.at && id > after.id)
    const shown = sorted.filter(isBehind).slice(0, WINDOW)
    const from = cursor ?? 0
    const page = shown.slice(from, from + PAGE)
    return {
      records: page.map((position) => ({ key: position.id, row: { name: `n${position.id}` }, position })),
      cursor: from + PAGE < shown.length ? from + PAGE : null,
    }
  }
}

async function walk(records: Position[], first: State | null = null) {
  const read = searchOver(records)
  const seen: Keyed<Row>[] = []
  let state = first
  for (;;) {
    const page: Page<State, Row> | { kind: string } = await readWindow({ size: WINDOW, state, read })
    if ('kind' in page) throw new Error(page.kind)
    seen.push(...page.records)
    if (page.next === null) return { keys: seen.map(({ key }) => key), resume: page.resume }
    state = page.next
  }
}

it.each([
  ['every record has a time of its own', (n: number) => n],
  ['all share one timestamp', () => 7],
  ['many share one', (n: number) => Math.floor(n / 250)],
])('a search that ends at a window is read whole when %s', async (_case, at) => {
  for (const count of [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 1000]) {
    const records = Array.from({ length: count }, (_, id) => ({ at: at(id), id }))
    const { keys } = await walk(records)
    expect(keys).toEqual(records.map(({ id }) => id))
  }
})

it('the next pull starts after the last record, also after a window that was just full', async () => {
  const records = Array.from({ length: WINDOW }, (_, id) => ({ at: 1, id }))
  const { resume } = await walk(records)
  const later = [...records, { at: 1, id: 500 }, { at: 2, id: 3000 }]
  const stored = windowState(z.object({ at: z.number(), id: z.number() }), z.number()).parse(
    JSON.parse(JSON.stringify(resume)),
  )
  expect((await walk(later, stored)).keys).toEqual([500, 3000])
})
