/**
 * Adaptive group commit: an item goes out at once while a slot is free; otherwise it rides in the next batch. Idle
 * latency is that of one call, and under load the number of calls stays constant while batches grow.
 */
export function createBatcher<Item, Result>(options: {
  run: (items: Item[]) => Promise<Result[]>
  maxItems: number
  maxInFlight: number
}): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (cause: unknown) => void }
  const waiting: Waiting[] = []
  let inFlight = 0

  async function flush(): Promise<void> {
    const batch = waiting.splice(0, options.maxItems)
    inFlight += 1
    try {
      const results = await options.run(batch.map((entry) => entry.item))
      for (const [index, entry] of batch.entries()) {
        const result = results[index]
        if (result === undefined) entry.reject(new Error('the batch answered with too few results'))
        else entry.resolve(result)
      }
    } catch (cause) {
      for (const entry of batch) entry.reject(cause)
    } finally {
      inFlight -= 1
      pump()
    }
  }

  function pump(): void {
    while (waiting.length > 0 && inFlight < options.maxInFlight) void flush()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      pump()
    })
}
