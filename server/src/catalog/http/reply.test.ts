import { expect, it } from 'vitest'
import { Response } from '../../lib/egress/response.ts'
import { heldMs } from '../../lib/timing/testing/watched-turns.ts'
import { readReply, readRetryAfter } from './reply.ts'
import { hideSecrets } from './secrets.ts'

const NOW = new Date('2030-01-01T00:00:00Z')
const DAY_MS = 86_400_000

it.each([
  ['30', 30_000],
  ['0', 0],
  ['86400', DAY_MS],
  ['86401', DAY_MS],
  ['9'.repeat(400), DAY_MS],
  ['Tue, 01 Jan 2030 00:01:00 GMT', 60_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', DAY_MS],
  ['Mon, 01 Jan 2001 00:00:00 GMT', 0],
  ['-1', undefined],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After %s is %s ms, and never more than a day', (header, ms) => {
  expect(readRetryAfter(header, NOW)).toBe(ms)
})

const replyOf = (text: string) =>
  new Response(
    { status: 200, body: Buffer.from(text), url: '', redirects: 0, location: null, more: false, ms: 1 },
    {},
  )

it('I2: an answer with too many outputs fails with advice, and does not block the thread', async () => {
  const text = `{${Array.from({ length: 49_000 }, (_, n) => `"Key ${n}":1`).join(',')}}`
  const read = () =>
    readReply(replyOf(text), new Date(0), hideSecrets({ url: '' }, ['a secret of some length']))
  let outcome: Awaited<ReturnType<typeof read>> | undefined
  expect(await heldMs(async () => void (outcome = await read()), 200)).toBeLessThan(200)
  expect(outcome).toEqual({
    kind: 'failed',
    message:
      'the answer is an object of more than 10,000 keys, each of which would be an output; ask for a list, or for less at once',
  })
})

it('an answer with 10,000 keys has an output for each', async () => {
  const text = `{${Array.from({ length: 10_000 }, (_, n) => `"Key ${n}":1`).join(',')}}`
  const outcome = await readReply(replyOf(text), new Date(0), hideSecrets({ url: '' }, []))
  expect(outcome).toMatchObject({ kind: 'done', outputs: { key_0: 1, key_9999: 1, status_code: 200 } })
})

it('I2: an answer with too many values fails with advice', async () => {
  const body = Buffer.from(`[${'1,'.repeat(300_000)}1]`)
  const reply = new Response(
    { status: 200, body, url: '', redirects: 0, location: null, more: false, ms: 1 },
    {},
  )
  const message = 'the answer is JSON of more than 300,000 values; ask for smaller pages'
  expect(await readReply(reply, new Date(0), hideSecrets({ url: '' }, []))).toEqual({
    kind: 'failed',
    message,
  })
})

it.each<[string, string, object]>([
  [
    'an object in it has more than 50,000 keys',
    `[{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":1`).join(',')}}]`,
    { kind: 'failed', message: expect.stringContaining('an object of more than 50,000 keys') },
  ],
  [
    'all its keys come to one name',
    `{${Array.from({ length: 10_000 }, (_, n) => `"${'!'.repeat(1 + (n % 100))}${'?'.repeat(n / 100)}":1`).join(',')}}`,
    { kind: 'done', outputs: expect.objectContaining({ field: 1, field_10000: 1 }) },
  ],
  ['it has one key of 9 MB', `{"${'aB'.repeat(4_500_000)}":1}`, { kind: 'done' }],
  [
    'it repeats a secret in a long text',
    JSON.stringify('x secret of many words'.repeat(400_000)),
    { kind: 'done', outputs: { response: JSON.stringify('x [redacted]'.repeat(400_000)) } },
  ],
  [
    'it repeats a secret in many keys',
    `[${Array.from({ length: 90_000 }, () => '{"secret of many words":"secret of many words"}').join(',')}]`,
    { kind: 'done' },
  ],
])('I6: an answer holds the thread for less than 200 ms if %s', async (_, text, expected) => {
  const secrets = ['secret of many words', `${'x'.repeat(24_000)}y`]
  const read = () => readReply(replyOf(text), new Date(0), hideSecrets({ url: '' }, secrets))
  let outcome: Awaited<ReturnType<typeof read>> | undefined
  expect(await heldMs(async () => void (outcome = await read()), 200)).toBeLessThan(200)
  expect(outcome).toMatchObject(expected)
})
