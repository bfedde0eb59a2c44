import { describe, expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'
import { createSheets } from '../testing/sheets.ts'

const runAction = useActions()

const people = [
  { name: 'Ann', tags: ['a'], 'Job Title': 'CEO' },
  { name: 'Bob {{input.company}}', tags: null },
]
const row = {
  input: { company: 'Acme', people: '[{"name":"Eve"}]' },
  outputs: { x_1: { people, count: 2, none: null }, y_1: { people: [{ name: 'Zoe' }] } },
}

async function send(inputs: Record<string, unknown>) {
  const sheets = createSheets({ target: [{ name: 'there already' }] })
  const outcome = await runAction('send_to_sheet', { target_sheet_id: 'target', ...inputs }, { row, sheets })
  return { outcome, rows: sheets.rows['target']?.slice(1) }
}

const map = (mapping: Record<string, unknown>) =>
  Object.entries(mapping).map(([name, value]) => ({ name, value }))

describe('send_to_sheet', () => {
  it('adds one row without expand_from; a lone token keeps its JSON type', async () => {
    const field_mapping = map({
      company: '{{input.company}}',
      people: '{{x_1.people}}',
      note: 'n={{x_1.count}}',
      fixed: 5,
    })
    const { outcome, rows } = await send({ field_mapping })
    expect(outcome).toEqual({ kind: 'done', outputs: { rows_created: 1, row_ids: ['row-2'] } })
    expect(rows).toEqual([{ company: 'Acme', people, note: 'n=2', fixed: 5 }])
  })

  it('adds one row for each item of expand_from, whose columns stand for that item', async () => {
    const field_mapping = map({
      name: '{{x_1.people.name}}',
      tags: '{{ x_1.people.tags }}',
      hello: 'Hi {{x_1.people.name}} of {{input.company}}!',
      title: '{{x_1.people.Job Title}}',
      others: '{{y_1.people.name}}',
      all: '{{x_1.people}}',
    })
    const { outcome, rows } = await send({ expand_from: '{{x_1.people}}', field_mapping })
    expect(outcome).toEqual({ kind: 'done', outputs: { rows_created: 2, row_ids: ['row-2', 'row-3'] } })
    expect(rows).toEqual([
      { name: 'Ann', tags: ['a'], hello: 'Hi Ann of Acme!', title: 'CEO', others: ['Zoe'], all: people },
      {
        name: 'Bob {{input.company}}',
        tags: null,
        hello: 'Hi Bob {{input.company}} of Acme!',
        title: null,
        others: ['Zoe'],
        all: people,
      },
    ])
  })

  it('gives a column of a list that is not expanded as the list of its values', async () => {
    const { rows } = await send({ field_mapping: map({ names: '{{x_1.people.name}}' }) })
    expect(rows).toEqual([{ names: ['Ann', 'Bob {{input.company}}'] }])
  })

  it('expands a list that came as JSON text', async () => {
    const { rows } = await send({
      expand_from: '{{input.people}}',
      field_mapping: map({ company: '{{input.company}}' }),
    })
    expect(rows).toEqual([{ company: 'Acme' }])
  })

  it('adds nothing when the list is empty', async () => {
    const { outcome, rows } = await send({ expand_from: '{{x_1.none}}', field_mapping: map({ a: 'b' }) })
    expect(outcome).toEqual({ kind: 'done', outputs: { rows_created: 0, row_ids: [] } })
    expect(rows).toEqual([])
  })

  it('skips items of the mapping with an empty name; one without a name is refused (D76)', async () => {
    const field_mapping = [
      { name: ' a ', value: '1' },
      { name: '', value: '2' },
    ]
    expect((await send({ field_mapping })).rows).toEqual([{ a: '1' }])
    await expect(send({ field_mapping: [{ value: '3' }] })).rejects.toThrow(/name/)
  })

  it.each([
    [
      'a target that is not there',
      { target_sheet_id: 'gone' },
      { kind: 'failed', message: 'sheet gone is not there' },
    ],
    [
      'something that is no list',
      { expand_from: '{{input.company}}' },
      { kind: 'unrunnable', message: 'expand_from: must be a list' },
    ],
    [
      'no mapping',
      { field_mapping: [] },
      { kind: 'unrunnable', message: 'required and empty: field_mapping' },
    ],
    [
      'a column of an action that is not there',
      { field_mapping: map({ a: '{{z_1.people.name}}' }) },
      { kind: 'unrunnable', message: '{{z_1.people.name}} does not exist' },
    ],
  ])('does not succeed with %s', async (_what, inputs, expected) => {
    expect((await send({ field_mapping: map({ a: 'b' }), ...inputs })).outcome).toEqual(expected)
  })
})
