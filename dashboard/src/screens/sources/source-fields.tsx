import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { SCHEDULE_FIELDS } from './schedule-fields.tsx'
import { SourceFieldControl } from './source-field.tsx'
import type { SourceForm, SourceType } from './source-form.ts'

const ELSEWHERE = new Set([...SCHEDULE_FIELDS, 'connection_id', 'provider'])

/** The fields that say what a source reads: the main ones, and the others behind `Advanced`. */
export function SourceFields({ type, form }: { type: SourceType; form: SourceForm }) {
  const [isOpen, setOpen] = useState(false)
  const own = type.fields.filter(({ name }) => !ELSEWHERE.has(name))
  const main = own.filter(({ group }) => group === 'main')
  const advanced = own.filter(({ group }) => group === 'advanced')
  // A refused field is never hidden.
  const isShown = isOpen || advanced.some(({ name }) => problemWithin(form.error, name) !== undefined)
  return (
    <div role="group" aria-label="Fields" className="flex min-w-0 flex-col gap-4">
      {main.map((field) => (
        <SourceFieldControl key={field.name} field={field} form={form} />
      ))}
      {advanced.length > 0 && (
        <Button className="self-start" size="small" aria-expanded={isShown} onClick={() => setOpen(!isShown)}>
          Advanced
        </Button>
      )}
      {isShown && advanced.map((field) => <SourceFieldControl key={field.name} field={field} form={form} />)}
    </div>
  )
}
