import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { newId } from '#server/lib/ids.ts'
import { type Load, type Peer, RESULT, timed } from './peer.ts'
import { DURABILITY } from './redis.ts'

const JOBS_PER_CALL = 1000

type Data = { row: string; action: number }

/**
 * Opens BullMQ with a job per row, whose worker walks the actions, or with a job per cell, which adds the job
 * of the next cell. Every result is stored in the row's hash before the next action starts.
 */
export async function openBullmq(socket: string, per: 'row' | 'cell', concurrency: number): Promise<Peer> {
  const connection = { path: socket, maxRetriesPerRequest: null }
  const results = new Redis(socket, { db: 1, enableAutoPipelining: true })
  const removeOnComplete = { count: 0 }
  const queue = new Queue<Data>(`per-${per}`, { connection, defaultJobOptions: { removeOnComplete } })
  let load: Load = { rows: 0, actions: 0 }
  let left = 0
  let done = Promise.withResolvers<void>()

  const settle = async (row: string, action: number) => {
    await results.hset(`row:${row}`, `split_full_name_${action}`, JSON.stringify(RESULT))
    left -= 1
    if (left === 0) done.resolve()
  }
  const walkRow = async ({ row }: Data) => {
    for (let action = 1; action <= load.actions; action += 1) await settle(row, action)
  }
  const runCell = async ({ row, action }: Data) => {
    await settle(row, action)
    if (action < load.actions) await queue.add('cell', { row, action: action + 1 })
  }
  const worker = new Worker<Data>(
    queue.name,
    (job) => (per === 'row' ? walkRow(job.data) : runCell(job.data)),
    { connection, concurrency, removeOnComplete },
  )
  worker.on('failed', (_job, cause) => done.reject(cause))
  await worker.waitUntilReady()

  return {
    name: `BullMQ, job per ${per}, Redis with ${DURABILITY}`,
    async run(wanted) {
      load = wanted
      left = load.rows * load.actions
      done = Promise.withResolvers()
      const seconds = await timed(async () => {
        for (let from = 0; from < load.rows; from += JOBS_PER_CALL) {
          const count = Math.min(JOBS_PER_CALL, load.rows - from)
          const jobs = Array.from({ length: count }, () => ({ name: per, data: { row: newId(), action: 1 } }))
          await queue.addBulk(jobs)
        }
        await done.promise
      })
      // The completion of the last jobs belongs to this round.
      while ((await queue.getJobCountByTypes('active', 'waiting')) > 0) await new Promise(setImmediate)
      await results.flushdb()
      return seconds
    },
    async close() {
      await worker.close()
      await queue.close()
      results.disconnect()
    },
  }
}
