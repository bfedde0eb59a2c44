import { describe, expect, it } from 'vitest'
import { isSameSite, readAddresses, readSite } from './site.ts'

describe('a domain is one site in any spelling', () => {
  it.each([
    [
      'acme.com',
      'acme.com',
      ['https://acme.com/', 'http://acme.com/', 'https://www.acme.com/', 'http://www.acme.com/'],
    ],
    ['  WWW.Acme.CO.UK. ', 'acme.co.uk', ['https://www.acme.co.uk/', 'http://www.acme.co.uk/']],
    ['https://www.acme.com/about?x=1', 'acme.com', ['https://www.acme.com/', 'http://www.acme.com/']],
    ['http://acme.example:8080/x', 'acme.example', ['http://acme.example:8080/']],
    ['acme.example:8080', 'acme.example', ['https://acme.example:8080/', 'http://acme.example:8080/']],
    [
      'bücher.example',
      'xn--bcher-kva.example',
      [
        'https://xn--bcher-kva.example/',
        'http://xn--bcher-kva.example/',
        'https://www.xn--bcher-kva.example/',
        'http://www.xn--bcher-kva.example/',
      ],
    ],
    [
      'ann@acme.com',
      'acme.com',
      ['https://acme.com/', 'http://acme.com/', 'https://www.acme.com/', 'http://www.acme.com/'],
    ],
    ['127.0.0.1:80', '127.0.0.1', ['https://127.0.0.1/', 'http://127.0.0.1/']],
    ['[::1]:8080', '[::1]', ['https://[::1]:8080/', 'http://[::1]:8080/']],
  ])('%s', (text, domain, homes) => {
    expect(readSite(text)).toMatchObject({ domain, homes })
  })

  it.each(['', ' ', 'not a domain', 'ftp://acme.com', 'file:///etc/passwd', 'http://', 'a..com', 'mailto:'])(
    '"%s" is none',
    (text) => {
      expect(readSite(text)).toBeNull()
    },
  )
})

it.each([
  ['https://acme.com/a', ['https://acme.com/a']],
  ['acme.com/a', ['https://acme.com/a', 'http://acme.com/a']],
  ['localhost:80/a', ['https://localhost:80/a', 'http://localhost:80/a']],
  ['file:///etc/passwd', ['file:///etc/passwd']],
  ['javascript:alert(1)', ['javascript:alert(1)']],
])('the address %s', (text, addresses) => {
  expect(readAddresses(text)).toEqual(addresses)
})

it.each([
  ['https://www.acme.com/', 'https://blog.acme.com/', true],
  ['https://acme.co.uk/', 'https://other.co.uk/', false],
  ['https://a.github.io/', 'https://b.github.io/', false],
  ['http://127.0.0.1:1/', 'http://127.0.0.1:2/', false],
])('%s and %s are one site: %s', (one, other, same) => {
  expect(isSameSite(new URL(one), new URL(other))).toBe(same)
})
