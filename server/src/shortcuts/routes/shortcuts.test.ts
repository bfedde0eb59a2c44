import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setShortcutState, shareShortcut, updateShortcutDetails } from '#server/shortcuts/lifecycle.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { formula, FORMULA, makeWorkflow, publish, republish, sheetOf } from '../../api/testing/shortcut.ts'

const app = await makeApp()
const db = app.store.system
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const NOBODY = '00000000-0000-7000-8000-000000000000'
const GREETING = [formula('"Hello " + {{input.Full Name}}')]

const org = await app.makeOrg()
const workflow = await makeWorkflow(org, GREETING)
const shortcut = await publish(app, org, workflow, {
  details: { description: 'Says hello', cover_image: 'https://img.example/a.png', icon_emoji: '👋' },
})
const id = shortcut.shortcut_id

const show = async (of = id): Promise<Json> => (await org.call('GET', `/shortcuts/${of}`)).body.data

describe('4.8 reading', () => {
  it('a shortcut has the fields of the specification, with schemas derived from the workflow', async () => {
    const { status, body } = await org.call('GET', `/shortcuts/${id}`)
    expect([status, body]).toEqual([
      200,
      {
        status: 200,
        data: {
          id,
          workflow_id: workflow,
          parent_app_id: null,
          name: 'Greet',
          description: 'Says hello',
          creator_email: org.adminEmail,
          org_id: org.orgId,
          input_schema: [
            { reference: 'full_name', name: 'Full Name', description: 'Who it is', type: 'string' },
            { reference: 'n', name: 'n', type: 'number' },
          ],
          output_schema: [{ name: 'formatted_data', description: expect.any(String) }],
          is_master: true,
          is_published: true,
          is_archived: false,
          cover_image: 'https://img.example/a.png',
          icon_emoji: '👋',
          created_at: TIME,
          updated_at: TIME,
        },
      },
    ])
  })

  it.each(['/shortcuts', '/apps'])('D11: on %s both spellings of a scope grant the same', async (prefix) => {
    for (const spelling of ['apps', 'shortcuts']) {
      const read = await org.keyFor(org.adminEmail, 'admin', { scopes: [`${spelling}:read`] })
      const run = await org.keyFor(org.adminEmail, 'admin', { scopes: [`${spelling}:run`] })
      const statuses = async (key: string) => [
        (await app.call(key, 'GET', prefix)).status,
        (await app.call(key, 'GET', `${prefix}/${id}/`)).status,
        (await app.call(key, 'GET', `${prefix}/${id}/runs`)).status,
        (await app.call(key, 'GET', `${prefix}/${id}/runs/${NOBODY}`)).status,
        (await app.call(key, 'POST', `${prefix}/${id}/run`, { input_data: {} })).status,
        (await app.call(key, 'POST', `${prefix}/${id}/run/batch`, { rows: [{}] })).status,
      ]
      expect(await statuses(read)).toEqual([200, 200, 200, 404, 403, 403])
      expect(await statuses(run)).toEqual([403, 403, 403, 403, 201, 201])
    }
  })

  it.each([
    ['an id that is none', '/shortcuts/nonsense', 400],
    ['an unknown id', `/shortcuts/${NOBODY}`, 404],
    ['an unknown filter', '/shortcuts?filter=mine', 400],
    ['a run id that is none', `/shortcuts/${id}/runs/nonsense`, 400],
    ['an unknown run', `/shortcuts/${id}/runs/${NOBODY}`, 404],
  ])('%s is refused', async (_what, path, status) => {
    expect((await org.call('GET', path)).status).toBe(status)
  })
})

