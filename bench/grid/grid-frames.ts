import type { Browser, Page } from 'playwright-core'

type TraceEvent = {
  name: string
  ph: string
  ts: number
  dur?: number
  tdur?: number
  pid: number
  tid: number
  args?: { name?: string }
}

/** The cost of each frame on the main thread: elapsed time, and time that it was computing. */
export type Frames = { count: number; wallP95: number; cpuP95: number; wallMax: number }

const CATEGORIES = ['toplevel', 'devtools.timeline']
const TASK = 'ThreadControllerImpl::RunTask'
/** The event that occurs once in each frame of the main thread. */
const FRAME = 'PrePaint'

/** Traces the page during `work`. */
export async function traceFrames(
  browser: Browser,
  page: Page,
  work: () => Promise<unknown>,
): Promise<Frames> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await work()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString())
  return countFrames(traceEvents)
}

/**
 * Counts the frames. The thread that paints most is that of the page. The cost of a frame is its own task and
 * everything since the previous frame.
 */
function countFrames(events: readonly TraceEvent[]): Frames {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const painted = Map.groupBy(
    events.filter(({ name }) => name === FRAME),
    threadOf,
  )
  const [thread, paints = []] =
    [...painted].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? []
  const tasks = events
    .filter((event) => event.name === TASK && event.ph === 'X' && threadOf(event) === thread)
    .toSorted((one, other) => one.ts - other.ts)
  const starts = paints.map(({ ts }) => ts).toSorted((one, other) => one - other)
  const wall: number[] = []
  const cpu: number[] = []
  let [spent, computed, next] = [0, 0, 0]
  for (const { ts, dur = 0, tdur = 0 } of tasks) {
    spent += dur / 1000
    computed += tdur / 1000
    const first = starts[next]
    if (first === undefined || first > ts + dur) continue
    while ((starts[next] ?? Number.POSITIVE_INFINITY) <= ts + dur) next += 1
    wall.push(spent)
    cpu.push(computed)
    spent = 0
    computed = 0
  }
  return {
    count: wall.length,
    wallP95: percentile(wall, 0.95),
    cpuP95: percentile(cpu, 0.95),
    wallMax: Math.max(0, ...wall),
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
