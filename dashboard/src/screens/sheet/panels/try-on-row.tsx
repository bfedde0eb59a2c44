import { useState } from 'react'
import { describeFailure } from '#contract/failure-words.ts'
import type { CatalogueAction } from '../../../api/catalogue.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { plural } from '../../../ui/figure.ts'
import { ArrowDown, ArrowUp } from '../../../ui/icons.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { SearchBox } from '../../../ui/text-field.tsx'
import { cellText, NO_RESULT, STATE_NAMES, valueText } from '../cell-text.ts'
import { StatePill } from '../grid/grid-cell.tsx'
import { readNested } from '../nested-value.ts'
import { useSheet } from '../sheet-view.ts'
import { RawError } from './cell-state.tsx'
import { labelOf } from './cell-values.tsx'
import { Group } from './panel.tsx'
import { Providers } from './providers-asked.tsx'
import { type CellTest, type Tried, useTrial } from './use-trial.ts'
import { useFoundRows, useTriedRow } from './use-tried-row.ts'
import { ValueTree } from './value-view.tsx'

type Props = Tried & { template: CatalogueAction }

/** Tries an action on one row of the sheet, with its unsaved changes (H5). */
export function TryOnRow({ template, ...tried }: Props) {
  const { inputs: fields } = template
  const { pure } = template
  const { can } = useSheet()
  const row = useTriedRow()
  const trial = useTrial(tried, row.id, pure)
  if (!can.run) return null
  const { foreseen, answer, isRunning, run, keep } = trial
  const canKeep = tried.action !== null && answer?.status === 'complete' && !answer.kept && isSaved(tried)
  return (
    <Group name="Try on this row">
      <RowPicker row={row} />
      {row.id === null ? (
        <p className="text-muted">Add a row to try this action.</p>
      ) : (
        <>
          <Group name="Preview" hideName>
            <div className="flex min-w-0 flex-col gap-2 rounded-md border bg-subtle p-2">
              {foreseen.data !== undefined && (
                <Resolved values={answer?.resolved ?? foreseen.data.resolved} fields={fields} />
              )}
              {(answer?.met ?? foreseen.data?.met) === false && (
                <p className="text-muted">The condition is not met on this row: the action is skipped.</p>
              )}
              {answer !== null && answer.status !== 'running' && <Answer test={answer} />}
              {isRunning && <p role="status">Running…</p>}
              {foreseen.error !== null && <Problem error={foreseen.error} />}
              {run.error !== null && <Problem error={run.error} />}
            </div>
          </Group>
          <div className="flex flex-wrap items-center gap-2">
            <Button size="small" kind="primary" busy={isRunning} onClick={() => run.mutate()}>
              Test
            </Button>
            <Button
              size="small"
              disabled={!canKeep}
              busy={keep.isPending}
              title={
                canKeep || answer?.status !== 'complete' ? 'Write this answer into the cell' : whyNot(answer)
              }
              onClick={() => answer !== null && keep.mutate(answer.test_id)}
            >
              Keep
            </Button>
            <span className="min-w-0 text-12 text-muted">
              {foreseen.data === undefined ? '' : printCost(foreseen.data.credits)}
            </span>
            <span className="ml-auto">
              <CopyAsCurl call={trial.call} label="Copy test as curl" />
            </span>
          </div>
        </>
      )}
    </Group>
  )
}

const isSaved = (tried: Tried): boolean => tried.action !== null && Object.keys(tried.changes).length === 0
const whyNot = ({ kept }: CellTest): string => (kept ? 'Kept' : 'Save the action first')

function printCost({ expected, at_most }: { expected: number; at_most: number }): string {
  if (at_most === 0) return 'Free'
  return expected < at_most
    ? `About ${plural(expected, 'credit')}, at most ${plural(at_most, 'credit')}`
    : `Costs ${plural(at_most, 'credit')}`
}

