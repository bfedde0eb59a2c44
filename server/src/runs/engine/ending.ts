/** The end of the process, as cells under way hear of it: one listener, however many there are. */
export type Ending = {
  hasBegun(): boolean
  /** Tells `watcher` when the end begins, unless it was taken back before. */
  watch(watcher: EndWatcher): void
  unwatch(watcher: EndWatcher): void
  /** Resolves after so many milliseconds, or when the end begins. */
  pause(ms: number): Promise<void>
}

type EndWatcher = { onEnding(): void }

export function createEnding(signal: AbortSignal): Ending {
  const watchers = new Set<EndWatcher>()
  signal.addEventListener('abort', () => {
    for (const watcher of watchers) watcher.onEnding()
  })
  return {
    hasBegun: () => signal.aborted,
    watch: (watcher) => void watchers.add(watcher),
    unwatch: (watcher) => void watchers.delete(watcher),
    async pause(ms) {
      if (signal.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      const watcher = { onEnding: resolve }
      watchers.add(watcher)
      await promise
      clearTimeout(timer)
      watchers.delete(watcher)
    },
  }
}
