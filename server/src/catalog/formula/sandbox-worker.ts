import { parentPort } from 'node:worker_threads'
import { createEvaluator, type Evaluation, type Expression } from './sandbox-evaluation.ts'

export type EvaluationRequest = Expression & { id: number }
/**
 * The first message of a worker is that it is ready: from there on its time counts. Then one for each expression, with the
 * time it took, and one at the end of a batch, with those that are left when its slice of time is over.
 */
export type EvaluationReply =
  | 'ready'
  | { id: number; evaluation: Evaluation; ms: number }
  | { returned: number[] }

/** Others may wait for their turn: a batch goes on for so long, and at least for one expression. */
const SLICE_MS = 10

if (parentPort === null) throw new Error('sandbox-worker.ts runs as a worker thread')
const port = parentPort
const evaluator = await createEvaluator()
const reply = (message: EvaluationReply) => port.postMessage(message)

reply('ready')
port.on('message', (requests: EvaluationRequest[]) => {
  const end = performance.now() + SLICE_MS
  let at = 0
  do {
    const request = requests[at]
    if (request === undefined) break
    at += 1
    const began = performance.now()
    const { id, ...expression } = request
    const evaluation = evaluator.evaluate(expression)
    // Each answer goes at once: the one that is missing tells which expression hangs.
    reply({ id, evaluation, ms: performance.now() - began })
  } while (performance.now() < end)
  reply({ returned: requests.slice(at).map(({ id }) => id) })
})
