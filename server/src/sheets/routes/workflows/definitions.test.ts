import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()

let names = 0
const fresh = () => `Leads ${(names += 1)}`
const CLEAN = {
  id: 'clean',
  action: 'normalize_domain',
  name: 'Clean domain',
  inputs: { value: '{{input.domain}}' },
}
const LOWER = {
  id: 'lower',
  action: 'format_data_using_js_expression',
  name: 'Lower',
  inputs: { data_formatter: '{{clean.domain}}' },
}
const file = (workflow: string, more: object = {}) => ({
  loam: 1,
  workflow,
  sheets: [
    {
      sheet: workflow,
      inputs: [{ name: 'domain', type: 'url', description: 'Site' }],
      actions: [CLEAN, LOWER],
      ...more,
    },
  ],
})
const plan = (definition: object, more: object = {}) =>
  org.call('POST', '/definitions/plan', { definition, ...more })
const apply = (definition: object, more: object = {}) =>
  org.call('POST', '/definitions/apply', { definition, ...more })
const read = async (id: string): Promise<Json> =>
  (await org.call('GET', `/workflows/${id}/definition`)).body.data
async function make(definition: object): Promise<string> {
  const made = await apply(definition)
  expect([made.status, made.body.errors]).toEqual([200, undefined])
  return made.body.data.workflow_id
}
const graphOf = async (id: string): Promise<Json[]> =>
  (await org.call('GET', `/workflows/${id}/sheets/${id}/actions/graph`)).body.data

