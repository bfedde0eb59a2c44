import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'filter',
  name: 'Filter',
  description: 'Lets a row go on only when it meets the conditions.',
  category: 'flow',
  credits: 0,
  pure: true,
  inputs: {
    path_conditions: field.conditions({
      required: true,
      description: 'The conditions that a row must meet to continue with the next action.',
    }),
  },
  outputs: {},
  run: ({ inputs }) => (inputs.path_conditions ? done({}) : { kind: 'condition_not_met' }),
})
