import { beforeAll, describe, expect, it } from 'vitest'
import { testCatalogue } from '#test/builders/catalogue.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain, type TestChain } from '../../../api/testing/chain.ts'

const app = await makeApp({ services: { catalogue: testCatalogue } })
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})
const chainWith = async (...actions: string[]): Promise<TestChain> => {
  const chain = await makeChain(app, org)
  for (const action of actions) await chain.add(action)
  return chain
}

describe('4.5 Rename Action and notes', () => {
  it('name: trimmed; returns {action_instance_id, display_name}', async () => {
    const chain = await chainWith('gate')
    const { status, body } = await chain.call('PATCH', '/gate_1/name', { name: '  Front gate ' })
    expect([status, body]).toEqual([
      200,
      { status: 200, data: { action_instance_id: 'gate_1', display_name: 'Front gate' } },
    ])
    expect((await chain.node('gate_1')).display_name).toBe('Front gate')
    expect((await chain.audit()).at(-1)).toEqual([
      'action.renamed',
      { action_instance_id: 'gate_1', display_name: 'Front gate' },
    ])
  })

  it('notes: trimmed, several lines allowed; returns {action_instance_id, sheet_id, note}', async () => {
    const chain = await chainWith('gate')
    const { status, body } = await chain.call('POST', '/gate_1/notes', { note: ' First\nSecond ' })
    expect([status, body]).toEqual([
      200,
      {
        status: 200,
        data: { action_instance_id: 'gate_1', sheet_id: chain.workflowId, note: 'First\nSecond' },
      },
    ])
    expect((await chain.node('gate_1')).note).toBe('First\nSecond')
    expect((await chain.audit()).at(-1)?.[0]).toBe('action.noted')
  })

  it.each([undefined, null, 5, '', ' \n '])('%j is 400 for both', async (given) => {
    const chain = await chainWith('gate')
    expect(fieldsOf(await chain.call('PATCH', '/gate_1/name', { name: given }))).toEqual(['name'])
    expect(fieldsOf(await chain.call('POST', '/gate_1/notes', { note: given }))).toEqual(['note'])
  })

  it.each(['x'.repeat(10_001), 'a\0', '\udfff'])('a note that cannot be kept is 400', async (note) => {
    const chain = await chainWith('gate')
    expect(fieldsOf(await chain.call('POST', '/gate_1/notes', { note }))).toEqual(['note'])
    expect(fieldsOf(await chain.call('PATCH', '/gate_1', { note }))).toEqual(['note'])
  })
})

describe('4.5 Move Action', () => {
  it.each<[string, unknown, string[], string]>([
    ['omit `after` to move to the end', {}, ['gate_2', 'gate_3', 'gate_1'], 'gate_3'],
    ['no body is the same', undefined, ['gate_2', 'gate_3', 'gate_1'], 'gate_3'],
    ['behind another', { after: 'gate_2' }, ['gate_2', 'gate_1', 'gate_3'], 'gate_2'],
    ['`input` moves to the start, where it is', { after: 'input' }, ['gate_1', 'gate_2', 'gate_3'], 'input'],
  ])('%s', async (_name, body, ids, after) => {
    const chain = await chainWith('gate', 'gate', 'gate')
    const answer = await chain.call('PATCH', '/gate_1/move', body)
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 200, data: { moved: true, action_instance_id: 'gate_1', after } },
    ])
    expect(await chain.ids()).toEqual(['input', ...ids])
  })

  it.each([['gate_1'], ['gate_9'], ['gate'], [''], [null], [5]])('after %j is 400', async (after) => {
    const chain = await chainWith('gate', 'gate')
    expect(fieldsOf(await chain.call('PATCH', '/gate_1/move', { after }))).toEqual(['after'])
    expect(await chain.ids()).toEqual(['input', 'gate_1', 'gate_2'])
  })

  it('does not rewrite inputs: broken references are warned about and stay', async () => {
    const chain = await chainWith('caller')
    await chain.add('probe', { inputs: { text: '{{caller_1.x}}' } })
    await chain.call('PATCH', '/probe_1/move', { after: 'input' })
    const { body } = await chain.call('GET', '/probe_1')
    expect(body.data.inputs.text).toBe('{{caller_1.x}}')
    expect(body.warnings).toMatchObject([{ field: 'inputs.text', code: 'downstream_reference' }])
  })
})

