import { existsSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import * as fixture from '#server/database/testing/embedded-fixture.ts'
import { serveRaw } from '../doubles/loopback-server.ts'
import { targets } from '../plumbing/databases.ts'
import { type Json, makeDatabase } from '../plumbing/harness.ts'
import { type ServerProcess, startServer } from '../plumbing/server-process.ts'

const dataDir = join(fixture.makeFolder(), 'data')
const started: ServerProcess[] = []
afterAll(async () => {
  await Promise.all(started.map((server) => server.stop('SIGKILL')))
  await fixture.cleanUp()
})

async function start(env: Record<string, string> = {}, command?: string[]): Promise<ServerProcess> {
  const server = await startServer({ LOAM_DATA_DIR: dataDir, ...env }, command)
  started.push(server)
  return server
}

/** Returns what a start that must fail prints to stderr, and its exit code. */
async function failToStart(env: Record<string, string>): Promise<{ code: number | string; lines: string[] }> {
  const server = await start({ LOAM_LOG_LEVEL: 'silent', ...env })
  expect(server.url).toBe('')
  expect(server.stdout()).toBe('')
  return { code: await server.ended, lines: server.stderr().trimEnd().split('\n') }
}

const adminKey = () => readFileSync(join(dataDir, 'admin-key'), 'utf8')

async function call(
  server: ServerProcess,
  path: string,
  options: RequestInit = {},
  key = adminKey(),
): Promise<Json> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${server.url}/api/v1${path}`, { headers, ...options })
  return response.json()
}
const putKnowledge = (server: ServerProcess, content: string) =>
  call(server, '/user/knowledge', { method: 'PUT', body: JSON.stringify({ content }) })

/** Begins a request: its head and half of its body are sent. The response comes after `finish`. */
async function beginRequest(server: ServerProcess, content: string) {
  const body = JSON.stringify({ content })
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (text: string) => (answer += text))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const head = ['PUT /api/v1/user/knowledge HTTP/1.1', 'Host: loam', `Authorization: Bearer ${adminKey()}`]
  head.push('Content-Type: application/json', `Content-Length: ${body.length}`, '', '')
  socket.write(head.join('\r\n') + body.slice(0, 12))
  await sleep(200)
  return {
    finish: async () => {
      socket.write(body.slice(12))
      await closed
      return answer
    },
  }
}

describe('D54: the first start', () => {
  it('prints where it is, the administrator and a full key, and keeps the key for its owner only', async () => {
    const server = await start({ LOAM_ADMIN_EMAIL: 'Root@Example.com' })
    const key = /loam_\w{40}/.exec(server.stdout())?.[0]
    expect(key).toBe(adminKey())
    for (const text of [
      `${server.url}/api/v1`,
      `${server.url}/docs`,
      'root@example.com',
      join(dataDir, 'admin-key'),
    ]) {
      expect(server.stdout()).toContain(text)
    }
    expect(server.stderr()).not.toContain(key)
    const link = /\/sign-in\/(\w+)/.exec(server.stdout())
    const signIn = await fetch(`${server.url}/internal${link?.[0]}`)
    expect(await signIn.json()).toMatchObject({ data: { email: 'root@example.com' } })
    expect(server.stderr()).not.toContain(link?.[1])
    for (const file of ['admin-key', 'secret']) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)

    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    const { data } = await call(server, '/user/')
    expect([data.email, data.role]).toEqual(['root@example.com', 'admin'])
    expect((await putKnowledge(server, 'from the first run')).status).toBe(200)
  })

  it('a second server on the same folder says so and exits, and the first goes on', async () => {
    const { code, lines } = await failToStart({})
    expect(code).toBe(1)
    expect(lines).toEqual([expect.stringMatching(/^loam: Another Loam .*is running on the data folder/)])
    expect(lines[0]).toContain(dataDir)
    expect((await call(started[0] as ServerProcess, '/user/')).status).toBe(200)
  })

  it('SIGTERM: a request in flight is answered, then everything ends with exit code 0', async () => {
    const [server] = started as [ServerProcess]
    await call(server, '/user/') // leaves an idle connection, as browsers and clients do
    connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined)
    const request = await beginRequest(server, 'written while ending')
    const signalledAt = Date.now()
    const ended = server.stop()
    await sleep(300)
    expect(await request.finish()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"content":"written while ending"/)
    expect(await ended).toBe(0)
    expect(Date.now() - signalledAt).toBeLessThan(30_000)
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
  })
})

describe('D54: a later start', () => {
  it('has the same key and data, and makes no new key; kill -9 of it loses nothing', async () => {
    const first = await start()
    expect(first.stdout()).not.toContain('loam_')
    expect((await call(first, '/user/knowledge')).data.content).toBe('written while ending')
    await putKnowledge(first, 'written before the crash')
    expect(await first.stop('SIGKILL')).toBe('SIGKILL')

    const second = await start()
    expect(second.stdout()).not.toContain('loam_')
    expect((await call(second, '/user/knowledge')).data.content).toBe('written before the crash')
    expect(await second.stop('SIGINT')).toBe(0)
  })

  it('by npm start, where npm is told to end, ends everything as well', async () => {
    const npm = await start({}, ['npm', 'start'])
    expect(npm.url).not.toBe('')
    expect(await npm.stop()).toBe(0)
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
    await expect(fetch(npm.url)).rejects.toThrow()
  })

  it('on a port that is taken says so and exits, with its database', async () => {
    const { port } = await serveRaw(() => undefined)
    const { code, lines } = await failToStart({ PORT: String(port) })
    expect([code, lines]).toEqual([1, [expect.stringMatching(new RegExp(`^loam: .*in use.*${port}`))]])
    expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false)
  })
})

describe('D55: wrong settings', () => {
  it('are one line each, and nothing is made or started', async () => {
    const elsewhere = join(fixture.makeFolder(), 'data')
    const { code, lines } = await failToStart({
      LOAM_DATA_DIR: elsewhere,
      PORT: 'http',
      LOAM_ROLES: 'a,b',
      DATABASE_URL: 'mysql://db',
    })
    expect(code).toBe(1)
    expect(lines.map((line) => /^loam: (\w+): \S/.exec(line)?.[1])).toEqual([
      'PORT',
      'DATABASE_URL',
      'LOAM_ROLES',
      'LOAM_SECRET',
    ])
    expect(existsSync(elsewhere)).toBe(false)
  })

  it('a database that cannot be reached is one line', async () => {
    const { port, close } = await serveRaw(() => undefined)
    await close()
    const DATABASE_URL = `postgres://loam@127.0.0.1:${port}/loam`
    const { code, lines } = await failToStart({ DATABASE_URL, LOAM_SECRET: 'a secret for this test' })
    expect([code, lines]).toEqual([1, [expect.stringMatching(/^loam: .*ECONNREFUSED/)]])
  })
})

describe('DATABASE_URL', () => {
  it('replaces the embedded server; several processes serve the same data', async () => {
    const folders = [join(fixture.makeFolder(), 'data'), join(fixture.makeFolder(), 'data')] as const
    const shared = {
      DATABASE_URL: await makeDatabase(targets().at(-1)),
      LOAM_SECRET: 'a secret for this test',
    }
    const servers = await Promise.all(folders.map((folder) => start({ ...shared, LOAM_DATA_DIR: folder })))
    const printed = servers.flatMap((server) => /loam_\w{40}/.exec(server.stdout())?.[0] ?? [])
    expect(printed).toHaveLength(1)
    for (const server of servers) expect((await call(server, '/user/', {}, printed[0])).status).toBe(200)
    for (const folder of folders) expect(existsSync(join(folder, 'postgres'))).toBe(false)
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0])
  })
})
