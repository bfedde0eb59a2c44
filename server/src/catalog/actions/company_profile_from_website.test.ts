import { describe, expect, it, onTestFinished } from 'vitest'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite, type Site } from '../testing/site-server.ts'
import { corporate } from '../testing/sites/corporate.ts'
import { bakery, german, plumber } from '../testing/sites/german.ts'
import { broken } from '../testing/sites/odd.ts'
import { blog, shop, spa } from '../testing/sites/shops.ts'

const runAction = useActions()

/** Creates an egress that resolves every company's name to loopback. */
function namedEgress() {
  const resolve = async () => ['127.0.0.1']
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, resolve })
  onTestFinished(egress.close)
  return egress
}

async function profile(site: Site, host = '127.0.0.1') {
  const { port } = await serveSite(site)
  const outcome = await runAction(
    'company_profile_from_website',
    { domain: `${host}:${port}` },
    { egress: namedEgress() },
  )
  const text = JSON.stringify(outcome).replaceAll(`http://${host}:${port}`, 'SITE')
  return JSON.parse(text)
}

describe('company_profile_from_website returns what a company says about itself', () => {
  it.each<[string, Site, Record<string, unknown>]>([
    [
      'in a graph of JSON-LD and on its pages',
      corporate,
      {
        name: 'Northwind Robotics',
        description: 'Robots and software for warehouses.',
        logo: expect.stringMatching(/\/img\/logo\.svg$/),
        address: '500 Howard Street, 94105 San Francisco, CA, US',
        country: 'US',
        phones: ['+14155550132', '+4930901820'],
        emails: [
          'hello@northwind.example',
          'sales@northwind.example',
          'press@northwind.example',
          'support@northwind.example',
          'accounts@northwind.example',
          'jobs@northwind.example',
        ],
        social_links: [
          'https://www.linkedin.com/company/northwind-robotics',
          'https://twitter.com/northwindbots',
          'https://github.com/northwind-robotics',
          'https://www.crunchbase.com/organization/northwind-robotics',
        ],
        founded: 2014,
        industry_hint: 'logistics',
      },
    ],
    [
      'in an Impressum, in words only',
      german,
      {
        name: 'Müller Maschinenbau GmbH',
        description: 'Maschinenbau und CNC-Fertigung aus Stuttgart.',
        logo: 'SITE/bilder/logo.png',
        address: 'Industriestraße 12a, 70565 Stuttgart, Deutschland',
        country: 'DE',
        phones: expect.arrayContaining(['+497111234560']),
        emails: ['info@mueller-maschinenbau.example'],
        founded: 1962,
        industry_hint: 'manufacturing',
      },
    ],
    [
      'in microdata',
      bakery,
      {
        name: 'Boulangerie Lafarge',
        description: 'Pain au levain depuis trois générations.',
        logo: 'SITE/logo.jpg',
        address: '8 rue Mercière, 69002 Lyon, France',
        country: 'FR',
        phones: ['+33478370001'],
        social_links: ['https://www.instagram.com/boulangerielafarge'],
        founded: 1931,
        industry_hint: 'bakery',
      },
    ],
    [
      'in the plain text of an old page',
      plumber,
      {
        name: "Joe's Plumbing",
        address: '1420 Elm Street, Springfield, IL 62704, United States',
        country: 'US',
        emails: ['joe@joesplumbing.example'],
        founded: 1987,
        industry_hint: 'construction',
      },
    ],
    [
      'in a shop',
      shop,
      { name: 'Fern & Fable', emails: ['care@fernfable.example'], industry_hint: 'online store' },
    ],
    [
      'by its title, when there is nothing else',
      spa,
      { name: 'Orbit', description: 'Plan your week.', address: null, founded: null, phones: [] },
    ],
    ['on a blog', blog, { name: 'Harbour Notes' }],
    ['in broken JSON-LD', broken, { name: 'Broken & Sons', phones: ['+442079460018'] }],
  ])('%s', async (_what, site, outputs) => {
    expect(await profile(site)).toMatchObject({ kind: 'done', outputs })
  })

  it('with the page that contains it', async () => {
    const { outputs } = await profile(german)
    expect(outputs.evidence).toEqual(
      expect.arrayContaining([
        { field: 'name', value: 'Müller Maschinenbau GmbH', source: 'title', url: 'SITE/' },
        {
          field: 'address',
          value: 'Industriestraße 12a, 70565 Stuttgart, Deutschland',
          source: 'text',
          url: 'SITE/impressum',
        },
        {
          field: 'emails',
          value: 'info@mueller-maschinenbau.example',
          source: 'page',
          url: 'SITE/kontakt.html',
        },
        { field: 'country', value: 'DE', source: 'address', url: 'SITE/' },
      ]),
    )
  })

  it.each(['WWW.Acme.Example', 'http://acme.example', 'bücher.example'])('at %s', async (host) => {
    const { port } = await serveSite({ '/': '<title>Acme</title>' })
    const outcome = await runAction(
      'company_profile_from_website',
      { domain: `${host}:${port}` },
      { egress: namedEgress() },
    )
    expect(outcome).toMatchObject({ kind: 'done', outputs: { name: 'Acme' } })
  })

  it('in its country by its domain', async () => {
    const outcome = await profile({ '/': '<title>Acme</title><p>Tel. 040 12345678</p>' }, 'acme.de')
    expect(outcome.outputs).toMatchObject({ country: 'DE', phones: ['+494012345678'] })
  })
})

it.each(['not a domain', 'ftp://acme.example'])(
  'company_profile_from_website of "%s" fails',
  async (domain) => {
    const outcome = await runAction('company_profile_from_website', { domain })
    expect(outcome).toEqual({ kind: 'failed', message: `domain: "${domain}" names no website` })
  },
)
