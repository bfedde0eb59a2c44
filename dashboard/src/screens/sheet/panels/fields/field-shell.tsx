import { type ReactNode, useId } from 'react'
import { classNames } from '../../../../ui/class-names.ts'
import { type Descriptor, usePanel } from './panel-context.ts'

/** The ids that tie a control to its label and to the line below it. */
export type Ties = { labelledBy: string; describedBy: string | undefined; isInvalid: boolean }

/** The label of an input, its control, and one line below: what is wrong, or else the help. */
export function FieldShell({
  field,
  problem,
  actions,
  children,
}: {
  field: Pick<Descriptor, 'name' | 'label' | 'help'>
  problem: string | undefined
  /** Buttons beside the label. */
  actions?: ReactNode
  children: (ties: Ties) => ReactNode
}) {
  const id = useId()
  const [labelledBy, noteId] = [`${id}-label`, `${id}-note`]
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex min-h-6 items-center gap-2">
        <FieldLabel id={labelledBy} field={field} />
        <div className="ml-auto flex items-center gap-1">{actions}</div>
      </div>
      {children({
        labelledBy,
        describedBy: noteId,
        isInvalid: problem !== undefined,
      })}
      <FieldNote id={noteId} field={field} problem={problem} />
    </div>
  )
}

/** The visible label of an input, with its name in the API if that is asked for. */
export function FieldLabel({ id, field }: { id: string; field: Pick<Descriptor, 'name' | 'label'> }) {
  const { showsApiNames } = usePanel()
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      <span id={id} className="truncate text-12 font-medium">
        {field.label}
      </span>
      {showsApiNames && (
        <code className="truncate font-mono text-11 text-muted select-all">{field.name}</code>
      )}
    </span>
  )
}

/** The line below a control: what is wrong, what it lacks, or else the help. */
export function FieldNote({
  id,
  field: { name, help },
  problem,
}: {
  id: string
  field: Pick<Descriptor, 'name' | 'help'>
  problem: string | undefined
}) {
  const notice = usePanel().notices[name]
  const colour =
    problem !== undefined ? 'text-failed' : notice !== undefined ? 'text-out-of-credits' : 'text-muted'
  return (
    <p id={id} className={classNames('text-12 break-words', colour)}>
      {problem ?? notice ?? help}
    </p>
  )
}

/** A part of a field, such as a row of pairs. Its name is only heard, because its place shows what it is. */
export function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={name} className="flex flex-col gap-2 rounded-md border p-2">
      {children}
    </div>
  )
}