describe('4.5 Reorder Waterfall', () => {
  const withProviders = async (providers: unknown[]) => {
    const chain = await makeChain(app, org)
    await chain.add('finder', { inputs: { url: 'x', ...(providers.length > 0 ? { providers } : {}) } })
    return chain
  }
  const reorder = (chain: TestChain, providers: unknown) =>
    chain.call('PATCH', '/finder_1/waterfall/providers', { providers })

  it('returns display names; own-key state is preserved; later results become stale', async () => {
    const chain = await withProviders(['Beta', { name: 'Alpha', use_own_key: true }, 'Gamma'])
    await chain.add('gate')
    const { status, body } = await reorder(chain, ['gamma', 'ALPHA', { name: 'beta' }])
    const providers = ['Gamma', { name: 'Alpha', use_own_key: true }, 'Beta']
    expect([status, body]).toEqual([
      200,
      {
        status: 200,
        data: { reordered: true, action_instance_id: 'finder_1', field_name: 'providers', providers },
      },
    ])
    expect((await chain.node('finder_1')).inputs.providers).toEqual(providers)
    expect(await chain.epochs()).toEqual([1, 1])
    expect((await chain.audit()).at(-1)).toEqual([
      'action.waterfall_reordered',
      { action_instance_id: 'finder_1', field: 'providers', providers: ['gamma', 'alpha', 'beta'] },
    ])
  })

  it('the order it has changes nothing', async () => {
    const chain = await withProviders(['Beta', 'Alpha'])
    const before = await chain.updatedAt()
    expect((await reorder(chain, ['beta', 'alpha'])).status).toBe(200)
    expect([await chain.epochs(), await chain.updatedAt()]).toEqual([[0], before])
  })

  it('a disagreeing use_own_key gives warning own_key_ignored', async () => {
    const chain = await withProviders(['Beta', { name: 'Alpha', use_own_key: true }])
    const { body } = await reorder(chain, [
      { name: 'Alpha', use_own_key: false },
      { name: 'Beta', use_own_key: false },
    ])
    expect(body.warnings).toEqual([
      { field: 'providers[0]', code: 'own_key_ignored', message: expect.any(String) },
    ])
    expect(body.data.providers).toEqual([{ name: 'Alpha', use_own_key: true }, 'Beta'])
  })

  it('providers of the same name are distinguished by their ids, or taken in turn', async () => {
    const chain = await withProviders(['twin_a', 'twin_b'])
    await reorder(chain, ['twin_b', 'Twin'])
    expect((await chain.definition()).actions[0]?.inputs['providers']).toEqual([
      { provider: 'twin_b', own_key: false },
      { provider: 'twin_a', own_key: false },
    ])
  })

  it.each<[string, unknown[], unknown, string[]]>([
    ['missing one', ['Alpha', 'Beta'], ['Beta'], ['providers']],
    ['one twice', ['Alpha', 'Beta'], ['Beta', 'beta', 'Alpha'], ['providers[1]']],
    ['one that is not configured', ['Alpha', 'Beta'], ['Beta', 'Alpha', 'Gamma'], ['providers[2]']],
    [
      'one that is not known, and so one missing',
      ['Alpha', 'Beta'],
      ['Beta', 'Omega'],
      ['providers[1]', 'providers'],
    ],
    ['nothing configured yet', [], ['Alpha'], ['providers']],
    ['an empty list', ['Alpha'], [], ['providers']],
    ['no list', ['Alpha'], 'Alpha', ['providers']],
    ['a number', ['Alpha'], [1], ['providers[0]']],
    ['an object without a name', ['Alpha'], [{ use_own_key: true }], ['providers[0]']],
  ])('400 %s', async (_name, configured, given, fields) => {
    const chain = await withProviders(configured)
    expect(fieldsOf(await reorder(chain, given))).toEqual(fields)
    expect(await chain.epochs()).toEqual([0])
  })

  it.each(['nothing', 'url', 'constructor'])(
    '404 for %s, which is no waterfall, before the body is read',
    async (field) => {
      const chain = await withProviders(['Alpha'])
      expect((await chain.call('PATCH', `/finder_1/waterfall/${field}`, {})).status).toBe(404)
    },
  )
})

