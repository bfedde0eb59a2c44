import { useEffect } from 'react'
import { createStore, useStore } from 'zustand'
import type { Call } from './calls.ts'
import { type Answer, ApiError, send } from './client.ts'

/** The number of changes of this tab that wait because the server is unreachable. */
const outbox = createStore<{ waiting: number }>(() => ({ waiting: 0 }))

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 4000
/** The statuses of a server that is unreachable or temporarily unable to respond; 0 means no connection. */
const UNAVAILABLE = new Set([0, 502, 503, 504])

export const isUnavailable = (error: unknown) => error instanceof ApiError && UNAVAILABLE.has(error.status)

/** Sends a change until the server has received it. The idempotency key ensures that it takes effect only once. */
export async function sendUntilReceived<Data>(call: Call<Data>): Promise<Answer<Data>> {
  const idempotencyKey = newKey()
  let isWaiting = false
  const count = (by: number) => outbox.setState(({ waiting }) => ({ waiting: waiting + by }))
  try {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      try {
        return await send(call, { idempotencyKey })
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (!isWaiting) count(1)
        isWaiting = true
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    }
  } finally {
    if (isWaiting) count(-1)
  }
}

/** Returns a random key. `crypto.randomUUID` cannot be used, because it exists under https only. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/** Returns the number of unsent changes. While there are any, the browser asks before the page is left. */
export function useWaitingChanges(): number {
  const waiting = useStore(outbox, (state) => state.waiting)
  useEffect(() => {
    if (waiting === 0) return
    const confirmLeaving = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', confirmLeaving)
    return () => removeEventListener('beforeunload', confirmLeaving)
  }, [waiting])
  return waiting
}
