import type { Input } from '../../api/sheet.ts'
import type { Choice } from '../../ui/combobox.tsx'

export type InputType = Input['type']

/** The types of inputs as people choose them. */
export const INPUT_TYPE_CHOICES: readonly Choice<InputType>[] = [
  { value: 'string', label: 'Text' },
  { value: 'url', label: 'URL' },
  { value: 'email', label: 'Email' },
  { value: 'number', label: 'Number' },
  { value: 'date', label: 'Date' },
  { value: 'boolean', label: 'Boolean', note: 'true or false' },
  { value: 'select', label: 'Select', note: 'one of a list' },
]

/** Reads choices that were typed one per line. Blank and repeated lines count for nothing. */
export function readChoices(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines)].filter((line) => line !== '')
}
