import { searchHackerNews } from '../built-in/news/hacker-news.ts'
import { sortNews } from '../built-in/news/news-item.ts'
import { readSiteFeeds } from '../built-in/news/site-feeds.ts'
import { readSite } from '../built-in/web/site.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, type Outcome, type Provenance, retry, wait } from '../outcome.ts'
import { output } from '../outputs.ts'
import { runWaterfall } from '../provider/waterfall-run.ts'
import { NEWS_ENGINES } from '../waterfalls/news.ts'

const DAY_MS = 86_400_000

export default defineAction({
  id: 'company_news',
  name: 'Company news',
  description:
    'Lists recent news about a company from its own feeds, from Hacker News, and from a search engine where there is a key for one. Undated stories are left out.',
  category: 'companies',
  synonyms: ['press', 'articles', 'signals', 'announcements', 'funding', 'rss'],
  timeoutSeconds: 120,
  inputs: {
    company_name: field.text({
      label: 'Company name',
      help: 'Finds what others write about the company.',
      placeholder: 'Acme',
    }),
    domain: field.text({
      label: 'Company domain',
      help: 'Finds what the company itself publishes.',
      placeholder: 'acme.com',
    }),
    since_days: field.number({
      min: 1,
      max: 3650,
      whole: true,
      default: 30,
      label: 'Days to look back',
      help: 'Older stories are left out.',
      placeholder: '30',
      details: 'Default 30.',
    }),
    providers: field.waterfall({
      adapters: NEWS_ENGINES,
      isExtra: true,
      label: 'Search engines',
      help: 'Asked in order until one finds something.',
      advanced: true,
    }),
    order: field.waterfallOrder,
  },
  needs: [['company_name'], ['domain']],
  outputs: {
    items: output.table('The news, newest first.', {
      title: 'string',
      url: 'url',
      published_at: 'string',
      source: 'string',
      summary: 'string',
    }),
  },
  async run({ inputs, context }) {
    const site = inputs.domain === undefined ? null : readSite(inputs.domain)
    if (inputs.domain !== undefined && site === null)
      return failed(`domain: "${inputs.domain.slice(0, 100)}" names no website`)
    const since = new Date(context.now().getTime() - (inputs.since_days ?? 30) * DAY_MS)
    const query = {
      name: inputs.company_name?.trim(),
      domain: site?.isAddress === false ? site.domain : undefined,
    }
    // The search engine is called first: it may ask to wait, and the other sources would then be read twice.
    const searched = await runWaterfall({
      ...inputs.providers,
      order: inputs.order,
      ...(query.name === undefined && query.domain === undefined ? { steps: [] } : {}),
      input: { query: `"${query.name ?? query.domain}"`, since, now: context.now() },
      context,
      state: context.state,
    })
    if (searched.kind === 'pause') return wait(searched.ms, searched.state)
    const started = Date.now()
    const [feeds, stories] = await Promise.all([
      site === null ? [] : readSiteFeeds(context, site),
      searchHackerNews(context, query, since),
    ])
    const ms = Date.now() - started
    const siteTrouble = Array.isArray(feeds) ? undefined : printReason(feeds.outcome)
    const provenance = [
      ...(site === null ? [] : [step('website', ms, siteTrouble)]),
      step('hn', ms, stories.ok ? undefined : stories.message),
      ...searched.provenance.filter(({ status }) => status !== 'unconfigured'),
    ]
    const items = sortNews(
      [
        ...(Array.isArray(feeds) ? feeds : []),
        ...(stories.ok ? stories.items : []),
        ...(searched.kind === 'found' ? searched.value : []),
      ],
      since,
    )
    if (items.length > 0) return done({ items }, provenance)
    // There is no item, so the sources that could not be read matter.
    if (!Array.isArray(feeds)) return feeds.outcome
    if (!stories.ok && site === null) return retry(stories.message)
    return { kind: 'no_match', provenance }
  },
})

function printReason(outcome: Outcome<never>): string {
  return 'message' in outcome ? outcome.message : outcome.kind
}

function step(provider: string, ms: number, message: string | undefined): Provenance {
  const status = message === undefined ? 'hit' : 'error'
  return { provider, status, ms, credits: 0, ...(message === undefined ? {} : { message }) }
}
