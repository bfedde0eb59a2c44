import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import * as fixture from '../testing/embedded-fixture.ts'
import { makeFolder, query, waitFor } from '../testing/embedded-fixture.ts'
import { startEmbedded } from './embedded.ts'

const log = () => undefined
const hasTable = async (url: string) =>
  (await query(url, `select to_regclass('kept') as name`))[0]?.['name'] !== null

afterAll(fixture.cleanUp)

describe('the database files', () => {
  const dataDir = join(makeFolder(), 'data')

  it('are complete or absent: a first start that is killed leaves nothing to the next one', async () => {
    const { child } = fixture.launch('start', dataDir)
    await waitFor(() => fixture.listFolder(dataDir).some((name) => name.startsWith('postgres.new-')))
    await fixture.kill(child)
    expect(fixture.listFolder(dataDir)).not.toContain('postgres')
    await (await startEmbedded({ dataDir, log })).stop()
    expect(fixture.listFolder(dataDir).sort()).toEqual(['postgres', 'postgres.log'])
  })

  it('D54 are in the data folder, closed to other users', () => {
    expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true)
    expect(lstatSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700)
    expect(lstatSync(join(dataDir, 'postgres.log')).mode & 0o777).toBe(0o600)
    expect(lstatSync(dataDir).mode & 0o777).toBe(fixture.isRoot ? 0o711 : 0o700)
  })

  it.runIf(fixture.canBeOrdinary)('of another user are refused', async () => {
    chmodSync(dataDir, 0o777)
    const program = await fixture.run('start', dataDir, fixture.ordinary)
    expect(program.error).toMatch(/belong to the user with id 65534, not 1/)
  })

  it('of another major version of PostgreSQL are refused', async () => {
    writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n')
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(
      /made by PostgreSQL 17 .* has PostgreSQL 18/,
    )
  })

  it('that are missing are not replaced by an empty database', async () => {
    const dataDir = makeFolder()
    symlinkSync('/nowhere/cluster', join(dataDir, 'postgres'))
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(
      'points to /nowhere/cluster, which does not exist',
    )
  })
})

describe.runIf(fixture.isRoot)('the database files of root, in a folder closed to other users', () => {
  it('are elsewhere, found by a link that is moved and removed with the data folder', async () => {
    const closed = makeFolder()
    chmodSync(closed, 0o700)
    const dataDir = join(closed, 'data')
    const first = await startEmbedded({ dataDir, log })
    await query(first.url, 'create table kept ()')
    await first.stop()
    expect(lstatSync(join(dataDir, 'postgres')).isSymbolicLink()).toBe(true)

    const moved = join(makeFolder(), 'moved')
    renameSync(dataDir, moved)
    const second = await startEmbedded({ dataDir: moved, log })
    expect(await hasTable(second.url)).toBe(true)
    await second.stop()

    fixture.removeLinkedCluster(moved)
    rmSync(moved, { recursive: true })
    mkdirSync(dataDir)
    const third = await startEmbedded({ dataDir, log })
    expect(await hasTable(third.url)).toBe(false)
    await third.stop()
    fixture.removeLinkedCluster(dataDir)
  })
})
