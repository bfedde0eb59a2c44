import { type ActionInstance, findInstance } from '../../../catalog/chain/definition.ts'
import { cacheKeyOf, readInputs, resolveInputs } from '../../../catalog/configuration/inputs.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import type { AskedCell } from '../cells/cache-hits.ts'
import { askedOf } from '../cells/cache.ts'
import { tokensOf } from '../cells/cell.ts'
import type { Engine, Lookup, RowWalk } from '../engine-context.ts'

/**
 * Looks up cells of these actions in the cache before their turn, all at once: those that depend on inputs of their row
 * alone. A cell that cannot be run is left to its turn. P15: 19% of the processor time of a cell, won 6 of 7 rounds in
 * turns (2 x86_64 cores beside others, 2026-11-19).
 */
export async function lookAhead(
  engine: Engine,
  walks: readonly RowWalk[],
  actionsOf: (walk: RowWalk) => readonly string[],
): Promise<void> {
  if (!isOn('lookahead')) return
  const early = walks.flatMap((walk) => (walk.lookups === null ? listLookups(walk, actionsOf(walk)) : []))
  const [first] = walks
  if (first === undefined || early.length === 0) return
  const hits = await engine.cache.look(
    early.map(({ asked }) => asked),
    first.express,
  )
  for (const [n, { lookup }] of early.entries()) lookup.hit = hits[n] ?? null
}

function listLookups(walk: RowWalk, actions: readonly string[]): { asked: AskedCell; lookup: Lookup }[] {
  const { flight, definition, catalogue, scope } = walk
  const early: { asked: AskedCell; lookup: Lookup }[] = []
  walk.lookups = new Map()
  for (const id of actions) {
    const instance = findInstance(definition, id)
    const action = instance === undefined ? undefined : catalogue.get(instance.action_id)
    if (instance === undefined || action?.cached !== true || !needsInputsOnly(instance)) continue
    const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
    const read = missing.length > 0 ? null : readInputs(action, resolved)
    if (read?.ok !== true) continue
    const key = cacheKeyOf(resolved)
    const lookup: Lookup = { inputs: read.inputs, key, hit: null }
    walk.lookups.set(id, lookup)
    early.push({ asked: askedOf(flight, instance, key), lookup })
  }
  return early
}

/** Returns true if neither the condition nor the inputs of the action depend on another action. */
const needsInputsOnly = (instance: ActionInstance): boolean =>
  instance.run_if === undefined && tokensOf(instance).every((token) => !('action' in token))
