import { EgressFault } from './failures.ts'

/** The bytes that one call holds. */
export type Holding = { add(bytes: number): void; release(): void }
export type HeldBytes = { open: (call: HoldingCall) => Holding }

/** A call that can be given up. */
type HoldingCall = { fail(fault: EgressFault): void }

/**
 * Counts the bytes that all calls hold of responses that are still arriving or being decoded. Above
 * `maxBytes` the call that holds the most is given up with a retryable failure: otherwise a thousand
 * responses of ten megabytes would be held at once. Short responses are safe.
 */
export function createHeldBytes(maxBytes: number): HeldBytes {
  /** The holdings with at least one byte. */
  const holdings = new Set<CallHolding>()
  let total = 0

  function giveUpLargest(): void {
    let largest: CallHolding | undefined
    for (const holding of holdings) if (holding.bytes > (largest?.bytes ?? 0)) largest = holding
    largest?.release()
    largest?.call.fail(new EgressFault('busy', 'too many large answers arrive at once. Try again later.'))
  }

  /** The bytes of one call. An instance is created for every call. */
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
