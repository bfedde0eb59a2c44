import { describe, expect, it } from 'vitest'
import type { CellStatus } from '#contract/rows.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import { statusFromTraces } from './run-status.ts'
import type { Trace } from './store/shortcut-runs.ts'

const AT = new Date('2030-01-31T12:00:00Z')
const definition: Definition = {
  inputs: [],
  actions: ['a_1', 'b_1', 'c_1'].map((id) => ({
    id,
    action_id: 'a',
    display_name: id,
    inputs: {},
    epoch: 0,
  })),
}
const outputs = [
  { name: 'whole', reference: '{{a_1.people}}' },
  { name: 'names', reference: '{{a_1.people.name}}' },
  { name: 'last', reference: '{{c_1.x}}' },
]
const run = { run_id: 'ours', continue_on_fail: false, inputs: [], outputs }

const cell = (action: string, status: CellStatus, more: Partial<Trace> = {}): Trace => ({
  row_id: 'row',
  run_id: 'ours',
  action,
  status,
  untouched: false,
  outputs: status === 'complete' ? '{"x":1}' : null,
  error: status === 'failed' ? 'broken' : null,
  completed_at: AT,
  ...more,
})
const flight = (action: string, more: Partial<Trace> = {}): Trace =>
  cell(action, 'queued', { completed_at: null, ...more })
const done = ['a_1', 'b_1', 'c_1'].map((action) => cell(action, 'complete'))

describe('D50: the status of a run from the traces of its row', () => {
  it.each<[string, Trace[], string]>([
    ['a flight that no worker has claimed', [flight('a_1', { untouched: true })], 'pending'],
    ['a flight that rests', [flight('a_1')], 'inProgress'],
    ['a flight behind results', [cell('a_1', 'complete'), flight('b_1', { untouched: true })], 'inProgress'],
    ['results of every action', done, 'completed'],
    ['results that stop half-way', done.slice(0, 2), 'unfinished'],
    ['nothing', [], 'unfinished'],
    ['results of another run', done.map((one) => ({ ...one, run_id: 'theirs' })), 'unfinished'],
    [
      'a flight of another run behind our results',
      [...done, flight('a_1', { run_id: 'theirs' })],
      'completed',
    ],
    ['a failure at its end', [cell('a_1', 'failed')], 'failed'],
    ['an error at its end', [cell('a_1', 'complete'), cell('b_1', 'error')], 'error'],
    ['no credits', [cell('a_1', 'out_of_credits')], 'outOfCredits'],
    ['a condition that ended it', [cell('a_1', 'condition_not_met')], 'completed'],
    ['a failure that was passed over', [cell('a_1', 'failed'), ...done.slice(1)], 'completed'],
  ])('%s', (_what, traces, expected) => {
    const found = statusFromTraces(run, definition, traces)
    expect(found.state === 'ended' ? found.status : found.state).toBe(expected)
  })

  it.each([
    [true, 'unfinished'],
    [false, 'failed'],
  ])('continue_on_fail of the frozen version: %s', (continue_on_fail, expected) => {
    const found = statusFromTraces({ ...run, continue_on_fail }, definition, [cell('a_1', 'failed')])
    expect(found.state === 'ended' ? found.status : found.state).toBe(expected)
  })

  it('fields are values of outputs and columns of lists; fields of actions that did not run are skipped', () => {
    const people = '{"people":[{"name":"Ada"},{"mail":"x"}]}'
    const found = statusFromTraces(run, definition, [
      cell('a_1', 'complete', { outputs: people }),
      cell('b_1', 'failed'),
    ])
    expect(found).toEqual({
      state: 'ended',
      status: 'failed',
      error: 'broken',
      at: AT,
      output: {
        whole: { value: [{ name: 'Ada' }, { mail: 'x' }], status: 'completed' },
        names: { value: ['Ada', null], status: 'completed' },
        last: { value: null, status: 'skipped' },
      },
    })
  })
})
