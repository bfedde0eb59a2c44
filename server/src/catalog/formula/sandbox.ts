import { createFairQueue } from '../../lib/timing/fair-queue.ts'
import { type Carrier, type CarrierKind, startCarrier } from './sandbox-carrier.ts'
import type { Evaluation, Expression } from './sandbox-evaluation.ts'
import type { EvaluationBatch, EvaluationGroup, EvaluationReply } from './sandbox-worker.ts'
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
const CHECKS_PER_GRACE = 6
/** The most batches that one worker has before it replies: enough to keep it busy, and few enough to wait behind. */
const MAX_BATCHES = 2
const BATCH = 256
/** The most characters of JSON. The text and the values read from it must both fit into the memory of the sandbox. */
const MAX_JSON = 8_000_000

type Waiting = Expression & {
  id: number
  owner: string
  settle: (evaluation: Evaluation) => void
  /**
   * Set if it must be evaluated alone in its own context: a call that it shared with others was cut off, or gave no
   * certain result for it.
   */
  alone: boolean
}
type Slot = {
  carrier: Carrier
  inFlight: Map<number, Waiting>
  batches: number
  startedAt: number
  /** The time of the last reply, or of the first batch after it was idle. Null until the carrier is ready. */
  lastReplyAt: number | null
  /**
   * Set if it was overdue at the last check. It is replaced only if it still is at the next check, since this thread may
   * have been the busy one.
   */
  suspect: boolean
  watchdog: NodeJS.Timeout
}

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
  const slots: Slot[] = []
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

  function kindOfCarrier(): CarrierKind {
    return options.carrier ?? (owners.size > 1 ? 'process' : 'thread')
  }

  /** Ends idle threads once there are two organisations. */
  function retireThreads(): void {
    for (const slot of slots.filter(
      ({ carrier, batches }) => carrier.kind !== kindOfCarrier() && batches === 0,
    ))
      remove(slot)
  }

  function pump(): void {
    while (queue.size() > 0) {
      retireThreads()
      if (slots.length < size && slots.every(({ batches }) => batches > 0)) slots.push(start())
      if (!sendNext()) return
    }
  }

  /**
   * Sends the next batch, which belongs to one owner. Owners with slow expressions share the first worker, one expression
   * at a time.
   */
  function sendNext(): boolean {
    for (const slot of slots.toSorted((a, b) => a.batches - b.batches)) {
      if (slot.batches >= MAX_BATCHES) return false
      if (slot.carrier.kind !== kindOfCarrier()) continue
      const turn = queue.take(BATCH, (owner) => slot === slots[0] || !slow.has(owner))
      if (turn === null) continue
      const taken = slow.has(turn.owner) ? 1 : turn.items.length
      queue.putBack(turn.owner, turn.items.slice(taken))
      send(slot, turn.items.slice(0, taken))
      return true
    }
    return false
  }

  /**
   * Sends a batch with the expressions to evaluate alone at the front, here and in the worker. So the first one without a
   * reply is the one being executed.
   */
  function send(slot: Slot, turn: Waiting[]): void {
    const batch = turn.toSorted((one, other) => Number(other.alone) - Number(one.alone))
    if (slot.batches === 0) {
      if (slot.lastReplyAt !== null) slot.lastReplyAt = performance.now()
      slot.carrier.ref()
    }
    slot.batches += 1
    for (const waiting of batch) slot.inFlight.set(waiting.id, waiting)
    slot.carrier.post(toBatch(batch))
  }

  function start(): Slot {
    const slot: Slot = {
      carrier: startCarrier(kindOfCarrier(), {
        onReply: (reply) => handleReply(slot, reply),
        onBroken: (message) => replace(slot, `the sandbox broke: ${message}`),
      }),
      inFlight: new Map(),
      batches: 0,
      startedAt: performance.now(),
      lastReplyAt: null,
      suspect: false,
      watchdog: setInterval(() => check(slot), graceMs / CHECKS_PER_GRACE).unref(),
    }
    return slot
  }

  function handleReply(slot: Slot, reply: EvaluationReply): void {
    slot.lastReplyAt = performance.now()
    if (reply === 'ready') return
    if ('fault' in reply) onFault?.({ owner: reply.owner, message: reply.fault })
    else if ('returned' in reply) endBatch(slot, reply)
    else settle(slot, reply)
  }

  function settle(slot: Slot, { ids, evaluations, ms }: Extract<EvaluationReply, { ms: number }>): void {
    for (const [n, id] of ids.entries()) {
      const waiting = slot.inFlight.get(id)
      const evaluation = evaluations[n]
      slot.inFlight.delete(id)
      if (waiting === undefined || evaluation === undefined) continue
      slow.note(waiting.owner, ms)
      waiting.settle(evaluation)
    }
  }

  function endBatch(slot: Slot, { returned, alone }: { returned: number[]; alone: number[] }): void {
    slot.batches -= 1
    // A slot that was removed stays referenced, because `end` waits for it.
    if (slot.batches === 0 && slots.includes(slot)) slot.carrier.unref()
    markAlone(alone.flatMap((id) => slot.inFlight.get(id) ?? []))
    const left = returned.flatMap((id) => slot.inFlight.get(id) ?? [])
    for (const id of returned) slot.inFlight.delete(id)
    giveBack(left)
    schedule()
  }

  function giveBack(left: Waiting[]): void {
    for (const [owner, items = []] of Map.groupBy(left, (waiting) => waiting.owner))
      queue.putBack(owner, items)
  }

  function check(slot: Slot): void {
    const overdue = describeOverdue(slot)
    if (overdue !== null && slot.suspect) replace(slot, overdue)
    slot.suspect = overdue !== null
  }

  /** Returns what a carrier should have done by now, or null if it is in time. */
  function describeOverdue({ inFlight, startedAt, lastReplyAt }: Slot): string | null {
    const [first] = inFlight.values()
    if (first === undefined) return null
    const now = performance.now()
    if (lastReplyAt === null)
      return now - startedAt > startMs ? `the sandbox did not start within ${startMs / 1000} s` : null
    return now - lastReplyAt > first.timeoutMs + graceMs ? 'the expression did not finish' : null
  }

  function remove(slot: Slot): void {
    slots.splice(slots.indexOf(slot), 1)
    clearInterval(slot.watchdog)
    void slot.carrier.end()
  }

  /**
   * Replaces a carrier. If the first expression without a reply was evaluated alone, it was being executed and has
   * failed. If it was not alone, another carrier evaluates all of them alone to find the one that hangs.
   */
  function replace(slot: Slot, message: string): void {
    if (!slots.includes(slot)) return
    remove(slot)
    onFault?.({ message })
    const unanswered = [...slot.inFlight.values()]
    const [first] = unanswered
    if (first?.alone === true) {
      slow.note(first.owner, first.timeoutMs + graceMs)
      first.settle({ ok: false, message })
      unanswered.shift()
    } else markAlone(unanswered)
    giveBack(unanswered)
    schedule()
  }

  return {
    of: (owner) => ({
      evaluate(code, values, { timeoutMs = TIMEOUT_MS } = {}) {
        if (closed) return Promise.resolve(STOPPING)
        const json = JSON.stringify(values)
        if (json.length > MAX_JSON) return Promise.resolve(TOO_BIG)
        const { length: variables } = values
        if (owners.size < 2) owners.add(owner)
        return new Promise((settle) => {
          const id = nextId++
          queue.push(owner, { id, owner, code, json, variables, timeoutMs, settle, alone: false })
          schedule()
        })
      },
    }),
    async close() {
      closed = true
      const open = slots.splice(0)
      const waiting = [...open.flatMap(({ inFlight }) => [...inFlight.values()]), ...queue.drain()]
      for (const { settle } of waiting) settle(STOPPING)
      for (const { watchdog } of open) clearInterval(watchdog)
      await Promise.all(open.map(({ carrier }) => carrier.end()))
    },
  }
}

function markAlone(list: Waiting[]): void {
  for (const waiting of list) waiting.alone = true
}

/** Groups the rows of one expression. */
function toBatch(waiting: readonly Waiting[]): EvaluationBatch {
  const groups: EvaluationGroup[] = []
  const open = new Map<string, EvaluationGroup>()
  for (const { id, code, json, variables, timeoutMs, alone } of waiting) {
    const key = alone ? '' : code
    let group = open.get(key)
    if (group === undefined || group.code !== code || group.timeoutMs !== timeoutMs) {
      group = { code, variables, timeoutMs, ids: [], jsons: [], alone }
      groups.push(group)
      open.set(key, group)
    }
    group.ids.push(id)
    group.jsons.push(json)
  }
  return { owner: waiting[0]?.owner ?? '', groups }
}

const TOO_BIG: Evaluation = { ok: false, message: 'the values in the expression are too big' }
const STOPPING: Evaluation = { ok: false, message: 'the sandbox is stopping', stopping: true }
