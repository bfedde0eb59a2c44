import type { FieldKind } from './actions.ts'

const VERBS: Partial<Record<FieldKind, string>> = {
  choice: 'Choose',
  choices: 'Choose',
  model: 'Choose',
  sheet: 'Choose',
  connection: 'Choose',
  column: 'Choose',
  columns: 'Choose',
  waterfall: 'Choose',
  answer_fields: 'Add',
  pairs: 'Add',
  conditions: 'Add',
  list: 'Add',
}

/** Asks for a field that is empty: "Choose a method", "Add identifiers", "Enter a page URL". */
export function askForField({ kind, label }: { kind: FieldKind; label: string }): string {
  const words = /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label
  const isPlural = /[^s]s( |$)/.test(words)
  const article = isPlural ? '' : /^[aeio]/i.test(words) ? 'an ' : 'a '
  return `${VERBS[kind] ?? 'Enter'} ${article}${words}`
}
