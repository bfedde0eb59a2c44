import { beforeAll, describe, expect, it } from 'vitest'
import { testCatalogue } from '#test/builders/catalogue.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { makeChain, type TestChain } from '../../../api/testing/chain.ts'

const app = await makeApp({ services: { catalogue: testCatalogue } })
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const addRow = async (chain: TestChain): Promise<string> =>
  (await org.call('POST', `${chain.sheet}/rows`, { rows: [{}] })).body.data.row_ids[0]

/** Stores a result as a run does, `at` seconds into the day. */
async function complete(
  chain: TestChain,
  row_id: string,
  action: string,
  outputs: Record<string, unknown> | null,
  at: number,
  { status = 'complete', learns = true }: { status?: 'complete' | 'failed'; learns?: boolean } = {},
): Promise<void> {
  const when = new Date(Date.UTC(2026, 0, 1, 0, 0, at))
  const cell = { status, outputs: JSON.stringify(outputs), completed_at: when }
  await app.store.system
    .insertInto('cells')
    .values({
      ...cell,
      org_id: org.orgId,
      sheet_id: chain.workflowId,
      row_id,
      action,
      run_id: chain.workflowId,
      revision: 1,
      attempts: 1,
      credits_millis: 0,
      cached: false,
      learns,
      started_at: when,
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'row_id', 'action']).doUpdateSet(cell))
    .execute()
}

const outputsOf = async (chain: TestChain, id: string) => {
  const { status, body } = await chain.call('GET', `/${id}/outputs`)
  expect([status, Object.keys(body), body.data.action_instance_id]).toEqual([200, ['status', 'data'], id])
  return body.data.outputs
}
const typesOf = async (chain: TestChain, id: string) =>
  (await outputsOf(chain, id)).map(({ name, type }: { name: string; type: string }) => [name, type])

const STATUS = {
  name: 'status_code',
  type: 'number',
  reference: '{{caller_1.status_code}}',
  description: 'The status.',
}

