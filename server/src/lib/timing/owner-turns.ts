/** The number of running turns of an owner, and the callbacks that wait for one. */
type Line = { running: number; waiting: (() => void)[] }

/**
 * Limits the number of concurrent turns. The owner with the fewest running turns is next, so that nobody
 * waits behind another owner's backlog.
 */
export type Turns = {
  /**
   * Waits for a turn. Returns a function that ends the turn, or null if the signal aborted first. Without a
   * signal it waits until its turn: a signal that many share takes longer with each of its listeners.
   */
  take(owner: string, signal?: AbortSignal): Promise<(() => void) | null>
  /** Returns true if another owner waits for a turn. */
  othersWait(owner: string): boolean
}

export function createTurns(maxAtOnce: number): Turns {
  const lines = new Map<string, Line>()
  let running = 0

  const begin = (owner: string, line: Line): (() => void) => {
    running += 1
    line.running += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      running -= 1
      line.running -= 1
      // From now on this owner is last among owners with equally many turns.
      lines.delete(owner)
      if (line.running > 0 || line.waiting.length > 0) lines.set(owner, line)
      nextOf(lines)?.waiting.shift()?.()
    }
  }

  return {
    othersWait: (owner) => [...lines].some(([other, { waiting }]) => other !== owner && waiting.length > 0),
    async take(owner, signal) {
      if (signal?.aborted === true) return null
      const line = lines.get(owner) ?? { running: 0, waiting: [] }
      lines.set(owner, line)
      if (running < maxAtOnce) return begin(owner, line)
      return new Promise((resolve) => {
        const onTurn = () => {
          signal?.removeEventListener('abort', onAbort)
          resolve(begin(owner, line))
        }
        const onAbort = () => {
          line.waiting.splice(line.waiting.indexOf(onTurn), 1)
          if (line.running === 0 && line.waiting.length === 0) lines.delete(owner)
          resolve(null)
        }
        line.waiting.push(onTurn)
        signal?.addEventListener('abort', onAbort, { once: true })
      })
    },
  }
}

function nextOf(lines: ReadonlyMap<string, Line>): Line | undefined {
  const waiting = [...lines.values()].filter((line) => line.waiting.length > 0)
  return waiting.toSorted((a, b) => a.running - b.running)[0]
}
