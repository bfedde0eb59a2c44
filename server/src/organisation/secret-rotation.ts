import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../database/connection/db.ts'
import { plural } from '../lib/plural.ts'
import {
  answerBinding,
  budgetBinding,
  connectionBinding,
  envBinding,
  inboxBinding,
  invitationBinding,
  sourceTokenBinding,
  webhookBinding,
} from '../lib/security/bindings.ts'
import { type Binding, readKeyId, type Sealer, tryOpen } from '../lib/security/secrets.ts'
import {
  listSealedPlaces,
  readSealed,
  replaceSealed,
  type SealedColumn,
  type SealedValue,
} from './store/sealed-values.ts'

type Sealed = SealedColumn & { bindingOf: (bound: SealedValue['bound']) => Binding }

const defineSealed = <Name extends string>(
  table: string,
  column: string,
  boundTo: readonly Name[],
  bindingOf: (bound: { org_id: string } & Record<Name, string>) => Binding,
): Sealed => ({
  table,
  column,
  boundTo: ['org_id', ...boundTo],
  // The type is safe: the statement selects exactly the columns in `boundTo`.
  bindingOf: bindingOf as Sealed['bindingOf'],
})

/** Every column that LOAM_SECRET seals. A test compares this list with the columns of the database. */
export const SEALED: readonly Sealed[] = [
  defineSealed('invitations', 'token_sealed', ['email'], invitationBinding),
  defineSealed('webhooks', 'token_sealed', ['sheet_id'], webhookBinding),
  defineSealed('env_variables', 'value_sealed', ['workflow_id', 'key'], envBinding),
  defineSealed('connections', 'fields_sealed', ['connection_id'], (of) => connectionBinding(of, 'fields')),
  defineSealed('connections', 'token_sealed', ['connection_id'], (of) => connectionBinding(of, 'token')),
  defineSealed('source_tokens', 'token_sealed', ['instance_id', 'kind'], sourceTokenBinding),
  defineSealed('budgets', 'secret_sealed', ['budget_id'], budgetBinding),
  defineSealed('idempotency_keys', 'body_sealed', ['member_id', 'key'], answerBinding),
  defineSealed('source_inbox', 'sealed', ['instance_id'], inboxBinding),
]

const BATCH = 200
/**
 * The number of passes without progress before a column is left: rows that others are changing are tried
 * again in a later pass.
 */
const MAX_IDLE_PASSES = 10
const IDLE_MS = 100

export type ColumnStatus = {
  table: string
  column: string
  values: number
  /** The number of values sealed with a key other than the current one. */
  stale: number
  /** The number of values that no known secret opens, because they are altered or their secret is missing. */
  unreadable: number
  /** The number of values by the id of the key that sealed them. */
  keys: Record<string, number>
}

/** Returns which keys sealed the values and which values cannot be opened. Every value is tried. */
export async function readSecretStatus(db: Db, sealer: Sealer): Promise<ColumnStatus[]> {
  const found: ColumnStatus[] = []
  for (const each of SEALED) {
    const { table, column } = each
    const status: ColumnStatus = { table, column, values: 0, stale: 0, unreadable: 0, keys: {} }
    const places = await listSealedPlaces(db, each)
    for (let at = 0; at < places.length; at += BATCH) {
      for (const { sealed, bound } of await readSealed(db, each, places.slice(at, at + BATCH))) {
        const key = readKeyId(sealed)
        status.values += 1
        status.keys[key] = (status.keys[key] ?? 0) + 1
        if (key !== sealer.keyIds[0]) status.stale += 1
        if (tryOpen(sealer, sealed, each.bindingOf(bound)) === null) status.unreadable += 1
      }
    }
    found.push(status)
  }
  return found
}

/**
 * Seals again, with the current key, all values sealed with older ones, batch by batch, while the server
 * runs. The values themselves show what is done, so an interrupted rotation continues where it stopped.
 * Returns the number of values sealed again.
 */
export async function rotateSecrets(
  db: Db,
  sealer: Sealer,
  progress: (line: string) => void,
): Promise<number> {
  let resealed = 0
  for (const each of SEALED) {
    for (let idle = 0; idle <= MAX_IDLE_PASSES;) {
      const pass = await resealOnce(db, sealer, each, (done, of) =>
        progress(`${each.table}.${each.column}: ${done} of ${plural(of, 'value')}`),
      )
      resealed += pass.resealed
      if (pass.left === 0) break
      if (pass.resealed > 0) continue
      idle += 1
      await sleep(IDLE_MS)
    }
  }
  return resealed
}

/**
 * Makes one pass over a column. `left` counts the values that could be opened but not replaced, because
 * somebody was changing them.
 */
async function resealOnce(
  db: Db,
  sealer: Sealer,
  sealed: Sealed,
  progress: (done: number, of: number) => void,
): Promise<{ resealed: number; left: number }> {
  const [notBy] = sealer.keyIds
  const places = await listSealedPlaces(db, sealed, notBy === undefined ? {} : { notBy })
  let resealed = 0
  let left = 0
  for (let at = 0; at < places.length; at += BATCH) {
    const values = await readSealed(db, sealed, places.slice(at, at + BATCH))
    const changes = values.flatMap((value) => {
      const binding = sealed.bindingOf(value.bound)
      const plain = tryOpen(sealer, value.sealed, binding)
      return plain === null ? [] : [{ at: value.at, from: value.sealed, to: sealer.seal(plain, binding) }]
    })
    const replaced = changes.length === 0 ? 0 : await replaceSealed(db, sealed, changes)
    resealed += replaced
    left += changes.length - replaced
    progress(Math.min(at + BATCH, places.length), places.length)
  }
  return { resealed, left }
}
