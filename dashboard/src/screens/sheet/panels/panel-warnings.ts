import type { Warning } from '#contract/envelope.ts'
import { askForField } from '#contract/field-requests.ts'
import type { CatalogueAction } from '../../../api/catalogue.ts'

/** A warning for people, and the field that it belongs to. */
export type PanelWarning = { field: string | null; text: string; isMissing: boolean }

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)

/**
 * Returns the warnings of a configuration: the saved ones, without those that an unsaved change may have mended, and the
 * required fields that are empty.
 */
export function listWarnings(
  { inputs, needs }: Pick<CatalogueAction, 'inputs' | 'needs'>,
  values: Readonly<Record<string, unknown>>,
  { saved, changed }: { saved: readonly Warning[]; changed: readonly string[] },
): PanelWarning[] {
  const missing = inputs
    .filter(({ name, required }) => required && isEmpty(values[name]))
    .map((field): PanelWarning => ({ field: field.name, text: askForField(field), isMissing: true }))
  const isNeedy = needs.length > 0 && !needs.some((set) => set.every((name) => !isEmpty(values[name])))
  const kept = saved
    .map(({ field: path, code, text, message }) => ({
      field: /^inputs\.([a-z0-9_]+)/.exec(path)?.[1] ?? null,
      text: text ?? toSentence(message),
      isMissing: code === 'required_field_missing',
    }))
    .filter(({ field, isMissing }) => !isMissing && (field === null || !changed.includes(field)))
  return [
    ...missing,
    ...(isNeedy ? [{ field: null, text: askForOne(inputs, needs), isMissing: true }] : []),
    ...kept,
  ]
}

function askForOne(inputs: CatalogueAction['inputs'], needs: CatalogueAction['needs']): string {
  const labelOf = (name: string) => inputs.find((field) => field.name === name)?.label ?? name
  return `Enter ${needs.map((set) => set.map(labelOf).join(' and ')).join(', or ')}`
}

const toSentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}`
