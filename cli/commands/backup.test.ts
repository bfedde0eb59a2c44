import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readParts, packEnd, packPart } from '#server/database/backup/archive.ts'
import { newestSchemaVersion } from '#server/database/connection/migrate.ts'
import * as fixture from '#server/database/testing/embedded-fixture.ts'
import { restoreMark } from '#server/process/workspace.ts'
import { type Json, makeDatabase } from '#test/plumbing/harness.ts'
import { makeClusterFolder, prepareCluster } from '#test/plumbing/prepared-cluster.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import { startLoam } from '../testing/loam-process.ts'
import { runLoam } from '../testing/loam.ts'

const ROWS = 200
/** The time limit. Each test starts servers, which on a busy machine takes most of the usual limit. */
const LIMIT = { timeout: 300_000 }
const folder = makeClusterFolder('backup')
const dataDir = join(folder, 'data')
prepareCluster(dataDir)
const archive = join(folder, 'loam.tar.gz')
const servers: ServerProcess[] = []
/** Starts a model that answers slowly, so that rows are running while the archive is written. */
const model = createServer((request, response) => {
  request.resume().on('end', () => {
    const message = { role: 'assistant', content: 'fine' }
    const answer = { id: 'a', object: 'chat.completion', created: 1, model: 'm', choices: [] as Json[] }
    answer.choices.push({ index: 0, message, finish_reason: 'stop' })
    setTimeout(() => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    }, 30)
  })
})

beforeAll(async () => {
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')))
  await fixture.cleanUp()
  rmSync(folder, { recursive: true, force: true })
  model.closeAllConnections()
  model.close()
})

async function serve(LOAM_DATA_DIR: string): Promise<ServerProcess> {
  const LOAM_MODEL_BASE_URL = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  const env = { LOAM_DATA_DIR, LOAM_MODEL_BASE_URL, LOAM_MODELS: 'm', LOAM_RATE_LIMIT_PER_MINUTE: '100000' }
  const server = await startServer(env)
  expect(server.stderr()).not.toContain('"level":50')
  expect(server.url).not.toBe('')
  servers.push(server)
  return server
}

