import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createReaders } from './readers.ts'

const TASKS = new URL('testing/tasks.ts', import.meta.url)
const forever = new AbortController().signal

/** Opens readers, and a function that reads one document. */
function openReaders(bounds: Parameters<typeof createReaders>[0] = {}) {
  const readers = createReaders({ processes: 2, ...bounds })
  onTestFinished(() => readers.close())
  const read = (
    task: string,
    {
      owner = 'a',
      document = task,
      input,
      signal = forever,
    }: { owner?: string; document?: string; input?: unknown; signal?: AbortSignal } = {},
  ) => readers.read({ owner, signal, document, what: 'page' }, TASKS, task, input)
  const pidOf = async (owner = 'a') => {
    const echoed = await read('echo', { owner })
    return (echoed as { value: { pid: number } }).value.pid
  }
  return { read, pidOf }
}

it('I2: a document is read in another process, which is kept for the next one', async () => {
  const { read, pidOf } = openReaders()
  const found = await read('echo', { document: 'text', input: { a: [1, new Date(0)] } })
  const value = { document: 'text', input: { a: [1, new Date(0)] }, pid: expect.any(Number) }
  expect(found).toEqual({ ok: true, value })
  const [pid, next] = [await pidOf(), await pidOf()]
  expect(pid).not.toBe(process.pid)
  expect(next).toBe(pid)
})

it('I2: a document that takes too long is killed at its deadline, while those of others are read', async () => {
  const { read } = openReaders({ cpuMs: () => 500 })
  await Promise.all([read('echo'), read('echo', { owner: 'b' })])
  let isOver = false
  const slow = read('spin', { document: 'worst', input: 60_000 }).finally(() => (isOver = true))
  for (let n = 0; n < 5; n += 1) expect(await read('echo', { owner: 'b' })).toMatchObject({ ok: true })
  expect(isOver).toBe(false)
  expect(await slow).toEqual({ ok: false, message: 'the page takes too long to read' })
  expect(await read('echo')).toMatchObject({ ok: true })
})

it('I2: a document that killed a reader is not tried again for a while', async () => {
  const { read } = openReaders({ cpuMs: () => 300, rememberMs: 5_000 })
  const message = 'the page takes too long to read'
  expect(await read('spin', { document: 'worst', input: 60_000 })).toEqual({ ok: false, message })
  // The task would now end at once.
  expect(await read('spin', { document: 'worst', input: 0 })).toEqual({ ok: false, message })
  expect(await read('spin', { document: 'another', input: 0 })).toMatchObject({ ok: true })
  const after = () => read('spin', { document: 'worst', input: 0 })
  await expect.poll(after, { timeout: 20_000, interval: 1_000 }).toMatchObject({ ok: true })
})

it.each(['fillHeap', 'fillBuffers', 'overflow'])(
  'I2: one that takes too much memory is killed: %s',
  async (task) => {
    const { read } = openReaders({ cpuMs: () => 60_000, heapMb: 64, residentMb: 256 })
    expect(await read(task)).toEqual({ ok: false, message: 'the page takes too much memory to read' })
    expect(await read('echo')).toMatchObject({ ok: true })
  },
)

it('I2: a document that only waits is killed too, and one whose cell is cancelled', async () => {
  const { read } = openReaders({ wallMs: 1_000 })
  expect(await read('hang')).toEqual({ ok: false, message: 'the page takes too long to read' })
  const calling = new AbortController()
  const given = read('hang', { document: 'another', signal: calling.signal })
  setTimeout(() => calling.abort(), 200)
  expect(await given).toEqual({ ok: false, message: 'the reading was called off' })
})

it('I2: organisations take turns, however many documents one of them has', async () => {
  const { read } = openReaders({ processes: 1 })
  const order: string[] = []
  const one = (owner: string, name: string) =>
    read('echo', { owner, document: name }).then(() => order.push(name))
  await Promise.all([...['a1', 'a2', 'a3', 'a4'].map((name) => one('a', name)), one('b', 'b1')])
  expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a3'))
})

it('P20: a reader holds the next documents of an owner and begins them by itself', async () => {
  const { read } = openReaders({ processes: 1 })
  await read('now')
  const all = Promise.all(['1', '2', '3', '4'].map((document) => read('now', { document })))
  await new Promise(setImmediate)
  const since = Date.now()
  while (Date.now() < since + 1_000);
  const times = (await all).map((found) => (found as { value: number }).value)
  expect(Math.max(...times)).toBeLessThan(since + 900)
})

it('I2: a killed or cancelled document does not affect the documents behind it', async () => {
  const { read } = openReaders({ processes: 1, cpuMs: () => 300 })
  await read('echo')
  const calling = new AbortController()
  const all = [
    read('echo', { document: 'before' }),
    read('spin', { document: 'worst', input: 60_000 }),
    read('echo', { document: 'called off', signal: calling.signal }),
    read('fillHeap', { document: 'too much' }),
    read('echo', { document: 'behind' }),
  ]
  await new Promise(setImmediate)
  calling.abort()
  expect(await Promise.all(all)).toMatchObject([
    { ok: true, value: { document: 'before' } },
    { ok: false, message: 'the page takes too long to read' },
    { ok: false, message: 'the reading was called off' },
    { ok: false },
    { ok: true, value: { document: 'behind' } },
  ])
})

it('I2: the size of a result is limited, and a bug of ours is reported as one', async () => {
  const { read } = openReaders()
  expect(await read('large')).toEqual({ ok: false, message: 'the page contains more than 8 MB of text' })
  await expect(read('fail')).rejects.toThrow('a fault of ours')
  await expect(read('exit')).rejects.toThrow('ended with code 3')
})

it('I2: a reader at work ends with its parent, also one that is killed', async () => {
  const source = `const { createReaders } = await import(${JSON.stringify(new URL('readers.ts', import.meta.url))})
    const { read } = createReaders({ processes: 1 })
    const ask = (task, input) => read({ owner: 'a', signal: new AbortController().signal, document: task, what: 'page' }, new URL(${JSON.stringify(TASKS)}), task, input)
    console.log((await ask('echo', null)).value.pid)
    await ask('spin', 60_000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(said.toString())
  expect(isAlive(pid)).toBe(true)
  parent.kill('SIGKILL')
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    // A process that has ended but was not yet reaped counts as ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

it('I2: a reader has no secrets and may not read our data or write', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loam-reader-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'a secret')
  const { read } = openReaders()
  const found = await read('reach', { input: { secret, target: join(folder, 'new') } })
  const refused = 'ERR_ACCESS_DENIED'
  expect(found).toMatchObject({ ok: true, value: { read: refused, write: refused } })
  const { env } = (found as { value: { env: string[] } }).value
  expect(env.filter((name) => !/^(TZ|PWD|OLDPWD|SHLVL|_|NODE_.*)$/.test(name))).toEqual([])
})
