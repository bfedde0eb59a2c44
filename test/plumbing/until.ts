import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until something holds. Fails if it does not within this many seconds. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  seconds = 120,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${seconds} s`)
    await sleep(20)
  }
}
