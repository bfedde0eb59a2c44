import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'filter',
  name: 'Filter',
  description: 'Stops rows that do not meet the conditions.',
  category: 'flow',
  synonyms: ['condition', 'qualify', 'stop', 'if', 'exclude', 'icp'],
  credits: 0,
  pure: true,
  inputs: {
    path_conditions: field.conditions({
      required: true,
      label: 'Conditions',
      help: 'Rows that meet them continue with the next action.',
    }),
  },
  outputs: {},
  run: ({ inputs }) => (inputs.path_conditions ? done({}) : { kind: 'condition_not_met' }),
})
