import type { Warning } from '#contract/envelope.ts'
import type { Db } from '../../../database/connection/db.ts'
import { sourceTokenBinding } from '../../../lib/security/bindings.ts'
import { hashToken, randomText } from '../../../lib/security/keys.ts'
import { type Sealer, tryOpen, unreadableWords } from '../../../lib/security/secrets.ts'
import type { Source } from '../../define.ts'
import type { Receiver, Way } from '../../receive.ts'
import { readStored } from '../../request.ts'
import { countInbox } from '../../store/source-inbox.ts'
import { insertTokens, listTokens } from '../../store/source-tokens.ts'
import type { SourceKey, SourceRecord } from '../../store/sources.ts'

const TOKEN_LENGTH = 40
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

/** Checks the form of a token. A text of another form belongs to no source and needs no database query. */
export const isSourceToken = (text: string): boolean => TOKEN.test(text)

/** The addresses of a source that receives. */
export type Reception = { pixel_id: string; pixel_script: string; webhook_url?: string }

/** Creates the addresses of a new source, in the caller's transaction. */
export async function openReception(
  trx: Db,
  sealer: Sealer,
  key: SourceKey,
  receiver: Receiver,
): Promise<void> {
  const kinds: Way[] = [...new Set<Way>(['pixel', receiver.posted.way])]
  const tokens = kinds.map((kind) => {
    const token = randomText(TOKEN_LENGTH)
    return { kind, hash: hashToken(token), sealed: sealer.seal(token, sourceTokenBinding({ ...key, kind })) }
  })
  await insertTokens(trx, key, tokens)
}

/**
 * Returns the addresses of a source, or null if it receives nothing. An address that cannot be decrypted is left out,
 * with a warning.
 */
export async function findReception(
  db: Db,
  sealer: Sealer,
  publicUrl: string,
  { record, source }: { record: SourceRecord; source: Source | undefined },
): Promise<{ reception: Reception | null; warnings: Warning[] }> {
  if (source === undefined || source.receives === null) return { reception: null, warnings: [] }
  const tokens = new Map<string, string>()
  for (const { kind, token_sealed } of await listTokens(db, record)) {
    const token = tryOpen(sealer, token_sealed, sourceTokenBinding({ ...record, kind }))
    if (token === null) return { reception: null, warnings: [UNREADABLE] }
    tokens.set(kind, token)
  }
  const pixel = tokens.get('pixel') ?? ''
  const webhook = tokens.get('webhook')
  const stored = readStored(source, record.body)
  const more = Object.entries(stored.ok ? source.receives.tag(stored.body) : {})
  const attributes = more.map(([name, value]) => ` ${name}="${value.replace(/[&<>"]/g, '')}"`).join('')
  const reception = {
    pixel_id: pixel,
    pixel_script: `<script async src="${publicUrl}/pixel/${pixel}.js"${attributes}></script>`,
    ...(webhook === undefined ? {} : { webhook_url: `${publicUrl}/visitors/${webhook}` }),
  }
  return { reception, warnings: [] }
}

const UNREADABLE: Warning = {
  field: 'pixel_id',
  code: 'secret_unreadable',
  message: unreadableWords(
    'the address of this source',
    'create the source again; until then, visits to the current address are still accepted',
  ),
}

/** Returns counts of what the source has received, or null for a source that receives nothing. */
export async function viewReceived(db: Db, record: SourceRecord, source: Source | undefined) {
  if (source === undefined || source.receives === null) return null
  return {
    total: record.received_count,
    unresolved: record.unresolved_count,
    waiting: await countInbox(db, record),
    last_at: record.received_at?.toISOString() ?? null,
  }
}
