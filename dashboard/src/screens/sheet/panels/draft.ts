import type { z } from 'zod'
import type { ConfigureActionBody } from '#contract/actions.ts'
import type { GraphNode } from '../../../api/sheet.ts'
import { type ConditionGroup, printGroups, readGroups } from '../conditions.ts'
import { isRecord } from '../tokens.ts'

/** The unsaved changes of a panel. What is absent stands as it was saved. */
export type Draft = {
  name?: string
  inputs: Readonly<Record<string, unknown>>
  groups?: readonly ConditionGroup[]
  continuesIfNotMet?: boolean
  continuesOnFailure?: boolean
  note?: string
}
export const NO_CHANGES: Draft = { inputs: {} }

/** The configuration that a panel starts from. */
export type Saved = Pick<
  GraphNode,
  'display_name' | 'inputs' | 'run_if' | 'continue_workflow_if_action_fails' | 'note'
>

/** Returns what a panel shows: the saved configuration with the unsaved changes. */
export function applyDraft(saved: Saved, draft: Draft) {
  return {
    name: draft.name ?? saved.display_name,
    inputs: { ...saved.inputs, ...draft.inputs },
    groups: draft.groups ?? readGroups(saved.run_if ?? {}),
    continuesIfNotMet: draft.continuesIfNotMet ?? continuesIfNotMet(saved),
    continuesOnFailure: draft.continuesOnFailure ?? saved.continue_workflow_if_action_fails === true,
    note: draft.note ?? saved.note ?? '',
  }
}

const continuesIfNotMet = ({ run_if }: Saved) =>
  run_if?.['continue_workflow_if_run_condition_not_met'] === true

/** Returns true for equal values, whatever the order of their keys. An absent value is the same as a cleared one. */
function isSame(one: unknown, other: unknown): boolean {
  const [a, b] = [one ?? null, other ?? null]
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, place) => isSame(item, b[place]))
  }
  if (!isRecord(a) || !isRecord(b)) return a === b
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isSame(a[name], b[name]))
}

/** Returns the fields that differ from the saved configuration. Nothing else is sent, because any change makes cells run and bill again. */
export function findChanges(saved: Saved, draft: Draft): z.input<typeof ConfigureActionBody> {
  const shown = applyDraft(saved, draft)
  const inputs = Object.fromEntries(
    Object.entries(draft.inputs).filter(([name, value]) => !isSame(value, saved.inputs?.[name])),
  )
  const printed = printGroups(shown.groups)
  const isConditionChanged =
    !isSame(printed, printGroups(readGroups(saved.run_if ?? {}))) ||
    (printed.length > 0 && shown.continuesIfNotMet !== continuesIfNotMet(saved))
  const run_if =
    printed.length === 0
      ? null
      : { conditions: printed, continue_workflow_if_run_condition_not_met: shown.continuesIfNotMet }
  return {
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(isConditionChanged ? { run_if } : {}),
    ...(shown.continuesOnFailure === (saved.continue_workflow_if_action_fails === true)
      ? {}
      : { continue_workflow_if_action_fails: shown.continuesOnFailure }),
    ...(shown.note === (saved.note ?? '') ? {} : { note: shown.note }),
  }
}

/** Returns true if closing the panel would lose something. */
export function hasChanges(saved: Saved, draft: Draft): boolean {
  return (
    Object.keys(findChanges(saved, draft)).length > 0 || applyDraft(saved, draft).name !== saved.display_name
  )
}
