import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import type { SheetSchedule as ScheduleSchema } from '#contract/sheet-settings.ts'
import { type SheetBody, sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData, fieldProblem, send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useCan } from '../../api/session.ts'
import { LoadedPage } from '../../frame/loaded-page.tsx'
import { SheetLink } from '../../frame/sheet-link.tsx'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SpendAtMost } from '../../ui/spend-at-most.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { TIME_ZONES } from './time-zones.ts'

type Schedule = z.infer<typeof ScheduleSchema> | null

const EVERY_ROW = ''
type Rows = NonNullable<NonNullable<Schedule>['only']> | typeof EVERY_ROW
const ROW_CHOICES: readonly { value: Rows; label: string }[] = [
  { value: EVERY_ROW, label: 'All rows' },
  { value: 'unfinished', label: 'Unfinished rows' },
  { value: 'failed', label: 'Failed rows' },
]

const FREQUENCIES = [
  { value: '0 * * * *', label: 'Every hour' },
  { value: '0 9 * * *', label: 'Every day at 9' },
  { value: '0 9 * * 1-5', label: 'Weekdays at 9' },
  { value: '0 9 * * 1', label: 'Mondays at 9' },
  { value: '0 9 1 * *', label: 'The first of the month at 9' },
]

export function Screen() {
  const sheet = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/schedule' })
  const schedule = useQuery({
    queryKey: keys.sheet(sheet.sheetId).schedule,
    queryFn: ({ signal }) => fetchData(sheetCall(sheet, 'GET /internal/schedule'), { signal }),
  })
  return (
    <LoadedPage title="Schedule" query={schedule} actions={<SheetLink sheet={sheet} />}>
      {(found) => (
        <>
          <p role="status" aria-label="Next run" className="rounded-lg border bg-subtle px-4 py-3 text-14">
            {found === null ? 'Not scheduled' : nextRunText(found)}
          </p>
          <ScheduleForm key={formKey(found)} sheet={sheet} schedule={found} />
        </>
      )}
    </LoadedPage>
  )
}

/** Returns the key of the form. It excludes the time of the next run, so that a finished run does not reset a form being edited. */
function formKey(schedule: Schedule): string {
  return JSON.stringify({ ...schedule, next_run_at: undefined })
}

/** Returns the time of the next run in local time and in UTC. */
function nextRunText({ next_run_at }: NonNullable<Schedule>): string {
  const date = new Date(next_run_at)
  const local = date.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })
  return `Next run: ${local} local time, ${next_run_at.slice(0, 16).replace('T', ' ')} UTC`
}

function ScheduleForm({ sheet, schedule }: { sheet: SheetId; schedule: Schedule }) {
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * 1')
  const [timezone, setTimezone] = useState(
    schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  )
  const [only, setOnly] = useState<Rows>(schedule?.only ?? EVERY_ROW)
  const [cap, setCap] = useState(schedule?.max_credits?.toString() ?? '')
  const [isRemoving, setRemoving] = useState(false)
  const can = useCan()
  const save = useSave(sheet, {
    cron,
    timezone,
    ...(only === EVERY_ROW ? {} : { only }),
    max_credits: cap === '' ? null : Number(cap),
  })
  const problems = {
    cron: fieldProblem(save.error, 'cron'),
    timezone: fieldProblem(save.error, 'timezone'),
    cap: fieldProblem(save.error, 'max_credits'),
  }
  const canWrite = can('workflows:run')
  return (
    <form
      noValidate
      className="flex max-w-[440px] flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Combobox
        label="How often"
        value={FREQUENCIES.some(({ value }) => value === cron) ? cron : ''}
        choices={[...FREQUENCIES, { value: '', label: 'Custom (see Cron)' }]}
        onChange={(often) => often !== '' && setCron(often)}
      />
      <TextField
        label="Cron"
        value={cron}
        onChange={setCron}
        problem={problems.cron}
        hint="Minute, hour, day of the month, month, day of the week: 0 9 * * 1 is Mondays at 9."
      />
      <Combobox
        label="Time zone"
        value={timezone}
        choices={TIME_ZONES}
        onChange={setTimezone}
        problem={problems.timezone}
        free
      />
      <Combobox label="Rows" value={only} choices={ROW_CHOICES} onChange={setOnly} />
      <SpendAtMost
        value={cap}
        onChange={setCap}
        problem={problems.cap}
        hint="Credit limit per run (optional). A run stops before exceeding it."
      />
      {save.error !== null && Object.values(problems).every((problem) => problem === undefined) && (
        <Problem error={save.error} />
      )}
      {canWrite && (
        <div className="flex flex-wrap gap-2">
          <Button type="submit" kind="primary" busy={save.isPending}>
            Save schedule
          </Button>
          <Button disabled={schedule === null} onClick={() => setRemoving(true)}>
            Remove schedule
          </Button>
        </div>
      )}
      {isRemoving && <RemoveSchedule sheet={sheet} onClose={() => setRemoving(false)} />}
    </form>
  )
}

/** Returns the mutation that saves the schedule. */
function useSave(sheet: SheetId, body: SheetBody<'PUT /internal/schedule'>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => send(sheetCall(sheet, 'PUT /internal/schedule', { body })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).schedule })
      notify('Saved schedule')
    },
  })
}

function RemoveSchedule({ sheet, onClose }: { sheet: SheetId; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <ConfirmDialog
      title="Remove schedule"
      description="The sheet will no longer run automatically."
      verb="Remove"
      run={async () => {
        await send(sheetCall(sheet, 'DELETE /internal/schedule'))
        await queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).schedule })
      }}
      onClose={onClose}
    />
  )
}
