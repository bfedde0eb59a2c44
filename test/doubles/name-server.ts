import { onTestFinished } from 'vitest'
import { openNameServer, type Zone } from './name-answers.ts'

export type { Records, Zone } from './name-answers.ts'

/**
 * Starts a name server on loopback that knows these names. Other names do not exist. It is closed at the end
 * of the test.
 */
export async function serveNames(zone: Zone): Promise<{ server: string; asked: string[] }> {
  const { server, asked, close } = await openNameServer(zone)
  onTestFinished(close)
  return { server, asked }
}
