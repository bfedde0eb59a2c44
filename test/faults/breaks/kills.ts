import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { until } from '#test/plumbing/until.ts'
import { type openInstallation, say } from '../checks/installation.ts'

type Installation = Awaited<ReturnType<typeof openInstallation>>
type Kills = { count: number; workers: number; random: () => number }

/** Returns the number of cells, or null if no work is left. */
async function countCells({ ask }: Pick<Installation, 'ask'>): Promise<number | null> {
  const [found] = await ask<{ flights: number; cells: number }>(
    'select (select count(*) from flights) as flights, (select count(*) from cells) as cells',
  )
  return found === undefined || found.flights === 0 ? null : found.cells
}

/** Waits until no row is in flight. */
export const untilAllEnd = (what: string, installation: Pick<Installation, 'ask'>): Promise<void> =>
  until(what, async () => (await countCells(installation)) === null, 1200)

/**
 * Kills workers with -9 at random moments, one or all of them, and starts them again. Cells are finished
 * between two kills, so that each kill happens at a different point.
 */
export async function killWorkers(
  installation: Pick<Installation, 'ask' | 'startFaultWorker'>,
  { count, workers, random }: Kills,
): Promise<void> {
  const start = (): Promise<WorkerChild> =>
    installation.startFaultWorker({ concurrency: 50, silenceMs: 2000 })
  const progress = () => countCells(installation)
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
}
