import { FileFault } from '../../lib/csv/file-fault.ts'
import type { Batch } from '../reading/records.ts'

export type Read = { rows: (string | null)[][] } | { fault: string }

/** Returns all records, or the message with which the file is refused. */
export async function collect(batches: AsyncIterable<Batch>): Promise<Read> {
  const rows: (string | null)[][] = []
  try {
    for await (const batch of batches) rows.push(...batch.records)
    return { rows }
  } catch (cause) {
    if (cause instanceof FileFault) return { fault: cause.message }
    throw cause
  }
}

/**
 * Resumes at each position that the reader returns. Returns the records before the position plus those read after it.
 */
export async function collectResumed(read: (from: unknown) => AsyncIterable<Batch>): Promise<Read[]> {
  const before: (string | null)[][] = []
  const whole: Read[] = []
  for await (const batch of read(null)) {
    before.push(...batch.records)
    const position: unknown = JSON.parse(JSON.stringify(batch.position))
    const rest = await collect(read(position))
    whole.push('rows' in rest ? { rows: [...before, ...rest.rows] } : rest)
  }
  return whole
}
