import { EgressFault } from './failures.ts'

/** The part of one call. */
export type Holding = { add(bytes: number): void; release(): void }
export type HeldBytes = { open(giveUp: (fault: EgressFault) => void): Holding }

/**
 * Counts what all calls hold of answers that still arrive or are decoded. Beyond `maxBytes` the call that holds the most is
 * given up, to be tried again: a thousand answers of ten megabytes would otherwise be held at once, and short ones are safe.
 */
export function createHeldBytes(maxBytes: number): HeldBytes {
  const calls = new Map<Holding, { bytes: number; giveUp: (fault: EgressFault) => void }>()
  let total = 0

  function giveUpLargest(): void {
    let [largest, most] = [undefined as Holding | undefined, 0]
    for (const [holding, { bytes }] of calls) if (bytes > most) [largest, most] = [holding, bytes]
    if (largest === undefined) return
    const { giveUp } = calls.get(largest) ?? {}
    largest.release()
    giveUp?.(new EgressFault('busy', 'too many large answers arrive at once. Try again later.'))
  }

  return {
    open(giveUp) {
      const holding: Holding = {
        add(bytes) {
          const call = calls.get(holding)
          if (call === undefined) return
          call.bytes += bytes
          total += bytes
          if (total > maxBytes) giveUpLargest()
        },
        release() {
          total -= calls.get(holding)?.bytes ?? 0
          calls.delete(holding)
        },
      }
      calls.set(holding, { bytes: 0, giveUp })
      return holding
    },
  }
}
