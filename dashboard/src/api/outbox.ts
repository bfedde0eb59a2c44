import { useEffect } from 'react'
import { createStore, useStore } from 'zustand'
import { type Answer, ApiError, request } from './client.ts'

/** How many changes of this tab the server has not heard of yet, since it cannot be reached. */
const outbox = createStore<{ waiting: number }>(() => ({ waiting: 0 }))

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 4000
/** Not there, or not able to answer for now: whoever asks again is answered. */
const AWAY = new Set([0, 502, 503, 504])

export const isAway = (error: unknown) => error instanceof ApiError && AWAY.has(error.status)

/** Sends a change until the server has heard it; by its key it takes effect once, however often it arrives. */
export async function sendUntilHeard<Data>(
  method: 'POST' | 'PATCH',
  path: string,
  body: unknown,
): Promise<Answer<Data>> {
  const idempotencyKey = newKey()
  let isWaiting = false
  const count = (by: number) => outbox.setState(({ waiting }) => ({ waiting: waiting + by }))
  try {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
      try {
        return await request<Data>(method, path, body, { idempotencyKey })
      } catch (error) {
        if (!isAway(error)) throw error
        if (!isWaiting) count(1)
        isWaiting = true
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    }
  } finally {
    if (isWaiting) count(-1)
  }
}

/** `randomUUID` is there under https alone. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/** Leaving the page would lose them: the browser asks first. */
export function useWaitingChanges(): number {
  const waiting = useStore(outbox, (state) => state.waiting)
  useEffect(() => {
    if (waiting === 0) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [waiting])
  return waiting
}