/** The row with its arrows, and a search for another one. */
function RowPicker({ row }: { row: ReturnType<typeof useTriedRow> }) {
  const [words, setWords] = useState('')
  const found = useFoundRows(words).data ?? []
  const choose = (chosen: { id: string; name: string } | undefined) => {
    if (chosen === undefined) return
    row.choose(chosen)
    setWords('')
  }
  return (
    <>
      <div className="flex min-w-0 items-center gap-1">
        <Button
          kind="ghost"
          size="small"
          icon={ArrowUp}
          iconOnly
          disabled={row.previous === undefined}
          onClick={row.previous}
        >
          Previous row
        </Button>
        <Button
          kind="ghost"
          size="small"
          icon={ArrowDown}
          iconOnly
          disabled={row.next === undefined}
          onClick={row.next}
        >
          Next row
        </Button>
        <span className="min-w-0 flex-1 truncate font-medium" title={row.name}>
          {row.name}
        </span>
        <div className="w-32 shrink-0">
          <SearchBox
            label="Search rows"
            value={words}
            onChange={setWords}
            onKeyDown={(event) => {
              if (event.key === 'Enter') choose(found[0])
            }}
          />
        </div>
      </div>
      {words.trim() !== '' && (
        <ul role="listbox" aria-label="Rows found" className="max-h-40 overflow-y-auto rounded-md border p-1">
          {found.map((one) => (
            <li key={one.id} role="option" aria-selected={false}>
              <button
                type="button"
                tabIndex={-1}
                onClick={() => choose(one)}
                className="w-full truncate rounded px-2 py-1 text-left hover:bg-hover"
              >
                {one.name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The inputs with the values of the row. */
function Resolved({
  values,
  fields,
}: {
  values: Record<string, unknown>
  fields: readonly { name: string; label: string; kind?: string | undefined }[]
}) {
  const shown = fields.filter(({ name }) => Object.hasOwn(values, name))
  if (shown.length === 0) return <p className="text-muted">Nothing is filled in yet.</p>
  return (
    <Terms
      terms={shown.map(({ name, label }) => [label, values[name]])}
      code={shown.flatMap(({ kind, label }) => (kind === 'formula' ? [label] : []))}
    />
  )
}

/** The outputs by name. Those of many values are read in the cell. */
const Values = ({ values }: { values: Record<string, unknown> }) => (
  <Terms
    terms={Object.entries(values)
      .slice(0, MAX_VALUES)
      .map(([name, value]) => [labelOf(name), value])}
  />
)

const MAX_VALUES = 50

function Terms({
  terms,
  code = [],
}: {
  terms: readonly (readonly [string, unknown])[]
  /** The terms whose values are formulas. */
  code?: readonly string[]
}) {
  return (
    <dl className="flex min-w-0 flex-col gap-1">
      {terms.map(([term, value]) => (
        <div key={term} className="min-w-0">
          <dt className="text-11 text-muted">{term}</dt>
          <dd className="min-w-0">
            {code.includes(term) ? (
              <code className="line-clamp-4 font-mono text-12 break-words">{valueText(value)}</code>
            ) : (
              <Term label={term} value={value} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A value as the cell panel draws it: a text, or a tree of what it holds. */
function Term({ label, value }: { label: string; value: unknown }) {
  const shown = readNested(value)
  if (typeof shown === 'object' && shown !== null) return <ValueTree label={label} value={shown} />
  const text = valueText(shown)
  return (
    <p className="line-clamp-4 text-12 break-words whitespace-pre-wrap">
      {text === '' ? <span className="text-muted">empty</span> : text}
    </p>
  )
}

/** The answer as it will stand in the cell. */
function Answer({ test }: { test: CellTest }) {
  const { status, outputs, outputs_ref, error, credits, cache_hit, duration_ms, providers } = test
  const cell = {
    status,
    ...(isRecord(outputs) ? { outputs } : {}),
    ...(outputs_ref === undefined ? {} : { outputs_ref }),
    ...(error === null ? {} : { error }),
  }
  const { state, text } = cellText(cell, { outputs: isRecord(outputs) ? Object.keys(outputs) : [] })
  const took = duration_ms < 1000 ? `${duration_ms} ms` : `${Math.round(duration_ms / 100) / 10} s`
  const paid = credits === 0 ? (cache_hit ? 'free, from the cache' : 'free') : plural(credits, 'credit')
  return (
    <div role="status" aria-label="Answer" className="flex min-w-0 flex-col gap-1.5 border-t pt-2">
      <div className="flex min-w-0 items-baseline gap-2">
        <span className="sr-only">{text === NO_RESULT ? NO_RESULT : STATE_NAMES[status]}</span>
        <span className="min-w-0 flex-1">
          <StatePill state={state} text={text} />
        </span>
        <span className="shrink-0 text-11 text-muted">{`${paid}, ${took}`}</span>
      </div>
      {error !== null && <FailedAnswer status={status} error={error} />}
      {isRecord(outputs) && <Values values={outputs} />}
      {providers.length > 0 && <Providers providers={providers} />}
    </div>
  )
}

/** Says what to do about a failed answer, and the error behind it. Its words stand in the pill above. */
function FailedAnswer({ status, error }: { status: CellTest['status']; error: string }) {
  const { words, hint } = describeFailure(status, error)
  return (
    <>
      <p className="break-words text-failed">{words}</p>
      <p className="break-words">{`Hint: ${hint}`}</p>
      {words !== error && <RawError error={error} />}
    </>
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
