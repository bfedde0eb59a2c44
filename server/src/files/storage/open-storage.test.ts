import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../lib/config/config.ts'
import { BUCKET, CREDENTIALS, REGION, startS3Server } from '../testing/s3-server.ts'
import { openStorage } from './open-storage.ts'
import type { Storage } from './storage.ts'

const ORG = '01890000-0000-7000-8000-00000000000a'
const PART = 16 * 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'loam-storage-'))
const s3 = await startS3Server()
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await s3.close()
})

const s3Settings = {
  LOAM_S3_BUCKET: BUCKET,
  LOAM_S3_ENDPOINT: s3.url,
  LOAM_S3_REGION: REGION,
  LOAM_S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  LOAM_S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
}
const disk = openStorage(readConfig({ LOAM_DATA_DIR: folder }))
const bucket = openStorage(readConfig(s3Settings))

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the first half')
  throw new Error('the line went dead')
}

const read = async (storage: Storage, key: string, range?: { start?: number; end?: number }) => {
  const found = await storage.read(key, range)
  return found === null ? null : text(found)
}

let serial = 0
const newKey = () => `${ORG}/file${(serial += 1)}.csv`

describe.each([
  ['disk', disk],
  ['S3', bucket],
] as [string, Storage][])('files on %s', (_name, storage) => {
  it('are read as they were written, in parts of any size', async () => {
    const key = newKey()
    expect(await storage.write(key, chunks('one,', '', 'two\n', 'drei ü'))).toBe(15)
    expect(await read(storage, key)).toBe('one,two\ndrei ü')
    expect(await storage.size(key)).toBe(15)
  })

  it('may be empty', async () => {
    const key = newKey()
    expect(await storage.write(key, chunks())).toBe(0)
    expect([await read(storage, key), await storage.size(key)]).toEqual(['', 0])
  })

  it('are replaced whole', async () => {
    const key = newKey()
    await storage.write(key, chunks('a long first text'))
    await storage.write(key, chunks('short'))
    expect(await read(storage, key)).toBe('short')
  })

  it('stay what they were when a write breaks off', async () => {
    const [fresh, known] = [newKey(), newKey()]
    await storage.write(known, chunks('before'))
    await expect(storage.write(fresh, broken())).rejects.toThrow('the line went dead')
    await expect(storage.write(known, broken())).rejects.toThrow('the line went dead')
    expect([await read(storage, fresh), await storage.size(fresh)]).toEqual([null, null])
    expect(await read(storage, known)).toBe('before')
  })

  it('that do not exist are null, and removing them does nothing', async () => {
    const key = newKey()
    expect([await storage.read(key), await storage.size(key)]).toEqual([null, null])
    expect(await storage.read(key, { start: 3, end: 3 })).toBeNull()
    await storage.remove(key)
  })

  it('no longer exist once removed', async () => {
    const key = newKey()
    await storage.write(key, chunks('x'))
    await storage.remove(key)
    expect([await storage.read(key), await storage.size(key)]).toEqual([null, null])
  })

  it.each([
    [{ start: 3 }, '3456789'],
    [{ end: 3 }, '012'],
    [{ start: 3, end: 6 }, '345'],
    [{ start: 9, end: 100 }, '9'],
    [{ start: 0, end: 1 }, '0'],
    [{ start: 4, end: 4 }, ''],
    [{ start: 10 }, ''],
    [{ start: 11, end: 20 }, ''],
    [{}, '0123456789'],
  ])('are read from byte to byte: %j', async (range, expected) => {
    const key = newKey()
    await storage.write(key, chunks('0123456789'))
    expect(await read(storage, key, range)).toBe(expected)
  })

  it('larger than a part arrive whole and in order', async () => {
    const key = newKey()
    const block = (n: number) => Buffer.alloc(5 * 1024 * 1024, n)
    expect(await storage.write(key, chunks(block(1), block(2), block(3), block(4), 'end'))).toBe(
      PART + 4 * 1024 * 1024 + 3,
    )
    expect(await read(storage, key, { start: 4 * block(1).length })).toBe('end')
    expect(await read(storage, key, { start: 5 * 1024 * 1024 - 1, end: 5 * 1024 * 1024 + 1 })).toBe(
      '\u0001\u0002',
    )
  })

  it.each([
    '',
    'file.csv',
    '/file.csv',
    `${ORG}/`,
    `${ORG}/../secret`,
    `../${ORG}`,
    `${ORG}/a/b`,
    `${ORG}/.partial`,
    `${ORG}/a\0b`,
  ])('have no key such as %j', async (key) => {
    await expect(storage.read(key)).rejects.toThrow('is not a valid key of a file')
    await expect(storage.write(key, chunks('x'))).rejects.toThrow('is not a valid key of a file')
    await expect(storage.size(key)).rejects.toThrow('is not a valid key of a file')
    await expect(storage.remove(key)).rejects.toThrow('is not a valid key of a file')
  })
})

