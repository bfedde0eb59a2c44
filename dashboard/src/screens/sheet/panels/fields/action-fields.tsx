import { useState } from 'react'
import { ApiError, fieldProblem } from '../../../../api/client.ts'
import { classNames } from '../../../../ui/class-names.ts'
import { ChevronDown } from '../../../../ui/icons.tsx'
import { ActionField } from './action-field.tsx'
import { AnswerSchema } from './answer-fields.tsx'
import { readAnswer } from './answer-rows.ts'
import { usePanel } from './panel-context.ts'

type Props = {
  /** The error of the last save. */
  error: Error | null
  onChange: (name: string, value: unknown) => void
}

/** The inputs of an action: those that most people fill, and the others behind `Advanced`. */
export function ActionFields({ error, onChange }: Props) {
  const { template, values, node } = usePanel()
  const advanced = template.inputs.filter(({ group }) => group === 'advanced')
  const answers = template.inputs.filter(({ kind }) => kind === 'answer_fields')
  const hasProblem = advanced.some(({ name }) => problemOf(error, name) !== undefined)
  const [isOpen, setOpen] = useState(false)
  const isShown = isOpen || hasProblem
  const set = advanced.filter(({ name }) => (values[name] ?? null) !== null).length
  const declared = template.outputs.map(({ name }) => name)
  const show = (field: (typeof template.inputs)[number]) => (
    <ActionField
      key={field.name}
      field={field}
      value={values[field.name]}
      problem={problemOf(error, field.name)}
      onChange={(value) => onChange(field.name, value)}
    />
  )
  return (
    <>
      {template.inputs.filter(({ group }) => group === 'main').map(show)}
      {advanced.length + answers.length > 0 && (
        <div className="flex flex-col gap-4 border-t pt-3">
          <button
            type="button"
            aria-expanded={isShown}
            onClick={() => setOpen(!isShown)}
            className="flex items-center gap-1 self-start rounded text-12 font-semibold text-muted hover:text-text"
          >
            <ChevronDown
              aria-hidden
              className={classNames('size-3.5 transition-transform', !isShown && '-rotate-90')}
            />
            Advanced
            {!isShown && set > 0 && <span aria-hidden className="font-normal">{`${set} set`}</span>}
          </button>
          {isShown && advanced.map(show)}
          {isShown &&
            answers.map((field) => {
              const shape = readAnswer(values[field.name], node, declared)
              if (shape === null) return null
              return (
                <AnswerSchema
                  key={field.name}
                  field={field}
                  shape={shape}
                  onChange={(value) => onChange(field.name, value)}
                />
              )
            })}
        </div>
      )}
    </>
  )
}

const problemOf = (error: Error | null, name: string): string | undefined => {
  if (!(error instanceof ApiError)) return undefined
  const within = error.fields.find(({ field }) => new RegExp(`^inputs\\.${name}(\\b|$)`).test(field))
  return within?.message ?? fieldProblem(error, name)
}
