import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, it } from 'vitest'
import { heldMs } from '#server/lib/timing/testing/watched-turns.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()

it('I6: the first document is made in turns: nothing holds the thread of the server for 200 ms', async () => {
  const fresh = [app, await makeApp()]
  const read = async () => {
    const answer = await fresh.pop()?.call(null, 'GET', '/openapi.json')
    expect(answer?.body.openapi).toBe('3.1.0')
  }
  expect(await heldMs(read, 200)).toBeLessThan(200)
})

it('the OpenAPI document is clean by the recommended rules of redocly', async () => {
  const config = await createConfig({ extends: ['recommended'] })
  const { body: document } = await app.call(null, 'GET', '/openapi.json')
  const source = JSON.stringify(document)
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  const texts = problems.map(
    ({ ruleId, severity, message, location: [at] }) =>
      `${severity} ${ruleId} ${at?.pointer ?? ''}: ${message}`,
  )
  expect(texts).toEqual([])
})

it('has one path for sources, whose operations are all there', async () => {
  const { body: document } = await app.call(null, 'GET', '/openapi.json')
  const path = document.paths['/api/v1/sources/{source_id}']
  expect(Object.keys(path).toSorted()).toEqual(['get', 'patch', 'post'])
  expect(path.get.parameters).toMatchObject([
    { name: 'source_id', in: 'path', description: 'The `source_instance_id`' },
  ])
})

it('says which bodies may be left out, and what uploads take and answer', async () => {
  const { body: document } = await app.call(null, 'GET', '/openapi.json')
  const sheet = '/api/v1/workflows/{workflow_id}/sheets/{sheet_id}'
  const isRequired = (path: string) => document.paths[`${sheet}${path}`].post.requestBody.required === true
  expect(['/rows/list', '/run-all', '/rows/delete-all', '/export'].map(isRequired)).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(['/rows', '/run', '/rows/delete'].map(isRequired)).toEqual([true, true, true])
  const { requestBody, responses } = document.paths['/api/v1/files'].post
  expect(requestBody.content['application/octet-stream'].example).toContain('Stripe')
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['413', '415']))
})
