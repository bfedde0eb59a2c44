import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Caller } from '../../api/http/caller.ts'
import { forbidden, notFound } from '../../lib/errors.ts'
import { findShortcut, type ShortcutFor } from '../store/shortcuts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The shortcut in the path, which exists and which the caller may use. Set by `shortcutOfPath`. */
    shortcut: ShortcutFor
  }
}

/** The prefixes of the shortcut endpoints. The legacy prefix offers the same API (part 9). */
export const SHORTCUT_PREFIXES = ['/shortcuts', '/apps'] as const

export const ShortcutParams = z.object({ id: Uuid })
export const ShortcutRunParams = z.object({ id: Uuid, run_id: Uuid })

/**
 * Returns true if the caller may use the shortcut: as a user of the workflow, as publisher, or as holder of a
 * copy. Narrowed keys are limited to their workflows (D13).
 */
export function mayUseShortcut(caller: Caller, shortcut: ShortcutFor): boolean {
  const { workflow_id, parent_id, holder_id, creator_id, owner_id, is_shared } = shortcut
  if (caller.allowedWorkflowIds !== null && !caller.allowedWorkflowIds.has(workflow_id)) return false
  if (caller.role === 'admin') return true
  if (parent_id !== null) return holder_id === caller.memberId
  return creator_id === caller.memberId || owner_id === caller.memberId || is_shared
}

export async function shortcutOfPath(request: FastifyRequest): Promise<void> {
  const { id } = request.params as z.infer<typeof ShortcutParams>
  const { caller, db } = request
  const shortcut = await findShortcut(db, caller.orgId, caller.memberId, id)
  if (shortcut === undefined) throw notFound('Shortcut')
  if (!mayUseShortcut(caller, shortcut)) throw forbidden('You do not have access to this shortcut')
  request.shortcut = shortcut
}

/** Throws unless the shortcut is published and not archived: only such shortcuts can be run (D50). */
export async function runnableOfPath(request: FastifyRequest): Promise<void> {
  await shortcutOfPath(request)
  const { is_archived, is_published } = request.shortcut
  if (is_archived) throw forbidden('This shortcut is archived and cannot be run')
  if (!is_published) throw forbidden('This shortcut is not published and cannot be run')
}
