import { STORE } from './names.ts'

export const SCOPES = [
  'workflows:read',
  'workflows:write',
  'workflows:run',
  'workflows:data:read',
  'workflows:data:write',
  'actions:read',
  'actions:write',
  'sources:read',
  'sources:write',
  'shortcuts:read',
  'shortcuts:run',
  'members:write',
  'agent:run',
  'credits:read',
  'credits:write',
  STORE,
] as const
export type Scope = (typeof SCOPES)[number]

const LEGACY = new Map<string, Scope>([
  ['apps:read', 'shortcuts:read'],
  ['apps:run', 'shortcuts:run'],
])

/** Returns the scope of a name, or undefined if it is unknown. `apps:*` and `shortcuts:*` are the same scope (D11). */
export function canonicalScope(name: string): Scope | undefined {
  return LEGACY.get(name) ?? SCOPES.find((scope) => scope === name)
}

export const ROLES = ['admin', 'member', 'user'] as const
export type Role = (typeof ROLES)[number]

const EVERY_SCOPE: readonly Scope[] = SCOPES
const BY_ROLE: Record<Role, readonly Scope[]> = {
  admin: EVERY_SCOPE,
  member: EVERY_SCOPE.filter((scope) => scope !== 'members:write' && scope !== 'credits:write'),
  user: ['sources:read', 'sources:write', 'shortcuts:read', 'shortcuts:run'],
}

export function isRole(stored: string): stored is Role {
  return ROLES.some((role) => role === stored)
}

/** Returns the scopes of a role. An unknown stored role has none. */
export function scopesOfRole(stored: string): readonly Scope[] {
  return isRole(stored) ? BY_ROLE[stored] : []
}
