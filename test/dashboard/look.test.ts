import { describe, expect, it } from 'vitest'
import { addressOf, localTime, lookOf } from '../../dashboard/src/screens/sheet/grid/look.ts'

describe('G10: the look of values', () => {
  it('only http, https and mailto are links', () => {
    expect(lookOf('https://acme.example/a?b=c', 'string')).toEqual({ href: 'https://acme.example/a?b=c' })
    expect(lookOf('HTTP://acme.example', 'url')).toEqual({ href: 'HTTP://acme.example' })
    expect(lookOf('ada@acme.example', 'email')).toEqual({ href: 'mailto:ada@acme.example' })
    const unsafe = ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'http://', 'https://a b']
    for (const text of unsafe) {
      expect(addressOf(text), text).toBeNull()
      expect(lookOf(text, 'url'), text).toBeNull()
    }
  })

  it('booleans are marks, and only in columns of booleans', () => {
    expect(lookOf('true', 'boolean')).toEqual({ mark: true })
    expect(lookOf('false', 'boolean')).toEqual({ mark: false })
    expect(lookOf('maybe', 'boolean')).toBeNull()
    expect(lookOf('true', 'string')).toBeNull()
  })

  it('a time is that of the reader, with UTC beside it; a date alone stays as it is', () => {
    const here = new Date('2026-03-01T10:30:00Z')
    const look = localTime('2026-03-01T11:30:00+01:00')
    expect(look?.utc).toBe('2026-03-01 10:30:00 UTC')
    expect(look?.local).toContain(`${String(here.getHours()).padStart(2, '0')}:`)
    for (const text of ['2026-03-01', '2026-03-01T10:30', '2026-13-01T10:30:00Z', '12 T']) {
      expect(lookOf(text, 'date'), text).toBeNull()
    }
  })
})
