import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, invalid, notFound } from '../lib/errors.ts'
import { envBinding } from '../lib/security/bindings.ts'
import type { EnvValues } from '../lib/security/env-values.ts'
import { type Sealer, tryOpen } from '../lib/security/secrets.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { deleteEnv, type EnvRecord, type EnvScope, measureEnv, putEnv } from './store/env-variables.ts'

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
const LONGEST_KEY = 128
const LONGEST_VALUE = 65_536
/**
 * The limits for a workflow, and for the organisation itself: running rows hold all variables of both in
 * memory.
 */
const MAX_VARIABLES = 500
const MAX_SEALED_BYTES = 4 * 1024 ** 2

/**
 * Sets a variable of an organisation, or of one of its workflows. The value is sealed and never shown again.
 */
export async function setEnv(
  db: Db,
  sealer: Sealer,
  actor: Actor,
  { scope, key, value }: { scope: EnvScope; key: string; value: string },
): Promise<void> {
  if (!KEY.test(key) || key.length > LONGEST_KEY) {
    throw invalid('key', `must be letters, digits and _, not begin with a digit, up to ${LONGEST_KEY} long`)
  }
  if (value === '' || value.length > LONGEST_VALUE || value.includes('\0')) {
    throw invalid('value', `must have 1 to ${LONGEST_VALUE} characters, none of them NUL`)
  }
  await inTransaction(db, async (trx) => {
    await recordAudit(trx, scope.orgId, actor, {
      action: 'env.set',
      target: key,
      details: describeScope(scope),
    })
    await putEnv(trx, scope, { key, sealed: sealer.seal(value, bindingOf(scope, key)), by: actor.email })
    const { count, bytes } = await measureEnv(trx, scope)
    if (count <= MAX_VARIABLES && bytes <= MAX_SEALED_BYTES) return
    throw new AppError(
      'Conflict',
      `A workflow, and the organisation itself, can have at most ${MAX_VARIABLES} variables, with at most ${MAX_SEALED_BYTES / 1024 ** 2} MiB in total when encrypted; unset some first`,
    )
  })
}

export async function unsetEnv(db: Db, actor: Actor, scope: EnvScope, key: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    await recordAudit(trx, scope.orgId, actor, {
      action: 'env.unset',
      target: key,
      details: describeScope(scope),
    })
    if (!(await deleteEnv(trx, scope, key))) throw notFound(`Environment variable ${key}`)
  })
}

/**
 * Returns the values by key. Keys whose value was sealed with another secret are in `unreadable`, for error
 * texts.
 */
export function openEnv(sealer: Sealer, orgId: string, records: EnvRecord[]): EnvValues {
  const values = new Map<string, string>()
  const unreadable = new Set<string>()
  for (const { key, workflow_id, value_sealed } of records) {
    const value = tryOpen(sealer, value_sealed, envBinding({ org_id: orgId, workflow_id, key }))
    if (value === null) unreadable.add(key)
    else values.set(key, value)
  }
  return Object.assign(values, { unreadable })
}

function describeScope({ workflowId }: EnvScope): Record<string, unknown> {
  return workflowId === null ? {} : { workflow_id: workflowId }
}

const bindingOf = ({ orgId, workflowId }: EnvScope, key: string) =>
  envBinding({ org_id: orgId, workflow_id: workflowId, key })
