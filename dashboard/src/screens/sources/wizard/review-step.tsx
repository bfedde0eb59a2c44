import { plural } from '../../../ui/figure.ts'
import { Problem } from '../../../ui/problem.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { explainError } from '../preview.tsx'
import { describeSchedule } from '../schedule-words.ts'
import type { SourceForm, SourceType } from '../source-form.ts'
import { NEW_WORKFLOW, NO_WORKFLOW } from './mapping.ts'

/** The last step: the name, and what will happen, in sentences. */
export function ReviewStep({
  type,
  form,
  name,
  onName,
  target,
  error,
}: {
  type: SourceType
  form: SourceForm
  name: string
  onName: (name: string) => void
  target: { workflow: string; workflowName: string; columns: number }
  error: unknown
}) {
  return (
    <div className="flex max-w-[560px] flex-col gap-4">
      <TextField
        label="Name"
        value={name}
        onChange={onName}
        placeholder={type.name}
        hint="Leave empty to use the name of the type."
      />
      <ul
        aria-label="Summary"
        className="flex list-disc flex-col gap-1 rounded-lg border bg-subtle py-3 pr-4 pl-8"
      >
        {summarize(type, form, target).map((line) => (
          <li key={line} className="wrap-anywhere">
            {line}
          </li>
        ))}
      </ul>
      {error !== null && (
        <Problem
          error={new Error(`The source could not be created. ${explainError(error, form).join('. ')}`)}
        />
      )}
    </div>
  )
}

function summarize(
  type: SourceType,
  { typed }: SourceForm,
  { workflow, workflowName, columns }: { workflow: string; workflowName: string; columns: number },
): string[] {
  const schedule = typed['schedule'] ?? ''
  const recurs = type.mode === 'recurring' || schedule !== ''
  const lines = [
    type.receives
      ? 'Records arrive when people visit the website. You get the script to add to its pages next.'
      : `The first import starts right away. ${recurs ? `It repeats: ${lowerFirst(describeSchedule(schedule || 'daily'))}.` : 'It runs once.'}`,
  ]
  if (workflow === NO_WORKFLOW)
    lines.push('Records are kept here. They become rows once you add them to a workflow.')
  else {
    const where = workflow === NEW_WORKFLOW ? `the new workflow “${workflowName}”` : `“${workflowName}”`
    lines.push(`Each record becomes a row of ${where}, with ${plural(columns, 'column')} filled.`)
  }
  const [most, credits] = [typed['max_count'] ?? '', typed['max_credits'] ?? '']
  if (most !== '') lines.push(`It ends after ${plural(Number(most), 'record')}.`)
  lines.push(
    credits === ''
      ? 'There is no credit limit for the import.'
      : `It spends at most ${plural(Number(credits), 'credit')}.`,
  )
  return lines
}

const lowerFirst = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
