import { readCron } from '../../lib/timing/cron.ts'

/**
 * The line of crontab that a schedule comes to. The words mean the minute at which the source was made, so that not all of them
 * pull at the full hour.
 */
export function cronOf(schedule: string, now: Date): string {
  const minute = now.getUTCMinutes()
  const hour = now.getUTCHours()
  if (schedule === 'hourly') return `${minute} * * * *`
  if (schedule === 'daily') return `${minute} ${hour} * * *`
  if (schedule === 'weekly') return `${minute} ${hour} * * ${now.getUTCDay()}`
  return schedule
}

/** The first tick after now, or the moment at which the source ends; null when neither ever comes. */
export function nextTick(cron: string, now: Date, stopAt: Date | null): Date | null {
  const next = readCron(cron)(now)
  if (stopAt === null) return next
  return next === null || next > stopAt ? stopAt : next
}
