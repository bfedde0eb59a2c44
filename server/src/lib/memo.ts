import { LRUCache } from 'lru-cache'

/**
 * The limits of a memo: the number of values, the time to keep each, and (where values can be large) the
 * bytes of all values together.
 */
export type MemoLimits<Value> = {
  max: number
  ttlMs?: number
  bytes?: { max: number; of: (value: Value) => number }
}

/**
 * Returns a value that this process has read before or is reading now. Calls `read` if neither is the case.
 */
export type Memo<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>

/**
 * Creates a memo. Concurrent callers with the same key wait for one read. A failed read is not kept, and
 * neither is a value that `keeps` refuses.
 */
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
