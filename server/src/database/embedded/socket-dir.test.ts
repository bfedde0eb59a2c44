import { mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { cleanUp, giveTo, isRoot, makeFolder, ordinary } from '../testing/embedded-fixture.ts'
import { currentAccount } from './account.ts'
import { openSocketDir, removeSocketDir } from './socket-dir.ts'

const made: string[] = []
const account = isRoot ? { uid: 65_534, gid: 65_534 } : currentAccount()

async function open(dataDir: string): Promise<string> {
  const dir = await openSocketDir(dataDir, account)
  made.push(dir)
  return dir
}

afterEach(async () => {
  for (const dir of made.splice(0)) await removeSocketDir(dir)
})
afterAll(cleanUp)

describe('the folder of the socket', () => {
  it('is private to the user of PostgreSQL, and the same at each start', async () => {
    const dataDir = makeFolder()
    const dir = await open(dataDir)
    expect(statSync(dir)).toMatchObject({ uid: account.uid, mode: 0o40700 })
    expect(await open(dataDir)).toBe(dir)
  })

  it.runIf(isRoot).each([
    ['a folder of another user', (dir: string) => (mkdirSync(dir), giveTo(ordinary, dir))],
    ['a link', (dir: string) => symlinkSync('/', dir)],
  ])('is another one where its name is taken by %s', async (_, take) => {
    const dataDir = makeFolder()
    const dir = await open(dataDir)
    await removeSocketDir(dir)
    take(dir)
    const other = await open(dataDir)
    rmSync(dir, { recursive: true })
    expect(other).not.toBe(dir)
    expect(other.startsWith(dir)).toBe(true)
    expect(statSync(other)).toMatchObject({ uid: account.uid, mode: 0o40700 })
  })

  it('is in a short path although the temporary folder is not', async () => {
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = `${makeFolder()}/${'long'.repeat(30)}`
    mkdirSync(process.env['TMPDIR'])
    const dir = await open(makeFolder())
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    expect(dir).toMatch(/^\/tmp\/loam-[0-9a-f]+$/)
  })
})
