export type Often = 'once' | 'hourly' | 'daily' | 'weekdays' | 'weekly' | 'custom'
export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

/** A schedule as a person chooses it. `minute` counts in UTC from midnight; null: whenever the source was created. */
export type Timing = { often: Often; minute: number | null; day: number }

const DAY_MINUTES = 24 * 60
const LINE = /^(\d{1,2}) (\*|\d{1,2}) \* \* (\*|[0-6]|1-5)$/

/** Reads a schedule of the API: a word, or a line of crontab in UTC. */
export function readTiming(schedule: string): Timing {
  const none = { minute: null, day: 1 }
  if (schedule === '') return { ...none, often: 'once' }
  if (schedule === 'hourly' || schedule === 'daily' || schedule === 'weekly')
    return { ...none, often: schedule }
  const [, minute = '', hour = '', day = ''] = LINE.exec(schedule) ?? []
  if (minute === '') return { ...none, often: 'custom' }
  if (hour === '*') return day === '*' ? { ...none, often: 'hourly' } : { ...none, often: 'custom' }
  const at = Number(hour) * 60 + Number(minute)
  if (day === '*') return { often: 'daily', minute: at, day: 1 }
  if (day === '1-5') return { often: 'weekdays', minute: at, day: 1 }
  return { often: 'weekly', minute: at, day: Number(day) }
}

/** Returns the schedule of the API for a timing. `weekdays` keep their UTC days. */
export function printTiming({ often, minute, day }: Timing): string {
  if (often === 'once' || often === 'custom') return ''
  if (often === 'hourly') return 'hourly'
  if (minute === null) return often === 'weekdays' ? '0 9 * * 1-5' : often
  const line = `${minute % 60} ${Math.floor(minute / 60)} * *`
  if (often === 'daily') return `${line} *`
  return often === 'weekdays' ? `${line} 1-5` : `${line} ${day}`
}

/** Returns a time of day as `09:30`, moved by the difference between the reader's time and UTC. */
export function printTime(minute: number, offset = 0): string {
  const moved = wrap(minute - offset)
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${pad(Math.floor(moved / 60))}:${pad(moved % 60)}`
}

/** Returns the UTC minute of a local time of day such as `09:30`, or null if it is none. */
export function readTime(text: string, offset: number): number | null {
  const [, hour, minute] = /^(\d{2}):(\d{2})$/.exec(text) ?? []
  return hour === undefined ? null : wrap(Number(hour) * 60 + Number(minute) + offset)
}

const wrap = (minute: number) => (minute + 2 * DAY_MINUTES) % DAY_MINUTES

/** Returns the minutes by which UTC is ahead of the reader's time. */
export const utcOffset = () => new Date().getTimezoneOffset()

/** Describes when a source imports, in a sentence without its end. */
export function describeSchedule(schedule: string | null, offset = utcOffset()): string {
  const { often, minute, day } = readTiming(schedule ?? '')
  const at = minute === null ? '' : ` at ${printTime(minute, offset)}${offset === 0 ? ' UTC' : ' your time'}`
  switch (often) {
    case 'once':
      return 'Once'
    case 'hourly':
      return 'Every hour'
    case 'daily':
      return `Every day${at}`
    case 'weekdays':
      return `Monday to Friday${at}`
    case 'weekly':
      return minute === null ? 'Every week' : `Every ${DAYS[localDay(day, minute, offset)]}${at}`
    case 'custom':
      return `On a schedule of its own (${schedule} in UTC)`
  }
}

/** Returns the day of the week at the reader, who may already have the next day or still the one before. */
export function localDay(day: number, minute: number, offset: number): number {
  const moved = minute - offset
  return (day + (moved < 0 ? 6 : moved >= DAY_MINUTES ? 1 : 0)) % 7
}

/** Returns the UTC day of the week for a day and a time of the reader. */
export function utcDay(day: number, minute: number, offset: number): number {
  const shift = localDay(0, minute, offset)
  return (day - shift + 7) % 7
}
