import { useQuery } from '@tanstack/react-query'
import type { CatalogueAction } from '../../../api/catalogue.ts'
import { keys } from '../../../api/keys.ts'
import { fetchOptions } from '../../../api/sheet.ts'
import { Combobox } from '../../../ui/combobox.tsx'
import { Checkbox } from '../../../ui/text-field.tsx'
import { printGroups, readGroups } from '../conditions.ts'
import type { Reference } from '../references.ts'
import { useSheet } from '../sheet-view.ts'
import { ConditionsEditor } from './conditions-editor.tsx'
import { ReferenceField } from './reference-field.tsx'
import { WaterfallField } from './waterfall-field.tsx'
import type { Step } from './waterfall-steps.ts'

export type Descriptor = CatalogueAction['inputs'][number]

type Props = {
  action: string
  field: Descriptor
  value: unknown
  onChange: (value: unknown) => void
  references: readonly Reference[]
  problem: string | undefined
}

/** The field types that are edited as JSON. Text that is not JSON is sent unchanged, so that the server reports the error. */
const STRUCTURED = new Set(['jsonArray', 'structured_array', 'output_format'])

/** The control for one input of an action, labelled with its name in the catalogue. */
export function ActionField({ action, field, value, onChange, references, problem }: Props) {
  const { name, type, description, required, options, providers } = field
  const { sheet } = useSheet()
  const hint = required ? `${description} Required.` : description
  if (type === 'boolean') {
    return <Checkbox label={name} checked={value === true} onChange={onChange} />
  }
  if (providers !== undefined) {
    return (
      <WaterfallField
        action={action}
        field={field}
        value={Array.isArray(value) ? (value as Step[]) : undefined}
        onChange={(steps) => onChange(steps ?? null)}
        loadOffers={() => fetchOptions(sheet, action, name)}
      />
    )
  }
  if (type === 'path_filter') {
    return (
      <ConditionsEditor
        name={name}
        groups={readGroups(value)}
        onChange={(groups) => onChange(printGroups(groups))}
        references={references}
      />
    )
  }
  if (options !== undefined) {
    return (
      <Combobox
        label={name}
        free
        value={toFieldText(value)}
        choices={options}
        onChange={(text) => onChange(text === '' ? null : text)}
        problem={problem}
        hint={hint}
      />
    )
  }
  if (type === 'select' || type === 'dropdown') {
    return (
      <OptionsField
        action={action}
        name={name}
        value={toFieldText(value)}
        onChange={onChange}
        problem={problem}
        hint={hint}
      />
    )
  }
  const isStructured = STRUCTURED.has(type)
  return (
    <ReferenceField
      label={name}
      code={isStructured || type === 'promptField'}
      value={toFieldText(value)}
      onChange={(text) => onChange(isStructured ? parseStructure(text) : text)}
      references={references}
      problem={problem}
      hint={hint}
    />
  )
}

/** A dropdown whose options are loaded from the server. */
function OptionsField({
  action,
  name,
  value,
  onChange,
  problem,
  hint,
}: {
  action: string
  name: string
  value: string
  onChange: (value: unknown) => void
  problem: string | undefined
  hint: string
}) {
  const { sheet } = useSheet()
  const options = useQuery({
    queryKey: keys.sheet(sheet.sheetId).options(action, name),
    retry: false,
    queryFn: () => fetchOptions(sheet, action, name),
  })
  return (
    <Combobox
      label={name}
      free
      value={value}
      choices={options.data ?? []}
      onChange={(text) => onChange(text === '' ? null : text)}
      problem={problem}
      hint={hint}
    />
  )
}

export function toFieldText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function parseStructure(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
