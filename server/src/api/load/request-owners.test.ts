import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { SESSION_COOKIE } from '#contract/sessions.ts'
import { hashToken, newKey } from '../../lib/security/keys.ts'
import { newSessionToken } from '../../lib/security/session-tokens.ts'
import { createRequestOwners } from './request-owners.ts'

function requestWith(authorization?: string, socket = new Socket()): IncomingMessage {
  Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.7', configurable: true })
  const request = new IncomingMessage(socket)
  request.url = '/api/v1/user/'
  if (authorization !== undefined) request.headers.authorization = authorization
  return request
}

it('R10: a request belongs to the organisation of its admitted key; requests with made-up keys belong to their address', () => {
  const owners = createRequestOwners({ hops: 0 })
  const keys = [newKey(), newKey()] as const
  for (const key of keys) owners.remember(hashToken(key), 'org')
  const findOwner = (authorization?: string) => owners.findOwnerOfRaw(requestWith(authorization))
  expect(keys.map((key) => findOwner(`Bearer ${key}`))).toEqual(['org', 'org'])
  expect([undefined, 'Bearer x', 'Basic y', `Bearer ${newKey()}`].map(findOwner)).toEqual(
    Array.from({ length: 4 }, () => '192.0.2.7'),
  )
})

it('R10: each request on one connection belongs to the owner of its key, also if the owner is known only later', () => {
  const owners = createRequestOwners({ hops: 0 })
  const [one, two] = [newKey(), newKey()]
  const first = requestWith(`Bearer ${one}`)
  const findOwner = (authorization?: string) =>
    owners.findOwnerOfRaw(requestWith(authorization, first.socket))
  expect(findOwner(`Bearer ${one}`)).toBe('192.0.2.7')
  owners.remember(hashToken(one), 'org of one')
  owners.remember(hashToken(two), 'org of two')
  expect([`Bearer ${one}`, `Bearer ${two}`, `Bearer ${one}`, undefined].map(findOwner)).toEqual([
    'org of one',
    'org of two',
    'org of one',
    '192.0.2.7',
  ])
})

it('on one connection a key and a session never stand in for each other', () => {
  const owners = createRequestOwners({ hops: 0 })
  const [key, session] = [newKey(), newSessionToken()]
  const raw = requestWith(`Bearer ${key}`)
  const headers = { ...raw.headers, cookie: `${SESSION_COOKIE}=${session}` }
  const hashOf = (originalUrl: string, url?: string) =>
    owners.findOwner({ raw, headers, originalUrl, ...(url && { routeOptions: { url } as never }) }).hash
  expect(hashOf('/api/v1/user/')).toEqual(hashToken(key))
  expect(hashOf('/internal/api/v1/user/')).toEqual(hashToken(session))
  expect(hashOf('/%69nternal/keys', '/internal/keys')).toEqual(hashToken(session))
  expect(hashOf('/api/v1/user/')).toEqual(hashToken(key))
})
