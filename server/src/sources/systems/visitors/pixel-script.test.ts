import { createContext, runInContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { PIXEL_SCRIPT } from './pixel-script.ts'

type Page = {
  href?: string
  referrer?: string
  attributes?: Record<string, string>
  navigator?: Record<string, unknown>
  hasBeacons?: boolean
}

/** Opens a page with the script, as far as the script uses it. Anything that would store data in the browser fails. */
function openPage({
  href = 'https://shop.example.com/a',
  referrer = '',
  attributes = {},
  navigator = {},
  hasBeacons = true,
}: Page = {}) {
  const sent: { to: string; body: Record<string, unknown> }[] = []
  const loaded: string[] = []
  const warnings: string[] = []
  const listeners = new Map<string, () => void>()
  const keep = (to: string, body: string) =>
    sent.push({ to, body: JSON.parse(body) as Record<string, unknown> })
  const forbidden = (what: string) => () => {
    throw new Error(`the script must not use ${what}`)
  }
  const listen = (name: string, listener: () => void) => listeners.set(name, listener)
  const location = { href }
  const page: Record<string, unknown> = {
    URL,
    encodeURIComponent,
    location,
    console: { warn: (text: string) => warnings.push(text) },
    setTimeout: (call: () => void) => call(),
    addEventListener: listen,
    history: {
      pushState: (_state: unknown, _title: string, to: string) => {
        location.href = new URL(to, location.href).href
      },
    },
    fetch: async (to: string, { body, credentials }: { body: string; credentials: string }) => {
      expect(credentials).toBe('omit')
      keep(to, body)
    },
    navigator: {
      ...(hasBeacons ? { sendBeacon: (to: string, body: string) => keep(to, body) > 0 } : {}),
      ...navigator,
    },
    document: {
      title: 'A page',
      referrer,
      currentScript: {
        src: 'https://loam.example/pixel/token.js?v=1',
        getAttribute: (name: string) => attributes[name] ?? null,
      },
      addEventListener: listen,
      createElement: () => ({}),
      head: { appendChild: ({ src }: { src: string }) => loaded.push(src) },
    },
  }
  page['window'] = page
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
    Object.defineProperty(page, name, { get: forbidden(name) })
  Object.defineProperty(page['document'], 'cookie', { get: forbidden('cookies'), set: forbidden('cookies') })
  runInContext(PIXEL_SCRIPT, createContext(page))
  const run = (code: string) => runInContext(code, page) as unknown
  return { sent, loaded, warnings, run, fire: (name: string) => listeners.get(name)?.() }
}

describe('the script on the pages of a customer', () => {
  it('sends page, referrer and title once, without personal data', () => {
    const { sent } = openPage({
      href: 'https://shop.example.com/a?email=ann@acme.com&utm_source=mail&utm_term=a%20b#inbox',
      referrer: 'https://search.example/find?q=secret#x',
    })
    expect(sent).toEqual([
      {
        to: 'https://loam.example/pixel/token',
        body: {
          url: 'https://shop.example.com/a?utm_source=mail&utm_term=a%20b',
          referrer: 'https://search.example/find',
          title: 'A page',
        },
      },
    ])
  })

  it('works in browsers without beacons, without cookies', () => {
    expect(openPage({ hasBeacons: false }).sent).toHaveLength(1)
  })

  it('sends pages that change without a load, and no page twice in a row', () => {
    const { sent, run, fire } = openPage()
    run(`history.pushState({}, '', '/b')`)
    run(`history.pushState({}, '', '/b#part')`)
    run(`location.href = 'https://shop.example.com/a'`)
    fire('popstate')
    expect(sent.map(({ body }) => body['url'])).toEqual([
      'https://shop.example.com/a',
      'https://shop.example.com/b',
      'https://shop.example.com/a',
    ])
  })

  it.each([{ globalPrivacyControl: true }, { doNotTrack: '1' }, { doNotTrack: 'yes' }])(
    'sends nothing for who asks not to be tracked: %j',
    (navigator) => {
      const { sent, loaded, run } = openPage({
        navigator,
        attributes: { 'data-consent': 'required', 'data-rb2b': 'KEY123' },
      })
      run('window.loamConsent && window.loamConsent()')
      expect([sent, loaded]).toEqual([[], []])
    },
  )

  it('with data-consent="required" it sends nothing before window.loamConsent()', () => {
    const { sent, run } = openPage({ attributes: { 'data-consent': 'required' } })
    run(`history.pushState({}, '', '/b')`)
    expect(sent).toEqual([])
    run('window.loamConsent(false)')
    expect(sent).toEqual([])
    run('window.loamConsent()')
    run('window.loamConsent()')
    expect(sent.map(({ body }) => body['url'])).toEqual(['https://shop.example.com/b'])
  })

  it('or before the event loam:consent', () => {
    const { sent, fire } = openPage({ attributes: { 'data-consent': 'required' } })
    fire('loam:consent')
    expect(sent).toHaveLength(1)
  })

  it('with data-rb2b it loads the script of RB2B, after consent alone, and sends nothing itself', () => {
    const { sent, loaded, run } = openPage({
      attributes: { 'data-consent': 'required', 'data-rb2b': 'EN4M0HKQZJOM' },
    })
    expect(loaded).toEqual([])
    run('window.loamConsent()')
    expect(loaded).toEqual(['https://ddwl4m2hdecbv.cloudfront.net/b/EN4M0HKQZJOM/EN4M0HKQZJOM.js.gz'])
    expect(sent).toEqual([])
  })

  it('without the key of RB2B it says what to set', () => {
    const { loaded, warnings } = openPage({ attributes: { 'data-rb2b': '' } })
    expect([loaded, warnings]).toEqual([[], [expect.stringContaining('data-rb2b')]])
  })
})
