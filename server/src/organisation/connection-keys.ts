import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  isFresh,
  type KeptToken,
  type MadeToken,
  type MakeToken,
  type ProviderKey,
  type TokenAnswer,
} from '../catalog/provider/access.ts'
import type { Db } from '../database/connection/db.ts'
import { connectionBinding } from '../lib/security/bindings.ts'
import { type Sealer, tryOpen } from '../lib/security/secrets.ts'
import { backoff } from '../lib/timing/backoff.ts'
import {
  claimToken,
  type ConnectionRecord,
  findConnection,
  storeToken,
  releaseToken,
} from './store/connections.ts'

type Named = Pick<ConnectionRecord, 'org_id' | 'connection_id'>
type Fields = Readonly<Record<string, string>>

/**
 * The duration of a claim. It is longer than a provider may take to create a token; after it the claim of a
 * crashed process has ended.
 */
const CLAIM_SECONDS = 20

export function sealFields(sealer: Sealer, of: Named, fields: Fields): string {
  return sealer.seal(JSON.stringify(fields), connectionBinding(of, 'fields'))
}

/**
 * Opens the key of a connection. Returns null if its fields were sealed with another secret. A token that
 * cannot be opened is created again.
 */
export function openConnection(db: Db, sealer: Sealer, record: ConnectionRecord): ProviderKey | null {
  const opened = openFields(sealer, record)
  if (opened === null) return null
  let fields: Fields = opened
  let kept = openToken(sealer, record)
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

  /**
   * Creates a token once among all processes: one process claims it and calls the provider without holding a
   * lock; the others wait until the token is stored.
   */
  async function renew<Refusal>(
    make: MakeToken<Refusal>,
    refused: string | undefined,
  ): Promise<TokenAnswer<Refusal>> {
    const claim = randomUUID()
    for (let looks = 0; ; looks += 1) {
      const claimed = await claimToken(db, record, { claim, seconds: CLAIM_SECONDS })
      const current = claimed ?? (await findConnection(db, record.connection_id))
      if (current !== undefined) {
        kept = openToken(sealer, current)
        // A process with a newer secret may have sealed the fields again. Then the fields already in memory
        // are used.
        fields = openFields(sealer, current) ?? fields
      }
      if (claimed === undefined && current !== undefined && !isFresh(kept, refused)) {
        await sleep(backoff(looks, { firstMs: 50, maxMs: 500 }))
        continue
      }
      let isOpen = claimed !== undefined
      try {
        if (isFresh(kept, refused)) return { ok: true, token: kept.token }
        const made = await make(fields)
        if (!made.ok) return made
        isOpen = isOpen && !(await store(claimed ?? record, made))
        // If another token was stored in the meantime, the loop reads that one. If the connection was
        // deleted, the last token is returned.
        if (!isOpen) return { ok: true, token: made.token }
      } finally {
        if (isOpen) await releaseToken(db, record, claim)
      }
    }
  }

  async function store(
    from: ConnectionRecord,
    made: Extract<MadeToken<never>, { ok: true }>,
  ): Promise<boolean> {
    fields = { ...fields, ...made.fields }
    kept = { token: made.token, expiresAt: Date.now() + made.expiresInSeconds * 1000 }
    return storeToken(db, from, {
      token_sealed: sealer.seal(made.token, connectionBinding(record, 'token')),
      token_expires_at: new Date(kept.expiresAt),
      ...(made.fields === undefined ? {} : { fields_sealed: sealFields(sealer, record, fields) }),
    })
  }
}

function openFields(sealer: Sealer, record: ConnectionRecord): Fields | null {
  const text = tryOpen(sealer, record.fields_sealed, connectionBinding(record, 'fields'))
  return text === null ? null : (JSON.parse(text) as Fields)
}

function openToken(sealer: Sealer, record: ConnectionRecord): KeptToken | undefined {
  if (record.token_sealed === null || record.token_expires_at === null) return undefined
  const token = tryOpen(sealer, record.token_sealed, connectionBinding(record, 'token'))
  return token === null ? undefined : { token, expiresAt: record.token_expires_at.getTime() }
}
