import { EgressFault } from './failures.ts'

/** The part of one call. */
export type Holding = { add(bytes: number): void; release(): void }
export type HeldBytes = { open(call: HoldingCall): Holding }

/** Who can be given up. */
type HoldingCall = { fail(fault: EgressFault): void }

/**
 * Counts what all calls hold of answers that still arrive or are decoded. Beyond `maxBytes` the call that holds the most is
 * given up, to be tried again: a thousand answers of ten megabytes would otherwise be held at once, and short ones are safe.
 */
export function createHeldBytes(maxBytes: number): HeldBytes {
  /** Those that hold anything. */
  const holdings = new Set<CallHolding>()
  let total = 0

  function giveUpLargest(): void {
    let largest: CallHolding | undefined
    for (const holding of holdings) if (holding.bytes > (largest?.bytes ?? 0)) largest = holding
    largest?.release()
    largest?.call.fail(new EgressFault('busy', 'too many large answers arrive at once. Try again later.'))
  }

  /** One is made for every call. */
  class CallHolding implements Holding {
    readonly call: HoldingCall
    bytes = 0
    #isOpen = true

    constructor(call: HoldingCall) {
      this.call = call
    }

    add(bytes: number): void {
      if (!this.#isOpen) return
      if (this.bytes === 0) holdings.add(this)
      this.bytes += bytes
      total += bytes
      if (total > maxBytes) giveUpLargest()
    }

    release(): void {
      if (!this.#isOpen) return
      this.#isOpen = false
      total -= this.bytes
      holdings.delete(this)
    }
  }

  return { open: (call) => new CallHolding(call) }
}
