import { expect, it } from 'vitest'
import { viewEntry } from '#server/catalog/catalogue-entry.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import {
  listSections,
  printNeeds,
  printProviders,
} from '../../dashboard/src/screens/sheet/panels/action-gallery.ts'

type Gallery = Parameters<typeof listSections>[0]

const catalogue = (await loadCatalogue()).list().map((action) => ({ ...viewEntry(action), has_key: true }))
const find = (id: string) => catalogue.find(({ action_id }) => action_id === id)!
const nothing: Gallery = { catalogue, suggestions: [], recent: [], search: '', category: '' }
const outline = (shown: Gallery) =>
  listSections(shown).map(({ title, offers }) => [title, offers.map(({ entry }) => entry.action_id)])

it('H8: the gallery shows each action once: suggested, then recently used, then all others by category', () => {
  const suggestions = [
    {
      action_id: 'verify_email',
      reason: '"Email" holds email addresses',
      inputs: { email: '{{input.Email}}' },
    },
    { action_id: 'gone', reason: 'of another version', inputs: {} },
  ]
  const sections = listSections({ ...nothing, suggestions, recent: ['filter', 'verify_email', 'gone'] })
  expect(sections[0]).toEqual({
    title: 'Suggested for this sheet',
    offers: [{ entry: find('verify_email'), reason: suggestions[0]?.reason, inputs: suggestions[0]?.inputs }],
  })
  expect(sections[1]).toEqual({ title: 'Recently used', offers: [{ entry: find('filter') }] })
  const ids = sections.flatMap(({ offers }) => offers.map(({ entry }) => entry.action_id))
  expect(ids.toSorted()).toEqual(catalogue.map(({ action_id }) => action_id).toSorted())
  expect(sections.map(({ title }) => title)).not.toContain('crm')
})

it('H8: a category and a search narrow the gallery; without a result it is empty', () => {
  const crm = outline({ ...nothing, category: 'crm', recent: ['filter'] })
  expect(crm.map(([title]) => title)).toEqual(['CRM'])
  const [results] = outline({ ...nothing, search: 'hunter' })
  expect(results).toEqual(['Results', ['enrich_company', 'person_work_email_waterfall', 'verify_email']])
  expect(outline({ ...nothing, search: 'hunter', category: 'people' })[0]?.[1]).not.toContain(
    'enrich_company',
  )
  expect(outline({ ...nothing, search: 'qqqq' })).toEqual([])
})

it('H8: an action says in labels what it needs, and whom it asks', () => {
  expect(printNeeds(find('http_api_call'))).toBe('Method, URL')
  expect(printNeeds(find('enrich_person'))).toBe(
    'LinkedIn profile, or Email, or Full name and Company domain',
  )
  expect(printNeeds(find('company_news'))).toMatch(/Company/)
  expect(printProviders(find('verify_email'), '')).toMatch(/^Built-in, ZeroBounce, NeverBounce and \d+ more$/)
  expect(printProviders(find('verify_email'), 'hunt')).toMatch(/^Hunter, Built-in, ZeroBounce and \d+ more$/)
  expect(printProviders(find('normalize_domain'), '')).toBe('')
})
