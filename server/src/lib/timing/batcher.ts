/** While `many` ride together they come in a flood: what follows is gathered for longer, since larger batches cost less each. */
export type Gathering = { enough: number; ms: number; flood?: { many: number; ms: number } }

const QUIET_MS = 4

/** What a batch answers an item that failed while others did not. */
export class ItemFault {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

/**
 * Adaptive group commit: an item goes out at once while a slot is free; otherwise it rides in the next batch. Idle
 * latency is that of one call, and under load the number of calls stays constant while batches grow.
 */
export function createBatcher<Item, Result>(options: {
  run: (items: Item[]) => Promise<(Result | ItemFault)[]>
  maxItems: number
  maxInFlight: number
  /** Whether a failure may be of one item only: then each is tried alone, and fails or not by itself. */
  isolates?: ((cause: unknown) => boolean) | undefined
  /** How many an item counts for. One that counts for too many goes alone. */
  sizeOf?: ((item: Item) => number) | undefined
  /** Items that count for fewer than `enough` wait for others to ride with, up to so many milliseconds. */
  gather?: Gathering | undefined
  /** Items of one turn of the event loop ride together: rows that somebody waits for come some at once. */
  byTurns?: boolean | undefined
}): (item: Item) => Promise<Result> {
  type Waiting = {
    item: Item
    size: number
    resolve: (result: Result) => void
    reject: (cause: unknown) => void
  }
  const waiting: Waiting[] = []
  let inFlight = 0
  let gathering: NodeJS.Timeout | undefined
  let turn: NodeJS.Immediate | undefined
  /** Of the latest batch. */
  let latest = 0
  let waitingSize = 0
  let arrived = 0

  function countFitting(): number {
    let size = 0
    const over = waiting.findIndex((entry) => (size += entry.size) > options.maxItems)
    return over === -1 ? waiting.length : Math.max(1, over)
  }

  async function flush(): Promise<void> {
    clearTimeout(gathering)
    gathering = undefined
    const batch = waiting.splice(0, countFitting())
    inFlight += 1
    latest = batch.reduce((sum, { size }) => sum + size, 0)
    waitingSize -= latest
    try {
      const results = await options.run(batch.map((entry) => entry.item))
      batch.forEach((entry, index) => tell(entry, results[index]))
    } catch (cause) {
      if (batch.length > 1 && options.isolates?.(cause) === true) await runEach(batch)
      else for (const entry of batch) entry.reject(cause)
    } finally {
      inFlight -= 1
      pump()
    }
  }

  function tell({ resolve, reject }: Waiting, result: Result | ItemFault | undefined): void {
    if (result === undefined) reject(new Error('the batch answered with too few results'))
    else if (result instanceof ItemFault) reject(result.cause)
    else resolve(result)
  }

  async function runEach(batch: Waiting[]): Promise<void> {
    for (const entry of batch)
      await options.run([entry.item]).then(([result]) => tell(entry, result), entry.reject)
  }

  function pumpByTurns(): void {
    turn ??= setImmediate(() => {
      turn = undefined
      pump()
    })
  }

  function pump(): void {
    while (waiting.length > 0 && inFlight < options.maxInFlight) {
      if (options.gather !== undefined && waitingSize < options.gather.enough) {
        if (gathering === undefined) gatherFrom(performance.now(), options.gather)
        return
      }
      void flush()
    }
  }

  /** Until nobody has come for a while: then nobody may come before those who wait are answered. */
  function gatherFrom(since: number, gather: Gathering): void {
    const seen = arrived
    gathering = setTimeout(() => {
      if (arrived === seen || performance.now() - since >= gatherMs(gather)) stopGathering()
      else gatherFrom(since, gather)
    }, QUIET_MS)
  }

  function gatherMs({ ms, flood }: Gathering): number {
    return flood !== undefined && latest >= flood.many ? flood.ms : ms
  }

  function stopGathering(): void {
    gathering = undefined
    if (waiting.length > 0 && inFlight < options.maxInFlight) void flush()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const size = options.sizeOf?.(item) ?? 1
      waiting.push({ item, size, resolve, reject })
      waitingSize += size
      arrived += 1
      if (options.byTurns === true) pumpByTurns()
      else pump()
    })
}
