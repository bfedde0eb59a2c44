import { expect, it } from 'vitest'
import { createKey } from './provider-access.ts'
import { type Reply, serveDouble } from './testing/provider-double.ts'
import { useActions } from './testing/run-action.ts'

const runAction = useActions()
const keys = { platform: () => createKey('platform', { secret: 'k' }), own: async () => null }

type Scene = {
  action: string
  inputs: Record<string, unknown>
  replies: Record<string, Reply>
  outputs: object
  credits: number
}

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
    action: 'find_people_at_company',
    inputs: { domain: 'acme.example', titles: ['CTO'], limit: '5' },
    replies: { apollo: { json: { people: [{ id: '1', name: 'Ann Lee', title: 'CTO' }], total_entries: 1 } } },
    outputs: { count: 1, people: [{ full_name: 'Ann Lee' }], provider: 'Apollo' },
    credits: 2,
  },
  {
    action: 'web_search',
    inputs: { query: 'acme', providers: ['SearXNG', 'Serper'] },
    replies: { serper: { json: { organic: [{ link: 'https://acme.example/', title: 'Acme' }] } } },
    outputs: { results: [{ title: 'Acme', url: 'https://acme.example/', snippet: '' }], provider: 'Serper' },
    credits: 0.5,
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
