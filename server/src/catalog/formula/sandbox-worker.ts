import { parentPort } from 'node:worker_threads'
import { type Evaluation, type Expression, failed } from './sandbox-evaluation.ts'
import { createMachines } from './sandbox-machines.ts'

/** The rows of one expression, with `ids` parallel to `jsons`. If `alone` is true, they are evaluated one by one. */
export type EvaluationGroup = Omit<Expression, 'json'> & { ids: number[]; jsons: string[]; alone: boolean }
/** The groups of one owner. */
export type EvaluationBatch = { owner: string; groups: EvaluationGroup[] }
/**
 * A message of the worker. The first one says that it is ready; its time counts from then on. Each call is followed by
 * one message with the average time of its rows. At the end of a batch, one message lists the rows that are left after
 * its time slice, and which of them must be evaluated alone. A `fault` is one of the engine itself, whose memory was
 * discarded.
 */
export type EvaluationReply =
  | 'ready'
  | { ids: number[]; evaluations: Evaluation[]; ms: number }
  | { returned: number[]; alone: number[] }
  | { fault: string; owner: string }

/** The time after which a batch ends, because others may be waiting. It always makes at least one call. */
const SLICE_MS = 10

const machines = createMachines()
let work = Promise.resolve()
const take = (batch: EvaluationBatch) => {
  work = work.then(() => evaluateBatch(batch))
}
const reply = listen(take)

/**
 * Listens for batches as a thread or as a separate process, and returns the function that replies. The process ends when
 * its parent ends.
 */
function listen(onBatch: (batch: EvaluationBatch) => void): (message: EvaluationReply) => void {
  const port = parentPort
  if (port !== null) {
    port.on('message', onBatch)
    return (message) => port.postMessage(message)
  }
  if (process.send === undefined)
    throw new Error('sandbox-worker.ts runs as a worker thread or a child process')
  process.on('message', onBatch)
  process.on('disconnect', () => process.exit())
  return (message) => void process.send?.(message)
}

reply('ready')

async function evaluateBatch({ owner, groups }: EvaluationBatch): Promise<void> {
  const end = performance.now() + SLICE_MS
  let group: EvaluationGroup | undefined
  while ((group = groups[0]) !== undefined) {
    if (group.alone) await evaluateFirst(owner, group)
    else {
      const left = await evaluateSome(owner, group)
      // These rows go first, because they have already waited.
      if (left !== null) groups.unshift(left)
    }
    for (let at = groups.length - 1; at >= 0; at -= 1) if (groups[at]?.ids.length === 0) groups.splice(at, 1)
    if (performance.now() >= end) break
  }
  reply({
    returned: groups.flatMap(({ ids }) => ids),
    alone: groups.flatMap(({ ids, alone }) => (alone ? ids : [])),
  })
}

/**
 * Evaluates the first row alone and replies at once. So if an expression hangs, the first row without a reply is the one
 * that hangs.
 */
async function evaluateFirst(owner: string, group: EvaluationGroup): Promise<void> {
  const { ids, jsons, code, variables, timeoutMs } = group
  const expression = { code, variables, timeoutMs, json: jsons[0] ?? '[]' }
  let startedAt = 0
  const evaluation = await machines.use(
    owner,
    (machine) => {
      startedAt = performance.now()
      return machine.evaluate(expression)
    },
    (fault) => {
      reply({ fault, owner })
      return failed(`the expression broke its sandbox: ${fault}`)
    },
  )
  reply({ ids: ids.slice(0, 1), evaluations: [evaluation], ms: performance.now() - startedAt })
  ids.shift()
  jsons.shift()
}

/** Evaluates as many rows as one call can take. Returns those that must be evaluated alone. */
async function evaluateSome(owner: string, group: EvaluationGroup): Promise<EvaluationGroup | null> {
  let startedAt = 0
  const answers = await machines.use<(Evaluation | 'alone')[]>(
    owner,
    (machine) => {
      startedAt = performance.now()
      return machine.evaluateSome(group)
    },
    (fault) => {
      reply({ fault, owner })
      return group.ids.map(() => 'alone')
    },
  )
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
  if (done.ids.length > 0) reply({ ...done, ms: (performance.now() - startedAt) / answers.length })
  return left.ids.length === 0 ? null : left
}
