import { expect } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { field } from '#server/catalog/fields/fields.ts'
import type { Outcome } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import type { TestOrg } from '../plumbing/harness.ts'

type Answer = Outcome<{ value: string }>

/**
 * Returns an action `paid` of one text that costs two credits by default. The test decides the result of a
 * call.
 */
export const paidAction = (
  answer: (text: string, cellRun: string) => Answer | Promise<Answer>,
  { id = 'paid', credits = 2 } = {},
) =>
  defineAction({
    id,
    name: 'Paid',
    description: `Costs ${credits}.`,
    category: 'data',
    credits,
    inputs: { text: field.text({ required: true, label: 'Text', help: 'A text.' }) },
    outputs: { value: output.text('The text.') },
    run: async ({ inputs, context }) => answer(inputs.text, context.cellRun),
  })

/** A step of this action that uses the input `x` of its row. */
export const PAID = { action_id: 'paid', inputs: { text: '{{input.x}}' } }

type PaidSheet = {
  inputs?: string[]
  steps?: readonly { action_id: string }[]
  settings?: object
  /** The workflow that gets the sheet as a child, which runs its rows as they arrive. */
  parent?: string
}

/** Makes a sheet with text inputs and paid steps, by default without the cache. Returns its base path. */
export async function makePaidSheet(
  org: Pick<TestOrg, 'call'>,
  { inputs = ['x'], steps = [PAID], settings = { cache_enabled: false }, parent }: PaidSheet = {},
): Promise<string> {
  const made =
    parent === undefined
      ? await org.call('POST', '/workflows', { name: 'Paid' })
      : await org.call('POST', `/workflows/${parent}/sheets`, { name: 'Child', auto_run: true })
  const { workflow_id = parent, sheet_id = workflow_id } = made.body.data
  const base = `/workflows/${workflow_id}/sheets/${sheet_id}`
  const columns = inputs.map((name) => ({ name, type: 'string' }))
  expect((await org.call('POST', `${base}/inputs`, columns)).status).toBe(200)
  for (const step of steps)
    expect((await org.call('POST', `${base}/actions/add`, step)).status, step.action_id).toBe(201)
  if (Object.keys(settings).length > 0) expect((await org.call('PATCH', base, settings)).status).toBe(200)
  return base
}
