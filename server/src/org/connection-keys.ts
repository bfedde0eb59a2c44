import {
  isFresh,
  type KeptToken,
  type MakeToken,
  type ProviderKey,
  type TokenAnswer,
} from '../catalog/provider/access.ts'
import { type Binding, type Sealer, UnsealError } from '../lib/security/secrets.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import { type ConnectionRecord, storeToken, lockConnection } from '../store/organisation/connections.ts'

type Named = Pick<ConnectionRecord, 'org_id' | 'connection_id'>
type Fields = Readonly<Record<string, string>>

export function sealFields(sealer: Sealer, of: Named, fields: Fields): string {
  return sealer.seal(JSON.stringify(fields), bindingOf(of, 'fields'))
}

/** Null when it was sealed with another secret: as good as not connected. */
export function openConnection(db: Db, sealer: Sealer, record: ConnectionRecord): ProviderKey | null {
  let fields: Fields
  let kept: KeptToken | undefined
  try {
    fields = openFields(sealer, record)
    kept = openToken(sealer, record)
  } catch (cause) {
    if (cause instanceof UnsealError) return null
    throw cause
  }
  let making: Promise<unknown> = Promise.resolve()
  return {
    id: record.connection_id,
    get fields() {
      return fields
    },
    async token(make, refused) {
      if (isFresh(kept, refused)) return { ok: true, token: kept.token }
      const turn = making.then(() => renew(make, refused))
      making = turn.catch(() => undefined)
      return turn
    },
  }

  /** Made once among all processes: whoever waited for the lock finds the token of the one before. */
  async function renew<Refusal>(
    make: MakeToken<Refusal>,
    refused: string | undefined,
  ): Promise<TokenAnswer<Refusal>> {
    if (isFresh(kept, refused)) return { ok: true, token: kept.token }
    return inTransaction(db, async (trx) => {
      const current = (await lockConnection(trx, record)) ?? record
      kept = openToken(sealer, current)
      fields = openFields(sealer, current)
      if (isFresh(kept, refused)) return { ok: true, token: kept.token }
      const made = await make(fields)
      if (!made.ok) return made
      fields = { ...fields, ...made.fields }
      kept = { token: made.token, expiresAt: Date.now() + made.expiresInSeconds * 1000 }
      await storeToken(trx, record, {
        token_sealed: sealer.seal(made.token, bindingOf(record, 'token')),
        token_expires_at: new Date(kept.expiresAt),
        ...(made.fields === undefined ? {} : { fields_sealed: sealFields(sealer, record, fields) }),
      })
      return { ok: true, token: made.token }
    })
  }
}

function openFields(sealer: Sealer, record: ConnectionRecord): Fields {
  return JSON.parse(sealer.open(record.fields_sealed, bindingOf(record, 'fields'))) as Fields
}

function openToken(sealer: Sealer, record: ConnectionRecord): KeptToken | undefined {
  if (record.token_sealed === null || record.token_expires_at === null) return undefined
  const token = sealer.open(record.token_sealed, bindingOf(record, 'token'))
  return { token, expiresAt: record.token_expires_at.getTime() }
}

function bindingOf({ org_id, connection_id }: Named, part: 'fields' | 'token'): Binding {
  return { orgId: org_id, record: `connection ${connection_id} ${part}` }
}
