import type { FieldError } from '#contract/errors.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, invalid, notFound, validationError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { didYouMean } from '../lib/nearest-name.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { sealFields } from './connection-keys.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import {
  type ConnectionRecord,
  deleteConnection,
  findConnection,
  insertConnection,
  measureConnections,
} from './store/connections.ts'

export type NewConnection = {
  orgId: string
  provider: Provider
  name: string
  /** The id of the owner, or null if the connection belongs to the organisation. */
  ownerId: string | null
  /** Says whether everybody in the organisation may use it, or only its owner's workflows. */
  shared: boolean
  fields: Record<string, string>
}

/** The limits for an organisation: running rows hold the connections they may use in memory. */
const MAX_CONNECTIONS = 1000
const MAX_SEALED_BYTES = 4 * 1024 ** 2

/** Connects a provider. The secrets are sealed and never shown again. */
export async function addConnection(
  db: Db,
  sealer: Sealer,
  actor: Actor,
  { orgId, provider, name, ownerId, shared, fields }: NewConnection,
): Promise<{ connection_id: string; provider: string; name: string }> {
  const errors = checkFields(provider, fields)
  if (name === '' || name.length > 100)
    errors.push({ field: 'name', message: 'must have 1 to 100 characters' })
  if (!shared && ownerId === null) {
    errors.push({ field: 'private', message: 'needs a member who owns the connection' })
  }
  if (errors.length > 0) throw validationError(errors)
  const connection_id = newId()
  const made = { connection_id, provider: provider.id, name }
  await inTransaction(db, async (trx) => {
    const details = { provider: provider.id, name, shared }
    await recordAudit(trx, orgId, actor, { action: 'connection.added', target: connection_id, details })
    const added = await insertConnection(trx, {
      org_id: orgId,
      ...made,
      owner_id: ownerId,
      shared,
      fields_sealed: sealFields(sealer, { org_id: orgId, connection_id }, fields),
    })
    if (!added) {
      throw new AppError(
        'Conflict',
        `A connection ${name} to ${provider.name} exists already; choose another name`,
      )
    }
    const { count, bytes } = await measureConnections(trx, orgId)
    if (count > MAX_CONNECTIONS || bytes > MAX_SEALED_BYTES) {
      throw new AppError(
        'Conflict',
        `An organisation can have at most ${MAX_CONNECTIONS} connections, with at most ${MAX_SEALED_BYTES / 1024 ** 2} MiB in total when encrypted; remove some first`,
      )
    }
  })
  return made
}

function checkFields({ name, fields }: Provider, given: Record<string, string>): FieldError[] {
  const known = [...new Set([...fields.sets.flat(), ...fields.others])]
  const wrong = Object.entries(given).flatMap(([key, value]): FieldError[] => {
    if (!known.includes(key)) {
      const words = known.length === 0 ? 'needs no key' : `takes: ${known.join(', ')}`
      return [{ field: key === 'secret' ? 'secret' : 'field', message: `${name} ${words}; not ${key}` }]
    }
    return value.trim() === '' ? [{ field: key, message: 'must not be empty' }] : []
  })
  const isGiven = (key: string) => Object.hasOwn(given, key)
  if (wrong.length > 0 || fields.sets.some((set) => set.every(isGiven))) return wrong
  const ways = fields.sets.map((set) =>
    set.map((key) => (key === 'secret' ? '--secret' : `--field ${key}=...`)),
  )
  return [{ field: 'secret', message: `${name} needs ${ways.map((set) => set.join(' ')).join(', or ')}` }]
}

export async function removeConnection(
  db: Db,
  actor: Actor,
  connectionId: string,
): Promise<ConnectionRecord> {
  const found = await requireConnection(db, connectionId)
  const { org_id, provider, name } = found
  await inTransaction(db, async (trx) => {
    const entry = { action: 'connection.removed', target: connectionId, details: { provider, name } }
    await recordAudit(trx, org_id, actor, entry)
    if (!(await deleteConnection(trx, org_id, connectionId))) throw notFound('Connection')
  })
  return found
}

export async function requireConnection(db: Db, connectionId: string): Promise<ConnectionRecord> {
  const found = await findConnection(db, connectionId)
  if (found === undefined) throw notFound(`Connection ${connectionId}`)
  return found
}

/** Returns true if the provider takes a key or other fields. Some providers need none. */
export function takesConnection({ auth, fields }: Provider): boolean {
  return auth.kind !== 'none' || fields.others.length > 0
}

/** Finds a provider by its id or its name. */
export function pickProvider(providers: readonly Provider[], given: string): Provider {
  const wanted = given.trim().toLowerCase()
  const found = providers.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found !== undefined) return found
  const ids = providers.map(({ id }) => id)
  const hint = didYouMean(wanted, ids) || `; there are: ${ids.join(', ')}`
  throw invalid('provider', `there is no provider ${given}${hint}`)
}
