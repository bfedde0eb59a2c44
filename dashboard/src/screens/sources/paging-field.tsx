import { Combobox } from '../../ui/combobox.tsx'
import { TextField } from '../../ui/text-field.tsx'

/** The ways to request the next page, in words. `parameter` and `path` say which further fields a way has. */
const WAYS = [
  { value: '', label: 'There is only one page' },
  { value: 'page', label: 'Page numbers', parameter: 'page' },
  { value: 'offset', label: 'Number of items to skip', parameter: 'offset' },
  { value: 'cursor', label: 'A cursor in the response', parameter: 'cursor', path: 'meta.next_cursor' },
  { value: 'link', label: 'A link in the header' },
  { value: 'next_url', label: 'The next address in the response', path: 'links.next' },
] as const

type Paging = Readonly<Record<string, unknown>> & { type: string }

/** The field for how the next page is requested. Its value is the JSON that the API takes. */
export function PagingField({
  label,
  hint,
  value,
  onChange,
  problem,
}: {
  label: string
  hint: string
  value: string
  onChange: (value: string) => void
  problem: string | undefined
}) {
  const paging = readPaging(value)
  const way = WAYS.find((one) => one.value === paging.type) ?? WAYS[0]
  const set = (change: Readonly<Record<string, unknown>>) => {
    const next = Object.entries({ ...paging, ...change }).filter(([, part]) => part !== '')
    onChange(JSON.stringify(Object.fromEntries(next)))
  }
  const textOf = (name: string) => {
    const part = paging[name]
    return typeof part === 'string' ? part : ''
  }
  return (
    <>
      <Combobox
        label={label}
        field="pagination"
        hint={hint}
        value={way.value}
        choices={WAYS.map((one) => ({ value: one.value, label: one.label }))}
        onChange={(type) => onChange(type === '' ? '' : JSON.stringify({ type }))}
        problem={problem}
      />
      {'parameter' in way && (
        <TextField
          label="Paging parameter"
          hint="The query parameter with the number or cursor of the page."
          placeholder={way.parameter}
          value={textOf('parameter')}
          onChange={(parameter) => set({ parameter })}
        />
      )}
      {'path' in way && (
        <TextField
          label="Path to the next page"
          hint="Where a response says how to get the next page."
          placeholder={way.path}
          value={textOf('path')}
          onChange={(path) => set({ path })}
        />
      )}
    </>
  )
}

function readPaging(value: string): Paging {
  if (value === '') return { type: '' }
  const parsed: unknown = JSON.parse(value)
  const type: unknown = typeof parsed === 'object' && parsed !== null && 'type' in parsed ? parsed.type : ''
  return typeof type === 'string' ? { ...Object(parsed), type } : { type: '' }
}
