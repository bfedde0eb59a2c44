import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { exportsOf } from '#server/api/testing/exports.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import type { Storage } from '../storage/storage.ts'
import { exportFileKey, exportJobs } from './export-job.ts'

const app = await makeApp({ services: { catalogue: catalogueOf() } })
const org = await app.makeOrg()
const { addRows, makeSheet } = rowsOf(org)
const { start, get, download } = exportsOf(app, org)
const { storage, store } = app.services

/** Runs a job as a worker would, with files that go through `write`. */
function perform(
  name: 'export_sheet' | 'expire_exports',
  payload: object,
  write: Storage['write'] = (file, body) => storage.write(file, body),
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const parts = { ...app.services, databaseUrl: app.databaseUrl, storage: { ...storage, write } }
  const job = exportJobs(parts).find((one) => one.name === name)
  if (job === undefined) throw new Error(`no job ${name}`)
  return job.run(payload, signal)
}

/** Returns a storage write that waits before it reads anything of the file. All earlier steps are then done. */
function heldBack() {
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const write: Storage['write'] = async (key, body) => {
    reached.resolve()
    await go.promise
    return storage.write(key, body)
  }
  return { write, reached: reached.promise, go: () => go.resolve() }
}

const sheetWith = async (count: number, text = 'x') => {
  const base = await makeSheet(['n', 'text'])
  const ids = await addRows(
    base,
    Array.from({ length: count }, (_, n) => ({ n: String(n), text })),
  )
  return { base, ids }
}
const begin = async (base: string, body?: object) => {
  const { export_id } = await start(base, body)
  return { org_id: org.orgId, export_id: export_id as string }
}
const textOf = async (record: Json) => (await download(record.file_url)).bytes.toString()
const recordOf = (id: string) =>
  store.system.selectFrom('exports').selectAll().where('export_id', '=', id).executeTakeFirst()

describe('D42: a consistent snapshot', () => {
  it('what is deleted or added while the file is written does not change it', async () => {
    const { base, ids } = await sheetWith(3)
    const key = await begin(base)
    const held = heldBack()
    const done = perform('export_sheet', key, held.write)
    await held.reached
    await org.call('POST', `${base}/rows/delete`, { row_ids: ids.slice(0, 2) })
    await addRows(base, [{ n: 'late' }])
    held.go()
    await done
    const record = await get(base, key.export_id)
    expect([record.row_count, await textOf(record)]).toEqual([3, 'n,text\r\n0,x\r\n1,x\r\n2,x\r\n'])
  })

  it('rows that are added after the request, before the work begins, are not in the file', async () => {
    const { base } = await sheetWith(1)
    const key = await begin(base)
    await addRows(base, [{ n: 'late' }])
    await perform('export_sheet', key)
    expect(await textOf(await get(base, key.export_id))).toBe('n,text\r\n0,x\r\n')
  })
})

describe('progress (integer 0-100; 100 only when completed)', () => {
  it('climbs with the rows that are written, and stays below 100 until the file is there', async () => {
    const { base } = await sheetWith(400, 'y'.repeat(3000))
    const key = await begin(base)
    const seen: Json[] = []
    const write: Storage['write'] = (file, body) =>
      storage.write(
        file,
        (async function* () {
          for await (const bytes of body) {
            yield bytes
            await sleep(300)
            seen.push(await get(base, key.export_id))
          }
        })(),
      )
    await perform('export_sheet', key, write)
    const climbing = seen.map(({ progress }) => progress)
    expect(climbing).toEqual(climbing.toSorted((a, b) => a - b))
    expect(climbing.at(-1)).toBeGreaterThan(0)
    expect(Math.max(...climbing)).toBeLessThan(100)
    expect(seen.at(-1)).toMatchObject({ status: 'running', completed_at: null })
    expect(seen.at(-1).row_count).toBeGreaterThan(0)
    expect(seen.at(-1)).not.toHaveProperty('file_url')
    expect(await get(base, key.export_id)).toMatchObject({
      status: 'completed',
      progress: 100,
      row_count: 400,
    })
  })
})

