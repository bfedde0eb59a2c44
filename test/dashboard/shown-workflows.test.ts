import { expect, it } from 'vitest'
import type { Workflow } from '../../dashboard/src/api/workflows.ts'
import { showWorkflows, type View } from '../../dashboard/src/screens/workflows/shown-workflows.ts'

const NOW = Date.parse('2026-11-19T12:00:00Z')
const DAY = 24 * 3600 * 1000
const workflow = (name: string, days: number, last_run: Workflow['last_run'] = null): Workflow => ({
  workflow_id: name,
  name,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: new Date(NOW - days * DAY).toISOString(),
  owner: null,
  is_owner: true,
  shared_with: 0,
  last_run,
})
const run = (days: number, more: Partial<NonNullable<Workflow['last_run']>> = {}) => ({
  state: 'finished' as const,
  at: new Date(NOW - days * DAY).toISOString(),
  rows_queued: 2,
  rows_done: 2,
  cells_failed: 0,
  ...more,
})
const ALL = [
  workflow('Fresh', 1),
  workflow('Old', 30),
  workflow('Old but run', 30, run(2)),
  workflow('Running', 30, run(0, { state: 'running', cells_failed: 1 })),
  workflow('Failed', 30, run(20, { cells_failed: 3 })),
]

it.each<[View, string, string[]]>([
  ['All', '', ['Fresh', 'Old', 'Old but run', 'Running', 'Failed']],
  ['Recent', '', ['Fresh', 'Old but run', 'Running']],
  ['Running', '', ['Running']],
  ['Failed', '', ['Failed']],
  ['All', ' OLD ', ['Old', 'Old but run']],
  ['Recent', 'old', ['Old but run']],
])('H16: the view %s with the words %j', (view, words, names) => {
  expect(showWorkflows(ALL, { view, words, now: NOW }).map(({ name }) => name)).toEqual(names)
})