describe('a workflow as a file', () => {
  it('a plan stores nothing and says the same as the application', async () => {
    const name = fresh()
    const planned = await plan(file(name))
    expect(planned.body.data).toMatchObject({ workflow_id: null, applied: false, summary: { add: 5 } })
    const list = (await org.call('GET', '/workflows')).body.data
    expect(list.map((one: Json) => one.name)).not.toContain(name)
    const applied = (await apply(file(name))).body.data
    expect(applied).toMatchObject({ applied: true, changes: planned.body.data.changes })
    expect(applied.changes).toEqual([
      { op: 'add', kind: 'workflow', sheet: null, name },
      { op: 'add', kind: 'sheet', sheet: name, name },
      { op: 'add', kind: 'input', sheet: name, name: 'domain' },
      { op: 'add', kind: 'action', sheet: name, name: 'Clean domain' },
      { op: 'add', kind: 'action', sheet: name, name: 'Lower' },
    ])
  })

  it('twice is once, and what is read is what was applied, always the same', async () => {
    const name = fresh()
    const id = await make(file(name))
    expect((await apply(file(name))).body.data).toMatchObject({ changes: [], applied: true, workflow_id: id })
    const written = await read(id)
    expect(written).toEqual({
      loam: 1,
      workflow: name,
      sheets: [
        {
          sheet: name,
          inputs: [{ name: 'domain', type: 'url', description: 'Site' }],
          actions: [
            { ...CLEAN, id: 'normalize_domain' },
            {
              ...LOWER,
              id: 'format_data_using_js_expression',
              inputs: { data_formatter: '{{normalize_domain.domain}}' },
            },
          ],
        },
      ],
    })
    expect((await plan(written)).body.data.changes).toEqual([])
    expect(JSON.stringify(await read(id))).toBe(JSON.stringify(written))
  })

  it('unchanged actions keep their results, and all keep ids and rows', async () => {
    const name = fresh()
    const id = await make(file(name))
    const sheet = `/workflows/${id}/sheets/${id}`
    await org.call('POST', `${sheet}/rows`, {
      rows: [{ domain: 'HTTPS://WWW.Acme.com/x' }],
      run_after_add: 'all',
    })
    await settledRows(org, sheet)
    const before = await graphOf(id)
    const changed = await apply(file(name, { actions: [CLEAN, { ...LOWER, name: 'Small', was: 'Lower' }] }))
    expect(changed.body.data.changes).toEqual([
      { op: 'rename', kind: 'action', sheet: name, name: 'Small', before: 'Lower', after: 'Small' },
    ])
    const after = await graphOf(id)
    expect(after.map((node) => node.action_instance_id)).toEqual(
      before.map((node) => node.action_instance_id),
    )
    const [row] = (await org.call('POST', `${sheet}/rows/list`, {})).body.data.rows
    expect(row.row_status).toBe('complete')
  })

  it('lists changes of fields, moves and renames of inputs; references follow', async () => {
    const name = fresh()
    const id = await make(file(name, { actions: [CLEAN, LOWER, { ...CLEAN, id: 'again', name: 'Again' }] }))
    const { changes } = (
      await apply(
        file(name, {
          inputs: [{ name: 'site', was: 'domain', type: 'url', description: 'Site' }],
          actions: [
            { ...CLEAN, id: 'again', name: 'Again', inputs: { value: '{{input.site}}' } },
            { ...CLEAN, inputs: { value: '{{input.site}}' } },
            { ...LOWER, inputs: { data_formatter: '{{clean.domain}}.toLowerCase()' }, note: 'Why' },
          ],
        }),
      )
    ).body.data
    expect(changes).toEqual([
      { op: 'rename', kind: 'input', sheet: name, name: 'site', before: 'domain', after: 'site' },
      { op: 'move', kind: 'action', sheet: name, name: 'Again' },
      {
        op: 'change',
        kind: 'action',
        sheet: name,
        name: 'Lower',
        field: 'inputs.data_formatter',
        before: '{{clean.domain}}',
        after: '{{clean.domain}}.toLowerCase()',
      },
      { op: 'change', kind: 'action', sheet: name, name: 'Lower', field: 'note', before: null, after: 'Why' },
    ])
    expect((await read(id)).sheets[0].actions.map((action: Json) => action.name)).toEqual([
      'Again',
      'Clean domain',
      'Lower',
    ])
  })

  it('removes only what it may: without allow_destroy nothing is applied', async () => {
    const name = fresh()
    const id = await make(file(name))
    const smaller = file(name, { inputs: [], actions: [LOWER_ALONE] })
    const refused = await apply(smaller)
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [
        {
          field: 'allow_destroy',
          message: 'must be true, because this would remove input "domain", action "Clean domain"',
        },
      ],
    ])
    expect((await read(id)).sheets[0].actions).toHaveLength(2)
    expect((await plan(smaller)).body.data.summary).toEqual({ add: 0, change: 1, destroy: 2 })
    expect((await apply(smaller, { allow_destroy: true })).body.data).toMatchObject({ applied: true })
    expect((await read(id)).sheets[0].actions).toHaveLength(1)
  })
  const LOWER_ALONE = { ...LOWER, inputs: { data_formatter: "'x'" } }

  it('unknown keys, fields and tokens are errors by path, all at once, and nothing is applied', async () => {
    const name = fresh()
    const refused = await apply(
      file(name, {
        actions: [
          { ...CLEAN, inputs: { value: '{{input.nope}}', colour: 'red' } },
          { ...LOWER, inputs: { data_formatter: '{{celan.domain}} {{bad' } },
          { action: 'no_such_action', id: 'x' },
        ],
      }),
    )
    expect(refused.status).toBe(400)
    const at = (rest: string) => `sheets[0].actions${rest}`
    expect(refused.body.errors.map((error: Json) => error.field).toSorted()).toEqual(
      [
        at('[0].inputs.colour'),
        at('[0].inputs.value'),
        at('[1].inputs.data_formatter'),
        at('[2].action'),
      ].toSorted(),
    )
    expect(JSON.stringify(refused.body.errors)).toContain('clean')
    const list = (await org.call('GET', '/workflows')).body.data
    expect(list.map((one: Json) => one.name)).not.toContain(name)
    const shape = await apply({ loam: 2, workflow: '', sheets: [{ sheet: 'A', colour: 1 }, { sheet: 'A' }] })
    expect(shape.body.errors.map((error: Json) => error.field).toSorted()).toEqual([
      'loam',
      'sheets[0].colour',
      'sheets[1].sheet',
      'workflow',
    ])
  })

  it('sheets are named, in the same file and elsewhere', async () => {
    const [name, other] = [fresh(), fresh()]
    await make(file(other, { actions: [] }))
    const send = (id: string, sheet: object) => ({
      id,
      action: 'send_to_sheet',
      name: id,
      inputs: { target_sheet_id: sheet, field_mapping: [{ name: 'domain', value: '{{input.domain}}' }] },
    })
    const wanted = {
      loam: 1,
      workflow: name,
      sheets: [
        {
          sheet: 'Main',
          inputs: [{ name: 'domain' }],
          actions: [send('own', { sheet: 'People' }), send('far', { workflow: other, sheet: other })],
        },
        { sheet: 'People', auto_run: true, inputs: [{ name: 'domain' }] },
      ],
    }
    const made = await apply(wanted)
    expect([made.status, made.body.errors]).toEqual([200, undefined])
    const written = await read(made.body.data.workflow_id)
    expect(written.sheets[0].actions.map((action: Json) => action.inputs.target_sheet_id)).toEqual([
      { sheet: 'People' },
      { workflow: other, sheet: other },
    ])
    expect(written.sheets[1]).toMatchObject({ sheet: 'People', auto_run: true })
    expect((await plan(written)).body.data.changes).toEqual([])
    const lost = await plan({
      ...wanted,
      sheets: [{ ...wanted.sheets[0], actions: [send('own', { sheet: 'Peple' })] }, wanted.sheets[1]],
    })
    expect(lost.body.errors).toEqual([
      {
        field: 'sheets[0].actions[0].inputs.target_sheet_id',
        message: expect.stringContaining('People'),
      },
    ])
  })

  it('credentials are not shown, and stay where the file says so', async () => {
    const name = fresh()
    const call = (value: unknown) => ({
      id: 'call',
      action: 'http_api_call',
      inputs: {
        method: 'GET',
        endpoint: 'https://api.example.com',
        headers: [
          { name: 'Accept', value: 'text/plain' },
          { name: 'Authorization', value },
        ],
      },
    })
    const id = await make(file(name, { actions: [call('Bearer abcdefghijkl')] }))
    const got = await org.call('GET', `/workflows/${id}/definition`)
    expect(JSON.stringify(got.body)).not.toContain('abcdefghijkl')
    expect(got.body.warnings).toMatchObject([{ code: 'secret_kept' }])
    expect((await plan(got.body.data)).body.data.changes).toEqual([])
    const other = { ...got.body.data, workflow: fresh() }
    expect((await apply(other)).body.errors).toEqual([
      {
        field: expect.stringContaining('actions[0].inputs.headers'),
        message: expect.stringContaining('loam env set'),
      },
    ])
  })

  it('a workflow of the same name is found, two are named in the error, `was` renames', async () => {
    const name = fresh()
    const id = await make(file(name))
    const renamed = fresh()
    const done = (await apply({ ...file(name), workflow: renamed, was: name })).body.data
    expect(done).toMatchObject({ workflow_id: id, summary: { add: 0, change: 1, destroy: 0 } })
    await org.call('POST', '/workflows', { name: renamed })
    const refused = await apply({ ...file(name), workflow: renamed })
    expect(refused.body.errors).toEqual([{ field: 'workflow_id', message: expect.stringContaining(id) }])
    expect(
      (await apply({ ...file(name), workflow: renamed }, { workflow_id: id })).body.data.changes,
    ).toEqual([])
  })

  it('needs the scopes of workflows and actions', async () => {
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read', 'workflows:write'] })
    const id = await make(file(fresh()))
    expect((await app.call(key, 'GET', `/workflows/${id}/definition`)).status).toBe(403)
    expect((await app.call(key, 'POST', '/definitions/plan', { definition: file(fresh()) })).status).toBe(403)
    expect((await app.call(key, 'POST', '/definitions/apply', { definition: file(fresh()) })).status).toBe(
      403,
    )
  })

  it('500 actions are read, planned and applied', async () => {
    const name = fresh()
    const actions = Array.from({ length: 500 }, (_, n) => ({
      ...CLEAN,
      id: `clean_${n}`,
      name: `Clean ${n}`,
    }))
    const id = await make(file(name, { actions }))
    const written = await read(id)
    expect(written.sheets[0].actions).toHaveLength(500)
    expect((await plan(written)).body.data.changes).toEqual([])
  })
})
