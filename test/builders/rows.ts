import { expect } from 'vitest'
import type { Json, TestOrg } from '../plumbing/harness.ts'

const COLUMNS = ['Company', 'domain', 'employees']

/** Creates a workflow with input columns. Returns the base path of its main sheet. */
export async function makeRowSheet(org: TestOrg, columns: string[] = COLUMNS): Promise<string> {
  const { body } = await org.call('POST', '/workflows', { name: 'Rows' })
  const base = `/workflows/${body.data.workflow_id}/sheets/${body.data.workflow_id}`
  const inputs = columns.map((name) => ({ name, type: 'string' }))
  expect((await org.call('POST', `${base}/inputs`, inputs)).status).toBe(200)
  return base
}

/** Returns what most tests of rows need, as one organisation. */
export function rowsOf(org: TestOrg) {
  return {
    makeSheet: (columns?: string[]) => makeRowSheet(org, columns),
    addRows: async (base: string, rows: unknown[] | string): Promise<string[]> => {
      const answer = await org.call('POST', `${base}/rows`, typeof rows === 'string' ? rows : { rows })
      expect(answer.status).toBe(201)
      return answer.body.data.row_ids
    },
    list: async (base: string, body: unknown = {}): Promise<Json> => {
      const answer = await org.call('POST', `${base}/rows/list`, body)
      expect([answer.status, answer.body.errors]).toEqual([200, undefined])
      return answer.body.data
    },
  }
}
