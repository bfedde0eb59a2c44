import { describe, expect, it, onTestFinished } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const address = await app.api.listen({ host: '127.0.0.1', port: 0 })

type Change = {
  id: string
  sheet_id: string
  revision: number
  names: string
  rows: number
  run: { state: string; rows_queued: number; rows_done: number } | null
}

/** Opens a stream and yields its events one after the other. The connection ends with the test. */
async function openStream(base: string, lastEventId?: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const answer = await fetch(`${address}/api/v1${base}/changes`, {
    headers: {
      authorization: `Bearer ${org.key}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: leaving.signal,
  })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Change> => {
    for (;;) {
      const [event, rest] = text.split(/\n\n(.*)/s)
      if (rest !== undefined && event !== undefined) {
        text = rest
        const [, id, data] = /^id: (.+)\nevent: change\ndata: (.*)$/.exec(event) ?? []
        if (data !== undefined) return { id, ...JSON.parse(data) }
        continue
      }
      const chunk = await reader?.read()
      if (chunk === undefined || chunk.done) throw new Error('the stream ended')
      text += chunk.value
    }
  }
  return { answer, next }
}

describe('a stream of changes of a sheet', () => {
  it('says where the sheet is at once, and again when rows arrive and while they run', async () => {
    const base = await makeRowSheet(org)
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.domain}}' },
    })
    const { answer, next } = await openStream(base)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect((await next()).run).toBeNull()
    await org.call('POST', `${base}/rows`, { rows: [{ domain: 'a.com' }, { domain: 'b.com' }] })
    expect((await next()).run).toBeNull()
    await org.call('POST', `${base}/run-all`)
    for (let change = await next(); change.run?.rows_done !== 2; change = await next()) {
      // A change announced before the run may be sent again.
      if (change.run !== null) expect(change.run?.rows_queued).toBe(2)
    }
    for (let change = await next(); change.run?.state !== 'finished'; change = await next()) {
      expect(change.run?.rows_done).toBe(2)
    }
  })

  it('tells of inputs and actions as well, with their revision and the number of rows', async () => {
    const base = await makeRowSheet(org)
    const { next } = await openStream(base)
    const first = await next()
    expect(first.rows).toBe(0)
    // A change just before the stream was opened may be sent once more.
    const nextAfter = async ({ revision, rows }: typeof first) => {
      let change = await next()
      while (change.revision === revision && change.rows === rows) change = await next()
      return change
    }
    await org.call('POST', `${base}/inputs`, [{ name: 'more', type: 'string' }])
    const edited = await nextAfter(first)
    expect(edited).toMatchObject({ revision: first.revision + 1, rows: 0 })
    await org.call('POST', `${base}/rows`, { rows: [{ domain: 'a.com' }] })
    expect(await nextAfter(edited)).toMatchObject({ revision: edited.revision, rows: 1 })
  })

  it('tells of a workflow or a sheet beside it that is renamed, added or deleted', async () => {
    const base = await makeRowSheet(org)
    const workflow = base.slice(0, base.indexOf('/sheets'))
    const { next } = await openStream(base)
    let { names } = await next()
    const others = async () => {
      let change = await next()
      while (change.names === names) change = await next()
      names = change.names
      return names
    }
    const told: string[] = [names]
    const rename = (path: string, name: string) => org.call('PATCH', path, { name })
    expect((await rename(`${workflow}/name`, 'Other')).status).toBe(200)
    told.push(await others())
    expect((await rename(`${base}/name`, 'Another tab')).status).toBe(200)
    told.push(await others())
    const added = await org.call('POST', `${workflow}/sheets`, { name: 'Second' })
    told.push(await others())
    await org.call('DELETE', `${workflow}/sheets/${added.body.data.sheet_id}`)
    // Without that sheet, the names are as they were before.
    expect(await others()).toBe(told.at(-2))
    expect(new Set(told).size).toBe(4)
  })

  it('resumes by Last-Event-ID: seen events are not sent again, missed ones are sent at once', async () => {
    const base = await makeRowSheet(org)
    const first = await openStream(base)
    const { id } = await first.next()
    const again = await openStream(base, id)
    await org.call('POST', `${base}/rows`, { rows: [{ domain: 'a.com' }] })
    expect((await again.next()).id).not.toBe(id)
    expect((await (await openStream(base, id)).next()).id).not.toBe(id)
    expect((await (await openStream(base, 'of another process-1')).next()).run).toBeNull()
  })

  it('goes on after the connection that listens for changes was lost', async () => {
    const base = await makeRowSheet(org)
    const { next } = await openStream(base)
    await next()
    await app.store.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'loam changes' and datname = current_database()`,
    })
    // Changes may have been missed meanwhile, so every reader gets an event once the connection is back.
    await next()
    await org.call('POST', `${base}/rows`, { rows: [{ domain: 'a.com' }] })
    await next()
  })

  it('is refused like any other read of the sheet', async () => {
    const base = await makeRowSheet(org)
    const stranger = await app.makeOrg()
    expect((await app.call(stranger.key, 'GET', `${base}/changes`)).status).toBe(404)
    expect((await app.call(null, 'GET', `${base}/changes`)).status).toBe(401)
    const narrow = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] })
    expect((await app.call(narrow, 'GET', `${base}/changes`)).status).toBe(403)
  })
})
