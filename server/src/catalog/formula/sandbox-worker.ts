import { parentPort } from 'node:worker_threads'
import { type Evaluation, type Expression, failed } from './sandbox-evaluation.ts'
import { createMachines } from './sandbox-machines.ts'

/** Rows of one expression, `ids` beside their values. Those that are `alone` are evaluated one by one. */
export type EvaluationGroup = Omit<Expression, 'json'> & { ids: number[]; jsons: string[]; alone: boolean }
/** All of one owner. */
export type EvaluationBatch = { owner: string; groups: EvaluationGroup[] }
/**
 * The first message is that it is ready: from there on its time counts. Then one for each call, with the time that each of its
 * rows took, and one at the end of a batch, with those that are left when its slice of time is over, and which of them must be
 * evaluated alone. A `fault` is one of the engine itself, whose memory was thrown away because of it.
 */
export type EvaluationReply =
  | 'ready'
  | { ids: number[]; evaluations: Evaluation[]; ms: number }
  | { returned: number[]; alone: number[] }
  | { fault: string; owner: string }

/** Others may wait for their turn: a batch goes on for so long, and at least for one call. */
const SLICE_MS = 10

const machines = createMachines()
let work = Promise.resolve()
const take = (batch: EvaluationBatch) => {
  work = work.then(() => evaluateBatch(batch))
}
const reply = listen(take)

/** Listens as a thread or as a process of its own; returns how to answer. A process ends with the one that started it. */
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
}

/** Answers at once: the one that is missing tells which expression hangs. */
async function evaluateFirst(owner: string, group: EvaluationGroup): Promise<void> {
  const { ids, jsons, code, variables, timeoutMs } = group
  const expression = { code, variables, timeoutMs, json: jsons[0] ?? '[]' }
  let began = 0
  const evaluation = await machines.use(
    owner,
    (machine) => {
      began = performance.now()
      return machine.evaluate(expression)
    },
    (fault) => {
      reply({ fault, owner })
      return failed(`the expression broke its sandbox: ${fault}`)
    },
  )
  reply({ ids: ids.slice(0, 1), evaluations: [evaluation], ms: performance.now() - began })
  ids.shift()
  jsons.shift()
}

/** One call of as many rows as it is good for. Answers those of them that must be evaluated alone. */
async function evaluateSome(owner: string, group: EvaluationGroup): Promise<EvaluationGroup | null> {
  let began = 0
  const answers = await machines.use<(Evaluation | 'alone')[]>(
    owner,
    (machine) => {
      began = performance.now()
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
  if (done.ids.length > 0) reply({ ...done, ms: (performance.now() - began) / answers.length })
  return left.ids.length === 0 ? null : left
}
