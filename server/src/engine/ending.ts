/** The end of the process, as cells under way hear of it: one listener, however many there are. */
export type Ending = {
  hasBegun(): boolean
  /** Calls `act` when the end begins, unless it was taken back before. */
  watch(act: () => void): () => void
  /** Resolves after so many milliseconds, or when the end begins. */
  pause(ms: number): Promise<void>
}

export function createEnding(signal: AbortSignal): Ending {
  const watchers = new Set<() => void>()
  signal.addEventListener('abort', () => {
    for (const act of watchers) act()
  })
  const watch = (act: () => void) => {
    watchers.add(act)
    return () => watchers.delete(act)
  }
  return {
    hasBegun: () => signal.aborted,
    watch,
    async pause(ms) {
      if (signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      const unwatch = watch(resolve)
      await promise
      clearTimeout(timer)
      unwatch()
    },
  }
}
