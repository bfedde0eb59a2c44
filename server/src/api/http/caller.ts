import { canonicalScope, type Scope, scopesOfRole } from '#contract/scopes.ts'
import type { KeyHolder } from '../../store/organisation/admission.ts'
import type { Actor } from '../../store/organisation/audit.ts'

/** Who is calling: the person a key belongs to, and what this key may do for them right now. */
export type Caller = Actor & {
  orgId: string
  memberId: string
  role: string
  keyId: string
  scopes: ReadonlySet<Scope>
  /** Null when the key is not narrowed to certain workflows. */
  allowedWorkflowIds: ReadonlySet<string> | null
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
    scopes: new Set(
      narrowed === undefined ? permitted : permitted.filter((scope) => narrowed.includes(scope)),
    ),
    allowedWorkflowIds: holder.allowed_workflow_ids === null ? null : new Set(holder.allowed_workflow_ids),
  }
}