async function call(server: ServerProcess, path: string, body?: object): Promise<Json> {
  const headers = {
    authorization: `Bearer ${readFileSync(join(dataDir, 'admin-key'), 'utf8')}`,
    'content-type': 'application/json',
  }
  const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${server.url}/api/v1${path}`, { headers, ...post })
  expect(response.status).toBeLessThan(300)
  const answer: Json = await response.json()
  return answer.data
}

let sheet = ''
const loam = (...args: string[]) => runLoam(args, { LOAM_DATA_DIR: dataDir })
const into = (target: string) => ({ LOAM_DATA_DIR: target })

describe('loam backup', LIMIT, () => {
  let adding: Promise<void>

  it('killed midway leaves no file that looks complete', async () => {
    const server = await serve(dataDir)
    const { workflow_id } = await call(server, '/workflows', { name: 'Leads' })
    sheet = `/workflows/${workflow_id}/sheets/${workflow_id}`
    await call(server, `${sheet}/inputs`, [{ name: 'n', type: 'string' }] as object)
    const inputs = { model: 'm', prompt: 'Number {{input.n}}', output_format: null }
    await call(server, `${sheet}/actions/add`, { action_id: 'ai_generate', inputs })
    writeFileSync(join(folder, 'leads.csv'), 'n\n1\n')
    expect(await loam('file', 'put', join(folder, 'leads.csv'))).toMatchObject({ exit: 0 })
    adding = (async () => {
      for (let n = 0; n < ROWS; n += 10) {
        const rows = Array.from({ length: 10 }, (_, i) => ({ n: String(n + i) }))
        await call(server, `${sheet}/rows`, { rows, run_after_add: 'all' })
      }
    })()

    // A locked table stops the backup in the middle of its work.
    const { url } = JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8'))
    const holder = new pg.Client({ connectionString: url })
    await holder.connect()
    await holder.query('begin; lock table invitations in access exclusive mode')
    const child = startLoam(['backup', archive], { LOAM_DATA_DIR: dataDir })
    const exited = once(child, 'exit')
    await expect.poll(() => readdirSync(folder).filter((name) => name.endsWith('.partial'))).toHaveLength(1)
    child.kill('SIGKILL')
    expect(await exited).toEqual([null, 'SIGKILL'])
    await holder.query('rollback')
    await holder.end()
    expect(existsSync(archive)).toBe(false)
  })

  it('writes a complete archive, readable only by its owner, while rows arrive and run', async () => {
    const { exit, stdout } = await loam('backup', archive)
    expect(exit).toBe(0)
    expect(stdout).toMatch(/Wrote .*\n.*size.*\n.*rows.*\n.*files +1\n.*secret +included/)
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([])
    expect(execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })).toMatch(
      /^manifest\.json\nsecret\nadmin-key\nfiles\/[^]*\ntables\/public\.rows\.000001\n[^]*totals\.json\n$/,
    )
    await adding
    await servers[0]?.stop()
  })

  it('replaces no file', async () => {
    expect(await loam('backup', archive)).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('exists already'),
    })
  })
})

describe('loam restore', LIMIT, () => {
  const restored = join(folder, 'restored')

  it('killed midway can be run again, and until then no server starts', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const child = startLoam(['restore', pipe], into(restored))
    const exited = once(child, 'exit')
    const writing = await open(pipe, 'w')
    const bytes = readFileSync(archive)
    // Sends the first half of the archive; the rest never arrives.
    await writing.write(bytes.subarray(0, Math.floor(bytes.length / 2)))
    await expect
      .poll(
        () => existsSync(join(restored, 'server.pid')) && readFileSync(join(restored, 'server.pid'), 'utf8'),
      )
      .toContain('"url"')
    child.kill('SIGKILL')
    expect(await exited).toEqual([null, 'SIGKILL'])
    await writing.close()

    expect(existsSync(restoreMark(restored))).toBe(true)
    const early = await startServer({ LOAM_DATA_DIR: restored })
    expect([early.url, await early.ended]).toEqual(['', 1])
    expect(early.stderr()).toContain('run loam restore again')
    const again = await runLoam(['restore', archive], into(restored))
    expect(again).toMatchObject({ exit: 0 })
    expect(existsSync(restoreMark(restored))).toBe(false)
  })

  it('restores everything: rows that continue to run, files, the key, the secret; ledger and balance agree', async () => {
    const server = await serve(restored)
    for (const file of ['secret', 'admin-key'])
      expect(readFileSync(join(restored, file), 'utf8')).toBe(readFileSync(join(dataDir, file), 'utf8'))
    const list = async () => (await call(server, `${sheet}/rows/list`, { limit: 200 })).rows as Json[]
    const { length } = await list()
    expect(length % 10).toBe(0)
    await expect
      .poll(async () => (await list()).map((row) => row.row_status).filter((status) => status !== 'complete'))
      .toEqual([])

    const { url } = JSON.parse(readFileSync(join(restored, 'server.pid'), 'utf8'))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`select set_config('loam.org', '*', false)`)
    const { rows } = await client.query(
      `select credits_millis as balance, (select sum(amount_millis) from ledger_entries e where e.org_id = o.org_id) as ledger
       from organisations o`,
    )
    expect(rows).toHaveLength(1)
    expect(Number(rows[0].ledger)).toBe(Number(rows[0].balance))
    await client.end()
    expect(readdirSync(join(restored, 'files'), { recursive: true }).length).toBeGreaterThan(1)
    await call(server, `${sheet}/rows`, { rows: [{ n: 'after' }], run_after_add: 'all' })
    expect(await server.stop()).toBe(0)
  })

  it('refuses a folder that is not empty, and moves its content aside with --replace', async () => {
    const refused = await runLoam(['restore', archive], into(restored))
    expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining('--replace') })
    const done = await runLoam(['restore', archive, '--replace', '--json'], into(restored))
    expect(done).toMatchObject({ exit: 0 })
    expect(readdirSync(JSON.parse(done.stdout).moved_to).sort()).toEqual([
      'admin-key',
      'files',
      'postgres',
      'secret',
    ])
  })

  it('refuses a newer schema, a truncated and a foreign file, and changes nothing', async () => {
    const target = join(folder, 'untouched')
    const bytes = readFileSync(archive)
    const newer = join(folder, 'newer.tar.gz')
    writeFileSync(newer, await withSchemaVersion(bytes, newestSchemaVersion() + 1))
    expect(await runLoam(['restore', newer], into(target))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('newer Loam'),
    })
    const foreign = join(folder, 'leads.csv')
    for (const file of [foreign, join(folder, 'none.tar.gz')]) {
      expect(await runLoam(['restore', file], into(target))).toMatchObject({ exit: 2 })
    }
    expect(existsSync(target)).toBe(false)
  })

  it('into DATABASE_URL: requires the secret of the archive, and an empty database; a truncated archive changes nothing', async () => {
    const env = { DATABASE_URL: await makeDatabase(), LOAM_DATA_DIR: join(folder, 'own') }
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim()
    const wrong = await runLoam(['restore', archive], { ...env, LOAM_SECRET: 'another secret than that' })
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('LOAM_SECRET') })

    const right = { ...env, LOAM_SECRET: secret }
    const cut = join(folder, 'cut.tar.gz')
    const bytes = readFileSync(archive)
    writeFileSync(cut, bytes.subarray(0, bytes.length - 200))
    expect(await runLoam(['restore', cut], right)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('not a whole archive'),
    })
    expect(await runLoam(['restore', archive], right)).toMatchObject({ exit: 0 })
    expect(await runLoam(['org', 'list', '--json'], right)).toMatchObject({ exit: 0 })
    expect(await runLoam(['restore', archive], right)).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('not empty'),
    })
  })
})

async function withSchemaVersion(archived: Buffer, version: number): Promise<Buffer> {
  const packed: Buffer[] = []
  async function* whole() {
    yield gunzipSync(archived)
  }
  for await (const { name, bytes } of readParts(whole())) {
    const changed =
      name === 'manifest.json'
        ? Buffer.from(JSON.stringify({ ...JSON.parse(bytes.toString()), schema_version: version }))
        : bytes
    packed.push(...packPart({ name, bytes: changed }))
  }
  return gzipSync(Buffer.concat([...packed, packEnd()]))
}
