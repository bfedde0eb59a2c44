import { isDeepStrictEqual } from 'node:util'
import { MAX_ACTIONS } from '#contract/actions.ts'
import type { FieldError } from '#contract/errors.ts'
import { didYouMean } from '../../lib/nearest-name.ts'
import type { Parsed } from './condition-shape.ts'
import { type ActionInstance, type Definition, findInstance } from './definition.ts'

/** The node before the first action. Every chain has it, and no definition contains it. */
export const INPUT_NODE = 'input'

/** Returns the next id of a template. Serials only grow, so a suffix is never used again (D30). */
export function nextInstanceId(
  serials: Record<string, number>,
  actionId: string,
): { id: string; serials: Record<string, number> } {
  const serial = (Object.hasOwn(serials, actionId) ? (serials[actionId] ?? 0) : 0) + 1
  return { id: `${actionId}_${serial}`, serials: { ...serials, [actionId]: serial } }
}

/** Adds an action at the end, or right after the action (or the input node) that `after` names. */
export function addAction(
  definition: Definition,
  action: ActionInstance,
  after: string | undefined,
): Parsed<Definition> {
  if (definition.actions.length >= MAX_ACTIONS) {
    return refused('action_id', `a sheet has at most ${MAX_ACTIONS} actions`)
  }
  return place(definition, definition.actions, action, after)
}

/**
 * Moves an action. The returned `after` is the actual predecessor (D30). Inputs are not rewritten, and no result becomes
 * stale (D26).
 */
export function moveAction(
  definition: Definition,
  id: string,
  after: string | undefined,
): Parsed<{ definition: Definition; after: string }> {
  if (after === id) return refused('after', 'must not be the action that is moved')
  const action = findInstance(definition, id)
  if (action === undefined) return refused('action_instance_id', 'is not in this chain')
  const others = definition.actions.filter((known) => known !== action)
  const placed = place(definition, others, action, after)
  if (!placed.ok) return placed
  const moved = placed.value
  const before = moved.actions[moved.actions.indexOf(action) - 1]
  const unchanged = isDeepStrictEqual(moved.actions, definition.actions)
  return {
    ok: true,
    value: { definition: unchanged ? definition : moved, after: before?.id ?? INPUT_NODE },
  }
}

function place(
  definition: Definition,
  others: ActionInstance[],
  action: ActionInstance,
  after: string | undefined,
): Parsed<Definition> {
  const at = placeAfter(others, after)
  if (at === undefined) return { ok: false, errors: checkAfter(definition, after) }
  return { ok: true, value: { ...definition, actions: others.toSpliced(at, 0, action) } }
}

/** Returns the errors of an `after`, so that a caller can report them together with others. */
export function checkAfter(definition: Definition, after: string | undefined): FieldError[] {
  if (placeAfter(definition.actions, after) !== undefined) return []
  const ids = definition.actions.map(({ id }) => id)
  if (after?.trim() === '') {
    const message = 'must not be empty: leave it out for the end, or give `input` or an action_instance_id'
    return [{ field: 'after', message }]
  }
  const words = 'it takes an action_instance_id'
  return [
    { field: 'after', message: `the chain has no action ${after}; ${words}${didYouMean(after ?? '', ids)}` },
  ]
}

function placeAfter(actions: ActionInstance[], after: string | undefined): number | undefined {
  if (after === undefined) return actions.length
  if (after === INPUT_NODE) return 0
  const found = actions.findIndex((known) => known.id === after)
  return found < 0 ? undefined : found + 1
}

/** Removes an action. The results of all later actions become stale. */
export function removeAction(definition: Definition, id: string): Definition {
  const at = definition.actions.findIndex((known) => known.id === id)
  if (at < 0) return definition
  return { ...definition, actions: markStaleFrom(definition.actions.toSpliced(at, 1), at) }
}

/**
 * Replaces an action with its changed version. Returns the same definition if nothing changed. The results of this action
 * and of all later ones become stale only if its behaviour changed (D26).
 */
export function replaceAction(definition: Definition, next: ActionInstance): Definition {
  const at = definition.actions.findIndex((known) => known.id === next.id)
  const current = definition.actions[at]
  if (current === undefined || isDeepStrictEqual(current, next)) return definition
  const actions = definition.actions.with(at, next)
  return {
    ...definition,
    actions: isDeepStrictEqual(behaviourOf(current), behaviourOf(next))
      ? actions
      : markStaleFrom(actions, at),
  }
}

/** Returns true if two definitions differ in nothing but their epochs. */
export function isAlike(one: Definition, other: Definition): boolean {
  const bare = ({ inputs, actions }: Definition) => ({
    inputs,
    actions: actions.map((action) => ({ ...action, epoch: 0 })),
  })
  return isDeepStrictEqual(bare(one), bare(other))
}

/**
 * Restores an earlier definition. From the first action with a different behaviour on, results are stale. No epoch is
 * used again (`epochs` holds the highest one of each action), since results of another configuration may be stored under
 * it.
 */
export function restoreDefinition(
  current: Definition,
  earlier: Definition,
  epochs: ReadonlyMap<string, number>,
): Definition {
  const differs = earlier.actions.findIndex((action, at) => {
    const now = current.actions[at]
    return now?.id !== action.id || !isDeepStrictEqual(behaviourOf(now), behaviourOf(action))
  })
  const start = differs < 0 ? earlier.actions.length : differs
  const epochOf = ({ id, epoch }: ActionInstance) => Math.max(epoch, epochs.get(id) ?? 0)
  return {
    ...earlier,
    actions: earlier.actions.map((action, at) => ({
      ...action,
      epoch: at < start ? (current.actions[at]?.epoch ?? epochOf(action)) : epochOf(action) + 1,
    })),
  }
}

/**
 * Returns the parts of an action that affect its results. An explicit default equals a missing one. The action's own flag
 * has no default: without it the sheet's flag counts (D15).
 */
function behaviourOf({ inputs, run_if, continue_workflow_if_action_fails }: ActionInstance): unknown {
  const condition = run_if && { continue_workflow_if_run_condition_not_met: false, ...run_if }
  return { inputs, run_if: condition, continue_workflow_if_action_fails }
}

function markStaleFrom(actions: ActionInstance[], start: number): ActionInstance[] {
  return actions.map((action, at) => (at < start ? action : { ...action, epoch: action.epoch + 1 }))
}

function refused(field: string, message: string): Parsed<never> {
  return { ok: false, errors: [{ field, message }] }
}
