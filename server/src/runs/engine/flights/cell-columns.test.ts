import { expect, it } from 'vitest'
import { CellColumns } from './cell-columns.ts'
import type { SettledCell } from './flight.ts'

it('of cells completed together, a few of each action are marked as examples, in every sheet (D35)', () => {
  const position = { retries: 0, state: null }
  const cellOf = (action: string, learns: boolean): SettledCell => ({
    action,
    learns,
    status: 'complete',
    creditsMillis: 0,
    cached: false,
    startedAt: 0,
  })
  const cells = [cellOf('call_1', true), cellOf('call_2', true), cellOf('email_1', false)]
  const batch = ['one sheet', 'another'].flatMap((sheet_id) =>
    Array.from({ length: 100 }, () => ({
      flight: { facts: { sheet_id }, position },
      settlement: { cells, next: null },
    })),
  )
  const { actions, learns } = new CellColumns(batch)
  const learned = new Map<string, number>()
  for (const [n, action] of actions.entries())
    if (learns[n] === true) learned.set(action, (learned.get(action) ?? 0) + 1)
  expect(learned).toEqual(
    new Map([
      ['call_1', 16],
      ['call_2', 16],
    ]),
  )
})
