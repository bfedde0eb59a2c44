import { expect, it } from 'vitest'
import { loadCatalogue } from '../registry.ts'
import { type Reply, serveDouble } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'
import { createKey } from './access.ts'

const runAction = useActions()
const catalogue = await loadCatalogue()
const keys = { platform: () => createKey('platform', { secret: 'k' }), own: async () => null }

type Scene = {
  action: string
  inputs: Record<string, unknown>
  replies: Record<string, Reply>
  outputs: object
  credits: number
}

/** Returns a record in Crustdata's form. */
const matched = (found: object) => [{ matches: [{ confidence_score: 1, ...found }] }]

const SCENES: Scene[] = [
  {
    action: 'verify_email',
    inputs: { email: 'ann@acme.example', providers: ['ZeroBounce', 'MillionVerifier'] },
    replies: {
      zerobounce: { json: { status: 'unknown', sub_status: 'greylisted' } },
      millionverifier: { json: { result: 'ok', subresult: 'ok', error: '' } },
    },
    outputs: { status: 'valid', provider: 'MillionVerifier' },
    credits: 0.3,
  },
  {
    action: 'verify_email',
    inputs: { email: 'ann@acme.example', providers: ['ZeroBounce'] },
    replies: { zerobounce: { json: { status: 'unknown', sub_status: 'greylisted' } } },
    outputs: { status: 'unknown', reason: 'greylisted', provider: 'ZeroBounce' },
    credits: 0,
  },
  {
    action: 'person_phone_waterfall',
    inputs: { linkedin_url: 'https://www.linkedin.com/in/ann' },
    replies: { leadmagic: { json: { mobile_number: '+16502530000' } } },
    outputs: { phone: '+16502530000', type: 'mobile', provider: 'LeadMagic' },
    credits: 5,
  },
  {
    action: 'enrich_person',
    inputs: { email: 'ann@acme.example' },
    replies: {
      peopledatalabs: { status: 404, json: { status: 404 } },
      apollo: { json: { person: { name: 'Ann Lee', title: 'CTO' } } },
    },
    outputs: { full_name: 'Ann Lee', title: 'CTO', experiences: [], provider: 'Apollo' },
    credits: 2,
  },
  {
    action: 'enrich_company',
    inputs: { domain: 'https://www.acme.example/' },
    replies: { peopledatalabs: { json: { name: 'acme', employee_count: 12 } } },
    outputs: { name: 'acme', employees: 12, provider: 'People Data Labs' },
    credits: 2,
  },
  {
    action: 'find_company_domain',
    inputs: { name: ' Acme ', providers: ['People Data Labs', 'Datagma'] },
    replies: {
      peopledatalabs: { status: 404, json: { status: 404 } },
      datagma: { json: { company: { name: 'Acme', website: 'https://www.acme.example/' } } },
    },
    outputs: { domain: 'acme.example', provider: 'Datagma' },
    credits: 2,
  },
  {
    action: 'find_linkedin_profile',
    inputs: { full_name: 'Ann Lee', company_domain: 'acme.example' },
    // Findymail needs a web address and is skipped.
    replies: { datagma: { json: { linkedInUrl: 'linkedin.com/in/ann' } } },
    outputs: { linkedin_url: 'https://www.linkedin.com/in/ann', provider: 'Datagma' },
    credits: 2,
  },
  {
    action: 'find_people_at_company',
    inputs: { domain: 'acme.example', titles: ['CTO'], limit: '5' },
    replies: {
      apollo: { json: { people: [], total_entries: 0 } },
      blitz: { json: { found: false } },
      crustdata: { json: { profiles: [{ basic_profile: { name: 'Ann Lee' } }], total_count: 1 } },
    },
    outputs: { count: 1, people: [{ full_name: 'Ann Lee' }], provider: 'Crustdata' },
    credits: 2,
  },
  {
    action: 'web_search',
    inputs: { query: 'acme', providers: ['SearXNG', 'Serper'] },
    replies: { serper: { json: { organic: [{ link: 'https://acme.example/', title: 'Acme' }] } } },
    outputs: { results: [{ title: 'Acme', url: 'https://acme.example/', snippet: '' }], provider: 'Serper' },
    credits: 0.5,
  },
  {
    action: 'web_answer',
    inputs: { question: 'Who founded Acme?', providers: ['Perplexity', 'Linkup'] },
    replies: {
      // An answer without a page cannot be checked, so the next provider is called.
      perplexity: { json: { choices: [{ message: { content: 'Bob.' } }] } },
      linkup: { json: { answer: 'Ada.', sources: [{ name: 'Acme', url: 'https://acme.example/' }] } },
    },
    outputs: {
      answer: 'Ada.',
      sources: [{ title: 'Acme', url: 'https://acme.example/' }],
      provider: 'Linkup',
    },
    credits: 2,
  },
  {
    action: 'person_work_email_waterfall',
    inputs: { linkedin_url: 'https://www.linkedin.com/in/ann' },
    replies: { blitz: { json: { found: true, email: 'ann@acme.example' } } },
    outputs: { work_email: 'ann@acme.example', status: 'valid', provider: 'Blitz' },
    credits: 1,
  },
  {
    action: 'company_technologies',
    inputs: { domain: 'acme.example', providers: ['BuiltWith', 'TheirStack'] },
    replies: {
      builtwith: { json: { Results: [], Errors: [] } },
      theirstack: { json: { data: [{ technology: { name: 'Kafka' } }] } },
    },
    outputs: { technologies: [{ name: 'Kafka', category: null }], provider: 'TheirStack' },
    credits: 1,
  },
  {
    action: 'company_headcount_distribution_by_country',
    inputs: { name: 'Acme', providers: ['Crustdata'] },
    replies: {
      crustdata: {
        json: matched({
          company_data: {
            basic_info: { name: 'Acme' },
            headcount: { total: 3, by_region_absolute: { France: 3 } },
          },
        }),
      },
    },
    outputs: {
      company_headcount: 3,
      breakdown: [{ country: 'France', employees: 3, percent: null }],
      provider: 'Crustdata',
    },
    credits: 1,
  },
  {
    action: 'company_headcount_distribution_by_job_role',
    inputs: { domain: 'acme.example' },
    replies: {
      explorium: { json: { matched_businesses: [] } },
      crustdata: {
        json: matched({
          company_data: {
            basic_info: { name: 'Acme' },
            headcount: { by_role_absolute: { sales: 2 } },
          },
        }),
      },
    },
    outputs: {
      company_headcount: null,
      breakdown: [{ job_role: 'sales', employees: 2, percent: null }],
      provider: 'Crustdata',
    },
    credits: 1,
  },
  {
    action: 'enrich_person_linkedin_profile',
    inputs: { linkedin_url: 'https://www.linkedin.com/in/ann' },
    replies: {
      apify: { status: 201, json: [] },
      crustdata: { json: matched({ person_data: { basic_profile: { name: 'Ann Lee', headline: 'CTO' } } }) },
    },
    outputs: { full_name: 'Ann Lee', headline: 'CTO', title: 'CTO', provider: 'Crustdata' },
    credits: 1,
  },
  {
    action: 'enrich_company_linkedin_profile',
    inputs: { linkedin_url: 'https://www.linkedin.com/company/acme' },
    replies: { apify: { status: 201, json: [{ name: 'Acme', employeeCount: 12 }] } },
    outputs: { name: 'Acme', headcount: 12, provider: 'Apify' },
    credits: 1,
  },
]

