import { readdirSync, readFileSync } from 'node:fs'

/** Returns the megabytes that a process has for itself, without shared memory. Returns 0 if it has ended. */
export function privateMb(pid: number): number {
  return readStatus(pid, 'RssAnon') / 1024
}

/** Returns the number of files, sockets and pipes that a process has open. Returns 0 if it has ended. */
export function countFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** Returns the processes that a process started. */
export function listChildren(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => readStatus(other, 'PPid') === pid)
  return [pid, ...children]
}

const TICKS_PER_SECOND = 100

/**
 * Returns the seconds of processor time that a process has used, including processes that it started and that
 * have ended. Returns 0 if it has ended.
 */
export function readProcessorSeconds(pid: number): number {
  try {
    // The fields follow the name, which may contain any character. Fields 14 to 17 are utime, stime, cutime
    // and cstime.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** Returns the seconds of processor time of the running processes that a process started. */
export function secondsOfAll(pid: number): number {
  return listChildren(pid).reduce((sum, one) => sum + readProcessorSeconds(one), 0)
}

/** Returns the growth of `y` per unit of `x`, by least squares. */
export function measureSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length)
  const [x, y] = [mean(points.map((point) => point[0])), mean(points.map((point) => point[1]))]
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  const shared = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return spread === 0 ? 0 : shared / spread
}

function readStatus(pid: number, field: string): number {
  try {
    return Number(
      new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
    )
  } catch {
    return 0
  }
}
