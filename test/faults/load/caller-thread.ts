import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { startCallers, type Wanted } from './load.ts'

export type ThreadedCallers = { count: number; key: string; origin: string; wanted: Wanted }

/**
 * Starts callers in a separate thread, so that their responses do not delay the measured ones. Returns a
 * function that stops them.
 */
export async function startCallersApart(callers: ThreadedCallers): Promise<() => Promise<void>> {
  const thread = new Worker(new URL(import.meta.url), { workerData: callers })
  // The message means that each caller has had a response.
  await once(thread, 'message')
  return async () => void (await thread.terminate())
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort
  const { origin, wanted, ...others }: ThreadedCallers = workerData
  const crowd = startCallers({ ...others, origin: () => origin, wanted: () => wanted })
  const timer = setInterval(() => {
    if (crowd.exchanges.length < others.count) return
    clearInterval(timer)
    port.postMessage('busy')
  }, 10)
}
