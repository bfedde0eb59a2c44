import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()

const text = (name: string) => ({ name, type: 'string' })
const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const answer = await org.call(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

async function makeSheet(inputs: object[], rows: object[] = []): Promise<string> {
  const { workflow_id: id } = await call('POST', '/workflows', { name: 'W' })
  const base = `/workflows/${id}/sheets/${id}`
  await call('POST', `${base}/inputs`, inputs)
  if (rows.length > 0) await call('POST', `${base}/rows`, { rows })
  return base
}
const change = (base: string, name: string, body: unknown) =>
  org.call('PATCH', `${base}/inputs/${encodeURIComponent(name)}`, body)
const values = async (base: string): Promise<Json[]> =>
  (await call('POST', `${base}/rows/list`, {})).rows.map(({ inputs }: Json) => inputs)

describe('H13: types', () => {
  it('a new type warns of values that do not fit it, and they stay as given', async () => {
    const base = await makeSheet(
      [text('a')],
      [
        { a: 'true' },
        { a: 'FALSE' },
        { a: true },
        { a: 'maybe' },
        { a: '2026-02-30' },
        { a: '2026-03-01' },
        {},
      ],
    )
    const retype = async (body: object) => {
      const answer = await change(base, 'a', body)
      return [
        answer.status,
        answer.body.data.type,
        (answer.body.warnings ?? []).map((one: Json) => one.message),
      ]
    }
    expect(await retype({ type: 'boolean' })).toEqual([
      200,
      'boolean',
      ["3 values don't look like yes or no; they stay as given"],
    ])
    expect(await retype({ type: 'date' })).toEqual([
      200,
      'date',
      ["5 values don't look like dates; they stay as given"],
    ])
    expect(await retype({ type: 'select', choices: ['true', 'maybe'] })).toEqual([
      200,
      'select',
      ["3 values don't look like one of the choices; they stay as given"],
    ])
    expect((await change(base, 'a', { description: 'd' })).body).toMatchObject({
      data: { choices: ['true', 'maybe'], description: 'd' },
    })
    expect(await retype({ choices: ['true', 'maybe', 'FALSE', '2026-02-30', '2026-03-01'] })).toEqual([
      200,
      'select',
      [],
    ])
    expect(await retype({ type: 'string' })).toEqual([200, 'string', []])
    const [input] = await call('GET', `${base}/inputs`)
    expect(input).not.toHaveProperty('choices')
    expect((await values(base)).map(({ a }) => a)).toEqual([
      'true',
      'FALSE',
      true,
      'maybe',
      '2026-02-30',
      '2026-03-01',
      null,
    ])
  })

  it('choices are 1 to 200 unique texts, and every fault is named', async () => {
    const base = await makeSheet([text('a')])
    const select = (choices: unknown) => ({ name: 's', type: 'select', choices })
    const refused = async (item: unknown) =>
      (await org.call('POST', `${base}/inputs`, [item])).body.errors.map(({ field }: Json) => field)
    expect(await refused({ name: 's', type: 'select' })).toEqual(['inputs[0].choices'])
    expect(await refused(select([]))).toEqual(['inputs[0].choices'])
    expect(await refused(select(['a', 'b', ' a ']))).toEqual(['inputs[0].choices[2]'])
    expect(await refused(select(Array.from({ length: 201 }, (_, n) => `${n}`)))).toEqual([
      'inputs[0].choices',
    ])
    expect(await refused({ name: '', type: 'url', choices: ['a'] })).toEqual([
      'inputs[0].name',
      'inputs[0].choices',
    ])
    const made = await call('POST', `${base}/inputs`, [select(['one', 'two']), { name: 'd', type: 'date' }])
    expect(made[1]).toMatchObject({ type: 'select', choices: ['one', 'two'] })
    const { warnings } = (
      await org.call('POST', `${base}/rows`, {
        rows: [
          { s: 'two', d: '2026-01-01' },
          { s: 'Two', d: 'soon' },
        ],
      })
    ).body
    expect(warnings.map(({ field }: Json) => field)).toEqual(['rows[1].s', 'rows[1].d'])
    expect((await call('GET', `${base}/actions/graph`))[0].outputs.map(({ type }: Json) => type)).toEqual([
      'string',
      'string',
      'date',
    ])
  })
})

describe('H13: a copy of an input has its values', () => {
  it('also of many rows, beside the original and under the next free name', async () => {
    const base = await makeSheet([text('a'), text('z')])
    for (let from = 0; from < 5000; from += 1000) {
      const rows = Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? { a: `v${from + n}` } : { z: 'z' }))
      await call('POST', `${base}/rows`, { rows })
    }
    const duplicate = (name: string, body?: object) =>
      org.call('POST', `${base}/inputs/${encodeURIComponent(name)}/duplicate`, body)
    const first = await duplicate('a')
    expect([first.status, first.body.data]).toEqual([
      201,
      { name: 'a copy', type: 'string', description: '', reference: '{{input.a copy}}' },
    ])
    expect((await duplicate('a')).body.data.name).toBe('a copy 2')
    expect((await duplicate('a', { name: 'z' })).body.errors).toEqual([
      { field: 'name', message: 'must be unique in the sheet' },
    ])
    expect((await duplicate('a', { other: 1 })).status).toBe(400)
    expect((await duplicate('nothing')).status).toBe(404)
    const names = (await call('GET', `${base}/inputs`)).map(({ name }: Json) => name)
    expect(names).toEqual(['a', 'a copy 2', 'a copy', 'z'])
    const same = [{ variable: '{{input.a copy}}', operator: 'not empty' }]
    const { total_count, rows } = await call('POST', `${base}/rows/list`, { filters: same, page_no: 13 })
    expect(total_count).toBe(2500)
    for (const { inputs } of rows) expect(inputs['a copy']).toBe(inputs.a)
  })
})
