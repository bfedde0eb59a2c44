import { z } from 'zod'
import type { Provider } from '../catalog/provider/provider.ts'
import type { Db } from '../database/connection/db.ts'
import type { Egress } from '../lib/egress/egress.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { openConnection } from './connection-keys.ts'
import type { ConnectionRecord } from './store/connections.ts'

/** Whether a provider takes the key. What it says beyond that, such as that it has no such page, is not about the key. */
export async function testConnection(
  { db, sealer, egress }: { db: Db; sealer: Sealer; egress: Egress },
  provider: Provider,
  record: ConnectionRecord,
): Promise<{ ok: boolean; message: string }> {
  const key = openConnection(db, sealer, record)
  if (key === null) return { ok: false, message: 'it was sealed with another LOAM_SECRET' }
  if (provider.probe === null) return { ok: true, message: 'kept; it can only be tried by using it' }
  const context = { egress, signal: AbortSignal.timeout(30_000), now: () => new Date() }
  const answer = await provider.request(context, key, provider.probe, z.unknown())
  if (answer.ok || answer.refusal.kind === 'miss') return { ok: true, message: 'the key works' }
  const { refusal } = answer
  const answered = refusal.kind === 'error' && /^HTTP 4\d\d/.test(refusal.message)
  return answered
    ? { ok: true, message: `the key was not refused (${refusal.message.slice(0, 8)})` }
    : { ok: false, message: refusal.message }
}
