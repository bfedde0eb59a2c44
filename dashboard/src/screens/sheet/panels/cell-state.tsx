import { describeFailure } from '#contract/failure-words.ts'
import type { CellDetail } from '../../../api/sheet.ts'
import { plural } from '../../../ui/figure.ts'
import { cellText, NO_RESULT, STATE_NAMES } from '../cell-text.ts'
import type { ActionColumn } from '../columns.ts'
import { StatePill } from '../grid/grid-cell.tsx'
import { isRecord } from '../tokens.ts'
import { readJson } from './fields/values.ts'
import { Group } from './panel.tsx'

const KEPT = {
  out_of_credits: 'A later run had no credits left for this cell, so its former result stays.',
  stopped: 'A later run was stopped before this cell, so its former result stays.',
  condition_not_met: 'A later run skipped this cell by its condition, so its former result stays.',
} as const
const LIMITS = {
  max_credits: 'the credit limit of the run',
  budget: 'a budget',
  balance: 'the balance',
} as const

/** The state of a cell in words, and why it waits or kept its former result. */
export function CellState({
  detail,
  column,
}: {
  detail: CellDetail | null
  column: ActionColumn | undefined
}) {
  if (detail === null) return <p role="status">{STATE_NAMES.not_run}</p>
  const { status, waiting, kept_because } = detail
  const text = describeState(detail, column)
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-2">
        {status === 'complete' ? (
          <p aria-hidden className={text === NO_RESULT ? 'text-muted' : 'font-medium text-complete'}>
            {text}
          </p>
        ) : (
          <StatePill state={status} text={text} />
        )}
        <span role="status" className="sr-only">
          {text}
        </span>
      </div>
      {waiting && (
        <p>{`Waits for credits: it needs ${plural(waiting.needed, 'credit')}, and other running cells hold what is left of ${LIMITS[waiting.kind]}.`}</p>
      )}
      {kept_because !== undefined && <p className="text-muted">{KEPT[kept_because]}</p>}
    </div>
  )
}

function describeState({ status, outputs, outputs_ref }: CellDetail, column: ActionColumn | undefined) {
  if (status !== 'complete') return STATE_NAMES[status]
  const cell = {
    status,
    ...(outputs === undefined ? {} : { outputs: outputs as Record<string, unknown> }),
    ...(outputs_ref === undefined ? {} : { outputs_ref }),
  }
  return cellText(cell, { outputs: column?.outputs ?? [] }).text === NO_RESULT ? NO_RESULT : 'Found'
}

/** Shows a failure in words, a hint, and the error as the action gave it. */
export function Failure({ status, error }: { status: CellDetail['status']; error: string }) {
  const { words, hint } = describeFailure(status, error)
  return (
    <Group name="Error">
      <p className="font-medium break-words text-failed">{words}</p>
      <p>{`Hint: ${hint}`}</p>
      {words !== error && <RawError error={error} />}
    </Group>
  )
}

/** The error as the action gave it, behind a line that opens it. */
export function RawError({ error }: { error: string }) {
  const reply = readReply(error)
  return (
    <>
      {reply !== null && <p className="break-words">{`The service says: ${reply}`}</p>}
      <details className="text-12 text-muted">
        <summary className="cursor-pointer">As the action reported it</summary>
        <p className="mt-1 max-h-[30vh] overflow-y-auto rounded-md bg-subtle px-3 py-2 font-mono break-words whitespace-pre-wrap">
          {error}
        </p>
      </details>
    </>
  )
}

/** Returns the message in the JSON reply of a service, or null. */
function readReply(error: string): string | null {
  const read = readJson(/\{.*\}/s.exec(error)?.[0] ?? '')
  if (!read.ok || !isRecord(read.value)) return null
  const { message, error: fault, detail } = read.value
  const inner = isRecord(fault) ? fault['message'] : fault
  for (const text of [message, inner, detail]) if (typeof text === 'string' && text !== '') return text
  return null
}