describe('4.5 Get Action Outputs', () => {
  it('of a static action: its descriptors, whether it ran or not; none for an action without outputs', async () => {
    const chain = await makeChain(app, org)
    for (const action of ['finder', 'gate', 'probe']) await chain.add(action)
    expect(await outputsOf(chain, 'finder_1')).toEqual([
      { name: 'email', type: 'email', reference: '{{finder_1.email}}', description: 'What was found.' },
    ])
    expect(await outputsOf(chain, 'gate_1')).toEqual([])
    expect(await outputsOf(chain, 'probe_1')).toEqual((await chain.node('probe_1')).outputs)
  })

  it('D35: a dynamic action that never ran gives []', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    await addRow(chain)
    expect(await outputsOf(chain, 'caller_1')).toEqual([])
  })

  it('derives and persists the schema from the captured response', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    const row = await addRow(chain)
    await complete(
      chain,
      row,
      'caller_1',
      {
        status_code: 200,
        name: 'Ann',
        site: 'https://example.com',
        mail: 'ann@example.com',
        age: 42,
        ok: true,
        raw: [1, 2],
        none: null,
        deep: { a: 1 },
        items: [
          { id: 1, note: null },
          { id: 2, tag: 'x' },
        ],
        'not {a} name': 1,
      },
      1,
    )
    const expected = [
      STATUS,
      { name: 'name', type: 'string', reference: '{{caller_1.name}}' },
      { name: 'site', type: 'url', reference: '{{caller_1.site}}' },
      { name: 'mail', type: 'email', reference: '{{caller_1.mail}}' },
      { name: 'age', type: 'number', reference: '{{caller_1.age}}' },
      { name: 'ok', type: 'boolean', reference: '{{caller_1.ok}}' },
      { name: 'raw', type: 'raw_array', reference: '{{caller_1.raw}}' },
      { name: 'none', type: 'string', reference: '{{caller_1.none}}' },
      { name: 'deep', type: 'json', reference: '{{caller_1.deep}}' },
      {
        name: 'items',
        type: 'structured_array',
        reference: '{{caller_1.items}}',
        columns: [
          { name: 'id', type: 'number', structured_array_reference: '{{caller_1.items.id}}' },
          { name: 'note', type: 'string', structured_array_reference: '{{caller_1.items.note}}' },
          { name: 'tag', type: 'string', structured_array_reference: '{{caller_1.items.tag}}' },
        ],
      },
    ]
    expect(await outputsOf(chain, 'caller_1')).toEqual(expect.arrayContaining(expected))
    expect(await outputsOf(chain, 'caller_1')).toHaveLength(expected.length)
    expect((await chain.node('caller_1')).outputs).toHaveLength(expected.length)
    const entries = (await chain.audit()).filter(([action]) => action === 'action.outputs_discovered')
    expect(entries).toHaveLength(1)
  })

  it('outlives the rows it was seen in', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    await complete(chain, await addRow(chain), 'caller_1', { total: 5 }, 1)
    const seen = await outputsOf(chain, 'caller_1')
    await org.call('POST', `${chain.sheet}/rows/delete-all`)
    expect(await outputsOf(chain, 'caller_1')).toEqual(seen)
    expect((await chain.node('caller_1')).outputs).toEqual(seen)
  })

  it('reflects the latest run only, whichever row that was on', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    const rows = [await addRow(chain), await addRow(chain)] as const
    await complete(chain, rows[0], 'caller_1', { a: 1 }, 1)
    await complete(chain, rows[1], 'caller_1', { b: 1 }, 2)
    expect(await typesOf(chain, 'caller_1')).toEqual([
      ['status_code', 'number'],
      ['b', 'number'],
    ])
    await complete(chain, rows[0], 'caller_1', { c: 'x' }, 3)
    expect(await typesOf(chain, 'caller_1')).toEqual([
      ['status_code', 'number'],
      ['c', 'string'],
    ])
    await complete(chain, rows[1], 'caller_1', null, 4, { status: 'failed' })
    expect(await typesOf(chain, 'caller_1')).toEqual([
      ['status_code', 'number'],
      ['c', 'string'],
    ])
  })

  it('is found in rows that were completed with others, after the marked rows were deleted', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    const rows = [await addRow(chain), await addRow(chain)] as const
    await complete(chain, rows[0], 'caller_1', { a: 1 }, 1)
    await complete(chain, rows[1], 'caller_1', { b: 1 }, 1, { learns: false })
    await org.call('POST', `${chain.sheet}/rows/delete`, { row_ids: [rows[0]] })
    expect(await typesOf(chain, 'caller_1')).toEqual([
      ['status_code', 'number'],
      ['b', 'number'],
    ])
  })

  it('columns of a list that a static action declares without them come from a run too', async () => {
    const chain = await makeChain(app, org)
    await chain.add('probe')
    const loose = async () =>
      (await outputsOf(chain, 'probe_1')).find((output: { name: string }) => output.name === 'loose')
    expect((await loose()).columns).toEqual([])
    await complete(
      chain,
      await addRow(chain),
      'probe_1',
      { loose: [{ city: 'Oslo' }], extra: 1, summary: 5 },
      1,
    )
    expect((await loose()).columns).toEqual([
      { name: 'city', type: 'string', structured_array_reference: '{{probe_1.loose.city}}' },
    ])
    expect(await typesOf(chain, 'probe_1')).toHaveLength(7)
  })

  it('what is discovered is known to references and conditions from then on (D34)', async () => {
    const chain = await makeChain(app, org)
    await chain.add('caller')
    await chain.add('probe', { inputs: { text: '{{caller_1.totl}}' } })
    const lessThan = (name: string) =>
      chain.call('PATCH', '/probe_1', {
        run_if: {
          conditions: [
            { conditions: [{ variable: `{{caller_1.${name}}}`, operator: 'less than', values: ['1'] }] },
          ],
        },
      })
    expect((await lessThan('label')).status).toBe(200)
    expect((await chain.call('GET', '/probe_1')).body).not.toHaveProperty('warnings')
    await complete(chain, await addRow(chain), 'caller_1', { total: 5, label: 'x', later: null }, 1)
    await outputsOf(chain, 'caller_1')
    expect((await lessThan('total')).status).toBe(200)
    expect((await lessThan('later')).status).toBe(200)
    expect((await lessThan('label')).status).toBe(400)
    expect((await chain.call('GET', '/probe_1')).body.warnings).toMatchObject([
      { field: 'inputs.text', code: 'unresolved_reference' },
    ])
  })
})
