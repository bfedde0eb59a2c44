import { type Action, defineAction } from '#server/catalog/define.ts'
import { field } from '#server/catalog/fields/fields.ts'
import { done, failed, retry } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { createCatalogue } from '#server/catalog/registry.ts'

/** The price of a completed cell of a priced action, in thousandths. */
export const PRICE = 1500

const instant = (id: string, credits: number) =>
  defineAction({
    id,
    name: id,
    description: `Costs ${credits} credits.`,
    category: 'data',
    credits,
    inputs: {},
    outputs: { value: output.text('A text.') },
    run: () => done({ value: 'x' }),
  })

const pure = defineAction({
  id: 'pure',
  name: 'pure',
  description: 'Can be computed again.',
  category: 'data',
  credits: 0,
  pure: true,
  inputs: {},
  outputs: { value: output.text('A text.') },
  run: () => done({ value: 'x' }),
})

/** An action that asks a server and costs credits, so that tests compare what the server saw with the ledger. */
const paidCall = defineAction({
  id: 'paid_call',
  name: 'paid_call',
  description: 'Asks a server.',
  category: 'data',
  credits: PRICE / 1000,
  inputs: { url: field.text({ required: true, label: 'Url', help: 'Who is asked.' }) },
  outputs: { value: output.text('The answer.') },
  async run({ inputs, context }) {
    const reply = await context.egress.fetch({ method: 'GET', url: inputs.url, signal: context.signal })
    if (reply.ok) return done({ value: 'x' })
    return reply.retryable ? retry(reply.message) : failed(reply.message)
  },
})

/** An action that asks until the server has the answer: 200 instead of 202 or 503. The row is parked in between. */
const polledCall = defineAction({
  id: 'polled_call',
  name: 'polled_call',
  description: 'Asks a server until it has the answer.',
  category: 'data',
  credits: PRICE / 1000,
  inputs: { url: field.text({ required: true, label: 'Url', help: 'Who is asked.' }) },
  outputs: { value: output.text('How often it was asked.') },
  async run({ inputs, context }) {
    const asked = typeof context.state === 'number' ? context.state + 1 : 1
    const reply = await context.egress.fetch({ method: 'GET', url: inputs.url, signal: context.signal })
    if (!reply.ok) return failed(reply.message)
    if (reply.status === 503) return retry('not now')
    return reply.status === 202 ? { kind: 'wait', ms: 100, state: asked } : done({ value: String(asked) })
  },
})

/** An action that ends its process for the rows that say so. */
const poison = defineAction({
  id: 'poison',
  name: 'poison',
  description: 'Ends its process.',
  category: 'data',
  credits: 0,
  inputs: { kill: field.text({ label: 'Kill', help: 'Whether to.' }) },
  outputs: { value: output.text('A text.') },
  run({ inputs }) {
    if (inputs.kill === 'yes') process.kill(process.pid, 'SIGKILL')
    return done({ value: 'x' })
  },
})

const ALIKE = { texts: ['the same for all'], inputs: null, ignoreCase: false, waitedEnough: true }

/** An action that writes to the database itself. */
const unique = defineAction({
  id: 'unique',
  name: 'unique',
  description: 'Claims a value for its row.',
  category: 'data',
  credits: 0,
  inputs: {},
  outputs: { value: output.text('Whether it was the first.') },
  run: async ({ context }) => done({ value: await context.sheets.judgeUnique(ALIKE) }),
})

/** The same with a timeout of a second. It reports a failure in words of its own. */
const hasty = defineAction({
  id: 'hasty',
  name: 'hasty',
  description: 'Claims a value for its row, within a second.',
  category: 'data',
  credits: 0,
  timeoutSeconds: 1,
  inputs: {},
  outputs: { value: output.text('Whether it was the first.') },
  async run({ context }) {
    const [claimed] = await Promise.allSettled([context.sheets.judgeUnique(ALIKE)])
    return claimed.status === 'rejected' ? failed('it did not work') : done({ value: claimed.value })
  },
})

/** An action that throws the error of a socket, which an action must not do. */
const broken = defineAction({
  id: 'broken',
  name: 'broken',
  description: 'Throws.',
  category: 'data',
  credits: 0,
  inputs: {},
  outputs: { value: output.text('A text.') },
  run() {
    throw Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:25'), { code: 'ECONNREFUSED' })
  },
})

const entry = (action: Action) => ({ file: `${action.id}.ts`, module: { default: action } })

export const faultCatalogue = createCatalogue(
  [
    instant('paid', PRICE / 1000),
    instant('free', 0),
    pure,
    paidCall,
    polledCall,
    poison,
    unique,
    hasty,
    broken,
  ].map(entry),
)
