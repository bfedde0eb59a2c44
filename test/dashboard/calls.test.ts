import { expect, it } from 'vitest'
import { call, dryRun, sheetCall } from '../../dashboard/src/api/calls.ts'

const sheet = { workflowId: 'w/1', sheetId: 's 1' }

it('a call has the method and path of its endpoint, with parameters and query encoded', () => {
  expect(call('GET /actions')).toEqual({ method: 'GET', path: '/actions' })
  expect(call('DELETE /internal/members/:email', { params: { email: 'a/b@c.d' } })).toEqual({
    method: 'DELETE',
    path: '/internal/members/a%2Fb%40c.d',
  })
  expect(
    call('POST /sources/:source_id/options/:field_name', { params: { source_id: 'x', field_name: ':y' } })
      .path,
  ).toBe('/sources/x/options/%3Ay')
  expect(call('POST /files', { query: { name: 'a&b=c.csv' } }).path).toBe('/files?name=a%26b%3Dc.csv')
})

it('an undefined part of a query is left out', () => {
  expect(call('GET /internal/audit', { query: { actor: undefined, action: undefined } }).path).toBe(
    '/internal/audit',
  )
  expect(call('GET /internal/audit', { query: { actor: 'a@b.c', before: undefined } }).path).toBe(
    '/internal/audit?actor=a%40b.c',
  )
})

it('a call of a sheet names the sheet, below /internal or not', () => {
  expect(sheetCall(sheet, 'GET /runs').path).toBe('/workflows/w%2F1/sheets/s%201/runs')
  expect(sheetCall(sheet, 'POST /internal/rows/window', { body: { offset: 0, limit: 10 } })).toEqual({
    method: 'POST',
    path: '/internal/workflows/w%2F1/sheets/s%201/rows/window',
    body: { offset: 0, limit: 10 },
  })
})

it('a dry run is the same call with dry_run in its body', () => {
  const run = sheetCall(sheet, 'POST /run', { body: { first_10: true } })
  expect(dryRun(run)).toEqual({ ...run, body: { first_10: true, dry_run: true } })
  const all = sheetCall(sheet, 'POST /run-all')
  expect(dryRun(all)).toEqual({ ...all, body: { dry_run: true } })
})

it('a wrong path, parameter, query or body is an error of types', () => {
  // @ts-expect-error No such path.
  call('GET /nowhere')
  // @ts-expect-error No such method at this path.
  call('PUT /actions')
  // @ts-expect-error The parameter is missing.
  call('GET /shortcuts/:id')
  // @ts-expect-error The parameter has another name.
  call('GET /shortcuts/:id', { params: { shortcut: 'x' } })
  // @ts-expect-error The query has no such field.
  call('GET /credits/usage', { query: { since: '2026-01-01' } })
  // @ts-expect-error The body is missing.
  call('POST /workflows')
  // @ts-expect-error The body has a field of another type.
  call('POST /workflows', { body: { name: 1 } })
  // @ts-expect-error The body has no such field.
  call('POST /workflows', { body: { name: 'x', colour: 'red' } })
  // @ts-expect-error The list holds something else.
  sheetCall(sheet, 'POST /rows/list', { body: { row_ids: [1] } })
  // @ts-expect-error There is no body.
  sheetCall(sheet, 'POST /stop', { body: { now: true } })
  const { data } = { data: undefined as Awaited<ReturnType<typeof answerOf>> | undefined }
  // @ts-expect-error The answer has no such field.
  expect(data?.nothing).toBeUndefined()
})

/** Returns a value of the type of the answer to a call. It is never called. */
const answerOf = async () => {
  const { fetchData } = await import('../../dashboard/src/api/client.ts')
  return fetchData(sheetCall(sheet, 'POST /stop'))
}