describe('D7, D31: what is absent', () => {
  const endpoints = [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/outputs'],
    ['PATCH', '/name'],
    ['PATCH', '/move'],
    ['PATCH', '/waterfall/providers'],
    ['POST', '/notes'],
    ['POST', '/options/providers'],
  ] as const
  const ids = ['input', 'graph', 'gate_9', 'gate', '__proto__']

  it.each(endpoints.flatMap(([method, path]) => ids.map((id) => [method, id, path] as const)))(
    '%s /%s%s is 404 before its body is looked at',
    async (method, id, path) => {
      const chain = await chainWith('gate')
      if (method === 'GET' && id === 'graph' && path === '') return
      const answer = await chain.call(method, `/${id}${path}`, method === 'GET' ? undefined : { bad: [] })
      if (method === 'DELETE' && id === 'input')
        return expect(fieldsOf(answer)).toEqual(['action_instance_id'])
      expect([answer.status, answer.body]).toEqual([
        404,
        { status: 404, error: 'Not Found', message: 'Action not found' },
      ])
    },
  )

  it('a malformed sheet id is 400, an absent sheet 404, before anything else', async () => {
    const chain = await chainWith('gate')
    const nobody = '01890000-0000-7000-8000-000000000001'
    for (const [method, path] of [
      ...endpoints.map(([method, path]) => [method, `/gate_1${path}`]),
      ['POST', '/add'],
      ['GET', '/graph'],
    ]) {
      const at = (sheet: string) =>
        org.call(
          method ?? '',
          `/workflows/${chain.workflowId}/sheets/${sheet}/actions${path}`,
          method === 'GET' ? undefined : {},
        )
      expect(fieldsOf(await at('x'))).toEqual(['sheet_id'])
      expect((await at(nobody)).status).toBe(404)
    }
    expect((await org.call('DELETE', `/workflows/${nobody}/sheets/${nobody}/actions/input`)).status).toBe(404)
  })
})

describe('scopes', () => {
  const READ: [string, string][] = [
    ['GET', '/graph'],
    ['GET', '/finder_1'],
    ['GET', '/finder_1/outputs'],
    ['POST', '/finder_1/options/providers'],
  ]
  const WRITE: [string, string][] = [
    ['POST', '/add'],
    ['PATCH', '/finder_1'],
    ['DELETE', '/finder_1'],
    ['PATCH', '/finder_1/name'],
    ['PATCH', '/finder_1/move'],
    ['PATCH', '/finder_1/waterfall/providers'],
    ['POST', '/finder_1/notes'],
  ]
  it.each([
    ['actions:read', READ, WRITE],
    ['actions:write', WRITE, READ],
  ] as const)('%s opens its endpoints and not the others', async (scope, open, closed) => {
    const chain = await chainWith('finder')
    const key = await org.keyFor(org.adminEmail, 'admin', { scopes: [scope] })
    const call = (method: string, path: string) =>
      app.call(key, method, `${chain.sheet}/actions${path}`, method === 'GET' ? undefined : {})
    for (const [method, path] of closed) {
      const answer = await call(method, path)
      expect([path, answer.status, answer.body.error]).toEqual([path, 403, 'INSUFFICIENT_SCOPE'])
    }
    for (const [method, path] of open)
      expect([path, (await call(method, path)).status]).not.toEqual([path, 403])
  })
})
