import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'
import { serveSite, type Site } from '../testing/site-server.ts'
import { corporate } from '../testing/sites/corporate.ts'
import { bakery, german, plumber } from '../testing/sites/german.ts'
import { broken, detours, encodings } from '../testing/sites/odd.ts'
import { blog, spa } from '../testing/sites/shops.ts'

const runAction = useActions()

async function scrape(site: Site, path: string, inputs: Record<string, unknown> = {}) {
  const served = await serveSite(site)
  const outcome = await runAction('scrape_website', { url: served.origin + path, ...inputs })
  const text = JSON.stringify(outcome).replaceAll(served.origin, 'ORIGIN')
  return { outcome: JSON.parse(text), requests: served.requests }
}

describe('scrape_website reads a page', () => {
  it.each<[string, Site, string, Record<string, unknown>]>([
    [
      'of a company, with everything on it',
      corporate,
      '/',
      {
        title: 'Warehouse robots that work | Northwind Robotics',
        description: 'Northwind builds software and robots for warehouses.',
        emails: ['hello@northwind.example', 'sales@northwind.example'],
        phones: ['+14155550132'],
        social_links: [
          'https://www.linkedin.com/company/northwind-robotics',
          'https://twitter.com/northwindbots',
          'https://github.com/northwind-robotics',
          'https://www.crunchbase.com/organization/northwind-robotics',
        ],
        json_ld: [expect.objectContaining({ '@graph': expect.any(Array) })],
        links: expect.arrayContaining([
          'ORIGIN/about-us',
          'ORIGIN/product',
          'https://twitter.com/northwindbots',
        ]),
      },
    ],
    [
      'with addresses hidden from simple programs',
      corporate,
      '/contact?from=nav',
      {
        title: 'Contact',
        description: null,
        emails: ['support@northwind.example', 'accounts@northwind.example', 'jobs@northwind.example'],
        phones: ['+4930901820'],
      },
    ],
    [
      'in German',
      german,
      '/kontakt.html',
      { emails: ['info@mueller-maschinenbau.example'], phones: ['+497111234560', '+4971112345699'] },
    ],
    [
      'with microdata',
      bakery,
      '/',
      {
        phones: ['+33478370001'],
        social_links: ['https://www.instagram.com/boulangerielafarge'],
      },
    ],
    ['from another age', plumber, '/', { title: "Joe's Plumbing", emails: ['joe@joesplumbing.example'] }],
    [
      'that needs a browser',
      spa,
      '/',
      { title: 'Orbit', description: 'Plan your week.', markdown: '', emails: [] },
    ],
    [
      'in Shift_JIS',
      encodings,
      '/shift-jis',
      { title: '株式会社山田製作所', markdown: '# 会社概要\n\n東京都の製造業です。' },
    ],
    ['after redirects', detours, '/redirects', { title: 'The end', markdown: 'Here it is.' }],
    ['that is empty', detours, '/empty', { title: null, description: null, markdown: '', links: [] }],
    [
      'whose HTML and JSON-LD are broken',
      broken,
      '/',
      {
        title: 'Broken & Sons',
        emails: ['first.last@broken.example'],
        phones: ['+442079460018'],
        social_links: ['https://x.com/brokensons'],
        json_ld: [
          {
            '@type': 'Organization',
            name: expect.stringMatching(/^Broken\s+& Sons$/),
            telephone: '+44 20 7946 0018',
            sameAs: ['https://x.com/brokensons'],
          },
          expect.any(Array),
        ],
        links: ['ORIGIN/page%20two', 'ORIGIN/unquoted.html'],
      },
    ],
  ])('%s', async (_what, site, path, outputs) => {
    const { outcome } = await scrape(site, path)
    expect(outcome).toMatchObject({ kind: 'done', outputs })
  })

  it('as Markdown of its main part, with absolute links and without scripts and navigation', async () => {
    const { outcome } = await scrape(corporate, '/')
    expect(outcome.outputs.markdown).toMatchInlineSnapshot(`
      "# Robots that _work_

      Our platform moves 3,000,000 boxes a day. See [how it works](ORIGIN/product#how) or call [+1 (415) 555-0132](tel:+14155550132). Teams in twelve countries use it to pack faster, to make fewer mistakes and to spend the day on better things than walking.

      ![Northwind logo](ORIGIN/img/logo@2x.png)

      Questions? [Write to us](mailto:Hello@Northwind.example?subject=Hi)."
    `)
  })

  it('as Markdown of the article', async () => {
    const { outcome } = await scrape(blog, '/2026/11/new-ship/')
    const { markdown } = outcome.outputs
    expect(markdown).toMatch(/^(#+ A new ship & crew\n\n)?She is called _Petrel_, she was built in Gdańsk/)
    expect(markdown).toContain('> “A good ship.”')
    expect(markdown).toContain('[the fleet](ORIGIN/fleet)')
    expect(markdown).not.toContain('Sponsored')
    expect(markdown).not.toContain('Archive')
  })

  it('with tables', async () => {
    const { outcome } = await scrape(corporate, '/pricing')
    expect(outcome.outputs.markdown).toContain(
      '| Plan | Price |\n| --- | --- |\n| Start | $99 |\n| Scale | $499 |',
    )
  })

  it('that is very long, up to a bound', async () => {
    const { outcome } = await scrape(detours, '/long')
    expect(outcome.outputs.markdown).toMatch(/\[cut\]$/)
    expect(outcome.outputs.markdown.length).toBeLessThan(101_000)
  })
})

describe('scrape_website reads further pages of the site', () => {
  it('the useful ones first, by links and sitemap, each once', async () => {
    const { outcome, requests } = await scrape(corporate, '/', { max_pages: '4' })
    expect(requests.filter((path) => !/robots|sitemap/.test(path))).toEqual([
      '/',
      '/about-us',
      '/contact?from=nav',
      '/pricing',
    ])
    expect(outcome.outputs.emails).toEqual(
      expect.arrayContaining([
        'hello@northwind.example',
        'press@northwind.example',
        'support@northwind.example',
      ]),
    )
    expect(outcome.outputs.markdown).toContain('Source: ORIGIN/about-us')
    expect(outcome.outputs.title).toBe('Warehouse robots that work | Northwind Robotics')
  })

  it('also those that only the sitemap names; no other sites, no files', async () => {
    const { outcome, requests } = await scrape(corporate, '/', { max_pages: '20' })
    expect(requests).toContain('/hidden-gem')
    expect(requests).not.toContain('/brochure.pdf')
    expect(outcome.outputs.markdown).toContain('Nobody links here.')
  })

  it('by a sitemap of sitemaps, compressed or not', async () => {
    const map = (path: string) => `<?xml version="1.0"?><urlset><url><loc>ORIGIN${path}</loc></url></urlset>`
    const site: Site = {
      '/': '<title>Home</title><p>Home</p>',
      '/one': '<p>One</p>',
      '/sitemap.xml': {
        type: 'text/xml',
        body: '<sitemapindex><sitemap><loc>ORIGIN/a.xml</loc></sitemap><sitemap><loc>/b.xml.gz</loc></sitemap><sitemap><loc>/gone.xml</loc></sitemap></sitemapindex>',
      },
      '/a.xml': { type: 'text/xml', body: map('/one') },
    }
    const { requests } = await scrape(site, '/', { max_pages: '5' })
    expect(requests).toEqual(['/robots.txt', '/', '/sitemap.xml', '/a.xml', '/b.xml.gz', '/gone.xml', '/one'])
    site['/b.xml.gz'] = {
      type: 'application/gzip',
      body: gzipSync('<?xml version="1.0"?><urlset><url><loc>http://127.0.0.1:1/two</loc></url></urlset>'),
    }
    expect((await scrape(site, '/', { max_pages: '5' })).outcome.kind).toBe('done')
  })

  it.each(['0', '21', 'many', '1.5'])('max_pages %s is refused', async (max_pages) => {
    await expect(scrape(corporate, '/', { max_pages })).rejects.toThrow('max_pages must be')
  })
})

describe('scrape_website that cannot', () => {
  it.each([
    ['a missing page', '/nope', 'failed', 'there is no such page'],
    ['a file', '/pdf', 'failed', 'is application/pdf, not a web page'],
    ['a page that robots.txt forbids', '/not-for-loam/page', 'failed', 'may not be read by programs'],
    ['a page that is nested without end', '/deep', 'failed', 'nested deeper than'],
    ['a server that is busy', '/busy', 'retry', 'HTTP 429'],
  ])('read %s', async (_what, path, kind, message) => {
    expect((await scrape(detours, path)).outcome).toMatchObject({
      kind,
      message: expect.stringContaining(message),
    })
  })

  it('draw a page in a browser fails with a message about it', async () => {
    const { outcome, requests } = await scrape(corporate, '/', { render: 'browser' })
    expect(outcome).toEqual({
      kind: 'unrunnable',
      message: expect.stringContaining('install a Chromium'),
    })
    expect(requests).toEqual([])
  })
})
