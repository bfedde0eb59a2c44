import { parentPort } from 'node:worker_threads'
import type { Evaluation, Expression } from './sandbox-evaluation.ts'
import { createEvaluator } from './sandbox-evaluator.ts'

/** Rows of one expression, `ids` beside their values. Those that are `alone` are evaluated one by one. */
export type EvaluationGroup = Omit<Expression, 'json'> & { ids: number[]; jsons: string[]; alone: boolean }
/** All of one owner. */
export type EvaluationBatch = { owner: string; groups: EvaluationGroup[] }
/**
 * The first message of a worker is that it is ready: from there on its time counts. Then one for each call, with the time that
 * each of its rows took, and one at the end of a batch, with those that are left when its slice of time is over, and which of
 * them must be evaluated alone.
 */
export type EvaluationReply =
  | 'ready'
  | { ids: number[]; evaluations: Evaluation[]; ms: number }
  | { returned: number[]; alone: number[] }

/** Others may wait for their turn: a batch goes on for so long, and at least for one call. */
const SLICE_MS = 10

if (parentPort === null) throw new Error('sandbox-worker.ts runs as a worker thread')
const port = parentPort
const evaluator = await createEvaluator()
const reply = (message: EvaluationReply) => port.postMessage(message)

reply('ready')
port.on('message', ({ owner, groups }: EvaluationBatch) => {
  const end = performance.now() + SLICE_MS
  let group: EvaluationGroup | undefined
  while ((group = groups[0]) !== undefined) {
    if (group.alone) evaluateFirst(group)
    else {
      const left = evaluateSome(owner, group)
      // Those go first: they have waited already.
      if (left !== null) groups.unshift(left)
    }
    for (let at = groups.length - 1; at >= 0; at -= 1) if (groups[at]?.ids.length === 0) groups.splice(at, 1)
    if (performance.now() >= end) break
  }
  reply({
    returned: groups.flatMap(({ ids }) => ids),
    alone: groups.flatMap(({ ids, alone }) => (alone ? ids : [])),
  })
})

/** Answers at once: the one that is missing tells which expression hangs. */
function evaluateFirst({ ids, jsons, code, variables, timeoutMs }: EvaluationGroup): void {
  const began = performance.now()
  const evaluation = evaluator.evaluate({ code, variables, timeoutMs, json: jsons[0] ?? '[]' })
  reply({ ids: ids.slice(0, 1), evaluations: [evaluation], ms: performance.now() - began })
  ids.shift()
  jsons.shift()
}

/** One call of as many rows as it is good for. Answers those of them that must be evaluated alone. */
function evaluateSome(owner: string, group: EvaluationGroup): EvaluationGroup | null {
  const began = performance.now()
  const answers = evaluator.evaluateSome({ owner, ...group })
  const ids = group.ids.splice(0, answers.length)
  const jsons = group.jsons.splice(0, answers.length)
  const done: { ids: number[]; evaluations: Evaluation[] } = { ids: [], evaluations: [] }
  const left: EvaluationGroup = { ...group, ids: [], jsons: [], alone: true }
  for (const [n, answer] of answers.entries()) {
    const [id, json] = [ids[n], jsons[n]]
    if (id === undefined || json === undefined) continue
    if (answer === 'alone') {
      left.ids.push(id)
      left.jsons.push(json)
    } else {
      done.ids.push(id)
      done.evaluations.push(answer)
    }
  }
  if (done.ids.length > 0) reply({ ...done, ms: (performance.now() - began) / answers.length })
  return left.ids.length === 0 ? null : left
}
