/** The end of the process, as cells under way hear of it: one listener, however many there are. */
export type Ending = {
  hasBegun(): boolean
  /** Calls `act` when the end begins, unless it was taken back before. */
  watch(act: () => void): () => void
}

export function createEnding(signal: AbortSignal): Ending {
  const watchers = new Set<() => void>()
  signal.addEventListener('abort', () => {
    for (const act of watchers) act()
  })
  return {
    hasBegun: () => signal.aborted,
    watch(act) {
      watchers.add(act)
      return () => watchers.delete(act)
    },
  }
}
