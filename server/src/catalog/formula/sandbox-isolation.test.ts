import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { worstFormulas } from '#test/faults/breaks/worst-shapes.ts'
import type { CarrierKind } from './sandbox-carrier.ts'
import { createMachines } from './sandbox-machines.ts'
import { createSandbox, type SandboxPool } from './sandbox.ts'

declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  RuntimeError: new (message: string) => Error
}

const CANARY = 'canary-of-the-neighbour'
const KINDS: CarrierKind[] = ['thread', 'process']
const fail = (fault: string) => {
  throw new Error(fault)
}

let pool: SandboxPool | undefined
afterEach(() => pool?.close())

/** The published fixes of the engine, https://github.com/bellard/quickjs, that formulas could need. */
const ADVISORIES = [
  {
    fix: '4c722cea4e',
    date: '2026-03-21',
    about: 'garbage collection walks the unfinished result of array methods (#471)',
    gone: ['toReversed', 'toSorted', 'toSpliced', 'with'].map((name) => `[].${name}`),
  },
  ...[
    ['0989d4c', 'sorting typed arrays whose buffer shrinks (#477)'],
    ['68caa5f', 'typed arrays of a buffer that shrinks (#478)'],
    ['841dd03', 'TypedArray.prototype.with (#492)'],
  ].map(([fix, about]) => ({
    fix,
    date: '2026-03-21',
    about,
    gone: ['Uint8Array', 'Float64Array', 'BigInt64Array', 'DataView', 'ArrayBuffer'].map(
      (name) => `globalThis.${name}`,
    ),
  })),
  {
    fix: 'efda450',
    date: '2026-05-14',
    about: 'Atomics on buffers that are resized (#508)',
    gone: ['globalThis.Atomics', 'globalThis.SharedArrayBuffer'],
  },
  {
    fix: '5022f2b',
    date: '2026-03-21',
    about: 'finalisers that begin a garbage collection (#494)',
    gone: ['globalThis.FinalizationRegistry', 'globalThis.WeakRef'],
  },
  {
    fix: 'f1139494',
    date: '2025-09-13',
    about: 'all that the release of 2025-09-13 fixed',
    gone: [],
  },
]

describe('F54: the engine has every published fix, or the feature that needs it is removed', () => {
  const about = readFileSync('node_modules/@jitl/quickjs-wasmfile-release-sync/README.md', 'utf8')
  const [, date = '', commit] = /Version \[(\d{4}-\d\d-\d\d)\+([0-9a-f]+)\]/.exec(about) ?? []

  it('the vendored engine reports its version', () => {
    expect(date).toMatch(/^\d{4}/)
    expect(commit).toMatch(/^[0-9a-f]{8}$/)
  })

  it.each(ADVISORIES)('$fix: $about', async ({ date: fixed, gone }) => {
    if (date >= fixed) return
    expect(gone, `the engine is of ${date}, older than a fix of ${fixed}`).not.toEqual([])
    pool = createSandbox({ workers: 1 })
    const code = `[${gone.map((path) => `typeof ${path}`).join(',')}].join()`
    const fresh = pool.of('a').evaluate(code, [])
    // This many rows of one expression share a realm.
    const shared = Array.from({ length: 64 }, (_, n) => pool?.of('a').evaluate(code, [n]))
    for (const answer of await Promise.all([fresh, ...shared]))
      expect(answer).toEqual({ ok: true, text: gone.map(() => 'undefined').join() })
  })
})

