import { afterAll, describe, expect, it } from 'vitest'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { useAgent } from '../testing/agent.ts'
import { serveChat } from '../testing/chat-server.ts'
import { serveSite } from '../testing/site-server.ts'
import { createPageReaders } from './page-reader.ts'
import { rankListed } from './site-pages.ts'

const egress = createEgress({ allow: parseEgressAllow('127.0.0.0/8').entries })
afterAll(() => egress.close())
const context = { egress, signal: new AbortController().signal, now: () => new Date() }
const run = useAgent()

const HOME = '<title>Acme</title><main><p>We make anvils.</p><a href="/anvils">Anvils</a></main>'
const mapOf = (paths: string[]) => ({
  type: 'application/xml',
  body: `<urlset>${paths.map((path) => `<url><loc>${path}</loc></url>`).join('')}</urlset>`,
})
const stories = Array.from({ length: 300 }, (_, n) => `ORIGIN/stories/${n}`)

describe('the site pages shown with a home page', () => {
  it('are at most 15 pages of its sitemap, the best matches first, and may be read', async () => {
    const site = await serveSite({
      '/': HOME,
      '/sitemap.xml': mapOf([
        ...stories,
        'ORIGIN/deep/in/the/site/board-of-directors',
        'ORIGIN/about',
        'http://elsewhere.example/directors',
        'ORIGIN/directors.pdf',
        'ORIGIN/anvils',
      ]),
      '/deep/in/the/site/board-of-directors': '<title>Board</title><p>Ada Byron directs Acme.</p>',
    })
    // The model names no site itself: the addresses that it may read come from the answers of its tools.
    const engine = await serveSite({
      '/search?format=json&q=Acme': {
        type: 'application/json',
        body: JSON.stringify({ results: [{ url: `${site.origin}/`, title: 'Acme', content: '' }] }),
      },
    })
    const page = (path: string) => ({
      name: 'read_page',
      input: { url: `${site.origin}${path}`, looking_for: 'directors' },
    })
    const steps = [
      { name: 'search', input: { query: 'Acme' } },
      page('/'),
      page('/deep/in/the/site/board-of-directors'),
      page('/stories/250'),
    ]
    const { url: modelUrl, bodies } = await serveChat((_body, turn) => {
      const call = steps[turn - 1]
      return call === undefined ? { says: '{}' } : { calls: [call] }
    })
    await run(
      { mission: 'Who directs Acme?', fields: [{ name: 'director', type: 'string', description: '' }] },
      { modelUrl, searchUrl: engine.origin },
    )
    const result = bodies[2]?.messages.at(-1)?.content ?? ''
    const listed = result.slice(result.indexOf('Other pages of the site:')).match(/^- \S+$/gm) ?? []
    expect(listed).toHaveLength(15)
    expect(listed.slice(0, 2)).toEqual([
      `- ${site.origin}/deep/in/the/site/board-of-directors`,
      `- ${site.origin}/about`,
    ])
    expect(result).not.toMatch(/elsewhere|\.pdf/)
    expect(listed).not.toContain(`- ${site.origin}/anvils`)
    expect(site.requests).toContain('/deep/in/the/site/board-of-directors')
    expect(site.requests).not.toContain('/stories/250')
  })

  it('are requested for home pages only, and once while the page is cached', async () => {
    const site = await serveSite({ '/': HOME, '/anvils': HOME, '/sitemap.xml': mapOf(stories) })
    const reader = createPageReaders({ keepSeconds: 60 }).of('a test')
    expect(await reader.read(context, `${site.origin}/anvils`)).toMatchObject({ page: { listed: [] } })
    expect(site.requests).not.toContain('/sitemap.xml')
    for (const cached of [false, true]) {
      const read = await reader.read(context, `${site.origin}/`)
      expect(read).toMatchObject({ cached, page: { listed: { length: 300 } } })
    }
    expect(site.requests.filter((path) => path === '/sitemap.xml')).toHaveLength(1)
  })

  it('are bounded: few files of a sitemap of sitemaps, and few of very many pages', async () => {
    const maps = Array.from({ length: 20 }, (_, n) => `<sitemap><loc>ORIGIN/map-${n}.xml</loc></sitemap>`)
    const many = Array.from({ length: 3000 }, (_, n) => `ORIGIN/p/${n}`)
    const site = await serveSite({
      '/': HOME,
      '/sitemap.xml': { type: 'application/xml', body: `<sitemapindex>${maps.join('')}</sitemapindex>` },
      ...Object.fromEntries(maps.map((_, n) => [`/map-${n}.xml`, mapOf(many)])),
    })
    const read = await createPageReaders({ keepSeconds: 0 }).of('a test').read(context, `${site.origin}/`)
    expect(read).toMatchObject({ page: { listed: { length: 500 } } })
    expect(site.requests.filter((path) => path.endsWith('.xml')).length).toBeLessThanOrEqual(3)
  })

  it('are none if the sitemap is broken, and the page is still read', async () => {
    const site = await serveSite({
      '/': HOME,
      '/sitemap.xml': { type: 'text/xml', body: '<urlset><url><loc' },
    })
    const read = await createPageReaders({ keepSeconds: 0 }).of('a test').read(context, `${site.origin}/`)
    expect(read).toMatchObject({ ok: true, page: { title: 'Acme', listed: [] } })
  })

  it('start with the topics that are asked for in other words', () => {
    const listed = ['https://a.example/zoo', 'https://a.example/jobs', 'https://a.example/about']
    expect(rankListed(listed, 'careers at Acme')[0]).toBe('https://a.example/jobs')
    expect(rankListed(listed, '')[0]).toBe('https://a.example/about')
  })
})
