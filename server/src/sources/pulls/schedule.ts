import { readCron } from '../../lib/timing/cron.ts'

/**
 * Returns the crontab line of a schedule. `hourly`, `daily` and `weekly` use the minute at which the source was
 * created, so that not all sources pull on the hour.
 */
export function toCronLine(schedule: string, now: Date): string {
  const minute = now.getUTCMinutes()
  const hour = now.getUTCHours()
  if (schedule === 'hourly') return `${minute} * * * *`
  if (schedule === 'daily') return `${minute} ${hour} * * *`
  if (schedule === 'weekly') return `${minute} ${hour} * * ${now.getUTCDay()}`
  return schedule
}

/**
 * Returns the first tick after now, or the end of the source if that is earlier. Returns null if neither ever comes.
 */
export function nextTick(cron: string, now: Date, stopAt: Date | null): Date | null {
  const next = readCron(cron)(now)
  if (stopAt === null) return next
  return next === null || next > stopAt ? stopAt : next
}
