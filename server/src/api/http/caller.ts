import { canonicalScope, type Scope, scopesOfRole } from '#contract/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import type { KeyHolder } from '../../organisation/store/admission.ts'
import type { Actor } from '../../organisation/store/audit.ts'

/** Who is calling: the person a key or session belongs to, and what it may do for them right now. */
export type Caller = Actor & {
  orgId: string
  memberId: string
  role: string
  /** Of the key, or of the session. */
  keyId: string
  isSession: boolean
  scopes: ReadonlySet<Scope>
  /** Null when the key is not narrowed to certain workflows. */
  allowedWorkflowIds: ReadonlySet<string> | null
}

/** Throws when the caller may not do what needs this scope. */
export function requireScope({ scopes, isSession, role }: Caller, scope: Scope): void {
  if (scopes.has(scope)) return
  const words = isSession
    ? `Your role (${role}) lacks the scope ${scope}`
    : `This key lacks the scope ${scope}`
  throw new AppError('INSUFFICIENT_SCOPE', words)
}

export function callerOf(holder: KeyHolder): Caller {
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
