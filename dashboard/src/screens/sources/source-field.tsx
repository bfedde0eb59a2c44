import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Plus, X } from '../../ui/icons.tsx'
import { nameWords } from '../../ui/name-words.ts'
import { TextArea, TextField } from '../../ui/text-field.tsx'
import { ConnectionField, OptionField } from './account-fields.tsx'
import { countAt, countPath } from './field-texts.ts'
import { PagingField } from './paging-field.tsx'
import type { SimpleField, SourceField, SourceForm } from './source-form.ts'

const YES_NO = [
  { value: '', label: 'Default' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

/** The control for one field, with its label and help. An object is a group of controls. */
export function SourceFieldControl({ field, form }: { field: SourceField; form: SourceForm }) {
  const { name, type, fields, label, help } = field
  if (type === 'object') {
    return (
      <fieldset className="flex flex-col gap-3 rounded-md border p-3">
        <legend className="px-1 text-12 font-medium">{label}</legend>
        <p className="text-12 text-muted">{help}</p>
        {fields.map((inner) => (
          <SimpleControl key={inner.name} field={inner} path={`${name}.${inner.name}`} form={form} />
        ))}
      </fieldset>
    )
  }
  if (type === 'objects') return <Objects field={field} form={form} />
  return <SimpleControl field={field} path={name} form={form} />
}

/** The control for a list of objects: a group of controls for each object. */
function Objects({ field: { name, label, help, fields }, form }: { field: SourceField; form: SourceForm }) {
  const { typed, onType, error } = form
  const count = countAt(typed, name)
  const buildPath = (place: number, inner: string) => `${name}[${place}].${inner}`
  const remove = (place: number) => {
    const later = Array.from({ length: count - place - 1 }, (_, at) => place + at)
    const moved = later.flatMap((at) =>
      fields.map((inner) => [buildPath(at, inner.name), typed[buildPath(at + 1, inner.name)] ?? '']),
    )
    const emptied = fields.map((inner) => [buildPath(count - 1, inner.name), ''])
    onType({ ...Object.fromEntries([...moved, ...emptied]), [countPath(name)]: String(count - 1) })
  }
  const problem = problemWithin(error, name)
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-12 font-medium">{label}</legend>
      <p className="text-12 text-muted">{help}</p>
      {Array.from({ length: count }, (_, place) => (
        <div
          key={place}
          role="group"
          aria-label={`${label} ${place + 1}`}
          className="flex flex-col gap-2 border-b pb-3"
        >
          {fields.map((inner) => (
            <SimpleControl key={inner.name} field={inner} path={buildPath(place, inner.name)} form={form} />
          ))}
          <div>
            <Button size="small" icon={X} onClick={() => remove(place)}>
              {`Remove ${label.toLowerCase()} ${place + 1}`}
            </Button>
          </div>
        </div>
      ))}
      {count === 0 && problem !== undefined && <p className="text-12 text-failed">{problem}</p>}
      <div>
        <Button size="small" icon={Plus} onClick={() => onType({ [countPath(name)]: String(count + 1) })}>
          {`Add to ${label.toLowerCase()}`}
        </Button>
      </div>
    </fieldset>
  )
}

function SimpleControl({ field, path, form }: { field: SimpleField; path: string; form: SourceForm }) {
  const { name, type, choices, required, label, help, placeholder } = field
  const format = FORMAT_HINTS[type]
  const fieldProps = {
    label,
    field: name,
    value: form.typed[path] ?? '',
    onChange: (value: string) => form.onType({ [path]: value }),
    problem: problemWithin(form.error, path),
    hint: [...(required ? ['Required.'] : []), help, ...(format === undefined ? [] : [format])].join(' '),
    ...(placeholder === null ? {} : { placeholder }),
  }
  if (type === 'connection') return <ConnectionField {...fieldProps} form={form} />
  if (name === 'pagination') return <PagingField {...fieldProps} />
  if (field.has_options) return <OptionField {...fieldProps} isList={type === 'list'} form={form} />
  if (type === 'boolean') return <Combobox {...fieldProps} choices={YES_NO} />
  if (type === 'choice') {
    const none = required ? [] : [{ value: '', label: 'Default' }]
    const words = choices.map((choice) => ({ value: choice, label: nameWords(choice) }))
    return <Combobox {...fieldProps} choices={[...none, ...words]} />
  }
  const { field: id, ...textProps } = fieldProps
  if (type === 'list' || type === 'json' || type === 'pairs') {
    return <TextArea {...textProps} data-field={id} rows={2} />
  }
  return <TextField {...textProps} data-field={id} inputMode={type === 'number' ? 'decimal' : 'text'} />
}

const FORMAT_HINTS: Partial<Record<SourceField['type'], string>> = {
  list: 'One per line.',
  pairs: 'One per line, as name: value.',
  json: 'As JSON.',
}
