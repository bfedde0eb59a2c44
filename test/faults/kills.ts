import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerChild } from '#server/engine/testing/worker-child.ts'
import { say } from './installation.ts'

type Kills = {
  count: number
  workers: number
  random: () => number
  start: () => Promise<WorkerChild>
  /** How many cells are there; null when nothing is left to do. */
  progress: () => Promise<number | null>
}

/**
 * Workers that are killed with -9 at random moments, one or all of them, and started again. Cells are settled between two
 * kills, so that each meets another moment. Answers the workers that are there then.
 */
export async function killWorkers({
  count,
  workers,
  random,
  start,
  progress,
}: Kills): Promise<WorkerChild[]> {
  const running = await Promise.all(Array.from({ length: workers }, start))
  for (let kill = 0; kill < count; kill += 1) {
    const before = await progress()
    if (before === null) {
      say(`nothing was left to do after ${kill} of ${count} kills`)
      break
    }
    await sleep(random() * 400)
    const isAll = random() < 0.2
    const victims = isAll ? [...running.keys()] : [Math.floor(random() * workers)]
    for (const victim of victims) running[victim]?.child.kill('SIGKILL')
    await Promise.all(
      victims.map(async (victim) => {
        running[victim] = await start()
      }),
    )
    say(`kill -9 ${isAll ? 'all workers' : 'a worker'} at ${before} cells`)
    for (let now = await progress(); now !== null && now <= before; now = await progress()) await sleep(20)
  }
  return running
}
