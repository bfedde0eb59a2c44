import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { startCallers, type Wanted } from './load.ts'

export type ThreadedCallers = { count: number; key: string; origin: string; wanted: Wanted }

/** Callers in a thread of their own: answers to them do not delay those that this one measures. Answers how to stop them. */
export async function startCallersApart(callers: ThreadedCallers): Promise<() => Promise<void>> {
  const thread = new Worker(new URL(import.meta.url), { workerData: callers })
  // Each of them was answered.
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
