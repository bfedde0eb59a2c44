import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const invite = (email: string, key: string, as = org) =>
  as.call('POST', '/org/members', { email, role: 'member' }, { 'idempotency-key': key })

it('D14: the same key and payload replays the stored answer', async () => {
  const key = randomUUID()
  const first = await invite('once@example.com', key)
  const again = await invite('once@example.com', key)
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.body).toEqual(first.body)
  expect(first.headers['idempotency-replayed']).toBeUndefined()
  expect(again.headers['idempotency-replayed']).toBe('true')
})

it('D14: a refusal that depends on the state of things is not replayed', async () => {
  await invite('taken@example.com', randomUUID())
  const key = randomUUID()
  const first = await invite('taken@example.com', key)
  const same = await invite('taken@example.com', key)
  await org.call('DELETE', '/org/members?email=taken@example.com')
  const again = await invite('taken@example.com', key)
  const later = await invite('taken@example.com', key)
  expect([first.status, same.status, again.status, later.status]).toEqual([409, 409, 201, 201])
  expect(later.headers['idempotency-replayed']).toBe('true')
})

it('D14: a different payload is 422', async () => {
  const key = randomUUID()
  await invite('a@example.com', key)
  const { status, body } = await invite('b@example.com', key)
  expect([status, body.error]).toEqual([422, 'Unprocessable Entity'])
})

it('D14: of concurrent ones exactly one works, the others are 409 or replay it', async () => {
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 8 }, () => invite('race@example.com', key)))
  const invited = answers.filter((answer) => answer.status === 201)
  expect(invited.length).toBeGreaterThan(0)
  expect(answers.every((answer) => answer.status === 201 || answer.status === 409)).toBe(true)
  expect(new Set(invited.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  const waiting = answers.filter((answer) => answer.status === 409)
  expect(waiting.every((answer) => answer.body.error === 'Conflict')).toBe(true)
})

it('a request refused for its shape has not used its key', async () => {
  const key = randomUUID()
  expect((await invite('not an address', key)).status).toBe(400)
  expect((await invite('an.address@example.com', key)).status).toBe(201)
})

it('keys of another organisation are another matter', async () => {
  const other = await app.makeOrg()
  const key = randomUUID()
  await invite('same@example.com', key)
  const answer = await invite('same@example.com', key, other)
  expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined])
})

it('a key is forgotten after 24 hours', async () => {
  const key = randomUUID()
  await invite('day@example.com', key)
  await app.store.query({
    text: `update idempotency_keys set created_at = now() - interval '25 hours' where key = $1`,
    values: [key],
  })
  expect((await invite('day@example.com', key)).body.error).toBe('ALREADY_INVITED')
})

it.each(['', 'x'.repeat(256)])('a malformed Idempotency-Key is 400', async (key) => {
  const { status, body } = await invite('m@example.com', key)
  expect([status, body.errors?.[0].field]).toEqual([400, 'Idempotency-Key'])
})
