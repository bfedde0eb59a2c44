import { expect, it } from 'vitest'
import { Response } from '../../lib/egress/response.ts'
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

it('I2: an answer of more values than can be gone through fails with what to do', async () => {
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
