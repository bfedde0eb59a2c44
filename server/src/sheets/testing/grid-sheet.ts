import type { Json, TestApp } from '#test/plumbing/harness.ts'
import { signIn } from '../../api/testing/session.ts'

/** Returns a function that makes a sheet of one organisation, with the session that opens it in a grid. */
export const gridSheetsOf =
  (app: TestApp) =>
  async (values: string[] = ['ann', 'bob', 'cid']) => {
    const org = await app.makeOrg()
    const session = await signIn(app, org.orgId, org.adminEmail)
    const id: string = (await org.call('POST', '/workflows', { name: 'Leads' })).body.data.workflow_id
    const sheet = `/workflows/${id}/sheets/${id}`
    await org.call('POST', `${sheet}/inputs`, [
      { name: 'name', type: 'string' },
      { name: 'city', type: 'string' },
    ])
    const ids: string[] = []
    for (let from = 0; from < values.length; from += 1000) {
      const rows = values.slice(from, from + 1000).map((name) => ({ name, city: 'Ulm' }))
      ids.push(...(await org.call('POST', `${sheet}/rows`, { rows })).body.data.row_ids)
    }
    const list = async (body: object = {}): Promise<Json> =>
      (await org.call('POST', `${sheet}/rows/list`, body)).body.data
    const names = async (body: object = {}): Promise<string[]> =>
      (await list(body)).rows.map((row: Json) => row.inputs.name)
    return { org, session, sheet, ids, list, names }
  }
