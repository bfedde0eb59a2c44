import { expect, it } from 'vitest'
import { listExportColumns } from './export-columns.ts'

const action = (id: string, name: string, ...outputs: string[]) => ({ id, name, outputs, open: true })

it('D61: inputs, then the outputs of each action along the chain; what cells hold beyond the known ones comes last', () => {
  const plan = {
    inputs: [
      { name: 'b', column: 2 },
      { name: 'a', column: 1 },
    ],
    actions: [action('x_1', 'X', 'z', 'y'), action('gate_1', 'Gate'), action('x_2', 'Other', 'z')],
  }
  const found = new Map([['x_1', ['a', 'y', 'z']]])
  expect(listExportColumns(plan, found)).toEqual([
    { header: 'b', input: 2 },
    { header: 'a', input: 1 },
    { header: 'X: z', action: 0, output: 'z' },
    { header: 'X: y', action: 0, output: 'y' },
    { header: 'X: a', action: 0, output: 'a' },
    { header: 'Other: z', action: 2, output: 'z' },
  ])
})

it('headers are unique, whatever the names are', () => {
  const plan = {
    inputs: [
      { name: 'X: y', column: 1 },
      { name: 'X: y (2)', column: 2 },
    ],
    actions: [action('x_1', 'X', 'y'), action('x_2', 'X', 'y')],
  }
  const headers = listExportColumns(plan, new Map()).map(({ header }) => header)
  expect(headers).toEqual(['X: y', 'X: y (2)', 'X: y (3)', 'X: y (4)'])
})

it('more columns than a file holds are refused', () => {
  const names = Array.from({ length: 1601 }, (_, n) => `n${n}`)
  expect(() => listExportColumns({ inputs: [], actions: [action('x_1', 'X', ...names)] }, new Map())).toThrow(
    'The sheet has 1601 columns; a file holds at most 1600',
  )
})
