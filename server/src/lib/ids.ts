import { randomFillSync } from 'node:crypto'

let lastMs = 0
let sequence = 0
const random = Buffer.alloc(4096)
let used = random.length

function randomBytes(count: number): Buffer {
  if (used + count > random.length) {
    randomFillSync(random)
    used = 0
  }
  used += count
  return random.subarray(used - count, used)
}

/**
 * Returns a UUID of version 7. The ids of one process are strictly increasing: the 12 bits after the time
 * count up within a millisecond and borrow from the next millisecond when they overflow. So the order of row
 * keys is their insertion order.
 */
export function newId(): string {
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    sequence = randomBytes(1)[0] ?? 0
  } else if (++sequence > 0xfff) {
    lastMs += 1
    sequence = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const tail = randomBytes(8)
  tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80
  const hex = tail.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${hex.slice(0, 4)}-${hex.slice(4)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Returns the time at which an id of version 7 was created. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

/** An id that sorts before every other id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000'