describe('D50 publishing', () => {
  it('needs an action to run, and fields that the workflow has; reports every failure at once', async () => {
    const bare = await makeWorkflow(org, [])
    await expect(publish(app, org, bare)).rejects.toMatchObject({
      details: { errors: [{ field: 'workflow' }] },
    })
    const wrong = publish(app, org, workflow, {
      given: {
        inputs: [{ reference: 'who' }, { name: 'n' }, { name: 'n', reference: 'm' }],
        outputs: [{ name: 'greeting' }, { name: 'x', reference: '{{filter_1.y}}' }],
      },
    })
    await expect(wrong).rejects.toMatchObject({
      details: {
        errors: [
          { field: 'inputs[0].reference', message: expect.stringContaining('full_name (Full Name)') },
          { field: 'inputs[1].name', message: 'must be unique; this is a duplicate' },
          { field: 'outputs[0].name', message: expect.stringContaining(`formatted_data ({{${FORMULA}_1`) },
          { field: 'outputs[1].reference' },
        ],
      },
    })
  })

  it('accepts descriptions, required, defaults, display column and custom names', async () => {
    const made = await publish(app, org, workflow, {
      given: {
        inputs: [
          { reference: 'full_name', name: 'Person', required: true, description: 'Name them' },
          { reference: 'count', name: 'n', type: 'string', defaultValue: 7 },
        ],
        outputs: [{ name: 'Greeting', reference: `{{${FORMULA}_1.formatted_data}}`, display_column: true }],
      },
    })
    const { input_schema, output_schema } = await show(made.shortcut_id)
    expect(input_schema).toEqual([
      { reference: 'full_name', name: 'Person', description: 'Name them', type: 'string', required: true },
      { reference: 'count', name: 'n', type: 'string', defaultValue: 7 },
    ])
    expect(output_schema).toEqual([
      { name: 'Greeting', description: expect.any(String), display_column: true },
    ])
  })

  it('republishing updates derived schemas from the workflow, and keeps known names', async () => {
    const own = await makeWorkflow(org, [formula('1'), formula('2')])
    const { shortcut_id } = await publish(app, org, own)
    const names = async () => (await show(shortcut_id)).output_schema.map((entry: Json) => entry.name)
    expect(await names()).toEqual(['formatted_data', 'formatted_data_2'])
    await org.call('POST', `${sheetOf(own)}/actions/add`, { ...formula('3'), after: `${FORMULA}_1` })
    await org.call('POST', `${sheetOf(own)}/inputs`, [{ name: 'more', type: 'url' }])
    expect(await names()).toEqual(['formatted_data', 'formatted_data_2'])
    await republish(app, org, shortcut_id)
    expect(await names()).toEqual(['formatted_data', 'formatted_data_3', 'formatted_data_2'])
    expect((await show(shortcut_id)).input_schema.map((entry: Json) => entry.reference)).toEqual([
      'full_name',
      'n',
      'more',
    ])
  })

  it('a given schema stays until another is given; fields that no longer exist are errors', async () => {
    const own = await makeWorkflow(org, [formula('1'), formula('2')])
    const outputs = [{ name: 'second', reference: `${FORMULA}_2.formatted_data` }]
    const { shortcut_id } = await publish(app, org, own, { given: { inputs: [{ name: 'n' }], outputs } })
    await org.call('POST', `${sheetOf(own)}/inputs`, [{ name: 'more', type: 'url' }])
    await republish(app, org, shortcut_id)
    const { input_schema, output_schema } = await show(shortcut_id)
    expect([input_schema.length, output_schema.length]).toEqual([1, 1])
    await org.call('DELETE', `${sheetOf(own)}/actions/${FORMULA}_2`)
    await expect(republish(app, org, shortcut_id)).rejects.toMatchObject({
      details: { errors: [{ field: 'outputs[0].reference' }] },
    })
    await republish(app, org, shortcut_id, { outputs: [{ name: 'formatted_data' }] })
    expect((await show(shortcut_id)).output_schema).toHaveLength(1)
  })

  it('unpublished and archived shortcuts can be read, but not run until republished', async () => {
    const made = await publish(app, org, workflow)
    const path = `/shortcuts/${made.shortcut_id}`
    const run = async () => (await org.call('POST', `${path}/run`, { input_data: 'never read' })).status
    const batch = async () => (await org.call('POST', `${path}/run/batch`, {})).status
    expect([await run(), await batch()]).toEqual([400, 400])
    await setShortcutState(db, OPERATOR, made, 'unpublished')
    expect([await run(), await batch(), (await show(made.shortcut_id)).is_published]).toEqual([
      403,
      403,
      false,
    ])
    await republish(app, org, made.shortcut_id)
    expect(await run()).toBe(400)
    await setShortcutState(db, OPERATOR, made, 'archived')
    expect([await run(), await batch(), (await show(made.shortcut_id)).is_archived]).toEqual([403, 403, true])
    await republish(app, org, made.shortcut_id)
    expect([await run(), (await show(made.shortcut_id)).is_archived]).toEqual([400, false])
  })

  it('deleting a workflow deletes its shortcuts', async () => {
    const own = await makeWorkflow(org, GREETING)
    const { shortcut_id } = await publish(app, org, own)
    await org.call('DELETE', `/workflows/${own}`)
    expect((await org.call('GET', `/shortcuts/${shortcut_id}`)).status).toBe(404)
    expect((await org.call('POST', `/shortcuts/${shortcut_id}/run`, { input_data: {} })).status).toBe(404)
  })
})