it.each(SCENES.map((scene): [string, Scene] => [scene.action, scene]))(
  '%s asks its providers in order',
  async (action, { inputs, replies, outputs, credits }) => {
    const doubles = await Promise.all(
      Object.entries(replies).map(
        async ([id, reply]) => [id, (await serveDouble(() => reply)).origin] as const,
      ),
    )
    const outcome = await runAction(action, inputs, { urls: Object.fromEntries(doubles), keys })
    expect(outcome).toMatchObject({ kind: 'done', outputs, credits })
  },
)

/**
 * Runs a search on Apollo for 15 people in pages of 10. The searches for the second page get the replies in `second`,
 * in turn.
 */
async function findPeople(second: Reply[]) {
  const remaining = [...second]
  const asked: string[] = []
  const double = await serveDouble(({ path, query, body }) => {
    if (path.endsWith('/bulk_match')) {
      const { details } = JSON.parse(body) as { details: { id: string }[] }
      asked.push(`match ${details.length}`)
      return { json: { matches: details.map(({ id }) => ({ id, name: `Ann ${id}` })) } }
    }
    asked.push(`page ${query['page']}`)
    const people = Array.from({ length: 10 }, (_, n) => ({ id: `${n}`, last_name_obfuscated: 'L***e' }))
    if (query['page'] === '1') return { json: { people, total_entries: 15 } }
    return (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? {}
  })
  const inputs = { domain: 'acme.example', limit: '15', providers: ['Apollo'] }
  const urls = { apollo: double.origin }
  let outcome = await runAction('find_people_at_company', inputs, { urls, keys })
  const waits: number[] = []
  while (outcome.kind === 'wait') {
    waits.push(outcome.ms)
    const state: unknown = JSON.parse(JSON.stringify(outcome.state))
    outcome = await runAction('find_people_at_company', inputs, { urls, keys, state })
  }
  const count =
    outcome.kind === 'done' && Array.isArray(outcome.outputs['people']) ? outcome.outputs['people'].length : 0
  return { outcome, count, waits, asked }
}

it('Apollo: a later page that is refused for a while is read again, without the pages before it', async () => {
  const rest = { json: { people: [{ id: 'z' }], total_entries: 15 } }
  const slow = { status: 429, headers: { 'retry-after': '3' } }
  expect(await findPeople([slow, rest])).toMatchObject({
    count: 11,
    waits: [3000],
    asked: ['page 1', 'match 10', 'page 2', 'page 2', 'match 1'],
  })
})

it('Apollo: a later page that is refused permanently leaves the people of the pages before it', async () => {
  const { outcome, count } = await findPeople([{ status: 401 }])
  expect(count).toBe(10)
  expect(outcome).toMatchObject({
    kind: 'done',
    outputs: { count: 15 },
    credits: 2,
    provenance: [
      { provider: 'Apollo', status: 'hit', message: expect.stringMatching(/^only the first 10: /) },
    ],
  })
})

const NAMES: Record<string, string> = {
  'person_work_email_waterfall email_providers':
    'Built-in pattern,Blitz,Hunter,Prospeo,LeadMagic,Findymail,Datagma,Apollo,Snov,Wiza,Dropcontact,Icypeas,ContactOut,RocketReach,Surfe,Kaspr,People Data Labs,FullEnrich,BetterContact,Enrow,Lusha,Anymail Finder,Tomba',
  'person_work_email_waterfall email_validation': 'Built-in,ZeroBounce,NeverBounce,MillionVerifier,None',
  'verify_email providers':
    'Built-in,ZeroBounce,NeverBounce,MillionVerifier,Hunter,Icypeas,Findymail,LeadMagic,Enrow,Reoon,Bouncer,Emailable',
  'person_phone_waterfall phone_providers':
    'LeadMagic,Datagma,Prospeo,ContactOut,Surfe,Kaspr,RocketReach,Wiza,Findymail,People Data Labs,FullEnrich,BetterContact,Lusha,Enrow',
  'enrich_person providers': 'People Data Labs,Apollo,Crustdata,Prospeo',
  'enrich_company providers':
    'Built-in website,People Data Labs,Apollo,Explorium,Crustdata,Hunter,LeadMagic,Datagma,Wiza,RocketReach,Surfe,Findymail,Lusha',
  'find_company_domain providers': 'People Data Labs,Datagma,Findymail,Crustdata,RocketReach',
  'find_linkedin_profile providers': 'Findymail,Datagma,Prospeo,LeadMagic,People Data Labs',
  'company_technologies providers': 'Built-in,BuiltWith,TheirStack',
  'company_headcount_distribution_by_country providers': 'Explorium,Crustdata,Blitz',
  'company_headcount_distribution_by_job_role providers': 'Explorium,Crustdata,Blitz',
  'find_people_at_company providers': 'Apollo,Blitz,Crustdata,Prospeo',
  'enrich_person_linkedin_profile providers': 'Apify,Crustdata',
  'enrich_company_linkedin_profile providers': 'Apify,Crustdata',
  'company_news providers': 'SearXNG,Serper,Brave,Tavily,Exa',
  'web_search providers': 'SearXNG,Serper,Brave,Tavily,Exa,Perplexity,Linkup,Parallel,Firecrawl',
  'web_answer providers': 'Perplexity,Linkup,Exa,Tavily',
}

it.each(Object.entries(NAMES))('%s takes the providers of the catalogue by name', async (at, names) => {
  const [id = '', name = ''] = at.split(' ')
  const checked = catalogue.get(id)?.inputs[name]?.check(names.split(','), name)
  expect(checked).toMatchObject({ kind: 'save', warnings: [] })
})
