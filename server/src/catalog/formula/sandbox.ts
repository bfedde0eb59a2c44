import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Evaluation } from './sandbox-evaluation.ts'
import type { EvaluationReply, EvaluationRequest } from './sandbox-worker.ts'

export type { Evaluation }

/** Runs expressions of strangers, away from the thread that serves everybody. */
export type Sandbox = {
  /** The text that one expression comes to, with `values` bound to its variables. Never rejects for what code does. */
  evaluate(code: string, values: readonly unknown[], options?: { timeoutMs?: number }): Promise<Evaluation>
  close(): Promise<void>
}

const TIMEOUT_MS = 100
/** How much longer than its time an expression may take, when it cannot be interrupted, before its worker is given up. */
const GRACE_MS = 3000
const LOOKS_PER_GRACE = 6
/** Expressions handed to one worker ahead of its answers: enough to keep it busy, few enough to wait behind. */
const WINDOW = 32
/** Characters of JSON; the text and what it is read into must both fit into the memory of the sandbox. */
const MAX_JSON = 8_000_000

type Waiting = { request: EvaluationRequest; settle: (evaluation: Evaluation) => void }
type Slot = {
  worker: Worker
  inFlight: Map<number, Waiting>
  /** When it last answered, or got work while it had none; never while it is still starting. */
  heard: number
  /** Overdue at the last look; given up if it still is at the next, since this thread may be what was busy. */
  suspect: boolean
  watchdog: NodeJS.Timeout
}

export function createSandbox(options: { workers?: number; graceMs?: number } = {}): Sandbox {
  const { workers: size = Math.min(2, availableParallelism()), graceMs = GRACE_MS } = options
  const queue: Waiting[] = []
  const slots: Slot[] = []
  let nextId = 0
  let scheduled = false
  let closed = false

  /** Once a turn, so that expressions that arrive together travel together. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      if (!closed) pump()
    })
  }

  function pump(): void {
    while (queue.length > 0) {
      if (slots.length < size && slots.every(({ inFlight }) => inFlight.size > 0)) slots.push(start())
      const [idlest] = slots.toSorted((a, b) => a.inFlight.size - b.inFlight.size)
      if (idlest === undefined || idlest.inFlight.size >= WINDOW) return
      hand(idlest, queue.splice(0, Math.max(1, Math.ceil((WINDOW - idlest.inFlight.size) / 2))))
    }
  }

  function hand(slot: Slot, batch: Waiting[]): void {
    if (slot.inFlight.size === 0) {
      if (slot.heard !== Infinity) slot.heard = performance.now()
      slot.worker.ref()
    }
    for (const waiting of batch) slot.inFlight.set(waiting.request.id, waiting)
    slot.worker.postMessage(
      batch.map(({ request }) => request),
      [],
    )
  }

  function start(): Slot {
    const worker = new Worker(new URL('sandbox-worker.ts', import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    })
    const slot: Slot = {
      worker,
      inFlight: new Map(),
      heard: Infinity,
      suspect: false,
      watchdog: setInterval(() => check(slot), graceMs / LOOKS_PER_GRACE).unref(),
    }
    worker.unref()
    worker.on('message', (reply: EvaluationReply) => {
      slot.heard = performance.now()
      if (reply !== 'ready') settle(slot, reply.id, reply.evaluation)
    })
    worker.on('error', (cause: Error) => replace(slot, `the sandbox broke: ${cause.message}`))
    return slot
  }

  function settle(slot: Slot, id: number, evaluation: Evaluation): void {
    const waiting = slot.inFlight.get(id)
    slot.inFlight.delete(id)
    if (slot.inFlight.size === 0) slot.worker.unref()
    waiting?.settle(evaluation)
    schedule()
  }

  function check(slot: Slot): void {
    const [first] = slot.inFlight.values()
    const overdue = first !== undefined && performance.now() - slot.heard > first.request.timeoutMs + graceMs
    if (overdue && slot.suspect) replace(slot, 'the expression did not come to an end')
    slot.suspect = overdue
  }

  /** Gives up a worker: what it was at has failed, what waited behind that goes to another. */
  function replace(slot: Slot, message: string): void {
    const place = slots.indexOf(slot)
    if (place < 0) return
    slots.splice(place, 1)
    clearInterval(slot.watchdog)
    void slot.worker.terminate()
    const [stuck, ...behind] = slot.inFlight.values()
    queue.unshift(...behind)
    stuck?.settle({ ok: false, message })
    schedule()
  }

  return {
    evaluate(code, values, { timeoutMs = TIMEOUT_MS } = {}) {
      if (closed) return Promise.resolve(STOPPING)
      const json = JSON.stringify(values)
      if (json.length > MAX_JSON) return Promise.resolve(TOO_BIG)
      const expression = { code, json, variables: values.length, timeoutMs }
      return new Promise((settle) => {
        queue.push({ request: { id: nextId++, ...expression }, settle })
        schedule()
      })
    },
    async close() {
      closed = true
      const open = slots.splice(0)
      const waiting = [...open.flatMap(({ inFlight }) => [...inFlight.values()]), ...queue.splice(0)]
      for (const { settle } of waiting) settle(STOPPING)
      for (const { watchdog } of open) clearInterval(watchdog)
      await Promise.all(open.map(({ worker }) => worker.terminate()))
    },
  }
}

const TOO_BIG: Evaluation = { ok: false, message: 'the values in the expression are too big' }
const STOPPING: Evaluation = { ok: false, message: 'the sandbox is stopping', stopping: true }
