import { parentPort } from 'node:worker_threads'
import { createEvaluator, type Evaluation, type Expression } from './sandbox-evaluation.ts'

export type EvaluationRequest = Expression & { id: number }
/** The first message of a worker is that it is ready: from there on its time counts. */
export type EvaluationReply = 'ready' | { id: number; evaluation: Evaluation }

if (parentPort === null) throw new Error('sandbox-worker.ts runs as a worker thread')
const port = parentPort
const evaluator = await createEvaluator()

port.postMessage('ready' satisfies EvaluationReply)
port.on('message', (requests: EvaluationRequest[]) => {
  // Each answer goes at once: the one that is missing tells which expression hangs.
  for (const { id, ...expression } of requests) {
    port.postMessage({ id, evaluation: evaluator.evaluate(expression) } satisfies EvaluationReply)
  }
})
