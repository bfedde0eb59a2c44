import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const seen: string[] = []
const server = createServer((request, response) => {
  seen.push(request.url ?? '')
  const data = ['1', '2'].map((id) => ({ id, text: `post ${id}`, author_id: 'u' }))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ data, includes: { users: [{ id: 'u', username: 'acme' }] }, meta: {} }))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => server.close())
const ENV = {
  DATABASE_URL: app.databaseUrl,
  LOAM_SECRET: 'a secret for tests only',
  LOAM_DATA_DIR: folder,
  LOAM_EGRESS_ALLOW: '127.0.0.1',
  LOAM_PROVIDER_URL_X: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  LOAM_PROVIDER_KEY_X: 'platform key',
}
const org = await app.makeOrg()
const NOBODY = '00000000-0000-7000-8000-000000000000'

async function source(...args: string[]): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam(['source', ...args, '--json'], ENV)
  return { exit, answer: JSON.parse(exit === 0 ? stdout : stderr) }
}

const create = async (...set: string[]): Promise<string> =>
  (await source('create', 'search_x_tweets', '--set', 'query=loam', ...set)).answer.source_instance_id

describe('loam source', () => {
  it('types lists the available types', async () => {
    const { answer } = await source('types')
    expect(answer).toContainEqual(expect.objectContaining({ source_id: 'search_x_tweets', providers: ['x'] }))
  })

  it('preview shows rows, from --set and from a file', async () => {
    const { exit, answer } = await source(
      'preview',
      'search_x_tweets',
      '--set',
      'query=data engineer',
      'limit=1',
    )
    expect(exit).toBe(0)
    expect(answer).toMatchObject({
      data: [{ author: 'acme', text: 'post 1' }],
      metadata: { total_results: 2 },
    })
    expect(seen.at(-1)).toContain('query=data+engineer')
    const file = join(folder, 'body.json')
    writeFileSync(file, JSON.stringify({ query: 'from a file', language: 'de' }))
    await source('preview', 'search_x_tweets', '--body', file, '--set', 'language=en')
    expect(seen.at(-1)).toContain('query=from+a+file+lang%3Aen')
  })

  it('create, list, show, pause, resume, data and delete do what the API does', async () => {
    const id = await create('max_count=5', 'name=Mine')
    expect((await source('list')).answer[0]).toMatchObject({
      source_instance_id: id,
      name: 'Mine',
      status: 'active',
    })
    expect((await org.call('GET', `/sources/${id}`)).body.data).toMatchObject({ max_count: 5, name: 'Mine' })
    expect((await source('pause', id)).answer).toEqual({ source_instance_id: id, status: 'paused' })
    expect((await source('show', id)).answer).toMatchObject({ status: 'paused', last_error: null })
    expect((await source('resume', id)).answer.status).toBe('active')
    expect((await source('data', id, '--page-size', '5')).answer).toEqual({
      rows: [],
      total_count: 0,
      page_no: 1,
      page_size: 5,
    })
    expect((await source('delete', id)).exit).toBe(0)
    expect((await source('show', id)).exit).toBe(3)
    expect((await org.call('GET', `/sources/${id}`)).status).toBe(404)
  })

  it('set changes the credit limit of its pulls', async () => {
    const id = await create('max_credits=5')
    const set = (amount: string) => source('set', id, '--max-credits', amount)
    expect((await set('7.5')).answer).toMatchObject({ source_instance_id: id, max_credits: 7.5 })
    expect((await set('none')).answer).toMatchObject({ max_credits: null })
    for (const wrong of ['-1', '1.2345', 'many']) expect((await set(wrong)).exit).not.toBe(0)
    expect((await org.call('GET', `/sources/${id}`)).body.data.max_credits).toBeNull()
  })

  it('sync connects a workflow', async () => {
    const id = await create()
    const { body } = await org.call('POST', '/workflows', { name: 'W' })
    const workflow: string = body.data.workflow_id
    await org.call('POST', `/workflows/${workflow}/sheets/${workflow}/inputs`, [
      { name: 'who', type: 'string' },
    ])
    const sync = (...args: string[]) => source('sync', id, '--workflow', workflow, ...args)
    expect(await sync('--map', 'input.who=author', '--no-existing', '--on-change', 'update')).toEqual({
      exit: 0,
      answer: {
        source_instance_id: id,
        workflow_id: workflow,
        push_existing: false,
        fields_mapped: 1,
        warnings: [],
      },
    })
    expect((await source('show', id)).answer.syncs).toMatchObject([
      { on_change: 'update', push_existing: false },
    ])
    expect((await sync('--map', 'input.nobody=author')).exit).toBe(2)
    expect((await sync('--map', 'who')).exit).toBe(2)
  })

  it.each([
    [['preview', 'find_nothing'], 3, 'There is no source find_nothing'],
    [['preview', 'search_x_tweets'], 2, 'query'],
    [['create', 'search_x_tweets', '--set', 'colour=red', 'query=a'], 2, 'colour'],
    [['create', 'search_x_tweets', '--set', 'query'], 2, 'name=value'],
    [['create', 'search_x_tweets', '--body', '/nowhere.json'], 2, 'cannot be read'],
    [['options', 'search_x_tweets', 'query'], 3, 'none of its fields has options'],
    [['show', NOBODY], 3, 'not found'],
    [['show', 'x'], 2, 'UUID'],
    [['pause', NOBODY], 3, 'not found'],
  ])('%j exits with %i', async (args, exit, words) => {
    const outcome = await source(...args)
    expect(outcome.exit).toBe(exit)
    expect(JSON.stringify(outcome.answer)).toContain(words)
  })

  it('prints text for people too', async () => {
    const id = await create('name=For people')
    const shown = await runLoam(['source', 'show', id], ENV)
    expect(shown.stdout).toMatch(/For people\n.*search_x_tweets \(x\)/s)
    expect((await runLoam(['source', 'list'], ENV)).stdout).toContain('For people')
  })
})
