import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, SETTINGS } from './config.ts'

/** Returns the lines of the error, or an empty list if the environment is accepted. */
function refusal(env: Record<string, string | undefined>): string[] {
  try {
    readConfig(env)
    return []
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.message.split('\n')
    throw cause
  }
}

const DEFAULTS = {
  HOST: '127.0.0.1',
  PORT: 8787,
  LOAM_DATA_DIR: resolve('data'),
  LOAM_ROLES: ['api', 'worker'],
  LOAM_TRUST_PROXY: { hops: 0 },
  LOAM_ADMIN_EMAIL: 'admin@localhost',
  LOAM_RATE_LIMIT_PER_MINUTE: 200,
  LOAM_RATE_LIMIT_PER_DAY: 10_000,
  LOAM_INITIAL_CREDITS: 100_000,
  LOAM_MEMBER_LIMIT: null,
  LOAM_EGRESS_ALLOW: [],
  LOAM_LOG_LEVEL: 'info',
}

describe('D55: settings are environment variables', () => {
  it('none is needed', () => {
    expect(readConfig({})).toMatchObject(DEFAULTS)
  })

  it('an empty one counts as absent', () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  it('variables of others are left alone', () => {
    expect(readConfig({ PATH: '/usr/bin', LOAM_NO_SUCH_SETTING: 'x' })).toEqual(readConfig({}))
  })

  it.each([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['LOAM_ROLES', 'api', ['api']],
    ['LOAM_ROLES', ' worker , api ', ['worker', 'api']],
    ['LOAM_PUBLIC_URL', 'https://loam.example.com//', 'https://loam.example.com'],
    ['LOAM_TRUST_PROXY', 'true', { hops: 1 }],
    ['LOAM_TRUST_PROXY', '2', { hops: 2 }],
    ['LOAM_ADMIN_EMAIL', 'Root@Example.com', 'root@example.com'],
    ['LOAM_INITIAL_CREDITS', '0', 0],
    ['LOAM_MEMBER_LIMIT', '0', null],
    ['LOAM_MEMBER_LIMIT', '5', 5],
    ['LOAM_DATA_DIR', '/var/lib/loam/', '/var/lib/loam'],
    ['LOAM_SECRET', `${'n'.repeat(16)},${'o'.repeat(16)}`, `${'n'.repeat(16)},${'o'.repeat(16)}`],
    ['LOAM_SMTP_URL', 'smtps://user:pass@mail.example.com:465', 'smtps://user:pass@mail.example.com:465'],
  ] as const)('%s=%s is accepted', (name, text, value) => {
    expect(readConfig({ [name]: text })[name]).toEqual(value)
  })

  it.each([
    ['PORT', '65536', 'must be between 0 and 65535'],
    ['PORT', '-1', 'must be a whole number'],
    ['PORT', '80.5', 'must be a whole number'],
    ['PORT', '0x50', 'must be a whole number'],
    ['PORT', ' 80', 'must be a whole number'],
    ['PORT', '9'.repeat(400), 'must be between 0 and 65535'],
    ['LOAM_ROLES', 'api,nobody,none', 'must be a list of: api, worker'],
    ['LOAM_ROLES', 'api,', 'must be a list of: api, worker'],
    ['LOAM_SECRET', 'too short', 'must be at least 16 characters'],
    ['LOAM_SECRET', `short,${'o'.repeat(16)}`, 'must be at least 16 characters'],
    ['LOAM_SECRET', `${'n'.repeat(16)},`, 'must be at least 16 characters'],
    ['LOAM_PUBLIC_URL', 'loam.example.com', 'must be a URL that starts with http:// or https://'],
    ['LOAM_PUBLIC_URL', 'ftp://loam.example.com', 'must be a URL that starts with http:// or https://'],
    ['LOAM_TRUST_PROXY', 'yes', 'must be false, true, a number of proxies, or addresses'],
    ['LOAM_TRUST_PROXY', '10.0.0.0/8,10.0.0.0/33', 'invalid: 10.0.0.0/33'],
    ['LOAM_TRUST_PROXY', '101', 'must be at most 100 proxies'],
    ['LOAM_ADMIN_EMAIL', 'nobody', 'must be an email address'],
    ['LOAM_RATE_LIMIT_PER_MINUTE', '0', 'must be between 1 and 2147483647'],
    ['LOAM_RATE_LIMIT_PER_DAY', '2147483648', 'must be between 1 and 2147483647'],
    ['LOAM_INITIAL_CREDITS', '1e3', 'must be a whole number'],
    ['LOAM_SMTP_URL', 'http://mail.example.com', 'must be a URL that starts with smtp:// or smtps://'],
    ['LOAM_LOG_LEVEL', 'verbose', 'must be one of: trace, debug, info, warn, error, silent'],
  ])('%s=%s is one line that says what is wrong', (name, text, message) => {
    expect(refusal({ [name]: text })).toEqual([expect.stringContaining(`${name}: `)])
    expect(refusal({ [name]: text })[0]).toContain(message)
  })

  it('each wrong setting is one line, even if it has several errors', () => {
    const wrong = {
      PORT: 'x',
      LOAM_ROLES: 'a,b,c',
      LOAM_EGRESS_ALLOW: 'not a host!,10.0.0.0/99',
      LOAM_LOG_LEVEL: 'loud',
      LOAM_MEMBER_LIMIT: '-5',
    }
    expect(refusal(wrong).map((line) => line.split(':')[0])).toEqual(
      Object.keys(SETTINGS).filter((name) => Object.hasOwn(wrong, name)),
    )
  })
})

describe('LOAM_SECRET with DATABASE_URL', () => {
  const url = 'postgres://loam@db.example.com/loam'

  it('is required', () => {
    expect(refusal({ DATABASE_URL: url })).toEqual([
      expect.stringMatching(/^LOAM_SECRET: required with DATABASE_URL/),
    ])
    expect(refusal({ DATABASE_URL: url, LOAM_SECRET: '' })).toHaveLength(1)
    expect(refusal({ DATABASE_URL: url, LOAM_SECRET: 's'.repeat(16) })).toEqual([])
  })

  it('is reported together with other errors', () => {
    const lines = refusal({ DATABASE_URL: 'mysql://db', PORT: 'x' })
    expect(lines.map((line) => line.split(':')[0])).toEqual(['PORT', 'DATABASE_URL', 'LOAM_SECRET'])
  })

  it('is reported once, not twice, if it is too short', () => {
    expect(refusal({ DATABASE_URL: url, LOAM_SECRET: 'short' })).toHaveLength(1)
  })

  it.each([
    'postgres://u@h/d',
    'postgresql://u:p@h:5433/d?sslmode=require',
    'postgres:///d?host=%2Frun%2Fpostgresql',
  ])('%s is a DATABASE_URL', (DATABASE_URL) =>
    expect(refusal({ DATABASE_URL, LOAM_SECRET: 's'.repeat(16) })).toEqual([]),
  )
})

it('a secret that is refused is not repeated in the refusal', () => {
  expect(refusal({ LOAM_SECRET: 'hunter2', DATABASE_URL: 'mysql://u:hunter2@h' }).join('\n')).not.toContain(
    'hunter2',
  )
})
