import { describe, expect, it } from 'vitest'
import { serveSite, type Site } from '../../../catalog/testing/site-server.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

async function extract(site: Site, body: Record<string, unknown> = {}) {
  const { origin, requests } = await serveSite(site)
  const pulled = await pullSource(
    'extract_from_website',
    { url: `${origin}/list`, ...body },
    { fields: null },
  )
  return { pulled, requests, origin }
}

const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
const TABLE = `<h2>Price list</h2><table class="prices"><thead><tr><th>Product</th><th>Unit Price</th></tr></thead>
  <tbody>${row('<a href="/p/1">Bolt</a>', '1.20')}${row('Nut', '0.80')}</tbody></table>`
const CARDS = `<h2>Team members</h2><div class="team">${['Ann', 'Bob', 'Cid']
  .map(
    (name) =>
      `<div class="card"><h3>${name}</h3><p class="card__role">Engineer</p><a href="/team/${name}">Profile</a></div>`,
  )
  .join('')}</div>`

describe('extract_from_website', () => {
  it('reads a table by its header, with the links of its cells', async () => {
    const { pulled, origin } = await extract({ '/list': `<nav><ul><li>a<li>b<li>c</ul></nav>${TABLE}` })
    expect(pulled.refusal).toBeNull()
    expect(pulled.rows).toEqual([
      { product: 'Bolt', product_url: `${origin}/p/1`, unit_price: '1.20', source_url: `${origin}/list` },
      { product: 'Nut', unit_price: '0.80', source_url: `${origin}/list` },
    ])
  })

  it('reads the list that `item` describes, with the requested fields', async () => {
    const { pulled, origin } = await extract(
      { '/list': TABLE + CARDS },
      {
        item: 'team member',
        fields: [{ name: 'full_name' }, { name: 'role' }, { name: 'link' }, { name: 'phone' }],
      },
    )
    expect(pulled.rows).toHaveLength(3)
    expect(pulled.rows[0]).toEqual({
      full_name: 'Ann',
      role: 'Engineer',
      link: `${origin}/team/Ann`,
      phone: null,
      source_url: `${origin}/list`,
    })
  })

  it('prefers JSON-LD, and takes the price of a product from its offer', async () => {
    const products = ['Bolt', 'Nut'].map((name, n) => ({
      '@type': 'Product',
      name,
      url: `https://shop.example/${n}`,
      offers: { '@type': 'Offer', price: n + 1, priceCurrency: 'EUR' },
    }))
    const block = JSON.stringify({ '@context': 'https://schema.org', '@graph': products })
    const { pulled } = await extract({
      '/list': `<script type="application/ld+json">${block}</script>${TABLE}`,
    })
    expect(pulled.keys).toEqual(['https://shop.example/0', 'https://shop.example/1'])
    expect(pulled.rows[1]).toMatchObject({ name: 'Nut', price: '2', price_currency: 'EUR' })
  })

  it('finds a field by its description', async () => {
    const { pulled } = await extract(
      { '/list': TABLE },
      { fields: [{ name: 'cost', description: 'Unit price' }] },
    )
    expect(pulled.rows.map(({ cost }) => cost)).toEqual(['1.20', '0.80'])
  })

  const pages = (next: string) => ({
    '/list': `<table><tr><th>Name</th><th>Town</th></tr>${row('a', 'x')}</table>${next}`,
    '/list?page=2': `<table><tr><th>Name</th><th>Town</th></tr>${row('b', 'y')}</table><a href="/list?page=2">Next</a>`,
  })

  it.each(['<link rel="next" href="/list?page=2">', '<a href="/list?page=2">Next »</a>'])(
    'follows pages by %s, and ends where a page names itself',
    async (next) => {
      const { pulled, requests } = await extract(pages(next), { follow_pagination: true })
      expect(pulled.rows.map(({ name }) => name)).toEqual(['a', 'b'])
      expect(requests.filter((path) => path.startsWith('/list'))).toEqual(['/list', '/list?page=2'])
    },
  )

  it('reads one page only by default, and never leaves the site', async () => {
    const one = await extract(pages('<a rel="next" href="/list?page=2">Next</a>'))
    expect(one.pulled.pages).toBe(1)
    const away = await extract(pages('<a rel="next" href="https://elsewhere.example/">Next</a>'), {
      follow_pagination: true,
    })
    expect(away.pulled).toMatchObject({ pages: 1, refusal: null })
  })

  it.each([
    [{ '/list': '<p>Nothing here</p>' }, { kind: 'ineligible' }],
    [
      { '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /' }, '/list': TABLE },
      { kind: 'error' },
    ],
    [{ '/list': { status: 503 } }, { kind: 'error', transient: true }],
    [{ '/list': { status: 404 } }, { kind: 'error', transient: false }],
    [{ '/list': { type: 'image/png', body: 'x' } }, { kind: 'error', transient: false }],
  ])('says why there is nothing: %j', async (site, refusal) => {
    const { pulled } = await extract(site)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  // The reader allows 2 s of processor time, on machines that may be busy otherwise.
  it('reads a page that was made to exhaust the reader in a moment', async () => {
    const wide = Array.from({ length: 20_000 }, (_, n) => `<div class="a"><b class="x">${n}</b></div>`).join(
      '',
    )
    const deep = '<div class="d"><i></i><i></i><i></i>'.repeat(400)
    const { pulled } = await extract({ '/list': `${deep}${wide}${'</div>'.repeat(400)}` })
    expect(pulled).toMatchObject({ refusal: null, capped: true })
    expect(pulled.rows).toHaveLength(5000)
  }, 120_000)

  it.each([
    [{}, 'url required'],
    [{ url: 'ftp://acme.com' }, 'url must be an http or https address'],
    [{ url: 'https://acme.com', fields: [{ name: 'Full Name' }] }, 'fields[0].name must be snake_case'],
    [{ url: 'https://acme.com', fields: [{ name: 'a' }, { name: 'a' }] }, 'fields[1].name is used twice'],
    [
      { url: 'https://acme.com', fields: [{ name: 'source_url' }] },
      'fields[0].name is reserved: every row has this field',
    ],
    [{ url: 'https://acme.com', follow: true }, 'follow not accepted'],
  ])('refuses %j by name', async (body, words) => {
    expect(await requestErrors('extract_from_website', body)).toContain(words)
  })
})
