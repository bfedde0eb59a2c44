import { type Carrier, type CarrierKind, startCarrier } from './sandbox-carrier.ts'
import type { Evaluation, Expression } from './sandbox-evaluation.ts'
import type { EvaluationBatch, EvaluationGroup, EvaluationReply } from './sandbox-worker.ts'
import type { SlowOwners } from './slow-owners.ts'

const CHECKS_PER_GRACE = 6

/** An expression that waits for its evaluation. */
export type Waiting = Expression & {
  id: number
  owner: string
  settle: (evaluation: Evaluation) => void
  /**
   * Set if it must be evaluated alone in its own context: a call that it shared with others was cut off, or gave no
   * certain result for it.
   */
  alone: boolean
}
/** A carrier with the expressions that were sent to it. */
export type Slot = {
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

type SlotOptions = {
  graceMs: number
  startMs: number
  slow: SlowOwners
  onFault?: ((fault: { owner?: string; message: string }) => void) | undefined
  /** Takes back expressions that were not evaluated. */
  giveBack: (left: Waiting[]) => void
}

export type Slots = ReturnType<typeof createSlots>

/** Keeps the carriers. One that is broken or overdue is removed, and its expressions are given back. */
export function createSlots({ graceMs, startMs, slow, onFault, giveBack }: SlotOptions) {
  const slots: Slot[] = []

  function start(kind: CarrierKind): Slot {
    const slot: Slot = {
      carrier: startCarrier(kind, {
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
    else if ('returned' in reply) {
      const left = endBatch(slot, reply)
      // A slot that was removed stays referenced, because `end` waits for it.
      if (slot.batches === 0 && slots.includes(slot)) slot.carrier.unref()
      giveBack(left)
    } else settle(slot, reply, slow)
  }

  function check(slot: Slot): void {
    const overdue = describeOverdue(slot, { graceMs, startMs })
    if (overdue !== null && slot.suspect) replace(slot, overdue)
    slot.suspect = overdue !== null
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
  }

  return {
    all: slots as readonly Slot[],
    add: (kind: CarrierKind) => void slots.push(start(kind)),
    /** Ends idle carriers of another kind: threads, once there are two organisations. */
    retire(kind: CarrierKind): void {
      for (const slot of slots.filter(({ carrier, batches }) => carrier.kind !== kind && batches === 0))
        remove(slot)
    },
    /** Ends all carriers. Returns the expressions in flight, and a promise of the end. */
    endAll(): { inFlight: Waiting[]; ended: Promise<unknown> } {
      const open = slots.splice(0)
      for (const { watchdog } of open) clearInterval(watchdog)
      return {
        inFlight: open.flatMap(({ inFlight }) => [...inFlight.values()]),
        ended: Promise.all(open.map(({ carrier }) => carrier.end())),
      }
    },
  }
}

/**
 * Sends a batch with the expressions to evaluate alone at the front, here and in the worker. So the first one without a
 * reply is the one being executed.
 */
export function sendBatch(slot: Slot, turn: Waiting[]): void {
  const batch = turn.toSorted((one, other) => Number(other.alone) - Number(one.alone))
  if (slot.batches === 0) {
    if (slot.lastReplyAt !== null) slot.lastReplyAt = performance.now()
    slot.carrier.ref()
  }
  slot.batches += 1
  for (const waiting of batch) slot.inFlight.set(waiting.id, waiting)
  slot.carrier.post(toBatch(batch))
}

/** Notes the end of a batch. Returns the expressions that were not evaluated. */
function endBatch(slot: Slot, { returned, alone }: { returned: number[]; alone: number[] }): Waiting[] {
  slot.batches -= 1
  markAlone(alone.flatMap((id) => slot.inFlight.get(id) ?? []))
  const left = returned.flatMap((id) => slot.inFlight.get(id) ?? [])
  for (const id of returned) slot.inFlight.delete(id)
  return left
}

function settle(
  slot: Slot,
  { ids, evaluations, ms }: Extract<EvaluationReply, { ms: number }>,
  slow: SlowOwners,
): void {
  for (const [n, id] of ids.entries()) {
    const waiting = slot.inFlight.get(id)
    const evaluation = evaluations[n]
    slot.inFlight.delete(id)
    if (waiting === undefined || evaluation === undefined) continue
    slow.note(waiting.owner, ms)
    waiting.settle(evaluation)
  }
}

/** Returns what a carrier should have done by now, or null if it is in time. */
function describeOverdue(
  { inFlight, startedAt, lastReplyAt }: Slot,
  { graceMs, startMs }: Pick<SlotOptions, 'graceMs' | 'startMs'>,
): string | null {
  const [first] = inFlight.values()
  if (first === undefined) return null
  const now = performance.now()
  if (lastReplyAt === null)
    return now - startedAt > startMs ? `the sandbox did not start within ${startMs / 1000} s` : null
  return now - lastReplyAt > first.timeoutMs + graceMs ? 'the expression did not finish' : null
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
