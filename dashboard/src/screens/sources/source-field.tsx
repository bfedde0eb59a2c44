import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Plus, X } from '../../ui/icons.tsx'
import { TextArea, TextField } from '../../ui/text-field.tsx'
import { ConnectionField, OptionField } from './account-fields.tsx'
import { countAt, countPath, type SimpleField, type SourceField, type SourceForm } from './source-types.ts'

const YES_NO = [
  { value: '', label: 'Default' },
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

/** The control for one field, labelled with its API name. An object is a group of controls. */
export function SourceFieldControl({ field, form }: { field: SourceField; form: SourceForm }) {
  const { name, type, fields } = field
  if (type === 'object') {
    return (
      <fieldset className="flex flex-col gap-3 rounded-md border p-3">
        <legend className="px-1 text-12 font-medium">{name}</legend>
        {field.description !== '' && <p className="text-12 text-muted">{field.description}</p>}
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
function Objects({ field: { name, description, fields }, form }: { field: SourceField; form: SourceForm }) {
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
      <legend className="px-1 text-12 font-medium">{name}</legend>
      {description !== '' && <p className="text-12 text-muted">{description}</p>}
      {Array.from({ length: count }, (_, place) => (
        <div
          key={place}
          role="group"
          aria-label={`${name} ${place + 1}`}
          className="flex flex-col gap-2 border-b pb-3"
        >
          {fields.map((inner) => (
            <SimpleControl key={inner.name} field={inner} path={buildPath(place, inner.name)} form={form} />
          ))}
          <div>
            <Button size="small" icon={X} onClick={() => remove(place)}>
              {`Remove ${name} ${place + 1}`}
            </Button>
          </div>
        </div>
      ))}
      {count === 0 && problem !== undefined && <p className="text-12 text-failed">{problem}</p>}
      <div>
        <Button size="small" icon={Plus} onClick={() => onType({ [countPath(name)]: String(count + 1) })}>
          {`Add to ${name}`}
        </Button>
      </div>
    </fieldset>
  )
}

function SimpleControl({ field, path, form }: { field: SimpleField; path: string; form: SourceForm }) {
  const { name, type, choices, required } = field
  const hint = [required ? 'Required' : '', field.description, FORMAT_HINTS[type] ?? '']
    .filter((part) => part !== '')
    .join('. ')
  const fieldProps = {
    label: name,
    value: form.typed[path] ?? '',
    onChange: (value: string) => form.onType({ [path]: value }),
    problem: problemWithin(form.error, path),
    ...(hint === '' ? {} : { hint }),
  }
  if (type === 'connection') return <ConnectionField {...fieldProps} form={form} />
  if (field.has_options)
    return <OptionField {...fieldProps} field={name} isList={type === 'list'} form={form} />
  if (type === 'boolean') return <Combobox {...fieldProps} choices={YES_NO} />
  if (type === 'choice') {
    const none = required ? [] : [{ value: '', label: 'Default' }]
    return <Combobox {...fieldProps} choices={[...none, ...choices.map((choice) => ({ value: choice }))]} />
  }
  if (type === 'list' || type === 'json' || type === 'pairs') return <TextArea {...fieldProps} rows={2} />
  return <TextField {...fieldProps} inputMode={type === 'number' ? 'decimal' : 'text'} />
}

const FORMAT_HINTS: Partial<Record<SourceField['type'], string>> = {
  list: 'One per line',
  pairs: 'One per line, as name: value',
  json: 'As JSON',
}