describe('F54: no memory serves two organisations', () => {
  it('a value of one organisation is in no other memory than its own', async () => {
    const memories: { buffer: ArrayBuffer }[] = []
    const { Memory } = WebAssembly
    WebAssembly.Memory = class extends Memory {
      constructor(size: { initial: number; maximum: number }) {
        super(size)
        memories.push(this)
      }
    }
    try {
      const machines = createMachines()
      const values = ['first', 'second', 'third'].map((owner) => [owner, `${CANARY} ${owner}`] as const)
      for (const [owner, value] of [...values, ...values]) {
        const expression = {
          code: '__v0 + "!"',
          variables: 1,
          timeoutMs: 1000,
          json: JSON.stringify([value]),
        }
        const answer = await machines.use(owner, (machine) => machine.evaluate(expression), fail)
        expect(answer).toEqual({ ok: true, text: `${value}!` })
      }
      const holders = values.map(([, value]) =>
        memories.flatMap(({ buffer }, n) => (Buffer.from(buffer).includes(value) ? [n] : [])),
      )
      expect(holders).toEqual([[0], [1], [2]])
    } finally {
      WebAssembly.Memory = Memory
    }
  })

  it('a machine is discarded on eviction, on a fault, and after a number of evaluations', async () => {
    const machines = createMachines({ max: 2, maxEvaluations: 3 })
    const expression = { code: '1', variables: 0, timeoutMs: 1000, json: '[]' }
    const use = (owner: string) =>
      machines.use(
        owner,
        (machine) => {
          machine.evaluate(expression)
          return machine
        },
        fail,
      )
    const first = await use('a')
    expect(await use('a')).toBe(first)
    await use('b')
    await use('c')
    const second = await use('a')
    expect(second).not.toBe(first)

    const faults: string[] = []
    await machines.use(
      'a',
      () => {
        throw new WebAssembly.RuntimeError('memory access out of bounds')
      },
      (fault) => void faults.push(fault),
    )
    expect(faults).toEqual(['RuntimeError: memory access out of bounds'])
    const third = await use('a')
    expect(third).not.toBe(second)
    await use('a')
    expect(await use('a')).toBe(third)
    expect(await use('a')).not.toBe(third)
  })
})

describe.each(KINDS)('F54: attacks on the engine in a %s', (carrier) => {
  it('the published exploit finds no method to use, and does no damage', { timeout: 30_000 }, async () => {
    const faults: unknown[] = []
    pool = createSandbox({ workers: 1, carrier, onFault: (fault) => faults.push(fault) })
    const attack = (method: string) => `(() => {
      const keep = [];
      for (let round = 0; round < 100; round++) {
        let freed = []; for (let i = 0; i < 5000; i++) freed.push({ i, round }); freed = null;
        const list = { length: 5000, get 4999() { for (let i = 0; i < 20000; i++) keep[i] = { i }; return 1 }, get 0() { return this[4999] } };
        keep.push(Array.prototype.${method}.call(list, 0, 0));
      }
      return keep.length })()`
    for (const method of ['toReversed', 'toSorted', 'toSpliced', 'with']) {
      const answer = await pool.of('attacker').evaluate(attack(method), [], { timeoutMs: 5000 })
      expect(answer).toMatchObject({ ok: false, message: expect.stringMatching(/^TypeError: .*undefined/) })
    }
    expect(faults).toEqual([])
  })

  it('no form of attack shows what a neighbour computed', { timeout: 60_000 }, async () => {
    pool = createSandbox({ workers: 1, carrier })
    const [attacker, neighbour] = [pool.of('attacker'), pool.of('neighbour')]
    const shapes = [...worstFormulas()].filter((_, n) => n % 6 === 0)
    const texts: string[] = []
    for (const [n, [, code]] of shapes.entries()) {
      const [own, theirs] = await Promise.all([
        neighbour.evaluate('__v0.toUpperCase() + __v0', [`${CANARY} ${n}`]),
        attacker.evaluate(code, [], { timeoutMs: 20 }),
      ])
      expect(own).toEqual({ ok: true, text: `${`${CANARY} ${n}`.toUpperCase()}${CANARY} ${n}` })
      texts.push(JSON.stringify(theirs))
    }
    expect(texts.filter((text) => text.toLowerCase().includes(CANARY))).toEqual([])
  })

  it('rows of many organisations get their own results', async () => {
    const sandbox = createSandbox({ workers: 2, carrier })
    pool = sandbox
    const evaluated = Array.from({ length: 2000 }, async (_, n) =>
      sandbox.of(`org ${n % 40}`).evaluate('__v0 * 2', [n]),
    )
    expect(await Promise.all(evaluated)).toEqual(evaluated.map((_, n) => ({ ok: true, text: String(n * 2) })))
  })
})