describe('access (D7, D13)', async () => {
  const owner = await app.makeOrg()
  const ann = await owner.keyFor('ann@example.com', 'member')
  const bob = await owner.keyFor('bob@example.com', 'user')
  const eve = await owner.keyFor('eve@example.com', 'member')
  const stranger = await app.makeOrg()
  const annsWorkflow = await makeWorkflow({ call: (...args) => app.call(ann, ...args) }, GREETING)
  const adminsWorkflow = await makeWorkflow(owner, GREETING)
  const anns = await publish(app, owner, annsWorkflow, {
    email: 'ann@example.com',
    details: { name: 'Ann’s' },
  })
  const admins = await publish(app, owner, adminsWorkflow, { details: { name: 'Admin’s' } })
  const copy = await shareShortcut(db, OPERATOR, anns, { email: 'bob@example.com', shared: true })

  const list = async (key: string, filter = 'all'): Promise<string[]> =>
    (await app.call(key, 'GET', `/shortcuts?filter=${filter}`)).body.data.map((entry: Json) => entry.id)
  const [A, M, C] = [anns.shortcut_id, admins.shortcut_id, copy.shortcut_id]

  it('an admin sees all of the organisation, a member their own and those shared with them', async () => {
    expect(await list(owner.key)).toEqual([C, M, A])
    expect(await list(owner.key, 'master')).toEqual([M, A])
    expect(await list(owner.key, 'shared')).toEqual([C])
    expect(await list(ann)).toEqual([A])
    expect([await list(bob), await list(bob, 'master'), await list(bob, 'shared')]).toEqual([[C], [], [C]])
    expect([await list(eve), await list(stranger.key)]).toEqual([[], []])
  })

  const paths = (of: string): [string, string, unknown?][] => [
    ['GET', `/shortcuts/${of}`],
    ['GET', `/shortcuts/${of}/runs`],
    ['GET', `/apps/${of}/runs/${NOBODY}`],
    ['POST', `/shortcuts/${of}/run`, { input_data: {} }],
    ['POST', `/apps/${of}/run/batch`, { rows: [{}] }],
  ]
  const statusesOf = (key: string, of: string) =>
    Promise.all(paths(of).map(async (path) => (await app.call(key, ...path)).status))

  it.each([
    ['another organisation', stranger.key, A, 404],
    ['another organisation, a copy', stranger.key, C, 404],
    ['a member without access', eve, A, 403],
    ['the master of a copy that one holds', bob, A, 403],
    ['a copy that somebody else holds', ann, C, 403],
  ])('%s is refused everywhere', async (_what, key, of, status) => {
    const count = () =>
      db
        .selectFrom('rows')
        .select((eb) => eb.fn.countAll().as('n'))
        .execute()
    const before = await count()
    expect(await statusesOf(key, of)).toEqual([status, status, status, status, status])
    expect(await count()).toEqual(before)
  })

  it.each([
    ['the publisher', ann, A],
    ['an admin', owner.key, A],
    ['the holder of a copy, with the role user', bob, C],
  ])('%s may read and run', async (_what, key, of) => {
    expect(await statusesOf(key, of)).toEqual([200, 200, 404, 201, 201])
  })

  it('a member with whom the workflow is shared may use its shortcut', async () => {
    await db
      .insertInto('workflow_shares')
      .values({ org_id: owner.orgId, workflow_id: adminsWorkflow, member_id: anns.creator_id ?? '' })
      .execute()
    expect(await list(ann)).toEqual([M, A])
  })

  it('a key that is narrowed to certain workflows sees their shortcuts only', async () => {
    const narrowed = await owner.keyFor(owner.adminEmail, 'admin', { allowedWorkflowIds: [adminsWorkflow] })
    expect(await list(narrowed)).toEqual([M])
    expect(await statusesOf(narrowed, A)).toEqual([403, 403, 403, 403, 403])
    expect(await statusesOf(narrowed, M)).toEqual([200, 200, 404, 201, 201])
  })

  it('a copy shows the data of its original, and has its own state', async () => {
    const of = async (key: string, which: string) => (await app.call(key, 'GET', `/apps/${which}`)).body.data
    await updateShortcutDetails(db, OPERATOR, anns, { name: 'Renamed', icon_emoji: '🪄' })
    const { parent_app_id, is_master, name, icon_emoji, creator_email } = await of(bob, C)
    expect([parent_app_id, is_master, name, icon_emoji]).toEqual([A, false, 'Renamed', '🪄'])
    expect(creator_email).toBe('ann@example.com')
    await setShortcutState(db, OPERATOR, anns, 'unpublished')
    expect((await of(bob, C)).is_published).toBe(false)
    await republish(app, owner, A)
    const again = await shareShortcut(db, OPERATOR, anns, { email: 'bob@example.com', shared: true })
    expect(again.shortcut_id).toBe(C)
    await shareShortcut(db, OPERATOR, anns, { email: 'bob@example.com', shared: false })
    expect([(await of(bob, C)).is_archived, (await of(ann, A)).is_archived]).toEqual([true, false])
    expect((await statusesOf(bob, C)).slice(3)).toEqual([403, 403])
    await shareShortcut(db, OPERATOR, anns, { email: 'bob@example.com', shared: true })
    expect((await statusesOf(bob, C)).slice(3)).toEqual([201, 201])
  })

  it('changes of shortcuts are in the audit log', async () => {
    const entries = await db
      .selectFrom('audit_entries')
      .select('action')
      .where('org_id', '=', owner.orgId)
      .where('target', '=', A)
      .orderBy('entry_id')
      .execute()
    const actions = entries.map((entry) => entry.action).filter((action) => action !== 'shortcut.run')
    expect(actions).toEqual([
      'shortcut.published',
      'shortcut.shared',
      'shortcut.updated',
      'shortcut.unpublished',
      'shortcut.republished',
      'shortcut.shared',
      'shortcut.unshared',
      'shortcut.shared',
    ])
  })
})
