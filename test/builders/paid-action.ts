import { defineAction } from '#server/catalog/define.ts'
import { field } from '#server/catalog/fields/fields.ts'
import type { Outcome } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'

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
