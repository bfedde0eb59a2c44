/**
 * The time to wait for more items. A batch of `flood.many` items means a flood: the next batch then waits
 * longer, since larger batches cost less per item.
 */
export type Gathering = { enough: number; ms: number; flood?: { many: number; ms: number } }

const QUIET_MS = 4

/** The result of an item that failed while other items of its batch did not. */
export class ItemFault {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

export type BatcherOptions<Item, Result> = {
  run: (items: Item[]) => Promise<(Result | ItemFault)[]>
  maxItems: number
  maxInFlight: number
  /**
   * Returns true if a failure may concern only one item. Then each item is tried alone and succeeds or fails
   * by itself.
   */
  isolates?: ((cause: unknown) => boolean) | undefined
  /** Returns the size of an item. An item that is larger than a batch is sent alone. */
  sizeOf?: ((item: Item) => number) | undefined
  /** Lets items whose size is below `enough` wait for more items, up to this many milliseconds. */
  gather?: Gathering | undefined
  /** Batches the items of one turn of the event loop: interactive rows arrive a few at a time. */
  byTurns?: boolean | undefined
}

type Waiting<Item, Result> = {
  item: Item
  size: number
  resolve: (result: Result) => void
  reject: (cause: unknown) => void
}

/**
 * Creates a batcher with adaptive group commit: an item is sent at once while a slot is free, otherwise it
 * joins the next batch. Idle latency is that of one call. Under load the number of calls stays constant while
 * batches grow.
 */
export function createBatcher<Item, Result>(
  options: BatcherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let inFlight = 0
  let gathering: NodeJS.Timeout | undefined
  let turn: NodeJS.Immediate | undefined
  /** The size of the latest batch. */
  let latest = 0
  let waitingSize = 0
  let arrived = 0

  async function flush(): Promise<void> {
    clearTimeout(gathering)
    gathering = undefined
    const batch = waiting.splice(0, countFitting(waiting, options.maxItems))
    inFlight += 1
    latest = batch.reduce((sum, { size }) => sum + size, 0)
    waitingSize -= latest
    try {
      const results = await options.run(batch.map((entry) => entry.item))
      batch.forEach((entry, index) => settleEntry(entry, results[index]))
    } catch (cause) {
      if (batch.length > 1 && options.isolates?.(cause) === true) await runEach(batch, options.run)
      else for (const entry of batch) entry.reject(cause)
    } finally {
      inFlight -= 1
      pump()
    }
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

  /**
   * Waits until no item has arrived for a while. Then no more may come before the waiting items are answered.
   */
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

/** Returns how many of the first items fit into one batch, at least one. */
function countFitting(waiting: readonly { size: number }[], max: number): number {
  let size = 0
  const over = waiting.findIndex((entry) => (size += entry.size) > max)
  return over === -1 ? waiting.length : Math.max(1, over)
}

async function runEach<Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  run: BatcherOptions<Item, Result>['run'],
): Promise<void> {
  for (const entry of batch)
    await run([entry.item]).then(([result]) => settleEntry(entry, result), entry.reject)
}

function settleEntry<Item, Result>(
  { resolve, reject }: Waiting<Item, Result>,
  result: Result | ItemFault | undefined,
): void {
  if (result === undefined) reject(new Error('the batch answered with too few results'))
  else if (result instanceof ItemFault) reject(result.cause)
  else resolve(result)
}
