import { setTimeout as sleep } from 'node:timers/promises'

/** The figures about the process that a server reports in /metrics, in megabytes and seconds. */
export type ProcessMetrics = {
  resident: number
  'heap used': number
  young: number
  old: number
  'large objects': number
  external: number
  cpuSeconds: number
  gcSeconds: number
}

const MEGABYTE = 1024 * 1024

export async function readProcessMetrics(serverUrl: string): Promise<ProcessMetrics> {
  const text = await (await fetch(new URL('/metrics', serverUrl))).text()
  const lines = text.split('\n')
  const readAll = (start: string) =>
    lines.filter((line) => line.startsWith(start)).map((line) => Number(line.split(' ').at(-1)))
  const read = (start: string) => readAll(start)[0] ?? Number.NaN
  const megabytes = (start: string) => Math.round(read(start) / MEGABYTE)
  const space = (name: string) => megabytes(`nodejs_heap_space_size_total_bytes{space="${name}"}`)
  return {
    resident: megabytes('process_resident_memory_bytes '),
    'heap used': megabytes('nodejs_heap_size_used_bytes '),
    young: space('new') + space('new_large_object'),
    old: space('old'),
    'large objects': space('large_object'),
    external: megabytes('nodejs_external_memory_bytes '),
    cpuSeconds: read('process_cpu_seconds_total '),
    gcSeconds: readAll('nodejs_gc_duration_seconds_sum').reduce((sum, one) => sum + one, 0),
  }
}

/** Watches a server. `stop` returns the parts of its memory at the time when it used most. */
export function watchProcess(serverUrl: string, everyMs = 250) {
  const end = new AbortController()
  const watching = watchUntil(end.signal)
  return {
    stop(): Promise<ProcessMetrics> {
      end.abort()
      return watching
    },
  }

  async function watchUntil(signal: AbortSignal): Promise<ProcessMetrics> {
    let peak = await readProcessMetrics(serverUrl)
    while (!signal.aborted) {
      await sleep(everyMs)
      const now = await readProcessMetrics(serverUrl)
      if (now.resident > peak.resident) peak = now
    }
    return peak
  }
}
