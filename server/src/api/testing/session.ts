import { expect } from 'vitest'
import { addMember } from '#server/organisation/members.ts'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findMember } from '#server/organisation/store/members.ts'
import type { ApiResponse, Json, TestApp } from '#test/plumbing/harness.ts'

/** The origin of the dashboard in tests. */
export const ORIGIN = 'http://loam.test'

export type TestSession = {
  token: string
  cookie: string
  csrf: string
  /**
   * Sends a request as the dashboard does: with the cookie and, if it changes something, with its origin and
   * token.
   */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
}

/** Signs a member in as a browser does. Adds the member first if needed. */
export async function signIn(
  app: TestApp,
  orgId: string,
  email: string,
  role = 'admin',
): Promise<TestSession> {
  const db = app.store.system
  const member =
    (await findMember(db, orgId, email)) ??
    (await addMember(db, OPERATOR, orgId, { invite: { email, role }, memberLimit: null }))
  const { url } = await createSignInLink(db, OPERATOR, { orgId, member, publicUrl: ORIGIN })
  const answer = await app.api.inject({
    method: 'POST',
    url: `/internal${new URL(url).pathname}`,
    headers: { origin: ORIGIN },
  })
  const token = /^loam_session=(\w+);/.exec(String(answer.headers['set-cookie']))?.[1] ?? ''
  const cookie = `loam_session=${token}`
  const session = await app.api.inject({ url: '/internal/session', headers: { cookie } })
  const csrf: string = session.json().data.csrf_token
  return {
    token,
    cookie,
    csrf,
    call: (method, path, body, headers = {}) =>
      ask(app, { method, path }, body, { cookie, origin: ORIGIN, 'x-loam-csrf': csrf, ...headers }),
  }
}

/** Reads what a screen shows. The request must be answered with 200. */
export async function readScreen(session: TestSession, path: string): Promise<Json> {
  const answer = await session.call('GET', path)
  expect([path, answer.status]).toEqual([path, 200])
  return answer.body.data
}

/** Sends a request to `/internal` with these headers only. */
export async function ask(
  app: TestApp,
  { method, path }: { method: string; path: string },
  body: unknown,
  headers: Record<string, string>,
): Promise<ApiResponse> {
  const answer = await app.api.inject({
    method: method as 'GET',
    url: `/internal${path}`,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: isJson ? answer.json() : answer.body,
  }
}
