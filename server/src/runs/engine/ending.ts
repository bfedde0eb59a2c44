/** The end of the process, as cells in flight learn of it. One listener serves all of them. */
export type Ending = {
  hasBegun(): boolean
  /** Calls `watcher` when the end begins, unless `unwatch` was called before. */
  watch(watcher: EndWatcher): void
  unwatch(watcher: EndWatcher): void
  /** Resolves after this many milliseconds, or when the end begins. */
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
