import { createFairQueue } from '../../lib/timing/fair-queue.ts'
import { type Carrier, type CarrierKind, startCarrier } from './sandbox-carrier.ts'
import type { Evaluation, Expression } from './sandbox-evaluation.ts'
import type { EvaluationBatch, EvaluationGroup, EvaluationReply } from './sandbox-worker.ts'
import { createSlowOwners } from './slow-owners.ts'

export type { Evaluation }

/** Runs expressions of strangers, away from the thread that serves everybody. */
export type Sandbox = {
  /**
   * The text that one expression comes to, with `values` bound to its variables. Never rejects for what code does. Its time
   * counts from when it is executed, not while it waits for its turn.
   */
  evaluate(code: string, values: readonly unknown[], options?: { timeoutMs?: number }): Promise<Evaluation>
}

/** Shared by organisations, who take turns. */
export type SandboxPool = {
  of(owner: string): Sandbox
  close(): Promise<void>
}

/** Two also on one core: the second is for those whose expressions are quick, while the first is at slow ones. */
const WORKERS = 2
const TIMEOUT_MS = 100
/** How much longer than its time an expression may take, when it cannot be interrupted, before its carrier is given up. */
const GRACE_MS = 3000
const LOOKS_PER_GRACE = 6
/** Batches handed to one worker ahead of its answers: enough to keep it busy, few enough to wait behind. */
const MAX_BATCHES = 2
const BATCH = 256
/** Characters of JSON; the text and what it is read into must both fit into the memory of the sandbox. */
const MAX_JSON = 8_000_000

type Waiting = Expression & {
  id: number
  owner: string
  settle: (evaluation: Evaluation) => void
  /** Evaluated by itself, in a context of its own: others of its call were cut off with it, or it with them. */
  alone: boolean
}
type Slot = {
  carrier: Carrier
  inFlight: Map<number, Waiting>
  batches: number
  /** When it last answered, or got work while it had none; never while it is still starting. */
  heard: number
  /** Overdue at the last look; given up if it still is at the next, since this thread may be what was busy. */
  suspect: boolean
  watchdog: NodeJS.Timeout
}

export type SandboxOptions = {
  workers?: number
  graceMs?: number
  /** Without it a thread serves the first organisation, and processes as soon as there are two. */
  carrier?: CarrierKind | undefined
  /** Hears of faults of the engine and of carriers that broke. */
  onFault?: (fault: { owner?: string; message: string }) => void
}

export function createSandbox(options: SandboxOptions = {}): SandboxPool {
  const { workers: size = WORKERS, graceMs = GRACE_MS, onFault } = options
  const owners = new Set<string>()
  const queue = createFairQueue<Waiting>()
  const slow = createSlowOwners()
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

  function kindOfCarrier(): CarrierKind {
    return options.carrier ?? (owners.size > 1 ? 'process' : 'thread')
  }

  /** Ends threads that have nothing to do once there are two organisations. */
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
      if (!handNext()) return
    }
  }

  /** A batch is of one owner. Those whose expressions are slow share the first worker, one expression at a time. */
  function handNext(): boolean {
    for (const slot of slots.toSorted((a, b) => a.batches - b.batches)) {
      if (slot.batches >= MAX_BATCHES) return false
      if (slot.carrier.kind !== kindOfCarrier()) continue
      const turn = queue.take(BATCH, (owner) => slot === slots[0] || !slow.has(owner))
      if (turn === null) continue
      const taken = slow.has(turn.owner) ? 1 : turn.items.length
      queue.putBack(turn.owner, turn.items.slice(taken))
      hand(slot, turn.items.slice(0, taken))
      return true
    }
    return false
  }

  /** What is evaluated alone comes first, here and in the worker: the first that it owes an answer is then the one at work. */
  function hand(slot: Slot, turn: Waiting[]): void {
    const batch = turn.toSorted((one, other) => Number(other.alone) - Number(one.alone))
    if (slot.batches === 0) {
      if (slot.heard !== Infinity) slot.heard = performance.now()
      slot.carrier.ref()
    }
    slot.batches += 1
    for (const waiting of batch) slot.inFlight.set(waiting.id, waiting)
    slot.carrier.post(toBatch(batch))
  }

  function start(): Slot {
    const slot: Slot = {
      carrier: startCarrier(kindOfCarrier(), {
        onReply: (reply) => hear(slot, reply),
        onBroken: (message) => replace(slot, `the sandbox broke: ${message}`),
      }),
      inFlight: new Map(),
      batches: 0,
      heard: Infinity,
      suspect: false,
      watchdog: setInterval(() => check(slot), graceMs / LOOKS_PER_GRACE).unref(),
    }
    return slot
  }

  function hear(slot: Slot, reply: EvaluationReply): void {
    slot.heard = performance.now()
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
    // One that is being ended is waited for.
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
    const [first] = slot.inFlight.values()
    const overdue = first !== undefined && performance.now() - slot.heard > first.timeoutMs + graceMs
    if (overdue && slot.suspect) replace(slot, 'the expression did not come to an end')
    slot.suspect = overdue
  }

  function remove(slot: Slot): void {
    slots.splice(slots.indexOf(slot), 1)
    clearInterval(slot.watchdog)
    void slot.carrier.end()
  }

  /**
   * Gives up a carrier. The first that it owes an answer was at work and has failed, if it was evaluated alone; if not, all of
   * them are evaluated alone by another, to find the one.
   */
  function replace(slot: Slot, message: string): void {
    if (!slots.includes(slot)) return
    remove(slot)
    onFault?.({ message })
    const owed = [...slot.inFlight.values()]
    const [first] = owed
    if (first?.alone === true) {
      slow.note(first.owner, first.timeoutMs + graceMs)
      first.settle({ ok: false, message })
      owed.shift()
    } else markAlone(owed)
    giveBack(owed)
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

/** Rows of one expression travel together. */
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
