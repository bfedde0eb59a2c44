import { useEffect, useState } from 'react'
import type { CatalogueAction } from '../../../api/catalogue.ts'
import { notify } from '../../../ui/toasts.tsx'
import { useSheet } from '../sheet-view.ts'
import { applyDraft, type Draft, type Saved } from './draft.ts'

type Field = CatalogueAction['inputs'][number]

/** The kinds of fields that take a reference, those that take several values first. */
const TAKERS: readonly Field['kind'][] = ['prompt', 'text', 'url', 'column', 'formula']

/**
 * Returns the draft that a panel starts with. A value that was chosen for the next action is put into the first empty field
 * that takes one, or behind the text of a prompt or text.
 */
export function useInsertedValue(saved: Saved, first: Draft, template: CatalogueAction): Draft {
  const { state } = useSheet()
  const [start] = useState(() => {
    const { carried } = state.getState()
    return carried === null ? null : insert(carried, applyDraft(saved, first).inputs, template)
  })
  useEffect(() => {
    const { carried, carry } = state.getState()
    if (carried === null) return
    carry(null)
    notify(
      start === null
        ? `Reference to ${carried.name} copied. Paste it into a field`
        : `${carried.name} added to ${start.label}. Save to keep it`,
    )
  }, [state, start, template])
  return start === null ? first : { ...first, inputs: { ...first.inputs, ...start.inputs } }
}

function insert(
  { token }: { token: string },
  values: Readonly<Record<string, unknown>>,
  { inputs }: CatalogueAction,
): { label: string; inputs: Record<string, string> } | null {
  const fields = inputs.filter(({ kind, group }) => group === 'main' && TAKERS.includes(kind))
  const isEmpty = ({ name }: Field) => (values[name] ?? '') === ''
  const empty = fields.find((field) => isEmpty(field) && field.required) ?? fields.find(isEmpty)
  if (empty !== undefined) return { label: empty.label, inputs: { [empty.name]: token } }
  const filled = fields.find(
    ({ kind, name }) => (kind === 'prompt' || kind === 'text') && typeof values[name] === 'string',
  )
  return filled === undefined
    ? null
    : { label: filled.label, inputs: { [filled.name]: `${String(values[filled.name])} ${token}` } }
}
