import { expect, it } from 'vitest'
import {
  describeSchedule,
  localDay,
  printTiming,
  readTime,
  readTiming,
  utcDay,
} from '../../dashboard/src/screens/sources/schedule-words.ts'

const BERLIN = -120
const NEW_YORK = 240

it.each([
  [null, 'Once'],
  ['hourly', 'Every hour'],
  ['daily', 'Every day'],
  ['weekly', 'Every week'],
  ['30 6 * * *', 'Every day at 08:30 your time'],
  ['0 7 * * 1-5', 'Monday to Friday at 09:00 your time'],
  ['30 23 * * 1', 'Every Tuesday at 01:30 your time'],
  ['15 * * * *', 'Every hour'],
  ['*/5 1 1 * *', 'On a schedule of its own (*/5 1 1 * * in UTC)'],
])('H14: the schedule %s is said in words', (schedule, words) => {
  expect(describeSchedule(schedule, BERLIN)).toBe(words)
})

it('H14: a day and a time of the reader are the same after they were a line of crontab', () => {
  for (const offset of [BERLIN, 0, NEW_YORK])
    for (const time of ['00:15', '08:30', '23:45'])
      for (const day of [0, 1, 6]) {
        const minute = readTime(time, offset) ?? -1
        const line = printTiming({ often: 'weekly', minute, day: utcDay(day, minute, offset) })
        const read = readTiming(line)
        expect(read.often).toBe('weekly')
        expect(localDay(read.day, read.minute ?? -1, offset), `${time} ${day} ${offset}`).toBe(day)
        expect(describeSchedule(line, offset)).toContain(` at ${time}`)
      }
})
