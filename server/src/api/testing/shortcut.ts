import { expect } from 'vitest'
import type { ShortcutDetails } from '#contract/shortcuts.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findMember } from '#server/organisation/store/members.ts'
import {
  type GivenSchemas,
  publishShortcut,
  type Publisher,
  republishShortcut,
} from '#server/shortcuts/publish.ts'
import { findShortcut, type ShortcutRecord } from '#server/shortcuts/store/shortcuts.ts'
import type { Json, TestApp, TestOrg } from '#test/plumbing/harness.ts'

export type Step = { action_id: string; inputs?: Record<string, unknown>; [more: string]: unknown }

export const FORMULA = 'format_data_using_js_expression'
export const formula = (expression: string, more: object = {}): Step => ({
  action_id: FORMULA,
  inputs: { data_formatter: expression },
  ...more,
})

const INPUTS = [
  { name: 'Full Name', type: 'string', description: 'Who it is' },
  { name: 'n', type: 'number' },
]

/** Creates a workflow through the API. Returns its id. */
export async function makeWorkflow({ call }: Pick<TestOrg, 'call'>, chain: Step[]): Promise<string> {
  const { body } = await call('POST', '/workflows', { name: 'Behind a shortcut' })
  const id: string = body.data.workflow_id
  expect((await call('POST', `${sheetOf(id)}/inputs`, INPUTS)).status).toBe(200)
  for (const step of chain) {
    const added = await call('POST', `${sheetOf(id)}/actions/add`, step)
    expect([added.status, added.body.errors]).toEqual([201, undefined])
  }
  return id
}

export const sheetOf = (workflowId: string) => `/workflows/${workflowId}/sheets/${workflowId}`

export async function publish(
  app: TestApp,
  org: TestOrg,
  workflowId: string,
  { email = org.adminEmail, given = {}, details = {} }: PublishOptions = {},
): Promise<ShortcutRecord> {
  const member = await findMember(app.store.system, org.orgId, email)
  if (member === undefined) throw new Error(`${email} is not a member`)
  const whole = { name: 'Greet', description: '', cover_image: null, icon_emoji: null, ...details }
  return publishShortcut(publisherOf(app, org, member.member_id), workflowId, member, { shown: whole, given })
}

type PublishOptions = { email?: string; given?: GivenSchemas; details?: Partial<ShortcutDetails> }

export async function republish(
  app: TestApp,
  org: TestOrg,
  shortcutId: string,
  given: GivenSchemas = {},
): Promise<ShortcutRecord> {
  const found = await findShortcut(app.store.system, org.orgId, null, shortcutId)
  if (found === undefined) throw new Error('the shortcut does not exist')
  return republishShortcut(publisherOf(app, org, found.creator_id ?? ''), found, given)
}

function publisherOf({ store, services }: TestApp, { orgId }: TestOrg, memberId: string): Publisher {
  return { db: store.system, author: { ...OPERATOR, orgId, memberId }, catalogue: services.catalogue }
}

/** Returns the calls of an organisation that publishes and runs shortcuts. */
export function shortcutsOf(app: TestApp, org: TestOrg) {
  return {
    makeShortcut: async (chain: Step[], given: GivenSchemas = {}, as: TestOrg = org) => {
      const workflow = await makeWorkflow(as, chain)
      const { shortcut_id } = await publish(app, as, workflow, { given })
      return { workflow, id: shortcut_id, path: `/shortcuts/${shortcut_id}`, sheet: sheetOf(workflow) }
    },
    /** Runs a shortcut and returns the finished run. */
    run: async (path: string, input_data: unknown, as: Pick<TestOrg, 'call'> = org): Promise<Json> => {
      const answer = await as.call('POST', `${path}/run`, { input_data })
      expect([answer.status, answer.body.errors]).toEqual([201, undefined])
      return endedRun(as, `${path}/runs/${answer.body.data.id}`)
    },
    rowsOf: async (sheet: string): Promise<Json[]> => {
      return (await org.call('POST', `${sheet}/rows/list`, { page_size: 200 })).body.data.rows
    },
  }
}

/** Polls a run as a client would, until it ends. */
export async function endedRun(org: Pick<TestOrg, 'call'>, path: string, seconds = 50): Promise<Json> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const { body } = await org.call('GET', path)
    if (!['pending', 'inProgress'].includes(body.data.status)) return body.data
    if (Date.now() > deadline) throw new Error(`the run did not end: ${JSON.stringify(body.data)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
