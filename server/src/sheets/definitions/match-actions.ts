import type { FileAction } from '#contract/definitions.ts'
import type { ActionInstance } from '../../catalog/chain/definition.ts'
import { nextInstanceId } from '../../catalog/chain/edit.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import { freeName } from './file-forms.ts'

/** An action of a file, the action of the sheet that it describes if there is one, and the name it is to have. */
export type Matched = {
  place: number
  given: FileAction
  current: ActionInstance | null
  instanceId: string
  fileId: string
  name: string
}

/**
 * Finds the action of the sheet for each of a file: the n-th of a name is the n-th of that name. One of another template is
 * another action. New ones get instance ids.
 */
export function matchActions(
  given: readonly FileAction[],
  existing: readonly ActionInstance[],
  catalogue: Catalogue,
  serials: Record<string, number>,
): { matched: Matched[]; removed: ActionInstance[]; serials: Record<string, number> } {
  const left = [...existing]
  let nextSerials = serials
  const take = (name: string, template: string): ActionInstance | null => {
    const at = left.findIndex((one) => one.display_name === name && one.action_id === template)
    return at < 0 ? null : (left.splice(at, 1)[0] ?? null)
  }
  const found = given.map((action) => {
    const name = action.name ?? catalogue.get(action.action)?.name ?? action.action
    const former = action.was === undefined ? null : take(action.was, action.action)
    return { action, name, current: former ?? take(name, action.action) }
  })
  const taken = new Set(given.flatMap(({ id }) => id ?? []))
  const matched = found.map(({ action, name, current }, place): Matched => {
    const fileId = action.id ?? freeName(action.action, taken)
    taken.add(fileId)
    if (current !== null) return { place, given: action, current, instanceId: current.id, fileId, name }
    const made = nextInstanceId(nextSerials, action.action)
    nextSerials = made.serials
    return { place, given: action, current, instanceId: made.id, fileId, name }
  })
  return { matched, removed: left, serials: nextSerials }
}

/** Returns the actions that changed their place among those that stay: the fewest that explain the new order. */
export function listMoved(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const places = new Map(before.map((id, place) => [id, place]))
  const kept = after.filter((id) => places.has(id))
  // The longest run that rises: for each length, the chain that ends lowest.
  const ends: number[] = []
  const previous = new Map<number, number>()
  const placesOfKept = kept.map((id) => places.get(id) ?? 0)
  for (const place of placesOfKept) {
    let at = ends.findIndex((end) => end > place)
    if (at < 0) at = ends.length
    const before = ends[at - 1]
    if (before !== undefined) previous.set(place, before)
    ends[at] = place
  }
  const still = new Set<number>()
  for (let place = ends.at(-1); place !== undefined; place = previous.get(place)) still.add(place)
  return new Set(kept.filter((_, n) => !still.has(placesOfKept[n] ?? 0)))
}
