import { describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const paid = paidAction((text) => (text === 'bad' ? failed('no such thing') : done({ value: text })))
const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)

async function group(base: string, body: object): Promise<Json> {
  const answer = await org.call('POST', `${base}/rows/groups`, body)
  expect([answer.status, answer.body.errors]).toEqual([200, undefined])
  return answer.body.data
}

const input = (name: string) => ({ variable: `{{input.${name}}}` })
const brief = ({ groups }: Json) => groups.map((one: Json) => [...one.values, one.count])

describe('G5 Groups', () => {
  it('groups by up to three columns: largest first, ties by value, empty last among them', async () => {
    const base = await makeSheet(['city', 'kind', 'n'])
    await addRows(base, [
      { city: 'Bern', kind: 'a', n: '1' },
      { city: 'Bern', kind: 'a', n: '2.5' },
      { city: 'Bern', kind: 'b', n: 'x' },
      { city: 'Aarau', kind: 'a', n: '4' },
      { city: [], kind: 'b' },
      { kind: 'b', n: '-1e1' },
      { city: 'aarau', kind: 'b' },
    ])
    const one = await group(base, { by: [input('city')] })
    expect(brief(one)).toEqual([
      ['Bern', 3],
      [null, 2],
      ['Aarau', 1],
      ['aarau', 1],
    ])
    expect([one.group_count, one.total_count]).toEqual([4, 7])
    for (const { count, selection } of one.groups)
      expect((await list(base, selection)).total_count).toBe(count)
    const two = await group(base, { by: [input('city'), input('kind')] })
    expect(brief(two)).toEqual([
      ['Bern', 'a', 2],
      [null, 'b', 2],
      ['Aarau', 'a', 1],
      ['Bern', 'b', 1],
      ['aarau', 'b', 1],
    ])
    const functions = ['sum', 'average', 'min', 'max'] as const
    const aggregates = functions.map((name) => ({ variable: '{{input.n}}', function: name }))
    const summed = await group(base, { by: [input('kind')], aggregates })
    expect(summed.groups.map((each: Json) => each.aggregates)).toEqual([
      [-10, -10, -10, -10],
      [7.5, 2.5, 1, 4],
    ])
    const none = await group(base, {
      by: [input('kind')],
      aggregates: [{ ...input('city'), function: 'sum' }],
    })
    expect(none.groups.map((each: Json) => each.aggregates)).toEqual([[null], [null]])
    const all = await group(base, { by: [input('n'), input('city'), input('kind')] })
    expect(all.group_count).toBe(7)
  })

  it('`selection` finds just the rows of its group, also within a selection', async () => {
    const base = await makeSheet(['city', 'kind', 'n'])
    await addRows(
      base,
      Array.from({ length: 60 }, (_, n) => ({ city: n % 7 === 0 ? '' : `c${n % 5}`, kind: `k${n % 3}`, n })),
    )
    const chosen = {
      filters: [{ variable: '{{input.n}}', operator: 'less than', values: ['50'] }],
      created_at: { operator: 'greater than', values: ['2020-01-01'] },
      find: 'k',
    }
    const { groups, total_count } = await group(base, {
      by: [input('city'), input('kind'), { field: 'created_at' }],
      ...chosen,
    })
    expect(total_count).toBe(50)
    const today = new Date().toISOString().slice(0, 10)
    for (const { values, count, selection } of groups) {
      const page = await list(base, { ...selection, page_size: 200 })
      expect([page.total_count, values[2]]).toEqual([count, today])
      for (const { inputs } of page.rows)
        expect([inputs.city === '' ? null : inputs.city, inputs.kind]).toEqual(values.slice(0, 2))
    }
  })

  it('groups by status and by outputs; cells that are not complete are empty', async () => {
    const base = await makePaidSheet(org)
    await addRows(base, [{ x: '1' }, { x: '1.0' }, { x: 'bad' }, { x: 'y' }])
    await org.call('POST', `${base}/run-all`)
    await settledRows(org, base)
    await addRows(base, [{ x: 'later' }])
    const byStatus = await group(base, { by: [{ action_instance_id: 'paid_1' }] })
    expect(brief(byStatus)).toEqual([
      ['complete', 3],
      ['failed', 1],
      [null, 1],
    ])
    for (const { count, selection } of byStatus.groups)
      expect((await list(base, selection)).total_count).toBe(count)
    // Outputs that are equal as numbers are one group, as `is` compares them.
    const byOutput = await group(base, { by: [{ variable: '{{paid_1.value}}' }] })
    expect(brief(byOutput)).toEqual([
      ['1', 2],
      [null, 2],
      ['y', 1],
    ])
    for (const { count, selection } of byOutput.groups)
      expect((await list(base, selection)).total_count).toBe(count)
    expect(byOutput.groups[0].selection).toEqual({
      filters: [{ variable: '{{paid_1.value}}', operator: 'is equal to', values: ['1'] }],
    })
  })

  it('paths lead into values: lists, objects, and texts that are JSON', async () => {
    const base = await makeSheet(['data'])
    await addRows(base, [
      { data: { a: { b: 1 } } },
      { data: '{"a": {"b": 1}}' },
      { data: { a: [] } },
      { data: [{ a: 2 }, { a: 3 }, 4] },
      { data: 'plain' },
    ])
    expect(brief(await group(base, { by: [{ variable: '{{input.data.a.b}}' }] }))).toEqual([
      ['1', 2],
      [null, 2],
      ['[null, null, null]', 1],
    ])
    expect(brief(await group(base, { by: [{ variable: '{{input.data[1].a}}' }] }))).toEqual([
      [null, 4],
      ['3', 1],
    ])
    const lists = await group(base, { by: [{ variable: '{{input.data.a}}' }] })
    for (const { count, selection } of lists.groups)
      expect((await list(base, selection)).total_count).toBe(count)
    expect(lists.groups.map((one: Json) => one.values[0] && JSON.parse(one.values[0]))).toEqual([
      { b: 1 },
      null,
      [2, 3, null],
    ])
  })

  it('lists the 1,000 largest groups, and fewer if their values are long', async () => {
    const base = await makeSheet(['v'])
    for (const from of [0, 600])
      await addRows(
        base,
        Array.from({ length: 600 }, (_, n) => ({ v: `v${from + n}` })),
      )
    await addRows(base, [{ v: 'v7' }])
    const many = await group(base, { by: [input('v')] })
    expect([many.groups.length, many.group_count, many.total_count]).toEqual([1000, 1200, 1201])
    expect(many.groups[0]).toMatchObject({ values: ['v7'], count: 2 })
    const long = await makeSheet(['v'])
    for (const n of [1, 2, 3, 4, 5, 6]) await addRows(long, [{ v: `${n}${'x'.repeat(1_000_000)}` }])
    const few = await group(long, { by: [input('v')] })
    expect([few.groups.length, few.group_count]).toEqual([4, 6])
  })

  it.each<[string, object, string[]]>([
    ['no columns', {}, ['by']],
    ['none', { by: [] }, ['by']],
    ['four columns', { by: ['v', 'v', 'v', 'v'].map(input) }, ['by']],
    ['two names of a column', { by: [{ ...input('v'), field: 'created_at' }] }, ['by[0]']],
    ['no name of a column', { by: [{}] }, ['by[0]']],
    [
      'what is not on the sheet',
      {
        by: [input('w'), { action_instance_id: 'paid_9' }, { variable: '{{paid_9.value}}' }],
        aggregates: [{ ...input('z'), function: 'sum' }],
        filters: [{ ...input('q'), operator: 'is empty' }],
      },
      [
        'by[0].variable',
        'by[1].action_instance_id',
        'by[2].variable',
        'aggregates[0].variable',
        'filters[0].variable',
      ],
    ],
    [
      'unknown function and column at once',
      { by: [input('w')], aggregates: [{ ...input('v'), function: 'median' }] },
      ['aggregates[0].function', 'by[0].variable'],
    ],
    ['no token', { by: [{ variable: 'v' }] }, ['by[0].variable']],
  ])('400: %s', async (_name, body, fields) => {
    const base = await makeSheet(['v'])
    const answer = await org.call('POST', `${base}/rows/groups`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { field: string }) => error.field).toSorted()).toEqual(
      fields.toSorted(),
    )
  })
})
