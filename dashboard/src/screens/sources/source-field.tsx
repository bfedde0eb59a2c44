import { Combobox } from '../../ui/combobox.tsx'
import { TextArea, TextField } from '../../ui/text-field.tsx'
import type { SourceField } from './source-types.ts'

const YES_NO = [
  { value: '', label: 'Default' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

type Props = {
  field: SourceField
  value: string
  onChange: (value: string) => void
  problem: string | undefined
}

/** The control of one field, named as the API names it. */
export function SourceFieldControl({ field, value, onChange, problem }: Props) {
  const { name, type, choices, required } = field
  const hint = [required ? 'Required' : '', field.description, HOW[type] ?? '']
    .filter((part) => part !== '')
    .join('. ')
  const given = { label: name, value, onChange, problem, ...(hint === '' ? {} : { hint }) }
  if (type === 'boolean') return <Combobox {...given} choices={YES_NO} />
  if (type === 'choice') {
    const none = required ? [] : [{ value: '', label: 'Default' }]
    return <Combobox {...given} choices={[...none, ...choices.map((choice) => ({ value: choice }))]} />
  }
  if (type === 'list' || type === 'json') return <TextArea {...given} rows={2} />
  return <TextField {...given} inputMode={type === 'number' ? 'decimal' : 'text'} />
}

const HOW: Partial<Record<SourceField['type'], string>> = { list: 'One a line', json: 'As JSON' }
