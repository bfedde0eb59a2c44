import { readFileSync } from 'node:fs'

const SAMPLE_MS = 50

/** Returns the resident megabytes of a process, or 0 if it has ended. */
export function residentMb(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return 0
  }
}

/** Watches the memory of processes. `stop` returns the largest amount that any of them had. */
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
