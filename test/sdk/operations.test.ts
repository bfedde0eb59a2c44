import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ERROR_STATUS } from '#contract/errors.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { Loam } from '../../sdk/src/index.ts'

type Document = {
  paths: Record<string, Record<string, { operationId?: string }>>
  components: { schemas: Record<string, unknown> }
}

const app = await makeApp()
const answer = await app.api.inject('/api/v1/openapi.json')
const document: Document = answer.json()

/** The groups of methods of a client, by name. */
const groupsOf = (loam: Loam) =>
  Object.entries(loam).filter(([name, group]) => name !== 'webhooks' && typeof group === 'object')

const methodsOf = (group: object) =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(group)).filter(
    (name) => name !== 'constructor' && !name.endsWith('AndWait'),
  )

/** Arguments that fit every method: what is no id or text is ignored by the server of this test. */
const ARGUMENTS: Record<string, unknown[]> = {
  'rows.add': ['w', [{}]],
  'rows.addAll': ['w', [{}]],
  'rows.delete': ['w', ['r']],
  'rows.deleteAll': ['w'],
  'rows.list': ['w', {}],
  'rows.stream': ['w', {}],
  'inputs.duplicate': ['w', 'a', 'b'],
  'files.upload': ['a,b', 'a.csv'],
}

/** Calls every method of a client, and returns the requests that it makes. */
async function listRequests(): Promise<string[]> {
  const requests: string[] = []
  const loam = new Loam({
    apiKey: 'key',
    maxRetries: 0,
    fetch: async (url, { method }) => {
      requests.push(`${method} ${new URL(url).pathname}`)
      const data = { rows: [], entries: [], next_cursor: null, runs: [], pagination: {}, file_url: undefined }
      return Response.json({
        status: 200,
        data: { ...data, rejected: [], warnings: [], row_ids: [], deleted_row_ids: [] },
      })
    },
  })
  for (const [name, group] of groupsOf(loam)) {
    for (const method of methodsOf(group)) {
      const given = ARGUMENTS[`${name}.${method}`] ?? ['a', 'b', 'c', 'd']
      const call: unknown = Reflect.apply(Reflect.get(group, method), group, given)
      if (typeof call === 'object' && call !== null && 'next' in call) {
        const stream = call as AsyncGenerator
        // A stream of rows ends by itself; the answer to the stream of changes is no stream.
        await Promise.race([stream.next(), new Promise((resolve) => setTimeout(resolve, 100))]).catch(
          () => null,
        )
      } else {
        await Promise.resolve(call).catch(() => null)
      }
    }
  }
  return requests
}

describe('the methods of the SDK', () => {
  it('there is one for every operation of openapi.json', async () => {
    const requests = [...new Set(await listRequests())]
    const missing = Object.entries(document.paths).flatMap(([path, operations]) => {
      // The alias of shortcuts, and the receiver of webhooks, which takes no key.
      if (/^\/(api\/v1\/apps|hooks)\//.test(`${path}/`)) return []
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
      return Object.entries(operations).flatMap(([method, { operationId }]) => {
        const isCalled = requests.some((request) => {
          const [verb = '', where = ''] = request.split(' ')
          return verb === method.toUpperCase() && pattern.test(where)
        })
        return isCalled ? [] : [`${operationId}: ${method.toUpperCase()} ${path}`]
      })
    })
    expect(missing).toEqual([])
  })

  it('no method calls what openapi.json does not have', async () => {
    const known = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map(
        (method) => new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      ),
    )
    const requests = [...new Set(await listRequests())]
    expect(requests.filter((request) => !known.some((one) => one.test(request)))).toEqual([])
  })

  it('every schema of openapi.json is an exported type', () => {
    const types = readFileSync('sdk/src/wire.ts', 'utf8')
    const names = Object.keys(document.components.schemas)
    // Errors are classes; groups of conditions are described in words only.
    const left = new Set(['Error', 'ValidationError', 'TooManyRequests', 'ConditionGroup'])
    const missing = names.filter((name) => !left.has(name) && !types.includes(`export type ${name} =`))
    expect(missing).toEqual([])
  })

  it('every code of errors is typed', () => {
    const text = readFileSync('sdk/src/errors.ts', 'utf8')
    expect(Object.keys(ERROR_STATUS).filter((code) => !text.includes(`| '${code}'`))).toEqual([])
  })
})
