import { createFairQueue } from '../../lib/timing/fair-queue.ts'
import type { CarrierKind } from './sandbox-carrier.ts'
import type { Evaluation, Expression } from './sandbox-evaluation.ts'
import { createSlots, sendBatch, type Waiting } from './sandbox-slots.ts'
import { createSlowOwners } from './slow-owners.ts'

export type { Evaluation }

/** Runs expressions of users in another thread or process than the one that serves all requests. */
export type Sandbox = {
  /**
   * Evaluates one expression with `values` bound to its variables, and returns its result as text. Never rejects because
   * of the code. The timeout counts from the start of the execution and not while the expression waits.
   */
  evaluate(code: string, values: readonly unknown[], options?: { timeoutMs?: number }): Promise<Evaluation>
}

/** A sandbox that organisations share in turns. */
export type SandboxPool = {
  of(owner: string): Sandbox
  close(): Promise<void>
}

/**
 * The number of workers. Two on one core as well: while the first runs slow expressions, the second serves owners whose
 * expressions are quick.
 */
const WORKERS = 2
const TIMEOUT_MS = 100
/** The time beyond its timeout after which a carrier is replaced, for an expression that cannot be interrupted. */
const GRACE_MS = 3000
/** The time after which a carrier that is not ready is replaced. A start takes 1.3 s when two processors are busy. */
const START_MS = 20_000
/** The most batches that one worker has before it replies: enough to keep it busy, and few enough to wait behind. */
const MAX_BATCHES = 2
const BATCH = 256
/** The most characters of JSON. The text and the values read from it must both fit into the memory of the sandbox. */
const MAX_JSON = 8_000_000

export type SandboxOptions = {
  workers?: number
  graceMs?: number
  startMs?: number
  /**
   * The kind of carrier. By default a thread serves the first organisation, and processes are used as soon as there are
   * two.
   */
  carrier?: CarrierKind | undefined
  /** Reports faults of the engine and of carriers. */
  onFault?: (fault: { owner?: string; message: string }) => void
}

export function createSandbox(options: SandboxOptions = {}): SandboxPool {
  const { workers: size = WORKERS, graceMs = GRACE_MS, startMs = START_MS, onFault } = options
  const owners = new Set<string>()
  const queue = createFairQueue<Waiting>()
  const slow = createSlowOwners()
  const slots = createSlots({ graceMs, startMs, slow, onFault, giveBack })
  let nextId = 0
  let scheduled = false
  let closed = false

  /** Schedules one pump for each turn of the event loop, so that expressions that arrive together are sent together. */
  function schedule(): void {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => {
      scheduled = false
      if (!closed) pump()
    })
  }

  function giveBack(left: Waiting[]): void {
    for (const [owner, items = []] of Map.groupBy(left, (waiting) => waiting.owner))
      queue.putBack(owner, items)
    schedule()
  }

  const kindOfCarrier = (): CarrierKind => options.carrier ?? (owners.size > 1 ? 'process' : 'thread')

  function pump(): void {
    while (queue.size() > 0) {
      slots.retire(kindOfCarrier())
      if (slots.all.length < size && slots.all.every(({ batches }) => batches > 0)) slots.add(kindOfCarrier())
      if (!sendNext()) return
    }
  }

  /**
   * Sends the next batch, which belongs to one owner. Owners with slow expressions share the first worker, one expression
   * at a time.
   */
  function sendNext(): boolean {
    for (const slot of slots.all.toSorted((a, b) => a.batches - b.batches)) {
      if (slot.batches >= MAX_BATCHES) return false
      if (slot.carrier.kind !== kindOfCarrier()) continue
      const turn = queue.take(BATCH, (owner) => slot === slots.all[0] || !slow.has(owner))
      if (turn === null) continue
      const taken = slow.has(turn.owner) ? 1 : turn.items.length
      queue.putBack(turn.owner, turn.items.slice(taken))
      sendBatch(slot, turn.items.slice(0, taken))
      return true
    }
    return false
  }

  function evaluate(owner: string, expression: Omit<Expression, 'json'>, json: string): Promise<Evaluation> {
    if (owners.size < 2) owners.add(owner)
    return new Promise((settle) => {
      queue.push(owner, { ...expression, id: nextId++, owner, json, settle, alone: false })
      schedule()
    })
  }

  return {
    of: (owner) => ({
      evaluate(code, values, { timeoutMs = TIMEOUT_MS } = {}) {
        if (closed) return Promise.resolve(STOPPING)
        const json = JSON.stringify(values)
        if (json.length > MAX_JSON) return Promise.resolve(TOO_BIG)
        return evaluate(owner, { code, variables: values.length, timeoutMs }, json)
      },
    }),
    async close() {
      closed = true
      const { inFlight, ended } = slots.endAll()
      for (const { settle } of [...inFlight, ...queue.drain()]) settle(STOPPING)
      await ended
    },
  }
}

const TOO_BIG: Evaluation = { ok: false, message: 'the values in the expression are too big' }
const STOPPING: Evaluation = { ok: false, message: 'the sandbox is stopping', stopping: true }
