import { z } from 'zod'
import type { Provider } from '../catalog/provider/provider.ts'
import type { Db } from '../database/connection/db.ts'
import type { Egress } from '../lib/egress/egress.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { openConnection } from './connection-keys.ts'
import type { ConnectionRecord } from './store/connections.ts'

/**
 * Tests whether a provider accepts the key. Other errors of the provider, such as a missing page, say nothing
 * about the key.
 */
export async function testConnection(
  { db, sealer, egress }: { db: Db; sealer: Sealer; egress: Egress },
  provider: Provider,
  record: ConnectionRecord,
): Promise<{ ok: boolean; message: string }> {
  const key = openConnection(db, sealer, record)
  if (key === null) return { ok: false, message: 'the key was sealed with another LOAM_SECRET' }
  if (provider.probe === null)
    return { ok: true, message: 'saved; this provider offers no test, so the key is first tried in a run' }
  const context = { egress, signal: AbortSignal.timeout(30_000), now: () => new Date() }
  const answer = await provider.request(context, key, provider.probe, z.unknown())
  if (answer.ok || answer.refusal.kind === 'miss') return { ok: true, message: 'the key works' }
  const { refusal } = answer
  const answered = refusal.kind === 'error' && /^HTTP 4\d\d/.test(refusal.message)
  return answered
    ? { ok: true, message: `the key was not refused (${refusal.message.slice(0, 8)})` }
    : { ok: false, message: refusal.message }
}
