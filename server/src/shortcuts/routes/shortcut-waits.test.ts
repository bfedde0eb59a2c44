import { setTimeout as sleep } from 'node:timers/promises'
import type { PluginTransformQueryArgs, PluginTransformResultArgs } from 'kysely'
import { describe, expect, it } from 'vitest'
import { LONGEST_MS } from '#server/lib/timing/read-until.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { makeApp, makeStore, type TestOrg } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { formula, makeWorkflow, publish, shortcutsOf } from '../../api/testing/shortcut.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const { makeShortcut } = shortcutsOf(app, org)

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)
const GREETING = formula('"Hello " + {{input.Full Name}}')

describe('?wait', async () => {
  const { path } = await makeShortcut([GREETING])
  const slow = await makeShortcut([{ action_id: 'delay_step', inputs: { time: '60' } }])

  it.each(['/shortcuts', '/apps'])('answers the finished run on %s', async (prefix) => {
    const at = path.replace('/shortcuts', prefix)
    const { status, body } = await org.call('POST', `${at}/run?wait=30`, { input_data: { full_name: 'Ada' } })
    expect([status, body.status, body.data.status]).toEqual([200, 200, 'completed'])
    expect(body.data.output_data.formatted_data.value).toBe('Hello Ada')
    expect((await org.call('GET', `${at}/runs/${body.data.id}`)).body.data).toEqual(body.data)
  })

  it('answers with the pending run if the run takes longer', async () => {
    const { status, body } = await org.call('POST', `${slow.path}/run?wait=1`, { input_data: {} })
    expect([status, body.data]).toEqual([
      201,
      { id: UUID, data_id: UUID, status: 'pending', created_at: TIME },
    ])
  })

  it.each(['61', '-1', '1.5', 'x', ''])('of %j is 400', async (wait) => {
    const { status, body } = await org.call('POST', `${path}/run?wait=${wait}`, { input_data: {} })
    expect([status, body.errors?.[0].field]).toEqual([400, 'wait'])
  })

  it('ends when the client goes away and when the server closes', async () => {
    let statements = 0
    const counting = {
      transformQuery: ({ node }: PluginTransformQueryArgs) => {
        statements += 1
        return node
      },
      transformResult: async ({ result }: PluginTransformResultArgs) => result,
    }
    // No worker claims rows of this database.
    const { store } = await makeStore()
    const counted = { ...store, org: (orgId: string) => store.org(orgId).withPlugin(counting) }
    const other = await makeApp({ services: { store: counted } })
    const idle = { ...other, store: counted }
    const theirs = await createOrganisation(store.system, OPERATOR, {
      name: 'Idle',
      adminEmail: 'idle@example.com',
      initialCredits: 0,
    })
    const call: TestOrg['call'] = (...args) => other.call(theirs.key, ...args)
    const as = { ...org, orgId: theirs.orgId, adminEmail: 'idle@example.com', call }
    const { shortcut_id } = await publish(idle, as, await makeWorkflow(as, [GREETING]))
    const address = await other.api.listen({ host: '127.0.0.1', port: 0 })
    const ask = (signal: AbortSignal) =>
      fetch(`${address}/api/v1/shortcuts/${shortcut_id}/run?wait=60`, {
        method: 'POST',
        headers: { authorization: `Bearer ${theirs.key}`, 'content-type': 'application/json' },
        body: '{"input_data":{}}',
        signal,
      })
    const started = async () => (await call('GET', `/shortcuts/${shortcut_id}/runs`)).body.data.runs.length
    const leaving = new AbortController()
    const left = ask(leaving.signal)
    await expect.poll(started).toBe(1)
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    const readings = async () => {
      const before = statements
      await sleep(LONGEST_MS + 200)
      return statements - before
    }
    await expect.poll(readings).toBe(0)
    const stayed = ask(AbortSignal.timeout(50_000))
    await expect.poll(started).toBe(2)
    await other.api.close()
    expect((await stayed).status).toBe(201)
  })
})
