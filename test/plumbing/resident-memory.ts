import { readFileSync } from 'node:fs'

const SAMPLE_MS = 50

/** Resident megabytes of a process; 0 when it is gone. */
export function residentMb(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return 0
  }
}

/** Follows the memory of processes; `stop` answers the most that any of them had. */
export function watchMemory(pids: () => number[]) {
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, ...pids().map(residentMb))
  }, SAMPLE_MS)
  return {
    stop(): number {
      clearInterval(timer)
      return peak
    },
  }
}
