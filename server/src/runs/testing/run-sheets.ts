import { expect } from 'vitest'
import type { Json, TestOrg } from '#test/plumbing/harness.ts'
import type { Step } from '../../api/testing/shortcut.ts'

/** The ids of the first two formulas of a sheet. */
export const F1 = 'format_data_using_js_expression_1'
export const F2 = 'format_data_using_js_expression_2'

/** Returns the builders of sheets that one organisation runs. */
export function runSheetsOf(org: TestOrg) {
  return {
    /** Makes a sheet with the inputs `name` and `n` and a chain, and returns its base path. */
    makeSheet: async (chain: Step[]): Promise<string> => {
      const { body } = await org.call('POST', '/workflows', { name: 'Run' })
      const base = `/workflows/${body.data.workflow_id}/sheets/${body.data.workflow_id}`
      await org.call('POST', `${base}/inputs`, [
        { name: 'name', type: 'string' },
        { name: 'n', type: 'number' },
      ])
      for (const step of chain) {
        const added = await org.call('POST', `${base}/actions/add`, step)
        expect([added.status, added.body.errors]).toEqual([201, undefined])
      }
      return base
    },
    addRows: async (base: string, rows: object[], more: object = {}): Promise<Json> => {
      const answer = await org.call('POST', `${base}/rows`, { rows, ...more })
      expect(answer.status).toBe(201)
      return answer.body.data
    },
  }
}

export function complete(formatted_data: string) {
  return { status: 'complete', outputs: { formatted_data } }
}
