import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { TransactionBuilder } from 'kysely'
import type { Egress } from '#server/lib/egress/egress.ts'
import { OUTSIDE_CALLS } from '#server/lib/outside-calls.ts'

/**
 * I5: code must not wait for the outside inside a transaction. Listens to every outside call that the program
 * makes, and finds those that are made inside a transaction, or by a route that does not declare it.
 */
const transactions = new AsyncLocalStorage<{ isOpen: boolean }>()
const requests = new AsyncLocalStorage<FastifyRequest>()

// Files of a worker share this module, so it is done once.
// oxlint-disable-next-line typescript/unbound-method
const { execute } = TransactionBuilder.prototype
TransactionBuilder.prototype.execute = async function (work) {
  const transaction = { isOpen: true }
  try {
    return await transactions.run(transaction, () => execute.call(this, work) as ReturnType<typeof work>)
  } finally {
    transaction.isOpen = false
  }
}

/** Records which request a handler works for. Must be called before the application is ready. */
export function watchRequests(app: Pick<FastifyInstance, 'addHook'>): void {
  app.addHook('preHandler', (request, _reply, done) => requests.run(request, done))
}

const faults: string[] = []

/** Returns the faults found so far, and clears them. */
export const takeFaults = (): string[] => faults.splice(0)

const note = (words: string) => void faults.push(`${words}\n${new Error().stack}`)

function judge(call: unknown): void {
  if (transactions.getStore()?.isOpen === true) note(`${String(call)} inside a transaction`)
}

function judgeRequest(): void {
  const request = requests.getStore()
  if (request === undefined) return
  const { config, url } = request.routeOptions
  const route = `${request.method} ${url}`
  if (request.idempotentCall?.transaction) note(`${route} calls out inside a transaction`)
  if (config.callsOut === undefined) note(`${route} calls out and does not declare \`callsOut\``)
}

/**
 * Returns an egress for an application that judges its requests too. Rows that a request passes to a worker
 * have another egress.
 */
export function watchEgress(egress: Egress): Egress {
  return {
    ...egress,
    fetch: (request) => {
      judgeRequest()
      return egress.fetch(request)
    },
    connect: (request) => {
      judgeRequest()
      return egress.connect(request)
    },
  }
}

export function listen(): void {
  subscribe(OUTSIDE_CALLS, judge)
}

export function stopListening(): void {
  unsubscribe(OUTSIDE_CALLS, judge)
}
