import { LRUCache } from 'lru-cache'

/** How much is kept: so many values, each for so long, and where values can be large so many bytes in all. */
export type MemoLimits<Value> = {
  max: number
  ttlMs?: number
  bytes?: { max: number; of: (value: Value) => number }
}

/** What was read before by this process, or is being read; `read` is called for what is neither. */
export type Memo<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>

/** Those who ask for the same at the same time wait for one read. One that fails is not kept, and neither is what `keeps` refuses. */
export function createMemo<Value>(
  { max, ttlMs, bytes }: MemoLimits<Value>,
  keeps: (value: Value) => boolean = () => true,
): Memo<Value> {
  const kept = new LRUCache<string, { value: Value }>({
    max,
    ...(ttlMs === undefined ? {} : { ttl: ttlMs }),
    ...(bytes === undefined
      ? {}
      : { maxSize: bytes.max, sizeCalculation: ({ value }, key) => key.length + 1 + bytes.of(value) }),
  })
  const reading = new Map<string, Promise<Value>>()

  async function readAndKeep(key: string, read: () => Promise<Value>): Promise<Value> {
    const value = await read()
    if (keeps(value)) kept.set(key, { value })
    return value
  }

  return async (key, read) => {
    const found = kept.get(key)
    if (found !== undefined) return found.value
    const known = reading.get(key)
    if (known !== undefined) return known
    const started = readAndKeep(key, read).finally(() => reading.delete(key))
    reading.set(key, started)
    return started
  }
}
