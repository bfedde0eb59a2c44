import { readdirSync, readFileSync } from 'node:fs'

/** Megabytes that a process has for itself, without what it shares with others; 0 when it is gone. */
export function privateMb(pid: number): number {
  return readStatus(pid, 'RssAnon') / 1024
}

/** Files, sockets and pipes that a process has open; 0 when it is gone. */
export function countFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

/** A process and those that it started. */
export function listChildren(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => readStatus(other, 'PPid') === pid)
  return [pid, ...children]
}

/** By how much `y` grows with each unit of `x`, by least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
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
