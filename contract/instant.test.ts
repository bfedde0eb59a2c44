import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from './instant.ts'

describe('parseInstant', () => {
  it.each([
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0050-01-01', '0050-01-01T00:00:00.000Z'],
    ['2024-01-01T10:30', '2024-01-01T10:30:00.000Z'],
    ['2024-01-01T10:30:15', '2024-01-01T10:30:15.000Z'],
    ['2024-01-01 10:30:15Z', '2024-01-01T10:30:15.000Z'],
    ['2024-01-01t10:30:15z', '2024-01-01T10:30:15.000Z'],
    ['2024-01-01T10:30:15.25Z', '2024-01-01T10:30:15.250Z'],
    ['2024-01-01T01:00:00+02:00', '2023-12-31T23:00:00.000Z'],
    ['2024-01-01T01:00:00-0530', '2024-01-01T06:30:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text)).toBe(Date.parse(iso))
  })

  it.each(
    [
      '',
      '2024',
      '2024-01',
      '20240101',
      '2024-1-1',
      '2024-13-01',
      '2024-02-30',
      '2023-02-29',
      '2024-00-10',
      '2024-01-00',
    ].concat(
      [
        '2024-01-01T',
        '2024-01-01T24:00',
        '2024-01-01T10:60',
        '2024-01-01T10:00:60',
        '2024-01-01T10',
        '2024-01-01Z',
      ],
      [
        '2024-01-01T10:00+25:00',
        ' 2024-01-01',
        '2024-01-01\n',
        '01/02/2024',
        '1 January 2024',
        '1704067200',
        'today',
      ],
    ),
  )('%j is not an ISO 8601 date', (text) => {
    expect(parseInstant(text)).toBeNull()
  })

  it('reads the dates that JavaScript prints', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(date, (date) => {
        expect(parseInstant(date.toISOString())).toBeCloseTo(date.getTime(), 3)
      }),
    )
  })
})
