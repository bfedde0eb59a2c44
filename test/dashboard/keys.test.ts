import { QueryClient } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { sheetCall } from '../../dashboard/src/api/calls.ts'
import { keys } from '../../dashboard/src/api/keys.ts'

const sheet = keys.sheet('s')

it('invalidating a key also invalidates those that start with it, and no others', async () => {
  const queries = new QueryClient()
  const parents = {
    cells: [sheet.cells, sheet.row('r'), sheet.cell('r', 'a')],
    runs: [sheet.runs, sheet.causes('x')],
    configurations: [sheet.configurations, sheet.configuration('a')],
    shortcutRuns: [keys.shortcutRuns('i'), keys.shortcutRun('i', 'x'), keys.shortcutRunPage('i', 20)],
    workflow: [keys.workflow('w'), keys.sharing('w')],
    source: [keys.source('o'), keys.sourceRecords('o', 1, 5)],
    members: [keys.members, keys.removalImpact('a@example.com')],
  }
  const all = [...Object.values(parents).flat(), sheet.actions, sheet.totals, keys.sheet('other').cells]
  for (const [parent, expected] of Object.entries(parents)) {
    const [queryKey = keys.session] = expected
    for (const key of all) queries.setQueryData(key, 1)
    await queries.invalidateQueries({ queryKey })
    const stale = all.filter((key) => queries.getQueryState(key)?.isInvalidated)
    expect(stale, parent).toEqual(expected)
  }
})

it('different rows, sheets and requests have different keys', () => {
  const of = { workflowId: 'w', sheetId: 's' }
  const estimate = (only: 'failed' | 'unfinished') =>
    keys.estimate(sheetCall(of, 'POST /estimate', { body: { only } }))
  const made = [
    sheet.cell('r', 'a'),
    sheet.cell('r', 'b'),
    sheet.row('a'),
    keys.sheet('t').row('a'),
    estimate('failed'),
    estimate('unfinished'),
    keys.file('f', null),
    keys.file('f', 'Sheet1'),
  ].map((key) => JSON.stringify(key))
  expect(new Set(made).size).toBe(made.length)
})

it('a key that is written by hand is an error of types', async () => {
  const queries = new QueryClient()
  // @ts-expect-error Keys come from api/keys.ts.
  await queries.invalidateQueries({ queryKey: ['workflows'] })
  // @ts-expect-error Keys come from api/keys.ts.
  expect(queries.getQueryData(['workflows'])).toBeUndefined()
})
