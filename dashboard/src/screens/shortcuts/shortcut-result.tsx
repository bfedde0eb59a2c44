import type { ShortcutRun } from '#contract/shortcuts.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Table } from '../../ui/table.tsx'
import { printValue } from '../../ui/value-text.ts'
import type { Shortcut } from './shortcut.ts'

type Field = { name: string; value: unknown; status: string }

/** The outputs of a run, each with its status. A completed run may still have outputs that are not. */
export function ShortcutResult({ shortcut, run }: { shortcut: Shortcut; run: ShortcutRun }) {
  const fields = shortcut.output_schema.map(({ name }) => readField(run.output_data, name))
  return (
    <section aria-label="Result of the run" className="flex flex-col gap-2">
      <p role="status">
        {`Run ${run.status}`}
        {run.error_message !== null && `: ${run.error_message}`}
      </p>
      <Table
        label="Result"
        items={fields}
        getKey={({ name }) => name}
        columns={[
          { name: 'Output', cell: ({ name }) => <span className="break-words">{name}</span> },
          {
            name: 'Value',
            cell: ({ value }) => <span className="break-words whitespace-pre-wrap">{printValue(value)}</span>,
          },
          { name: 'Status', cell: ({ status }) => <RunStatus status={status} /> },
        ]}
      />
    </section>
  )
}

const TONES: Readonly<Record<string, Tone>> = { completed: 'good', failed: 'bad', inProgress: 'busy' }

export function RunStatus({ status }: { status: string }) {
  return status === '' ? null : <Badge tone={TONES[status] ?? 'quiet'}>{status}</Badge>
}

function readField(outputs: unknown, name: string): Field {
  const found: unknown =
    typeof outputs === 'object' && outputs !== null ? Reflect.get(outputs, name) : undefined
  if (typeof found !== 'object' || found === null) return { name, value: null, status: 'skipped' }
  return {
    name,
    value: 'value' in found ? found.value : null,
    status: 'status' in found ? String(found.status) : '',
  }
}
