import { expect, it } from 'vitest'
import { readPage } from './read-page.ts'

const forever = { egress: undefined as never, signal: new AbortController().signal, now: () => new Date() }
const read = (text: string, url = 'https://a.example/') =>
  readPage(forever, { url, text, headers: {}, cookies: [] }, ['extraction', 'markdown'])

const ids = Array.from({ length: 700 }, (_, n) => `i${n}`)
const SCOPE = `<div itemscope itemtype="https://schema.org/Organization" itemref="${ids.join(' ')}">`
const REFERENCES = `${SCOPE}${ids.map((id) => `<i id="${id}" itemprop="name">x</i>`).join('')}${'<b></b>'.repeat(20_000)}`
const TYPED = '<div itemscope itemprop=p itemtype="https://schema.org/Place">'

// A page of this size has 2 s of processor time.
it.each([
  ['700 references to ids among 20,000 elements', REFERENCES],
  ['40 items that refer to them', SCOPE.repeat(40) + REFERENCES],
  ['40,000 line ends in an address', `<address>1${'x<br>'.repeat(40_000)}</address>`],
  ['nested items', TYPED.repeat(240) + '<i itemprop=name>x</i>'.repeat(5_000)],
  [
    'a base of 70 KB for 3,500 links',
    `<base href="http://x/${'a/'.repeat(35_000)}">${'<a href=b>'.repeat(3_500)}`,
  ],
  ['names without end', `<div itemscope><i itemprop="${'a '.repeat(50_000)}">x</i></div>`],
])('F57: a page with %s is read to its end', async (_what, text) => {
  expect(await read(`<title>Acme</title>${text}`)).toMatchObject({ ok: true, page: { title: 'Acme' } })
})

it('F57: microdata is read as before: own properties, nested items, references, addresses', async () => {
  const text = `<div itemscope itemtype="https://schema.org/Organization" itemref="elsewhere within">
    <a itemprop="url sameAs" href="/home">Home</a><meta itemprop="name" content=" Acme ">
    <div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"><b itemprop="addressCountry">DE</b></div>
    <div itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ann</b></div></div>
    <p id="elsewhere"><i itemprop="telephone">+49 30 1234567</i></p>
    <div itemscope><p id="within" itemprop="email">a@b.example</p></div>`
  const found = await read(text)
  expect(found.ok && found.page.extraction.things).toEqual([
    {
      '@type': 'https://schema.org/Organization',
      url: 'https://a.example/home',
      sameAs: 'https://a.example/home',
      name: 'Acme',
      address: { '@type': 'https://schema.org/PostalAddress', addressCountry: 'DE' },
      telephone: '+49 30 1234567',
    },
    { '@type': 'https://schema.org/Person', name: 'Ann' },
    { '@type': 'https://schema.org/PostalAddress', addressCountry: 'DE' },
  ])
})
