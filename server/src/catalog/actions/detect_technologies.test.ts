import { describe, expect, it, onTestFinished } from 'vitest'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { RULES } from '../built-in/technologies/rules.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite, type Site } from '../testing/site-server.ts'
import { blog, shop, spa } from '../testing/sites/shops.ts'

const runAction = useActions()

type Found = { name: string; category: string; evidence: string }

async function detect(site: Site, zone: Zone = {}, host = '127.0.0.1') {
  const { port } = await serveSite(site)
  const { server } = await serveNames(zone)
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, servers: [server] })
  onTestFinished(egress.close)
  const outcome = await runAction('detect_technologies', { domain: `${host}:${port}` }, { egress })
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome))
  return outcome.outputs['technologies'] as Found[]
}

describe('detect_technologies', () => {
  it('reads headers, cookies, assets and marks of a shop', async () => {
    const found = await detect(shop)
    expect(found.map(({ category, name }) => `${category}: ${name}`)).toEqual([
      'advertising: Meta Pixel',
      'analytics: Hotjar',
      'cdn: Cloudflare',
      'chat: Intercom',
      'consent: Cookiebot',
      'fonts: Google Fonts',
      'marketing automation: Klaviyo',
      'payment: Stripe',
      'shop: Shopify',
      'tag manager: Google Tag Manager',
    ])
    expect(found.find(({ name }) => name === 'Cloudflare')?.evidence).toBe('header cf-ray: 8a1b2c3d4e5f-FRA')
    expect(JSON.stringify(found)).not.toContain('secret-value')
  })

  it('reads the generator and the server of a blog', async () => {
    const names = (await detect(blog)).map(({ name }) => name)
    expect(names).toEqual(['Plausible', 'Elementor', 'WordPress', 'jQuery', 'PHP', 'nginx'])
  })

  it('asks name servers about the domain', async () => {
    const zone: Zone = {
      'acme.example': {
        a: ['127.0.0.1'],
        mx: [[10, 'aspmx.l.google.com']],
        txt: [
          'v=spf1 include:_spf.google.com include:servers.mcsv.net ~all',
          'slack-domain-verification=abc',
        ],
        ns: ['ada.ns.cloudflare.com'],
      },
      'www.acme.example': { cname: 'cname.vercel-dns.com' },
    }
    const found = await detect(spa, zone, 'acme.example')
    expect(found.map(({ name, evidence }) => `${name} (${evidence})`)).toEqual([
      'Cloudflare (DNS NS ada.ns.cloudflare.com)',
      expect.stringContaining('Next.js (loads http'),
      'Vercel (DNS CNAME cname.vercel-dns.com)',
      'Google Workspace (DNS MX aspmx.l.google.com)',
      expect.stringContaining('Mailchimp (DNS TXT v=spf1'),
      'Slack (DNS TXT slack-domain-verification=abc)',
    ])
  })

  it('finds nothing on a page without marks', async () => {
    expect(
      await detect({ '/': '<title>Plain</title><p>No member, no september, no framework.</p>' }),
    ).toEqual([])
  })

  it('says why a site cannot be read', async () => {
    const { origin } = await serveSite({
      '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /' },
    })
    const outcome = await runAction('detect_technologies', { domain: origin })
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('robots.txt') })
  })
})

describe('its rules', () => {
  const rules = Object.values(RULES).flat()

  it('know more than 200 technologies, each once', () => {
    expect(rules.length).toBeGreaterThan(200)
    expect(new Set(rules.map(([name]) => name)).size).toBe(rules.length)
  })

  it('have signs in lower case, in places that exist', () => {
    const signs = rules.flatMap(([, ...signs]) => signs)
    const wrong = signs.filter(
      (sign) =>
        !/^(header|cookie|asset|generator|meta|html|mx|txt|ns|cname):\S.*$|^html: /.test(sign) ||
        sign !== sign.toLowerCase(),
    )
    expect(wrong).toEqual([])
  })
})