it('I1: the process of the sandbox has no environment, and reads and starts nothing', async () => {
  const { startCarrier } = await import('./sandbox-carrier.ts')
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const carrier = startCarrier('process', {
    onReply: () => resolve(carrier.pid ?? 0),
    onBroken: (message) => reject(new Error(message)),
  })
  const pid = await promise
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    expect(environment).not.toMatch(/LOAM|DATABASE|SECRET|KEY|HOME/)
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    expect(words).toContain('--permission')
    expect(words.filter((word) => word.startsWith('--allow')).map((word) => word.split('=')[0])).toEqual(
      Array.from({ length: 3 }, () => '--allow-fs-read'),
    )
  } finally {
    await carrier.end()
  }
})

it('I1: a process of the sandbox that cannot be interrupted ends with the program, also when that is killed', async () => {
  const source = `const { createSandbox } = await import(${JSON.stringify(new URL('sandbox.ts', import.meta.url))})
    const pool = createSandbox({ workers: 1, carrier: 'process', graceMs: 600_000 })
    await pool.of('a').evaluate('1', [])
    pool.of('a').evaluate('"a".repeat(4e6).indexOf("a".repeat(2e6) + "b")', [])
    setTimeout(() => console.log('at work'), 500)`
  const program = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(program.stdout, 'data')
  const [pid = 0] = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8')
    .split(' ')
    .map(Number)
  const isAlive = () =>
    existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  expect(isAlive()).toBe(true)
  program.kill('SIGKILL')
  await expect.poll(isAlive, { timeout: 10_000 }).toBe(false)
})

/** Returns the processes that this process has started. */
const childPids = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

it('a process of the sandbox that hangs while it starts is replaced', async () => {
  const faults: { message: string }[] = []
  pool = createSandbox({
    workers: 1,
    carrier: 'process',
    startMs: 5000,
    onFault: (fault) => faults.push(fault),
  })
  const before = childPids()
  const answer = pool.of('a').evaluate('1 + 1', [])
  await Promise.resolve()
  const started = childPids().filter((pid) => !before.includes(pid))
  expect(started).toHaveLength(1)
  for (const pid of started) process.kill(pid, 'SIGSTOP')
  expect(await answer).toEqual({ ok: true, text: '2' })
  expect(faults).toEqual([{ message: 'the sandbox did not start within 5 s' }])
  for (const pid of started) expect(childPids()).not.toContain(pid)
})

it('I1: the second organisation moves formulas from a thread to processes', async () => {
  pool = createSandbox({ workers: 1 })
  const before = childPids().length
  expect(await pool.of('first').evaluate('1', [])).toEqual({ ok: true, text: '1' })
  expect(childPids()).toHaveLength(before)
  const both = [pool.of('first').evaluate('2', []), pool.of('second').evaluate('3', [])]
  expect(await Promise.all(both)).toEqual([2, 3].map((n) => ({ ok: true, text: String(n) })))
  expect(childPids()).toHaveLength(before + 1)
})

it('I1: the process of the sandbox starts where node_modules is a link', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loam-sandbox-'))
  try {
    for (const path of ['server/src/catalog/formula', 'server/src/lib', 'package.json'])
      cpSync(path, join(folder, path), { recursive: true })
    symlinkSync(realpathSync('node_modules'), join(folder, 'node_modules'))
    const program = `import { createSandbox } from '${folder}/server/src/catalog/formula/sandbox.ts'
      const pool = createSandbox({ carrier: 'process' })
      console.log(JSON.stringify(await pool.of('a').evaluate('1 + 1', [])))
      await pool.close()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(JSON.parse(stdout)).toEqual({ ok: true, text: '2' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
