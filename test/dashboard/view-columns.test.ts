import { expect, it } from 'vitest'
import { type Column, EMPTY_LAYOUT } from '../../dashboard/src/screens/sheet/columns.ts'
import { columnsOfLayout, layoutOfView } from '../../dashboard/src/screens/sheet/views/view-columns.ts'

const COLUMNS = [
  { kind: 'input', key: 'input.domain', name: 'domain' },
  { kind: 'action', key: 'call_1', name: 'Call' },
] as unknown as Column[]

it('G1: saving a view keeps the values of answers that it shows, behind their action', () => {
  const shown = { action_instance_id: 'call_1', path: 'data.city', name: 'City', width: 90 }
  const view = {
    columns: [
      { ...shown, type: 'string' as const, reference: '{{call_1.data.city}}' },
      { action_instance_id: 'call_1', hidden: true },
    ],
    row_height: 32,
  }
  const layout = layoutOfView(view)
  expect(layout.hidden).toEqual(['call_1'])
  expect(columnsOfLayout(COLUMNS, layout, view)).toEqual([
    { action_instance_id: 'call_1', hidden: true },
    shown,
    { variable: '{{input.domain}}' },
  ])
  expect(columnsOfLayout(COLUMNS, EMPTY_LAYOUT)).toHaveLength(2)
})
