import { onTestFinished } from 'vitest'
import { openNameServer, type Zone } from './name-answers.ts'

export type { Records, Zone } from './name-answers.ts'

/** A name server on loopback that knows these names; others do not exist. Closed when the test ends. */
export async function serveNames(zone: Zone): Promise<{ server: string; asked: string[] }> {
  const { server, asked, close } = await openNameServer(zone)
  onTestFinished(close)
  return { server, asked }
}
