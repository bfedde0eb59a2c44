import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, wait } from '../outcome.ts'

const THIRTY_DAYS = 30 * 86_400

export default defineAction({
  id: 'delay_step',
  name: 'Delay',
  description: 'Waits before the next action of the row.',
  category: 'flow',
  synonyms: ['wait', 'pause', 'sleep', 'throttle'],
  credits: 0,
  inputs: {
    time: field.number({
      required: true,
      whole: true,
      min: 0,
      max: THIRTY_DAYS,
      label: 'Seconds to wait',
      help: 'A whole number, up to 30 days (2592000).',
      placeholder: '60',
      details: 'At most 2592000.',
    }),
  },
  outputs: {},
  run({ inputs, context }) {
    const rested = context.state !== undefined || inputs.time === 0
    return rested ? done({}) : wait(inputs.time * 1000, 'rested')
  },
})
