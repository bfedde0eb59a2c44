import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTutorialService } from '../doubles/tutorial-service.ts'
import { createDatabase } from '../plumbing/databases.ts'
import { UNLIMITED } from '../plumbing/installation.ts'
import { makeClusterFolder, prepareCluster } from '../plumbing/prepared-cluster.ts'
import { type ServerProcess, startServer } from '../plumbing/server-process.ts'

const ROOT = resolve('.')
const TUTORIAL = 'docs/tutorial.md'
const HOW_TO = globSync('docs/how-to/*.md').sort()
/** The timeout for all commands and waits of a page: minutes on a machine that is ten times slower. */
const LIMIT = { timeout: 600_000 }
const MARK = '@@@ end of block @@@'

type Block = { line: number; commands: string; output: string | null; run: boolean }

/**
 * Returns the blocks of commands of a page in order, each with the output that is shown directly after it.
 */
function readBlocks(page: string): Block[] {
  const blocks: Block[] = []
  const fences = /^```([^\n]*)\n([^]*?)^```$/gm
  let end = 0
  for (const { 1: info = '', 2: body = '', 0: all, index } of page.matchAll(fences)) {
    const last = blocks.at(-1)
    if (info === 'output' && last !== undefined && page.slice(end, index).trim() === '') last.output = body
    if (info === 'sh' || info === 'sh not-run') {
      const line = page.slice(0, index).split('\n').length
      blocks.push({ line, commands: body, output: null, run: info === 'sh' })
    }
    end = index + all.length
  }
  return blocks
}

/**
 * Returns true if the printed text matches the shown one. `...` stands for any text within its line, and
 * blanks that align columns are ignored.
 */
function matches(shown: string, printed: string): boolean {
  const lines = (words: string) =>
    words
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' ').trim())
  const [wanted, given] = [lines(shown), lines(printed)]
  return (
    wanted.length === given.length &&
    wanted.every((line, n) => {
      const parts = line.split('...').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      return new RegExp(`^${parts.join('.*')}$`).test(given[n] ?? '')
    })
  )
}

const folder = mkdtempSync(join(tmpdir(), 'loam-docs-'))
chmodSync(folder, 0o755)
const clusterFolder = makeClusterFolder('docs')
const dataDir = join(clusterFolder, 'data')
let server: ServerProcess
let service: Awaited<ReturnType<typeof startTutorialService>>
let emptyDatabase = ''

beforeAll(async () => {
  service = await startTutorialService()
  prepareCluster(dataDir)
  server = await startServer({
    LOAM_DATA_DIR: dataDir,
    ...service.settings,
    ...UNLIMITED,
  })
  expect(server.stderr()).not.toContain('"level":60')
  expect(server.url).not.toBe('')
  emptyDatabase = await createDatabase()
  // `npx loam` searches for half a second. The command is the same.
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${ROOT}/cli/loam.mjs" "$@"\n`,
  )
  chmodSync(join(folder, 'bin/npx'), 0o755)
  symlinkSync(process.execPath, join(folder, 'bin/node'))
}, LIMIT.timeout)

afterAll(async () => {
  await server.stop('SIGKILL')
  service.stop()
  for (const each of [folder, clusterFolder]) rmSync(each, { recursive: true, force: true })
}, LIMIT.timeout)

/** Runs the blocks in one shell, as a reader does, and returns the output of each. */
async function runBlocks(blocks: Block[], folderName: string) {
  const cwd = join(folder, folderName)
  mkdirSync(cwd)
  symlinkSync(dataDir, join(cwd, 'data'))
  const script = blocks.map(({ commands }) => `${commands}echo '${MARK}'\n`).join('')
  const child = spawn('bash', ['--norc', '-eu', '-c', script], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: cwd,
      API: `${server.url}/api/v1`,
      SERVICE: service.url,
      LOAM_DATA_DIR: dataDir,
      NEW_DATABASE_URL: emptyDatabase,
    },
  })
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await closed) as [number]
  return { code, stderr, outputs: stdout.split(`${MARK}\n`).slice(0, blocks.length) }
}

const words = () => readBlocks(readFileSync(TUTORIAL, 'utf8')).find(({ run }) => run)

describe.each([TUTORIAL, ...HOW_TO])('%s', LIMIT, (path) => {
  it('its commands run, and print what it shows', async () => {
    const first = path === TUTORIAL ? [] : [words()].filter((block) => block !== undefined)
    const shown = readBlocks(readFileSync(path, 'utf8')).filter(({ run }) => run)
    const blocks = [...first.map((block) => ({ ...block, output: null })), ...shown]
    const { code, stderr, outputs } = await runBlocks(blocks, basename(path, '.md'))
    const wrong = blocks.flatMap(({ line, output }, n) =>
      output === null || matches(output, outputs[n] ?? '')
        ? []
        : [{ line, shown: output, printed: outputs[n] }],
    )
    expect({ code, wrong, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, wrong: [], stderr: '' })
  })
})

describe('these checks', () => {
  it('read blocks with their outputs, and tell apart what is not run', () => {
    const page = 'a\n```sh\nls\n```\n\n```output\nx ...\n```\n```sh not-run\nrm\n```\nb\n```output\ny\n```\n'
    expect(readBlocks(page)).toEqual([
      { line: 2, commands: 'ls\n', output: 'x ...\n', run: true },
      { line: 9, commands: 'rm\n', output: null, run: false },
    ])
    expect(matches('x ... z\n', 'x  y y  z\n')).toBe(true)
    expect([matches('x', 'x y'), matches('x\ny', 'x'), matches('a.c', 'abc')]).toEqual([false, false, false])
  })

  it('few blocks are not run', () => {
    const all = [TUTORIAL, ...HOW_TO].flatMap((path) => readBlocks(readFileSync(path, 'utf8')))
    expect(all.filter(({ run }) => !run).length).toBeLessThan(all.length / 3)
  })
})
