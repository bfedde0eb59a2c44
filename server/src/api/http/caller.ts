import { canonicalScope, type Scope, scopesOfRole } from '#contract/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import type { KeyHolder } from '../../organisation/store/admission.ts'
import type { Actor } from '../../organisation/store/audit.ts'

/** The caller of a request: the owner of the key or session, and the permissions they have at this moment. */
export type Caller = Actor & {
  orgId: string
  memberId: string
  role: string
  /** The id of the key or of the session. */
  keyId: string
  isSession: boolean
  scopes: ReadonlySet<Scope>
  /** The workflows that the key is narrowed to, or null for all. */
  allowedWorkflowIds: ReadonlySet<string> | null
}

/** Throws if the caller lacks the scope. */
export function requireScope({ scopes, isSession, role }: Caller, scope: Scope): void {
  if (scopes.has(scope)) return
  const words = isSession
    ? `Your role (${role}) lacks the scope ${scope}`
    : `This key lacks the scope ${scope}`
  throw new AppError('INSUFFICIENT_SCOPE', words)
}

export function toCaller(holder: KeyHolder): Caller {
  const permitted = scopesOfRole(holder.role)
  const narrowed = holder.scopes?.map(canonicalScope)
  return {
    orgId: holder.org_id,
    memberId: holder.member_id,
    email: holder.email,
    role: holder.role,
    keyId: holder.key_id,
    isSession: holder.is_session,
    scopes: new Set(
      narrowed === undefined ? permitted : permitted.filter((scope) => narrowed.includes(scope)),
    ),
    allowedWorkflowIds: holder.allowed_workflow_ids === null ? null : new Set(holder.allowed_workflow_ids),
  }
}
