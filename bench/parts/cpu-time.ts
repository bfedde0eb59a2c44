import { readdirSync, readFileSync } from 'node:fs'

/** The unit of processor time in Linux: hundredths of a second. */
const TICKS_A_SECOND = 100

/**
 * Returns the seconds of processor time that these processes and their children have used, including children
 * that have ended. Reads /proc.
 */
export function readCpuSeconds(pids: readonly number[]): number {
  let ticks = 0
  for (const entry of readdirSync('/proc')) {
    const times = /^\d+$/.test(entry) ? readTimes(Number(entry)) : null
    if (times === null) continue
    if (pids.includes(times.pid)) ticks += times.own + times.ended
    else if (pids.includes(times.parent)) ticks += times.own
  }
  return ticks / TICKS_A_SECOND
}

function readTimes(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may contain any character.
    const columns = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const column = (number: number) => Number(columns[number - 3])
    return { pid, parent: column(4), own: column(14) + column(15), ended: column(16) + column(17) }
  } catch (cause) {
    // The process has ended in the meantime.
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ESRCH'))
      return null
    throw cause
  }
}