describe('restarts cleanly after a crash', () => {
  it('of two processes at the same export the later one counts: one file, one row_count', async () => {
    const { base, ids } = await sheetWith(3)
    const key = await begin(base)
    const held = heldBack()
    const first = perform('export_sheet', key, held.write)
    await held.reached
    await org.call('POST', `${base}/rows/delete`, { row_ids: ids.slice(0, 1) })
    await perform('export_sheet', key)
    held.go()
    await first
    const record = await get(base, key.export_id)
    expect([record.status, record.row_count, await textOf(record)]).toEqual([
      'completed',
      2,
      'n,text\r\n1,x\r\n2,x\r\n',
    ])
    expect(await storage.size(exportFileKey(key, 1))).toBeNull()
    expect(await storage.size(exportFileKey(key, 2))).toBe('n,text\r\n1,x\r\n2,x\r\n'.length)
  })

  it('a finished file whose process died before it could say so is replaced', async () => {
    const { base } = await sheetWith(1)
    const key = await begin(base)
    const dying: Storage['write'] = async (file, body) => {
      await storage.write(file, body)
      throw new Error('killed')
    }
    await expect(perform('export_sheet', key, dying)).rejects.toThrow('killed')
    expect(await get(base, key.export_id)).toMatchObject({ status: 'running' })
    await perform('export_sheet', key)
    expect((await get(base, key.export_id)).row_count).toBe(1)
    expect(await storage.size(exportFileKey(key, 1))).toBeNull()
  })

  it('a process that ends releases it for another; nothing of the file is left', async () => {
    const { base } = await sheetWith(2)
    const key = await begin(base)
    const held = heldBack()
    const ending = new AbortController()
    const done = perform('export_sheet', key, held.write, ending.signal)
    await held.reached
    ending.abort()
    held.go()
    await expect(done).rejects.toThrow()
    expect(await storage.size(exportFileKey(key, 1))).toBeNull()
    await perform('export_sheet', key)
    expect(await get(base, key.export_id)).toMatchObject({ status: 'completed', row_count: 2 })
  })

  it('a lost connection to the database leads to a retry', async () => {
    const { base } = await sheetWith(2)
    const key = await begin(base)
    const held = heldBack()
    const done = perform('export_sheet', key, held.write)
    await held.reached
    await store.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction' and application_name = 'loam'`,
    })
    held.go()
    await expect(done).rejects.toThrow()
    expect(await get(base, key.export_id)).toMatchObject({ status: 'running' })
    await perform('export_sheet', key)
    expect(await get(base, key.export_id)).toMatchObject({ status: 'completed', row_count: 2 })
  })

  it('a finished export is not run again', async () => {
    const { base } = await sheetWith(1)
    const key = await begin(base)
    await perform('export_sheet', key)
    const before = await recordOf(key.export_id)
    await perform('export_sheet', key)
    expect(await recordOf(key.export_id)).toEqual(before)
  })
})

describe('build error: `failed`, `error` set', () => {
  it('after five failed attempts, with a message for the caller and the cause in the log', async () => {
    const { base } = await sheetWith(1)
    const key = await begin(base)
    const broken: Storage['write'] = () => Promise.reject(new Error('no room on /dev/secret'))
    for (let n = 0; n < 4; n += 1) {
      await expect(perform('export_sheet', key, broken)).rejects.toThrow('no room')
      expect((await get(base, key.export_id)).status).toBe('running')
    }
    await perform('export_sheet', key, broken)
    const record = await get(base, key.export_id)
    expect(record).toMatchObject({ status: 'failed', completed_at: expect.any(String) })
    expect(record.error).toBe('The file could not be built after 5 attempts. Try again later')
    expect(record).not.toHaveProperty('file_url')
  })

  it.each(['before the work begins', 'while it is written'])('the sheet is deleted %s', async (when) => {
    const { base } = await sheetWith(2)
    const key = await begin(base)
    const held = heldBack()
    const remove = () => org.call('DELETE', `/workflows/${base.split('/')[2]}`)
    if (when.startsWith('before')) expect((await remove()).status).toBe(200)
    const done = perform('export_sheet', key, held.write)
    if (when.startsWith('while')) {
      await held.reached
      expect((await remove()).status).toBe(200)
    }
    held.go()
    await done
    expect((await org.call('GET', `${base}/export/${key.export_id}`)).status).toBe(404)
    const record = await recordOf(key.export_id)
    expect([record?.status, record?.error]).toEqual(['failed', 'The sheet was deleted while it was exported'])
    expect(await storage.size(exportFileKey(key, 1))).toBeNull()
  })
})

describe('an export is readable for 24 hours, then it is deleted', () => {
  it('file and record are removed, also when the sheet is gone before; the others stay', async () => {
    const keys = await Promise.all([1, 2, 3].map(async () => ({ ...(await sheetWith(1)) })))
    const made = []
    for (const { base } of keys) {
      const key = await begin(base)
      await perform('export_sheet', key)
      made.push({ base, ...key })
    }
    const [old, orphan, young] = made
    if (old === undefined || orphan === undefined || young === undefined) throw new Error('three were made')
    await store.query({
      text: `update exports set started_at = now() - interval '25 hours' where export_id = $1`,
      values: [old.export_id],
    })
    await org.call('DELETE', `/workflows/${orphan.base.split('/')[2]}`)
    await perform('expire_exports', {})
    const left = await Promise.all(
      made.map(async (key) => [
        (await recordOf(key.export_id)) !== undefined,
        (await storage.size(exportFileKey(key, 1))) !== null,
      ]),
    )
    expect(left).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ])
    expect(await textOf(await get(young.base, young.export_id))).toBe('n,text\r\n0,x\r\n')
  })
})
