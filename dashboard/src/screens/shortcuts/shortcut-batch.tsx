import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData, fieldProblem } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyAsCurl } from '../../ui/copy-button.tsx'
import { plural } from '../../ui/figure.ts'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost, spending } from '../../ui/spend-at-most.tsx'
import { TextArea } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { readInputData } from './shortcut-form.tsx'
import { canBeRun, type Shortcut } from './shortcut.ts'

/** The batch form. It takes rows as copied from a spreadsheet: values separated by tabs, in the order of the form. */
export function ShortcutBatch({ shortcut }: { shortcut: Shortcut }) {
  const [text, setText] = useState('')
  const [cap, setCap] = useState('')
  const can = useCan()
  const queries = useQueryClient()
  const inputs = shortcut.input_schema
  const rows = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const values = line.split('\t')
      return readInputData(
        inputs,
        Object.fromEntries(inputs.map(({ reference }, place) => [reference, values[place] ?? ''])),
      )
    })
  const run = call('POST /shortcuts/:id/run/batch', {
    params: { id: shortcut.id },
    body: { rows, ...spending(cap) },
  })
  const start = useMutation({
    mutationFn: () => fetchData(run),
    onSuccess: async ({ run_count }) => {
      notify(`${plural(run_count, 'run')} queued`)
      setText('')
      await queries.invalidateQueries({ queryKey: keys.shortcutRuns(shortcut.id) })
    },
  })
  const capProblem = fieldProblem(start.error, 'max_credits')
  return (
    <div className="flex max-w-[640px] flex-col gap-3">
      <TextArea
        label="Rows"
        rows={8}
        value={text}
        onChange={setText}
        hint={`One line per run, with values separated by tabs: ${inputs.map(({ name }) => name).join(', ')}. You can paste from a spreadsheet. At most 1,000 lines.`}
      />
      <div className="max-w-[440px]">
        <SpendAtMost value={cap} onChange={setCap} problem={capProblem} />
      </div>
      {start.error !== null && capProblem === undefined && <Problem error={start.error} />}
      <div className="flex flex-wrap gap-2">
        {can('shortcuts:run') && (
          <Button
            kind="primary"
            busy={start.isPending}
            disabled={rows.length === 0 || !canBeRun(shortcut)}
            onClick={() => start.mutate()}
          >
            Run batch
          </Button>
        )}
        <CopyAsCurl call={run} />
      </div>
    </div>
  )
}
