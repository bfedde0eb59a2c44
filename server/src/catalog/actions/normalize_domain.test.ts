import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

it.each([
  ['https://www.acme.co.uk/about?x=1', 'acme.co.uk', 'www.acme.co.uk', 'www', 'co.uk'],
  ['HTTP://Acme.COM.', 'acme.com', 'acme.com', '', 'com'],
  ['acme.com:8080/path', 'acme.com', 'acme.com', '', 'com'],
  ['//cdn.acme.com/x.js', 'acme.com', 'cdn.acme.com', 'cdn', 'com'],
  ['  ann@mail.acme.io ', 'acme.io', 'mail.acme.io', 'mail', 'io'],
  ['mailto:ann@acme.io', 'acme.io', 'acme.io', '', 'io'],
  ['https://user:pass@acme.com/', 'acme.com', 'acme.com', '', 'com'],
  ['https://bücher.example.de', 'example.de', 'xn--bcher-kva.example.de', 'xn--bcher-kva', 'de'],
  ['n/a ann@acme.io', 'acme.io', 'acme.io', '', 'io'],
  ['https://www.acme.com ann@other.io', 'acme.com', 'www.acme.com', 'www', 'com'],
  ['acme.github.io', 'acme.github.io', 'acme.github.io', '', 'github.io'],
])('normalize_domain of %s is %s', async (value, domain, hostname, subdomain, suffix) => {
  const outcome = await runAction('normalize_domain', { value })
  expect(outcome).toEqual({ kind: 'done', outputs: { domain, hostname, subdomain, suffix } })
})

it.each(['localhost', '127.0.0.1', 'http://[::1]/', 'co.uk', 'not a domain', 'http://', 'a..com'])(
  'normalize_domain finds nothing in %s, which is no failure',
  async (value) => {
    expect(await runAction('normalize_domain', { value })).toEqual({ kind: 'no_match' })
  },
)

it('D81: a domain under an unknown suffix is read by the default rule of the list', async () => {
  const outcome = await runAction('normalize_domain', { value: 'https://www.acme.example/about' })
  expect(outcome).toEqual({
    kind: 'done',
    outputs: { domain: 'acme.example', hostname: 'www.acme.example', subdomain: 'www', suffix: 'example' },
  })
})