describe('the folder', () => {
  it('holds nothing of writes that broke off, and is readable by its owner only', async () => {
    const key = newKey()
    await disk.write(key, chunks('x'))
    await expect(disk.write(key, broken())).rejects.toThrow()
    expect(readdirSync(join(folder, 'files/.partial'))).toEqual([])
    expect(statSync(join(folder, 'files', key)).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'files', ORG)).mode & 0o777).toBe(0o700)
  })

  it('is cleared of files that killed processes left a day ago, not of files being written', async () => {
    const partials = join(folder, 'old/files/.partial')
    await mkdir(partials, { recursive: true })
    for (const name of ['abandoned', 'under-way']) writeFileSync(join(partials, name), 'half')
    const yesterday = Date.now() / 1000 - 25 * 60 * 60
    utimesSync(join(partials, 'abandoned'), yesterday, yesterday)
    await openStorage(readConfig({ LOAM_DATA_DIR: join(folder, 'old') })).write(newKey(), chunks('x'))
    expect(readdirSync(partials)).toEqual(['under-way'])
  })
})

describe('the bucket', () => {
  it('holds nothing of uploads that broke off in a later part', async () => {
    async function* breaksLate(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(PART + 1)
      yield Buffer.alloc(PART)
      yield* broken()
    }
    const key = newKey()
    await expect(bucket.write(key, breaksLate())).rejects.toThrow('the line went dead')
    expect(s3.requests).toContain('DELETE uploadId&x-id')
    expect([s3.uploads.size, s3.objects.has(key)]).toEqual([0, false])
  })

  it('refuses a wrong key, and the refusal is an error, not an absence', async () => {
    const stranger = openStorage(readConfig({ ...s3Settings, LOAM_S3_SECRET_ACCESS_KEY: 'another' }))
    const key = newKey()
    await expect(stranger.size(key)).rejects.toThrow()
    await expect(stranger.read(key)).rejects.toThrow('SignatureDoesNotMatch')
    await expect(stranger.write(key, chunks('x'))).rejects.toThrow('SignatureDoesNotMatch')
    expect(s3.objects.has(key)).toBe(false)
  })

  it('that does not exist is an error, not an absence of files', async () => {
    const nowhere = openStorage(readConfig({ ...s3Settings, LOAM_S3_BUCKET: 'elsewhere' }))
    await expect(nowhere.read(newKey())).rejects.toThrow('NoSuchBucket')
    await expect(nowhere.write(newKey(), chunks('x'))).rejects.toThrow('NoSuchBucket')
  })

  it.each([
    [{ LOAM_S3_ENDPOINT: 'https://s3.example.com' }, ['LOAM_S3_BUCKET: required with LOAM_S3_ENDPOINT']],
    [
      { LOAM_S3_BUCKET: 'b', LOAM_S3_ACCESS_KEY_ID: 'k' },
      ['LOAM_S3_SECRET_ACCESS_KEY: required with LOAM_S3_ACCESS_KEY_ID'],
    ],
    [
      { LOAM_S3_SECRET_ACCESS_KEY: 's' },
      [
        'LOAM_S3_BUCKET: required with LOAM_S3_SECRET_ACCESS_KEY',
        'LOAM_S3_ACCESS_KEY_ID: required with LOAM_S3_SECRET_ACCESS_KEY',
      ],
    ],
  ] as [Record<string, string>, string[]][])('is not asked for by half: %j', (env, lines) => {
    expect(() => readConfig(env)).toThrow(lines.join('\n'))
  })
})
