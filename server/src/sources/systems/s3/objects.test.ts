import { describe, expect, it, onTestFinished } from 'vitest'
import {
  BUCKET,
  CREDENTIALS,
  REGION,
  type S3Server,
  startS3Server,
} from '../../../files/testing/s3-server.ts'
import { pullSource, type Settings } from '../../testing/pull-source.ts'

const FIELDS = { secret: CREDENTIALS.secretAccessKey, access_key_id: CREDENTIALS.accessKeyId, region: REGION }
const NOW = new Date('2026-02-01T00:00:00Z')
const at = (day: number) => new Date(Date.UTC(2026, 0, day))

async function startBucket(files: Record<string, [text: string, day: number]>) {
  const server = await startS3Server()
  onTestFinished(() => server.close())
  put(server, files)
  return server
}

function put({ objects, times }: S3Server, files: Record<string, [text: string, day: number]>): void {
  for (const [key, [text, day]] of Object.entries(files)) {
    objects.set(key, Buffer.from(text))
    times.set(key, at(day))
  }
}

function pull(
  { url }: S3Server,
  body: Record<string, unknown> = {},
  settings: Settings & { state?: unknown; limit?: number } = {},
) {
  return pullSource(
    'import_from_s3',
    { bucket: BUCKET, ...body },
    { fields: { ...FIELDS, endpoint: url }, now: NOW, ...settings },
  )
}

describe('import_from_s3', () => {
  it('reads the CSV and JSON lines files of a folder, in the order of their keys, and no others', async () => {
    const server = await startBucket({
      'in/a b+ü&.csv': ['Id,Name\n1,a\n2,b', 1],
      'in/b.jsonl': ['{"Id": 3, "Name": "c"}\n\n{"Id": 4, "Name": "d"}\n', 2],
      'in/c.parquet': ['PAR1', 3],
      'in/d/': ['', 3],
      'in/e.CSV': ['', 3],
      'in/f.csv': ['Id;Name\n5;e\n', 3],
      'out/z.csv': ['Id\n9', 3],
    })
    const pulled = await pull(server, { folder: '/in/', key_column: 'Id' })
    expect(pulled).toMatchObject({ keys: ['1', '2', '3', '4', '5'], refusal: null, note: null })
    expect(pulled.rows[2]).toEqual({ Id: 3, Name: 'c' })
  })

  it('D49, D28: long ids of JSON lines are keys, and numbers are stored as they were written', async () => {
    const lines = ['{"Id":12345678901234567890,"price":1.50}', '{"Id":12345678901234567891,"price":2}']
    const server = await startBucket({ 'a.jsonl': [[...lines, '{"Id":5.0}', '{"Id":5}'].join('\n'), 1] })
    const pulled = await pull(server, { key_column: 'Id' })
    expect(pulled.keys).toEqual(['12345678901234567890', '12345678901234567891', '5'])
    expect(pulled.stored.slice(0, 2)).toEqual(lines)
  })

  it('reads a file of any length in pages, every row once', async () => {
    const lines = Array.from({ length: 30_000 }, (_, n) => `${n},"some ""text"" ${n}"`)
    const server = await startBucket({ 'a.csv': [`Id,Text\n${lines.join('\n')}\n`, 1] })
    const pulled = await pull(server, { key_column: 'Id' })
    expect(new Set(pulled.keys).size).toBe(30_000)
    expect(pulled.keys.length).toBe(30_000)
  })

  it('on a schedule reads new and changed files, also those added behind the current key', async () => {
    const server = await startBucket({ 'a.csv': ['Id\n1', 1], 'b.csv': ['Id\n2', 5] })
    const first = await pull(server, { key_column: 'Id' })
    expect(first.keys).toEqual(['1', '2'])
    put(server, { 'a.csv': ['Id\n1\n3', 6], 'aa.csv': ['Id\n4', 7] })
    const second = await pull(server, { key_column: 'Id' }, { state: first.resume })
    // b.csv has the time of the newest file read. Other files might share it.
    expect(second.keys).toEqual(['1', '3', '4', '2'])
    const third = await pull(server, { key_column: 'Id' }, { state: second.resume })
    expect(third.keys).toEqual(['4'])
  })

  it('a file written during the walk is read again', async () => {
    const server = await startBucket({ 'a.csv': ['Id\n1', 31], 'b.csv': ['Id\n2', 40] })
    const { resume } = await pull(server, { key_column: 'Id' })
    expect(resume).toMatchObject({ since: '2026-01-31T23:55:00.000Z' })
  })

  it('restarts a file that is replaced while it is read', async () => {
    const server = await startBucket({ 'a.csv': ['Id\n1\n2\n3', 1] })
    const place = { byte: 5, size: 65_536, delimiter: ',', columns: [{ name: 'Id', place: 0 }] }
    const reading = { key: 'a.csv', etag: '"old"', modified: at(1).toISOString(), place }
    const state = { since: null, started: null, newest: null, after: null, reading }
    expect((await pull(server, { key_column: 'Id' }, { state })).keys).toEqual(['1', '2', '3'])
  })

  it.each<[string, Record<string, unknown>, Record<string, string>, Record<string, unknown>]>([
    ['a wrong secret', {}, { secret: 'another' }, { kind: 'unconfigured' }],
    [
      'no access key',
      {},
      { access_key_id: '' },
      { kind: 'unconfigured', message: expect.stringContaining('access_key_id') },
    ],
    [
      'no such bucket',
      { bucket: 'nobody' },
      {},
      { kind: 'ineligible', message: expect.stringContaining('NoSuchBucket') },
    ],
    [
      'a line that is no JSON',
      { format: 'jsonl' },
      {},
      { kind: 'ineligible', message: expect.stringContaining('a.csv: The line') },
    ],
  ])('says what is wrong: %s', async (_what, body, fields, refusal) => {
    const server = await startBucket({ 'a.csv': ['Id\n1', 1] })
    const pulled = await pull(server, body, { fields: { ...FIELDS, endpoint: server.url, ...fields } })
    expect(pulled.refusal).toMatchObject(refusal)
    expect(JSON.stringify(pulled.refusal)).not.toContain(CREDENTIALS.secretAccessKey)
  })

  it('without a connection, says what to connect and how; refuses an invalid bucket and names the field', async () => {
    await expect(pullSource('import_from_s3', { bucket: BUCKET }, { fields: null })).rejects.toThrow(
      'loam connection add --provider s3',
    )
    await expect(pullSource('import_from_s3', { bucket: '../x' })).rejects.toMatchObject({
      details: { errors: [{ field: 'bucket', message: 'must be the name of a bucket' }] },
    })
  })
})
