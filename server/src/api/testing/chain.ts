import { expect } from 'vitest'
import type { Definition } from '#server/catalog/chain/definition.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import type { ApiResponse, Json, TestApp, TestOrg } from '#test/plumbing/harness.ts'

/** A sheet whose chain is built through the API. */
export type TestChain = {
  workflowId: string
  /** The path of the sheet. The path of its actions is `${sheet}/actions`. */
  sheet: string
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>
  add(action_id: string, more?: Record<string, unknown>): Promise<string>
  configure(id: string, body: unknown): Promise<Json>
  node(id: string): Promise<Json>
  ids(): Promise<string[]>
  definition(): Promise<Definition>
  epochs(): Promise<number[]>
  updatedAt(): Promise<string>
  audit(): Promise<[string, Json][]>
}

export async function makeChain(
  app: TestApp,
  org: TestOrg,
  inputs: { name: string; type: string; description?: string }[] = [{ name: 'email', type: 'email' }],
): Promise<TestChain> {
  const workflowId: string = (await org.call('POST', '/workflows', { name: 'Chain' })).body.data.workflow_id
  const sheet = `/workflows/${workflowId}/sheets/${workflowId}`
  if (inputs.length > 0) expect((await org.call('POST', `${sheet}/inputs`, inputs)).status).toBe(200)
  const call: TestChain['call'] = (method, path, body) => org.call(method, `${sheet}/actions${path}`, body)

  const definition = async () => {
    const found = await findSheet(app.store.system, org.orgId, workflowId)
    if (found === undefined) throw new Error('the sheet does not exist')
    return getDefinition(app.store.system, found)
  }
  return {
    workflowId,
    sheet,
    call,
    async add(action_id, more = {}) {
      const { status, body } = await call('POST', '/add', { action_id, ...more })
      expect([status, body.errors]).toEqual([201, undefined])
      return body.data.action_instance_id
    },
    async configure(id, body) {
      const answer = await call('PATCH', `/${id}`, body)
      expect([answer.status, answer.body.errors]).toEqual([200, undefined])
      return answer.body.warnings
    },
    node: async (id) => (await call('GET', `/${id}`)).body.data,
    ids: async () => (await call('GET', '/graph')).body.data.map((node: Json) => node.action_instance_id),
    definition,
    epochs: async () => (await definition()).actions.map(({ epoch }) => epoch),
    updatedAt: async () => (await org.call('GET', `/workflows/${workflowId}`)).body.data.updated_at,
    async audit() {
      const entries = await app.store.system
        .selectFrom('audit_entries')
        .select(['action', 'details'])
        .where('org_id', '=', org.orgId)
        .where('target', '=', workflowId)
        .where('action', 'like', 'action.%')
        .orderBy('entry_id')
        .execute()
      return entries.map(({ action, details }) => [action, details])
    },
  }
}

/** Checks that the answer is a 400 envelope, and returns the names of its fields. */
export function fieldsOf({ status, body }: ApiResponse): unknown {
  const { errors, ...rest } = body
  const count = errors?.length
  expect([status, rest]).toEqual([
    400,
    { status: 400, error: 'Validation Error', message: `${count} validation errors` },
  ])
  return errors.map((error: Json) => error.field)
}
