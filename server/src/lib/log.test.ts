import { describe, expect, it } from 'vitest'
import { createLog, type Log } from './log.ts'
import { newKey } from './security/keys.ts'

/** Returns what the log writes during `use`, as text and as parsed lines. */
function capture(use: (log: Log) => void, level = 'info') {
  let text = ''
  use(createLog(level, { write: (line) => (text += line) }))
  const lines = text.split('\n').slice(0, -1)
  return { text, lines: lines.map((line): Record<string, unknown> => JSON.parse(line)) }
}

it('writes one JSON line per entry, with the time in ISO 8601 and the level by name', () => {
  const { lines } = capture((log) => {
    log.info({ answer: 42 }, 'first\nstill first')
    log.warn('second')
    log.debug('too detailed')
  })
  expect(lines).toEqual([
    expect.objectContaining({ level: 'info', msg: 'first\nstill first', answer: 42, pid: process.pid }),
    expect.objectContaining({ level: 'warn', msg: 'second' }),
  ])
  expect(lines[0]?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

it('a terminal gets time, level, message and fields in plain words, a stack below, and no secret', () => {
  let text = ''
  const log = createLog('info', { isTTY: true, write: (line) => (text += line) })
  log.info({ rows: 3, sheet: 'Leads' }, 'added')
  const secret = newKey()
  log.error({ err: new Error(`refused ${secret}`) }, 'a call failed')
  // oxlint-disable-next-line no-control-regex
  const [added, failed, ...stack] = text.replaceAll(/\u001b\[\d+m/g, '').split('\n')
  expect(added).toMatch(/^\d\d:\d\d:\d\d info  added rows=3 sheet=Leads$/)
  expect(failed).toMatch(/ error a call failed: refused loam_\[redacted\]$/)
  expect(stack[0]).toBe('Error: refused loam_[redacted]')
  expect(text).not.toContain(secret)
})

describe('a key or a bearer token never reaches the output', () => {
  const failed = (words: string) => Object.assign(new Error(words), { code: 'E_TEST' })
  const places: [string, (log: Log, secret: string) => void][] = [
    ['the message', (log, secret) => log.info(`call with ${secret} failed`)],
    ['an interpolated message', (log, secret) => log.info('call with %s and %j failed', secret, { secret })],
    ['a field', (log, secret) => log.info({ note: secret }, 'x')],
    ['the name of a field', (log, secret) => log.info({ [secret]: 1 }, 'x')],
    ['a deeply nested field', (log, secret) => log.info({ a: { b: [{ c: { d: `x ${secret} y` } }] } }, 'x')],
    ['a child logger', (log, secret) => log.child({ call: secret }).info('x')],
    ['an error', (log, secret) => log.error(failed(`refused: ${secret}`))],
    ['an error as a field', (log, secret) => log.error({ err: failed(`refused: ${secret}`) }, 'x')],
    [
      'the stack of an error',
      (log, secret) => log.error({ err: Object.assign(failed('x'), { stack: `at ${secret}` }) }),
    ],
    ['the cause of an error', (log, secret) => log.error({ err: new Error('x', { cause: failed(secret) }) })],
    [
      'a property of an error',
      (log, secret) => log.error({ err: Object.assign(failed('x'), { request: { auth: secret } }) }),
    ],
    [
      'several places of one line',
      (log, secret) => log.info({ one: secret, two: `${secret} ${secret}` }, secret),
    ],
  ]

  it.each(places)('in %s', (_place, use) => {
    const key = newKey()
    expect(capture((log) => use(log, key)).text).not.toContain(key.slice(5))
    for (const scheme of ['Bearer', 'bearer', 'BEARER  ']) {
      const written = capture((log) => use(log, `${scheme} tok-en.of~some+one/else==`))
      expect(written.text).not.toContain('tok-en')
      expect(written.lines).toHaveLength(1)
    }
  })

  it('and the rest of the line is left as it was', () => {
    const { lines } = capture((log) =>
      log.info({ note: `"${newKey()}", then` }, `Bearer abc, then ${newKey()} and more`),
    )
    expect(lines[0]).toMatchObject({
      note: '"loam_[redacted]", then',
      msg: 'Bearer [redacted] then loam_[redacted] and more',
    })
  })
})

describe('fields that may hold secrets are cut', () => {
  const names = ['authorization', 'cookie', 'password', 'secret', 'token', 'key', 'api_key', 'url']

  it.each(names)('%s', (name) => {
    const { text, lines } = capture((log) => {
      log.info({ [name]: 'canary' }, 'x')
      log.info({ request: { [name]: 'canary' } }, 'x')
      log.info({ headers: { [name]: 'canary' } }, 'x')
      log.info({ request: { headers: { [name]: 'canary', host: 'kept' } } }, 'x')
      log.error({ err: Object.assign(new Error('x'), { [name]: 'canary' }) }, 'x')
    })
    expect(text).not.toContain('canary')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatchObject({ [name]: '[redacted]' })
    expect(lines[3]).toMatchObject({ request: { headers: { [name]: '[redacted]', host: 'kept' } } })
  })

  it('at any depth, in any case, and whatever they hold', () => {
    const { text, lines } = capture((log) => {
      log.info({ a: { b: [{ c: { Authorization: 'canary', kept: 1 } }] } }, 'x')
      log.info({ cookie: ['canary'], key: { inner: 'canary' }, token: 4242, url: null, key_id: 'kept' }, 'x')
      log.child({ password: 'canary' }).info('x')
    })
    expect(text).not.toMatch(/canary|4242/)
    expect(lines[0]).toMatchObject({ a: { b: [{ c: { Authorization: '[redacted]', kept: 1 } }] } })
    expect(lines[1]).toMatchObject({ cookie: '[redacted]', key: '[redacted]', key_id: 'kept', msg: 'x' })
  })

  it('without a change to the object that was logged', () => {
    const logged = { request: { headers: { authorization: 'Bearer abc' } }, token: 'abc' }
    const before = structuredClone(logged)
    capture((log) => log.info(logged, 'x'))
    expect(logged).toEqual(before)
  })
})
