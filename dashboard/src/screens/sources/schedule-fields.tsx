import { Combobox } from '../../ui/combobox.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Checkbox, TextField } from '../../ui/text-field.tsx'
import {
  DAYS,
  describeSchedule,
  localDay,
  type Often,
  printTime,
  printTiming,
  readTime,
  readTiming,
  type Timing,
  utcDay,
  utcOffset,
} from './schedule-words.ts'
import { SourceFieldControl } from './source-field.tsx'
import type { SourceForm, SourceType } from './source-form.ts'

const CHOICES: readonly { value: Often; label: string }[] = [
  { value: 'once', label: 'Once' },
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekdays', label: 'Monday to Friday' },
  { value: 'weekly', label: 'Every week' },
  { value: 'custom', label: 'Custom (line of crontab)' },
]
const NINE = 9 * 60

/** The names of the fields that this part of a form shows. */
export const SCHEDULE_FIELDS: ReadonlySet<string> = new Set([
  'schedule',
  'stop_at',
  'pull_existing',
  'max_count',
  'max_credits',
])

/** The fields for when a source imports, how much, and until when. */
export function ScheduleFields({ type, form }: { type: SourceType; form: SourceForm }) {
  const has = (name: string) => type.fields.some((field) => field.name === name)
  const schedule = form.typed['schedule'] ?? ''
  const recurs = type.mode === 'recurring' || schedule !== ''
  const shown = new Set(['max_count', 'max_credits', ...(recurs ? ['stop_at'] : [])])
  return (
    <div className="flex max-w-[440px] flex-col gap-4">
      {has('schedule') && <HowOften type={type} form={form} />}
      {has('pull_existing') && recurs && (
        <Checkbox
          label="Import existing records too"
          data-field="pull_existing"
          checked={form.typed['pull_existing'] !== 'false'}
          onChange={(checked) => form.onType({ pull_existing: checked ? '' : 'false' })}
        />
      )}
      {type.fields
        .filter(({ name }) => shown.has(name))
        .map((field) => (
          <SourceFieldControl key={field.name} field={field} form={form} />
        ))}
    </div>
  )
}

function HowOften({ type, form }: { type: SourceType; form: SourceForm }) {
  const schedule = form.typed['schedule'] ?? ''
  const given = readTiming(schedule === '' && type.mode === 'recurring' ? 'daily' : schedule)
  const isCustom = given.often === 'custom' || form.typed['custom'] === 'yes'
  const timing: Timing = isCustom ? { ...given, often: 'custom' } : given
  const offset = utcOffset()
  const set = (change: Partial<Timing>) => {
    const next = { ...timing, minute: timing.minute ?? readTime(printTime(NINE), offset), ...change }
    if (next.often === 'custom')
      form.onType({ custom: 'yes', schedule: schedule === '' ? '0 9 * * *' : schedule })
    else form.onType({ custom: '', schedule: printTiming(next) })
  }
  const minute = timing.minute ?? NINE + offset
  const hasTime = timing.often === 'daily' || timing.often === 'weekdays' || timing.often === 'weekly'
  return (
    <>
      <Combobox
        label="How often"
        field="schedule"
        value={timing.often}
        choices={CHOICES.filter(({ value }) => value !== 'once' || type.mode === 'either')}
        onChange={(often) => set({ often })}
        problem={isCustom ? undefined : problemWithin(form.error, 'schedule')}
      />
      {timing.often === 'weekly' && (
        <Combobox
          label="Day"
          value={String(localDay(timing.day, minute, offset))}
          choices={DAYS.map((label, value) => ({ value: String(value), label }))}
          onChange={(day) => set({ day: utcDay(Number(day), minute, offset) })}
        />
      )}
      {hasTime && (
        <TextField
          label="Time"
          type="time"
          hint="Your local time."
          value={timing.minute === null ? '' : printTime(timing.minute, offset)}
          onChange={(text) => set({ minute: readTime(text, offset) })}
        />
      )}
      {isCustom && (
        <TextField
          label="Line of crontab"
          hint="Minute, hour, day of the month, month, day of the week, in UTC: 0 9 * * 1 is Mondays at 9."
          value={schedule}
          onChange={(line) => form.onType({ schedule: line })}
          problem={problemWithin(form.error, 'schedule')}
        />
      )}
      <p role="status" aria-label="Schedule" className="rounded-lg border bg-subtle px-4 py-3">
        {`Imports: ${describeSchedule(schedule === '' && type.mode === 'recurring' ? 'daily' : schedule)}.`}
      </p>
    </>
  )
}
